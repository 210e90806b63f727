#include "test/sandbox/list_command.h"

#include <algorithm>
#include <iomanip>
#include <iostream>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "controller/kube/json_reader.h"
#include "controller/kube/rest_transport.h"
#include "test/sandbox/api_index.h"
#include "test/sandbox/tree.h"

namespace caldera::sandbox {
namespace {

using Row = std::vector<std::string>;

std::string Upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

std::string CellText(const Value& cell) {
  return cell.IsNull() ? "" : cell.IsString() ? cell.AsString() : cell.Brief();
}

// The columns that kubectl shows without `-o wide`.
std::vector<Row> RowsOf(const Value& table, bool namespaced) {
  std::vector<size_t> shown;
  std::vector<Row> rows(1);
  if (namespaced) {
    rows[0].emplace_back("NAMESPACE");
  }
  const Value::List& columns = ListAt(table, {"columnDefinitions"});
  for (size_t i = 0; i < columns.size(); ++i) {
    if (NumberAt(columns[i], {"priority"}) == 0) {
      shown.push_back(i);
      rows[0].push_back(Upper(TextAt(columns[i], {"name"})));
    }
  }
  for (const Value& entry : ListAt(table, {"rows"})) {
    Row row;
    if (namespaced) {
      row.push_back(TextAt(entry, {"object", "metadata", "namespace"}));
    }
    const Value::List& cells = ListAt(entry, {"cells"});
    for (const size_t i : shown) {
      row.push_back(i < cells.size() ? CellText(cells[i]) : "");
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

void Print(const std::vector<Row>& rows) {
  std::vector<size_t> widths(rows[0].size());
  for (const Row& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], row[i].size());
    }
  }
  for (const Row& row : rows) {
    for (size_t i = 0; i + 1 < row.size(); ++i) {
      std::cout << std::left << std::setw(static_cast<int>(widths[i]) + 3) << row[i];
    }
    std::cout << row.back() << '\n';
  }
}

class Lister {
 public:
  Lister(Client& client, Executor& executor, std::string plural)
      : client_(client), executor_(executor), index_(client), plural_(std::move(plural)) {}

  void Start() {
    index_.Refresh([this](const Status& refreshed) {
      if (!refreshed) {
        return End(refreshed);
      }
      const ResourceType* const type = index_.FindPlural(plural_);
      if (type == nullptr) {
        return End(Fail(ErrorCode::kNotFound, "the server has no kind named '" + plural_ + "'"));
      }
      List(*type);
    });
  }

  [[nodiscard]] const Status& status() const { return status_; }

 private:
  void List(const ResourceType& type) {
    HttpRequest request;
    request.path = type.Path("");
    request.headers["accept"] = "application/json;as=Table;v=v1;g=meta.k8s.io";
    client_.Raw(std::move(request), "list", type.kind,
                [this, &type](const Result<HttpResponse>& response) {
                  if (!response || response->status != 200) {
                    return End(response ? Fail(ErrorCode::kInvalid, response->body)
                                        : tl::unexpected<Error>(response.error()));
                  }
                  const Result<Value> table = ParseJson(response->body);
                  if (!table) {
                    return End(tl::unexpected<Error>(table.error()));
                  }
                  Print(RowsOf(*table, type.namespaced));
                  End({});
                });
  }

  void End(const Status& status) {
    status_ = status;
    executor_.Stop();
  }

  Client& client_;
  Executor& executor_;
  ApiIndex index_;
  const std::string plural_;
  Status status_;
};

}  // namespace

Status PrintList(const RestConfig& config, const std::string& plural) {
  const SystemClock clock;
  Executor executor(clock);
  CALDERA_TRY(const auto transport, RestTransport::Create(config, executor, {}));
  Client client(*transport, executor, {});
  Lister lister(client, executor, plural);
  executor.Post([&] { lister.Start(); });
  executor.Run();
  return lister.status();
}

}  // namespace caldera::sandbox
