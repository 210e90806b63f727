#include "test/sandbox/table.h"

#include <algorithm>
#include <charconv>

#include "controller/kube/json_writer.h"
#include "test/sandbox/columns.h"

namespace caldera::sandbox {
namespace {

std::string ScalarText(const Value& value) {
  return value.IsString() ? value.AsString() : value.IsNull() ? std::string() : WriteJson(value);
}

// One step of a path: `name`, `[*]`, `[?(@.key=="value")]`.
std::string_view TakeStep(std::string_view& path) {
  if (path.starts_with('.')) {
    path.remove_prefix(1);
  }
  const size_t end = path.starts_with('[') ? path.find(']') + 1 : path.find_first_of(".[");
  const std::string_view step = path.substr(0, end);
  path = end == std::string_view::npos ? std::string_view() : path.substr(end);
  return step;
}

bool MatchesFilter(const Value& item, std::string_view filter) {
  constexpr std::string_view kBegin = "[?(@.";
  const size_t equals = filter.find("==\"");
  const size_t end = filter.rfind('"');
  if (!filter.starts_with(kBegin) || equals == std::string_view::npos || end < equals + 3) {
    return true;
  }
  const Value* value = item.Find(filter.substr(kBegin.size(), equals - kBegin.size()));
  return value != nullptr && ScalarText(*value) == filter.substr(equals + 3, end - equals - 3);
}

std::vector<const Value*> Select(const Value& object, std::string_view path) {
  std::vector<const Value*> values{&object};
  while (!path.empty()) {
    const std::string_view step = TakeStep(path);
    std::vector<const Value*> next;
    for (const Value* value : values) {
      if (!step.starts_with('[')) {
        if (const Value* member = value->Find(step)) {
          next.push_back(member);
        }
      } else if (value->IsList()) {
        for (const Value& item : value->AsList()) {
          if (MatchesFilter(item, step)) {
            next.push_back(&item);
          }
        }
      }
    }
    values = std::move(next);
  }
  return values;
}

Value Cell(const Column& column, const Value& object, Time now) {
  std::string text = column.path.starts_with('@') ? ComputedCell(column.path, object, now)
                                                  : ValueAtPath(object, column.path);
  if (column.type == "integer") {
    int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size() ? Value(number) : Value();
  }
  return {std::move(text)};
}

// Name first and Age behind what is always shown; events end with their name instead.
std::vector<Column> AllColumns(const Kind& kind) {
  std::vector<Column> columns = kind.columns;
  if (kind.type.kind == "Event") {
    columns.push_back({"Name", "string", "@name", 1});
    return columns;
  }
  columns.insert(columns.begin(), {"Name", "string", "@name", 0});
  const auto wide = std::find_if(columns.begin(), columns.end(),
                                 [](const Column& column) { return column.priority > 0; });
  columns.insert(wide, {"Age", "string", "@age", 0});
  return columns;
}

Value ColumnDefinition(const Column& column) {
  Value definition;
  definition.Set("name", column.name);
  definition.Set("type", column.type);
  definition.Set("format", column.path == "@name" ? "name" : "");
  definition.Set("description", "");
  definition.Set("priority", column.priority);
  return definition;
}

Value Row(const std::vector<Column>& columns, const StoredObject& object, Time now) {
  const Value tree = TreeOf(object);
  Value::List cells;
  for (const Column& column : columns) {
    cells.push_back(Cell(column, tree, now));
  }
  Value meta;
  meta.Set("kind", "PartialObjectMetadata");
  meta.Set("apiVersion", "meta.k8s.io/v1");
  meta.Set("metadata", *tree.Find("metadata"));
  Value row;
  row.Set("cells", std::move(cells));
  row.Set("object", std::move(meta));
  return row;
}

}  // namespace

std::string ValueAtPath(const Value& object, std::string_view path) {
  std::string text;
  for (const Value* value : Select(object, path)) {
    if (std::string part = ScalarText(*value); !part.empty()) {
      text += (text.empty() ? "" : ",") + part;
    }
  }
  return text;
}

std::string HumanDuration(Millis span) {
  const int64_t seconds = std::max<int64_t>(span.count(), 0) / 1000;
  const int64_t minutes = seconds / 60;
  const int64_t hours = minutes / 60;
  const int64_t days = hours / 24;
  const auto two = [](int64_t a, const char* unit, int64_t b, const char* small) {
    std::string text = std::to_string(a) + unit;
    return b == 0 ? text : text + std::to_string(b) + small;
  };
  if (seconds < 120) {
    return std::to_string(seconds) + "s";
  }
  if (minutes < 10) {
    return two(minutes, "m", seconds % 60, "s");
  }
  if (minutes < 180) {
    return std::to_string(minutes) + "m";
  }
  if (hours < 8) {
    return two(hours, "h", minutes % 60, "m");
  }
  if (hours < 48) {
    return std::to_string(hours) + "h";
  }
  if (days < 8) {
    return two(days, "d", hours % 24, "h");
  }
  if (days < 730) {
    return std::to_string(days) + "d";
  }
  return days < 2920 ? two(days / 365, "y", days % 365, "d") : std::to_string(days / 365) + "y";
}

std::string RenderTable(const Kind& kind, const std::vector<const StoredObject*>& objects,
                        const TableOptions& options) {
  Value metadata;
  metadata.Set("resourceVersion", options.resource_version);
  if (!options.continue_token.empty()) {
    metadata.Set("continue", options.continue_token);
  }
  if (options.remaining > 0) {
    metadata.Set("remainingItemCount", options.remaining);
  }
  Value table;
  table.Set("kind", "Table");
  table.Set("apiVersion", "meta.k8s.io/v1");
  table.Set("metadata", std::move(metadata));
  const std::vector<Column> columns = AllColumns(kind);
  Value::List definitions;
  if (options.with_columns) {
    for (const Column& column : columns) {
      definitions.push_back(ColumnDefinition(column));
    }
  }
  table.Set("columnDefinitions", std::move(definitions));
  Value::List rows;
  for (const StoredObject* object : objects) {
    rows.push_back(Row(columns, *object, options.now));
  }
  table.Set("rows", std::move(rows));
  return WriteJson(table);
}

}  // namespace caldera::sandbox
