#!/bin/sh
# bench.sh [--smoke] BUILD OUT.json: every benchmark, one after another, into OUT.json; --smoke takes
# a small part of the jobs, to prove that they work, and measures nothing of worth. Fails where a
# program fails, planning 20,000 jobs takes more than 1.5 GB or listing 100,000 more than 700 MiB.
set -eu
jobs=20000 queues=200 clusters=100 listed=100000 limit_mb=1430 scale=1 runs=5 smoke=
if [ "$1" = --smoke ]; then
  jobs=200 queues=20 clusters=10 listed=1000 scale=200 runs=1 smoke=--smoke
  shift
fi
build=$1 out=$2
programs=$build/test/bench
folder=$(mktemp -d "$build/bench.XXXXXX")
trap 'rm -rf "$folder"' EXIT
rm -f "$out"

"$programs/bench_generate" "$folder/plan" "$jobs" "$queues" "$clusters"
echo "plan: $jobs jobs, $queues queues, $clusters clusters, $(du -sk "$folder/plan" | cut -f1) KiB of YAML"
"$programs/bench_run" "$out" plan "$limit_mb" "$build/caldera" plan -f "$folder/plan" \
  --at 2026-12-02T00:00:00Z -o json

echo "the live controller comes up on listed Jobs"
"$programs/bench_list" "$out" "$folder/list" "$listed" 700

echo "the decision in memory"
"$programs/bench_core" "$out" $smoke
echo "the ledger on disk"
"$programs/bench_ledger" "$out" "$folder/ledger" $smoke

for name in simulate_100k b1_kueue b4_armada b5_armada b8_blocked; do
  echo "caldera simulate: $name"
  "$programs/bench_scenarios" "$name" "$folder/$name" "$scale"
  "$programs/bench_run" "$out" simulate "$name" "$runs" "$build/caldera" "$folder/$name"
  runs=1 # The others are about the schedule.
done
