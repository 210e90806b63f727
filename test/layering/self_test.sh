#!/bin/sh
# Proves that the layering check can fail: each rule is broken once in a tree of its own, and must
# be reported at that very place; a clean tree passes.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
failures=0

clean() {
  rm -rf "${tree:?}"/*
  mkdir -p "$tree/federation" "$tree/storage" "$tree/controller/cli" "$tree/controller/kube" "$tree/test"
  printf '#include <map>\n#include <tl/expected.hpp>\n#include "federation/a.h"\n' >"$tree/federation/a.cc"
  printf '#include <rapidjson/document.h>\n' >"$tree/federation/codec.cc"
  printf '#include <sqlite3.h>\n#include "federation/a.h"\n' >"$tree/storage/b.cc"
  printf '#include <CLI/CLI.hpp>\n#include "storage/b.h"\n#include "controller/kube/c.h"\n' >"$tree/controller/cli/main.cc"
  printf '#include <yaml-cpp/yaml.h>\n' >"$tree/controller/kube/c.cc"
  printf '#include <doctest/doctest.h>\n#include "controller/cli/main.h"\n' >"$tree/test/d_test.cc"
  printf '# Caldera\n' >"$tree/README.md"
}

# expect PLACE FILE LINE...: FILE with these lines must be reported at PLACE.
expect() {
  place=$1
  file=$2
  shift 2
  clean
  mkdir -p "$(dirname "$tree/$file")"
  printf '%s\n' "$@" >>"$tree/$file"
  out=$(sh "$here/check.sh" "$tree") && {
    echo "not reported: $file: $*"
    failures=$((failures + 1))
    return
  }
  case "$out" in
    "$place: "*) ;;
    *)
      echo "reported at another place than $place: $out"
      failures=$((failures + 1))
      ;;
  esac
}

clean
sh "$here/check.sh" "$tree" || { echo "a clean tree is refused"; failures=$((failures + 1)); }

expect federation/x.cc:1 federation/x.cc '#include "storage/b.h"'
expect federation/x.cc:2 federation/x.cc '#include <vector>' '#include "controller/kube/c.h"'
expect storage/x.cc:1 storage/x.cc '#include "controller/cli/main.h"'
expect controller/cli/x.cc:1 controller/cli/x.cc '#include "test/d.h"'
expect controller/cli/x.cc:1 controller/cli/x.cc '#include "x.h"'
expect federation/x.cc:1 federation/x.cc '#include <rapidjson/document.h>'
expect federation/x.h:1 federation/x.h '#  include <sqlite3.h>'
expect federation/x.cc:1 federation/x.cc '#include <yaml-cpp/yaml.h>'
expect federation/x.cc:1 federation/x.cc '#include <fmt/format.h>'
expect storage/x.cc:1 storage/x.cc '#include <CLI/CLI.hpp>'
expect storage/x.cc:1 storage/x.cc '#include <openssl/evp.h>'
expect controller/cli/x.cc:1 controller/cli/x.cc '#include <yaml-cpp/yaml.h>'
expect controller/cli/x.cc:1 controller/cli/x.cc '#include <sqlite3.h>'
expect controller/kube/x.cc:1 controller/kube/x.cc '#include <nlohmann/json.hpp>'
expect federation/x.cc:1 federation/x.cc '#include <unistd.h>'
expect federation/x.cc:1 federation/x.cc '#include <fstream>'
expect storage/x.cc:1 storage/x.cc '#include <thread>'
expect federation/x.cc:1 federation/x.cc 'std::unordered_map<int, int> m;'
expect storage/x.h:1 storage/x.h 'std::unordered_set<int> s;'
expect federation/x.cc:1 federation/x.cc 'auto t = std::chrono::system_clock::now();'
expect storage/x.cc:2 storage/x.cc '// time(' 'auto t = time(nullptr);'
expect federation/x.cc:1 federation/x.cc 'double share = 0;'
expect test/long.cc:501 test/long.cc "$(awk 'BEGIN { for (i = 1; i <= 501; i++) print "// line" }')"

clean
mkdir "$tree/util"
sh "$here/check.sh" "$tree" >/dev/null && { echo "a room util/ is not reported"; failures=$((failures + 1)); }

[ "$failures" -eq 0 ] || exit 1
echo "layering: every rule can fail"
