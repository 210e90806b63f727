#!/bin/sh
# bench.sh [--smoke] BUILD OUT.json: plans a folder with 20,000 Jobs, 200 queues and 100 clusters and
# measures it; --smoke takes a hundredth of that. Fails above 1.5 GB.
set -eu
jobs=20000 queues=200 clusters=100 limit_mb=1430
if [ "$1" = --smoke ]; then
  jobs=200 queues=20 clusters=10
  shift
fi
build=$1 out=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$build/test/bench/bench_generate" "$folder" "$jobs" "$queues" "$clusters"
echo "plan: $jobs jobs, $queues queues, $clusters clusters, $(du -sk "$folder" | cut -f1) KiB of YAML"
"$build/test/bench/bench_run" "$out" "$limit_mb" "$build/caldera" plan -f "$folder" \
  --at 2026-12-02T00:00:00Z -o json --timings
