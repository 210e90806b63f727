#!/bin/sh
# examples/quickstart/tour.sh PROGRAM: one page that shows what Caldera does, without a cluster.
set -eu
caldera=$1
cd "$(dirname "$0")/../.."
case "$caldera" in /*) ;; *) caldera=$PWD/$caldera ;; esac
COLUMNS=${COLUMNS:-120}
export COLUMNS
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
at=2026-12-01T08:00:00Z

# What is typed, then what comes; `caldera` stands for the program just built.
run() {
  printf '\n$ caldera'
  printf ' %s' "$@" | sed "s|$work/||g"
  printf '\n'
  "$caldera" "$@" || [ $? -eq 1 ]
}

echo "1. A manifest is checked as the cluster's admission would check it."
run validate -f examples/mistakes
run validate -f examples/quickstart
echo
echo "2. Who runs where, and why the others wait. The plan goes into a ledger."
run plan -f examples/quickstart --at $at --ledger "$work/federation.db"
echo
echo "3. What would let one of them run?"
run plan -f examples/quickstart --at $at --ledger "$work/federation.db" --explain language/evaluate |
  awk '/^\$/ || /^WHY/ { show = 1 } /^(REFUSED|WARNINGS|Plan at)/ { show = 0 } show'
echo
echo "4. The ledger can be asked later."
run ledger explain vision/detect --ledger "$work/federation.db"
run ledger sql "SELECT tenant, cluster, resource, amount FROM balances WHERE resource LIKE '%gpu'" \
  --ledger "$work/federation.db"
run ledger replay 1 --ledger "$work/federation.db"
