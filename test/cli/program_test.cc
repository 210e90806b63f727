// The program as a whole: help, version, completion, wrong usage.
#include <doctest/doctest.h>

#include "test/cli/run_program.h"

namespace caldera::test {
namespace {

bool Has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("help teaches by example and goes to stdout") {
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"--help"},
                                                    {"plan", "--help"},
                                                    {"validate", "--help"},
                                                    {"ledger", "--help"},
                                                    {"completion", "--help"},
                                                    {}}) {
    const Said said = RunCaldera(arguments);
    CHECK(said.exit_code == 0);
    CHECK(said.err.empty());
    CHECK(Has(said.out, "Examples:"));
    CHECK(Has(said.out, "caldera "));
  }
}

TEST_CASE("wrong usage is 2 and says so on stderr") {
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"fly"},
        {"plan"},
        {"plan", "-f"},
        {"plan", "-f", "examples/quickstart", "-o", "xml"},
        {"plan", "--no-such-option"},
        {"validate"},
        {"completion", "tcsh"}}) {
    const Said said = RunCaldera(arguments);
    CHECK(said.exit_code == 2);
    CHECK(said.out.empty());
    CHECK_FALSE(said.err.empty());
  }
}

TEST_CASE("version names the contracts") {
  const Said said = RunCaldera({"version"});
  CHECK(said.exit_code == 0);
  CHECK(Has(said.out, "caldera.plan/v1"));
  CHECK(Has(RunCaldera({"--version"}).out, "caldera "));
}

TEST_CASE("completion knows the commands and options of this build") {
  for (const std::string shell : {"bash", "zsh", "fish"}) {
    const Said said = RunCaldera({"completion", shell});
    CHECK(said.exit_code == 0);
    for (const std::string word : {"plan", "validate", "ledger", "explain", "wide"}) {
      CHECK_MESSAGE(Has(said.out, word), shell, " ", word);
    }
    CHECK(Has(said.out, shell == "fish" ? "-l render-works" : "--render-works"));
  }
}

TEST_CASE("nothing is coloured off a terminal") {
  CHECK_FALSE(Has(RunCaldera({"validate", "-f", "examples/mistakes"}).out, "\x1b"));
  CHECK_FALSE(Has(RunCaldera({"plan", "-f", "examples/quickstart"}).out, "\x1b"));
  CHECK_FALSE(Has(RunCaldera({"plan", "-f", "no-such-file"}).err, "\x1b"));
}

}  // namespace
}  // namespace caldera::test
