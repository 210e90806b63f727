#include "controller/cli/section_writer.h"

#include <utility>

#include "controller/kube/json_writer.h"
#include "controller/kube/yaml_writer.h"

namespace caldera {

void SectionWriter::Separate(std::string_view key) {
  if (json_) {
    out_ << (first_member_ ? "{" : ",\n") << "\"" << key << "\":";
  }
  first_member_ = false;
}

void SectionWriter::Member(std::string_view key, const Value& value) {
  Separate(key);
  if (json_) {
    out_ << WriteJson(value);
  } else {
    out_ << WriteYaml(Value::Map{{std::string(key), value, {}}});
  }
}

void SectionWriter::BeginList(std::string_view key) {
  Separate(key);
  out_ << (json_ ? "[" : std::string(key) + ":");
  first_item_ = true;
}

void SectionWriter::Item(const Value& value) {
  if (json_) {
    out_ << (first_item_ ? "\n" : ",\n") << WriteJson(value);
  } else {
    out_ << (first_item_ ? "\n" : "") << WriteYaml(Value::List{value});
  }
  first_item_ = false;
}

void SectionWriter::BeginItem() {
  fields_.clear();
  first_field_ = true;
  if (json_) {
    out_ << (first_item_ ? "\n{" : ",\n{");
    first_item_ = false;
  }
}

void SectionWriter::Field(std::string_view key, Value value) {
  if (json_) {
    FieldText(key, JsonOf(value));
  } else {
    fields_.push_back({std::string(key), std::move(value), {}});
  }
}

void SectionWriter::EndItem() {
  if (json_) {
    out_ << "}";
  } else {
    Item(std::move(fields_));
  }
}

std::string SectionWriter::JsonOf(const Value& value) { return WriteJson(value); }

void SectionWriter::FieldText(std::string_view key, std::string_view json) {
  out_ << (first_field_ ? "\"" : ",\"") << key << "\":" << json;
  first_field_ = false;
}

void SectionWriter::EndList() {
  if (json_) {
    out_ << (first_item_ ? "]" : "\n]");
  } else if (first_item_) {
    out_ << " []\n";
  }
}

void SectionWriter::End() {
  if (json_) {
    out_ << (first_member_ ? "{}\n" : "}\n");
  }
}

}  // namespace caldera
