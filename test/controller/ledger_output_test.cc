#include "controller/cli/ledger_output.h"

#include <doctest/doctest.h>

#include "controller/cli/ledger_json.h"

namespace caldera {
namespace {

Listing Sample() {
  return {{"job", "minAvailable", "placed", "requests", "tasks", "note"},
          {{std::string("team-a/train"), int64_t{4}, Time(Millis(1'000)),
            ResourceList{{"cpu", 1500}, {"memory", int64_t{1} << 30U}},
            std::vector<TaskGrant>{{"worker", 4, 2}}, std::string("said \"no\", twice")},
           {std::string("team-a/wide"), int64_t{12}, Datum(), ResourceList(),
            std::vector<TaskGrant>(), std::string()}}};
}

TEST_CASE("a listing is a table with headings and dashes for nothing") {
  CHECK(PrintListing(Sample(), LedgerFormat::kTable, Terminal()) ==
        "JOB           MIN-AVAILABLE  PLACED                REQUESTS               TASKS     NOTE\n"
        "team-a/train              4  1970-01-01T00:00:01Z  cpu 1500m, memory 1Gi  worker 4  said "
        "\"no\", twice\n"
        "team-a/wide              12  -                     -                      -         -\n");
}

TEST_CASE("a listing is JSON with canonical quantities") {
  CHECK(PrintListing(Sample(), LedgerFormat::kJson, Terminal()) ==
        "[\n  {\"job\":\"team-a/train\",\"minAvailable\":4,\"placed\":\"1970-01-01T00:00:01Z\","
        "\"requests\":{\"cpu\":\"1500m\",\"memory\":\"1Gi\"},"
        "\"tasks\":{\"worker\":{\"replicas\":4,\"minAvailable\":2}},"
        "\"note\":\"said \\\"no\\\", twice\"},\n"
        "  {\"job\":\"team-a/wide\",\"minAvailable\":12,\"placed\":null,\"requests\":{},"
        "\"tasks\":{},\"note\":\"\"}\n]\n");
  CHECK(PrintListing({{"job"}, {}}, LedgerFormat::kJson, Terminal()) == "[]\n");
}

TEST_CASE("a listing is CSV that a spreadsheet reads back") {
  CHECK(
      PrintListing(Sample(), LedgerFormat::kCsv, Terminal()) ==
      "job,minAvailable,placed,requests,tasks,note\r\n"
      "team-a/train,4,1970-01-01T00:00:01Z,cpu=1500m memory=1Gi,"
      "\"{\"\"worker\"\":{\"\"replicas\"\":4,\"\"minAvailable\"\":2}}\",\"said \"\"no\"\", twice\""
      "\r\nteam-a/wide,12,,,{},\r\n");
}

TEST_CASE("bytes that are no UTF-8 do not break JSON") {
  CHECK(JsonString("gr\xC3\xBC\xC3\x9F \xF0\x9F\x8C\x8B") ==
        "\"gr\xC3\xBC\xC3\x9F \xF0\x9F\x8C\x8B\"");
  CHECK(JsonString("\x01\n\"\\") == "\"\\u0001\\u000a\\\"\\\\\"");
  const std::string bad = "\xEF\xBF\xBD";
  CHECK(JsonString("a\xFFz") == "\"a" + bad + "z\"");
  CHECK(JsonString("\xC3") == "\"" + bad + "\"");
  CHECK(JsonString("\xC0\x80") == "\"" + bad + bad + "\"");
  CHECK(JsonString("\xED\xA0\x80") == "\"" + bad + bad + bad + "\"");
  CHECK(JsonString("\xF4\x90\x80\x80") == "\"" + bad + bad + bad + bad + "\"");
}

TEST_CASE("control characters of a manifest do not reach a terminal") {
  const Listing listing{{"job", "message"}, {{std::string("a"), std::string("\x1b[2Jgone")}}};
  const std::string text = PrintListing(listing, LedgerFormat::kTable, Terminal());
  CHECK(text.find('\x1b') == std::string::npos);
}

}  // namespace
}  // namespace caldera
