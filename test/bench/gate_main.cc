// bench_gate LIMITS.txt BENCH.json: prints each limit beside what was measured. Exit 1 where a
// measure is over its limit or missing.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "test/bench/arguments.h"
#include "test/bench/gate.h"

namespace caldera::bench {
namespace {

Result<std::string> ReadFile(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  if (!(text << file.rdbuf())) {
    return Fail(ErrorCode::kInvalid, "cannot be read");
  }
  return text.str();
}

Result<std::vector<Judged>> JudgeFiles(const std::string& limits_path,
                                       const std::string& measured_path) {
  auto limits = ReadFile(limits_path).and_then([](const auto& text) { return ReadLimits(text); });
  if (!limits.has_value()) {
    return tl::unexpected<Error>(limits.error().Within(limits_path));
  }
  auto measured =
      ReadFile(measured_path).and_then([](const auto& text) { return ReadMeasured(text); });
  if (!measured.has_value()) {
    return tl::unexpected<Error>(measured.error().Within(measured_path));
  }
  return Judge(*limits, *measured);
}

const char* Word(Judgement judgement) {
  switch (judgement) {
    case Judgement::kOk:
      return "ok";
    case Judgement::kOver:
      return "OVER";
    case Judgement::kMissing:
      return "MISSING";
  }
  return "";
}

int Run(const std::string& limits_path, const std::string& measured_path) {
  const auto all = JudgeFiles(limits_path, measured_path);
  if (!all.has_value()) {
    std::fprintf(stderr, "bench_gate: %s\n", all.error().message.c_str());
    return 2;
  }
  std::printf("%-20s %12s %-7s %15s  %-8s %s\n", "NAME", "VALUE", "UNIT", "LIMIT, SCALED", "",
              "GOAL");
  for (const Judged& judged : *all) {
    const Limit& limit = judged.limit;
    const char* relation = limit.at_least ? ">=" : "<=";
    std::printf("%-20s %12.5g %-7s %s %12.5g  %-8s %s %g%s\n", limit.name.c_str(), judged.value,
                limit.unit.c_str(), relation, limit.limit, Word(judged.judgement), relation,
                limit.goal, judged.goal_met ? "" : ", not met");
  }
  const bool good = std::all_of(all->begin(), all->end(), [](const Judged& judged) {
    return judged.judgement == Judgement::kOk;
  });
  return good ? 0 : 1;
}

}  // namespace
}  // namespace caldera::bench

int main(int argc, char** argv) {
  const auto arguments = caldera::bench::ReadArguments(argc, argv, 2, 2);
  if (!arguments.has_value()) {
    std::fputs("usage: bench_gate LIMITS.txt BENCH.json\n", stderr);
    return 2;
  }
  return caldera::bench::Run(arguments->words[0], arguments->words[1]);
}
