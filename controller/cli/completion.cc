// `caldera completion SHELL` and `caldera version`. The scripts are written from the parser itself,
// so that they know every subcommand and option that this build has.
#include <CLI/CLI.hpp>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "controller/cli/command.h"

namespace caldera {
namespace {

// What may follow a chain of subcommands.
struct Level {
  std::string path;  ///< `ledger jobs`; empty for the program itself.
  std::vector<std::pair<std::string, std::string>> words;  ///< Subcommands with their help.
  struct Flag {
    std::vector<std::string> names;    ///< `-o`, `--output`.
    std::vector<std::string> choices;  ///< Of its value, where they are few.
    bool takes_value = false;
    std::string help;
  };
  std::vector<Flag> flags;
};

// A type name such as `table|json` lists the choices.
std::vector<std::string> ChoicesOf(const std::string& type) {
  if (type.find('|') == std::string::npos) {
    return {};
  }
  return CLI::detail::split(type, '|');
}

std::string FirstSentence(std::string text) {
  const size_t end = text.find_first_of(".\n:;");
  text = text.substr(0, end);
  std::erase_if(text, [](char c) { return c == '\'' || c == '[' || c == ']' || c == '"'; });
  return text;
}

void Collect(const CLI::App& app, const std::string& path, std::vector<Level>& levels) {
  Level level;
  level.path = path;
  const auto all_apps = [](const CLI::App*) { return true; };
  const auto all_options = [](const CLI::Option*) { return true; };
  for (const CLI::App* child : app.get_subcommands(all_apps)) {
    level.words.emplace_back(child->get_name(), FirstSentence(child->get_description()));
  }
  for (const CLI::Option* option : app.get_options(all_options)) {
    Level::Flag flag;
    for (const std::string& name : option->get_snames()) {
      flag.names.push_back("-" + name);
    }
    for (const std::string& name : option->get_lnames()) {
      flag.names.push_back("--" + name);
    }
    flag.takes_value = option->get_items_expected_max() > 0;
    flag.choices = ChoicesOf(option->get_type_name());
    flag.help = FirstSentence(option->get_description());
    if (!flag.names.empty()) {
      level.flags.push_back(std::move(flag));
    } else {
      for (const std::string& choice : flag.choices) {  // A positional with few values.
        level.words.emplace_back(choice, "");
      }
    }
  }
  levels.push_back(std::move(level));
  for (const CLI::App* child : app.get_subcommands(all_apps)) {
    Collect(*child, path.empty() ? child->get_name() : path + " " + child->get_name(), levels);
  }
}

std::string Joined(const std::vector<std::string>& words, const std::string& between) {
  return CLI::detail::join(words, between);
}

// A shell `case` that names, for each level, what `visit` makes of it.
template <typename Visit>
void Cases(std::ostream& out, const std::vector<Level>& levels, const Visit& visit) {
  for (const Level& level : levels) {
    out << "    '" << level.path << "')\n";
    visit(level);
    out << "      ;;\n";
  }
}

void BashValueCases(std::ostream& out, const std::vector<Level>& levels) {
  std::map<std::string, std::string> values;  // Option names mean the same at every level.
  for (const Level& level : levels) {
    for (const Level::Flag& flag : level.flags) {
      for (const std::string& name : flag.names) {
        if (flag.takes_value) {
          values[level.path + ":" + name] = Joined(flag.choices, " ");
        }
      }
    }
  }
  for (const auto& [name, choices] : values) {
    out << "    '" << name << "') ";
    if (choices.empty()) {
      out << "COMPREPLY=($(compgen -f -- \"$current\")); return ;;\n";
    } else {
      out << "COMPREPLY=($(compgen -W '" << choices << "' -- \"$current\")); return ;;\n";
    }
  }
}

void Bash(std::ostream& out, const std::vector<Level>& levels) {
  out << R"(# bash completion for caldera: source <(caldera completion bash)
_caldera() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} path='' word i
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    case "${path:+$path }$word" in
)";
  for (const Level& level : levels) {
    if (!level.path.empty()) {
      out << "      '" << level.path << "') path='" << level.path << "' ;;\n";
    }
  }
  out << "    esac\n  done\n  case \"$path:$previous\" in\n";
  BashValueCases(out, levels);
  out << "  esac\n  case \"$path\" in\n";
  Cases(out, levels, [&out](const Level& level) {
    std::vector<std::string> words;
    for (const auto& [word, help] : level.words) {
      words.push_back(word);
    }
    for (const Level::Flag& flag : level.flags) {
      words.insert(words.end(), flag.names.begin(), flag.names.end());
    }
    out << "      COMPREPLY=($(compgen -W '" << Joined(words, " ") << "' -- \"$current\"))\n";
  });
  out << "  esac\n}\ncomplete -o filenames -F _caldera caldera kubectl-caldera\n";
}

void Zsh(std::ostream& out, const std::vector<Level>& levels) {
  out << R"(#compdef caldera kubectl-caldera
# zsh completion for caldera: source <(caldera completion zsh)
_caldera() {
  local path='' word i
  for ((i = 2; i < CURRENT; i++)); do
    word=${words[i]}
    case "${path:+$path }$word" in
)";
  for (const Level& level : levels) {
    if (!level.path.empty()) {
      out << "      '" << level.path << "') path='" << level.path << "' ;;\n";
    }
  }
  out << "    esac\n  done\n  local -a subcommands flags\n  case \"$path\" in\n";
  Cases(out, levels, [&out](const Level& level) {
    out << "      subcommands=(";
    for (const auto& [word, help] : level.words) {
      out << " '" << word << (help.empty() ? "" : ":" + help) << "'";
    }
    out << " )\n      flags=(";
    for (const Level::Flag& flag : level.flags) {
      for (const std::string& name : flag.names) {
        out << " '" << name << "[" << flag.help << "]";
        if (flag.takes_value) {
          out << ":value:"
              << (flag.choices.empty() ? "_files" : "(" + Joined(flag.choices, " ") + ")");
        }
        out << "'";
      }
    }
    out << " )\n";
  });
  out << R"(  esac
  if [[ ${words[CURRENT]} != -* ]] && (( ${#subcommands} )); then
    _describe 'command' subcommands && return
  fi
  _arguments $flags '*:file:_files'
}
compdef _caldera caldera kubectl-caldera
)";
}

void Fish(std::ostream& out, const std::vector<Level>& levels) {
  out << "# fish completion for caldera: caldera completion fish | source\n";
  for (const Level& level : levels) {
    std::string when = "__fish_use_subcommand";
    if (!level.path.empty()) {
      when.clear();
      for (const std::string& word : CLI::detail::split(level.path, ' ')) {
        when += (when.empty() ? "" : "; and ") + ("__fish_seen_subcommand_from " + word);
      }
    }
    for (const auto& [word, help] : level.words) {
      out << "complete -c caldera -n '" << when << "' -f -a " << word << " -d '" << help << "'\n";
    }
    for (const Level::Flag& flag : level.flags) {
      out << "complete -c caldera -n '" << when << "'";
      for (const std::string& name : flag.names) {
        out << (name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1));
      }
      if (flag.takes_value) {
        out << (flag.choices.empty() ? " -r -F" : " -x -a '" + Joined(flag.choices, " ") + "'");
      }
      out << " -d '" << flag.help << "'\n";
    }
  }
}

}  // namespace

void AddVersionCommand(CLI::App& app) {
  CLI::App* command = app.add_subcommand("version", "Print the version and what it speaks");
  command->callback([] {
    std::cout << "caldera " << CALDERA_VERSION
              << "\ncontracts: caldera.plan/v1, caldera.validate/v1\n";
  });
}

void AddCompletionCommand(CLI::App& app) {
  CLI::App* command = app.add_subcommand("completion", "Print a completion script for a shell");
  command->footer(R"(Examples:
  source <(caldera completion bash)
  caldera completion zsh > "${fpath[1]}/_caldera"
  caldera completion fish | source)");
  auto shell = std::make_shared<std::string>();
  command->add_option("SHELL", *shell, "The shell")
      ->required()
      ->type_name("bash|zsh|fish")
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command->callback([&app, shell] {
    std::vector<Level> levels;
    Collect(app, "", levels);
    if (*shell == "bash") {
      Bash(std::cout, levels);
    } else if (*shell == "zsh") {
      Zsh(std::cout, levels);
    } else {
      Fish(std::cout, levels);
    }
  });
}

}  // namespace caldera
