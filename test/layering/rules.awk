# Rules over source files, one breach a line. Which room may include what: DESIGN's table, kept in
# BEGIN below and explained in ARCHITECTURE.md.
function breach(text) { print FILENAME ":" FNR ": " text }

function room_of(path) { return substr(path, 1, index(path, "/") - 1) }

# May a file of `path` include the project header `header`?
function check_own(path, header,   from, to) {
  from = room_of(path)
  to = room_of(header)
  if (from == "test") return
  if (to == "test") breach("production code includes test/: " header)
  else if (rank[to] > rank[from]) breach(from "/ must not include " to "/: " header)
}

# May it include the foreign header `header`?
function check_foreign(path, header,   library, i) {
  if (room_of(path) == "test") return
  if (header !~ /[\/.]/) return                     # <vector>: the standard library
  for (library in prefix) {
    if (index(header, prefix[library]) == 1) {
      if (match(path, allowed[library]) != 1) breach(library " is not for this file: <" header ">")
      return
    }
  }
  if (header ~ /^(assert|errno|limits|math|signal|stdint|stdio|stdlib|string|time)\.h$/)
    breach("use the C++ header of <" header ">")
  else if (path ~ /^controller\// && header ~ /^(unistd|fcntl|sys\/[a-z]+)\.h$/) return
  else if (path ~ /^storage\// && header ~ /^(unistd|fcntl|sys\/(file|stat|types))\.h$/) return
  else breach("a library that no room may include: <" header ">")
}

BEGIN {
  rank["federation"] = 1; rank["storage"] = 2; rank["controller"] = 3
  prefix["tl/expected"] = "tl/expected.hpp"; allowed["tl/expected"] = "(federation|storage|controller)/"
  prefix["RE2"] = "re2/";             allowed["RE2"] = "(federation|controller)/"
  prefix["RapidJSON"] = "rapidjson/"; allowed["RapidJSON"] = "(federation/codec[a-z_]*[.](cc|h)|controller/)"
  prefix["OpenSSL"] = "openssl/";     allowed["OpenSSL"] = "(federation/(codec|digest)[a-z_]*[.]cc|controller/)"
  prefix["SQLite"] = "sqlite3.h";     allowed["SQLite"] = "storage/"
  prefix["yaml-cpp"] = "yaml-cpp/";   allowed["yaml-cpp"] = "controller/kube/"
  prefix["CLI11"] = "CLI/";           allowed["CLI11"] = "controller/(cli|run)/"
  prefix["fmt"] = "fmt/";             allowed["fmt"] = "controller/"
  prefix["spdlog"] = "spdlog/";       allowed["spdlog"] = "controller/run/"
  prefix["cpprestsdk"] = "cpprest/";  allowed["cpprestsdk"] = "controller/kube/rest_transport[.]cc"
  prefix["pplx"] = "pplx/";           allowed["pplx"] = "controller/kube/rest_transport[.]cc"
  prefix["Boost"] = "boost/";         allowed["Boost"] = "controller/(run|kube)/"
  prefix["prometheus-cpp"] = "prometheus/"; allowed["prometheus-cpp"] = "controller/run/"
  # Federation and storage decide and record: the same bytes on every machine and at any hour.
  pure_words["unordered_"] = "no hash order reaches an output: use std::map or a sorted vector"
  pure_words["system_clock"] = "no clock here: times come in as values"
  pure_words["steady_clock"] = "no clock here: times come in as values"
  pure_words["high_resolution_clock"] = "no clock here: times come in as values"
  pure_words["random_device"] = "no randomness here"
  pure_words["std::thread"] = "no threads here"
  pure_words["std::jthread"] = "no threads here"
  pure_words["std::async"] = "no threads here"
  federation_words["std::ifstream"] = "no disk here"
  federation_words["std::ofstream"] = "no disk here"
  federation_words["std::filesystem"] = "no disk here"
  federation_words["double"] = "no floating point here: integers are the same everywhere"
  federation_words["float"] = "no floating point here: integers are the same everywhere"
  max_lines = 500
}

FNR == 1 && last_file != "" && last_lines > max_lines {
  print last_file ":" last_lines ": longer than " max_lines " lines: it has two jobs"
}
FILENAME != "" { last_file = FILENAME; last_lines = FNR }
END {
  if (last_lines > max_lines) print last_file ":" last_lines ": longer than " max_lines " lines: it has two jobs"
}

/^[ \t]*#[ \t]*include[ \t]*"/ {
  header = $0
  sub(/^[^"]*"/, "", header)
  sub(/".*$/, "", header)
  if (header ~ /^(federation|storage|controller|test)\//) check_own(FILENAME, header)
  else breach("includes of ours start at the top level: \"" header "\"")
  next
}
/^[ \t]*#[ \t]*include[ \t]*</ {
  header = $0
  sub(/^[^<]*</, "", header)
  sub(/>.*$/, "", header)
  check_foreign(FILENAME, header)
  if (FILENAME ~ /^(federation|storage)\// && header ~ /^(thread|future|random|ctime)$/)
    breach("<" header "> is not for " room_of(FILENAME) "/: no clock, thread or randomness there")
  if (FILENAME ~ /^federation\// && header ~ /^(fstream|filesystem)$/)
    breach("<" header "> is not for federation/: no disk there")
  next
}

FILENAME ~ /^(federation|storage)\// {
  code = $0
  gsub(/"([^"\\]|\\.)*"/, "\"\"", code)
  sub(/\/\/.*$/, "", code)
  for (word in pure_words)
    if (index(code, word)) breach(word ": " pure_words[word])
  if (code ~ /(^|[^A-Za-z0-9_])(time|gettimeofday|clock_gettime|rand|srand)\(/) breach("no clock and no randomness here")
  if (FILENAME ~ /^federation\//)
    for (word in federation_words)
      if (code ~ ("(^|[^A-Za-z0-9_])" word "([^A-Za-z0-9_]|$)")) breach(word ": " federation_words[word])
}
