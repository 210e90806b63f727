#!/bin/sh
# bench.sh [--smoke|--gate] BUILD OUT.json: every benchmark, one after another, into OUT.json, and
# the limits of limits.txt beside what they say. --smoke takes a small part of the jobs, to prove
# that they work, and measures nothing of worth. --gate runs only what has a limit, and fails above
# one. Fails always where a program fails, planning 20,000 jobs takes more than 1.5 GB or listing
# 100,000 more than 700 MiB.
set -eu
usage() {
  sed -n '2,6s/^# //p' "$0" >&2
  exit 2
}
jobs=20000 queues=200 clusters=100 listed=100000 limit_mb=1430 scale=1 runs=5 smoke='' mode=all
case ${1-} in
  --smoke)
    jobs=200 queues=20 clusters=10 listed=1000 scale=200 runs=1 smoke=--smoke mode=smoke
    shift
    ;;
  --gate)
    mode=gate
    shift
    ;;
  -*) usage ;;
esac
[ $# -eq 2 ] || usage
build=$1 out=$2 here=$(dirname "$0")
programs=$build/test/bench
BENCH_COMMIT=$(git -C "$here" describe --always --dirty --abbrev=12 2>/dev/null || echo unknown)
export BENCH_COMMIT
folder=$(mktemp -d "$build/bench.XXXXXX")
trap 'rm -rf "$folder"' EXIT
rm -f "$out"

simulate() {
  echo "caldera simulate: $1"
  "$programs/bench_scenarios" "$1" "$folder/$1" "$scale"
  "$programs/bench_run" "$out" simulate "$1" "$2" "$build/caldera" "$folder/$1"
}

echo "the decision in memory"
"$programs/bench_core" "$out" $smoke
echo "the ledger on disk"
"$programs/bench_ledger" "$out" "$folder/ledger" $smoke
simulate simulate_100k "$runs"
if [ "$mode" = gate ]; then
  "$programs/bench_gate" "$here/limits.txt" "$out"
  exit
fi

"$programs/bench_generate" "$folder/plan" "$jobs" "$queues" "$clusters"
echo "plan: $jobs jobs, $queues queues, $clusters clusters, $(du -sk "$folder/plan" | cut -f1) KiB of YAML"
"$programs/bench_run" "$out" plan "$limit_mb" "$build/caldera" plan -f "$folder/plan" \
  --at 2026-12-02T00:00:00Z -o json

echo "the live controller comes up on listed Jobs"
"$programs/bench_list" "$out" "$folder/list" "$listed" 700

for name in b1_kueue b4_armada b5_armada b8_blocked; do
  simulate "$name" 1 # These are about the schedule.
done

# Beyond a limit it says so; broken (2), it fails. What a small run says of limits is noise.
[ "$mode" = all ] || exec >/dev/null
"$programs/bench_gate" "$here/limits.txt" "$out" || [ $? -eq 1 ]
