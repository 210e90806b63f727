#!/bin/sh
# test/layering/check.sh ROOT: the rules that keep the rooms apart (ARCHITECTURE.md, "Rooms"), over
# the tree at ROOT. Prints each breach as FILE:LINE: what is wrong; exit 1 where there is one.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cd "$1"

# Top level: the rooms and nothing else. Other entries are root documents and dot files.
strangers() {
  find . -mindepth 1 -maxdepth 1 ! -name '.*' | LC_ALL=C sort | while read -r entry; do
    case "${entry#./}" in
      controller | federation | storage | manifests | test | examples | build) ;;
      CMakeLists.txt | CMakePresets.json | Makefile | LICENSE | *.md) ;;
      *) echo "${entry#./}:1: the top level has the given rooms only" ;;
    esac
  done
}

sources() {
  find controller federation storage test \( -name '*.cc' -o -name '*.h' \) -type f 2>/dev/null |
    LC_ALL=C sort
}

report=$(
  strangers
  # shellcheck disable=SC2046 # no source file has a space in its name: checked here first
  if sources | grep -q ' '; then
    sources | grep ' ' | sed 's/$/:1: a space in a file name/'
  else
    LC_ALL=C awk -f "$here/rules.awk" $(sources) /dev/null
  fi
)
[ -z "$report" ] || {
  printf '%s\n' "$report"
  exit 1
}
