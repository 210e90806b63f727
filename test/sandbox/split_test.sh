#!/bin/sh
# test/sandbox/split_test.sh FOLDER: examples/split live. The Job is larger than each cluster of the
# sandbox: it runs as shards in both, which start together, and is one Job at the Karmada API. FOLDER
# has the programs.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
example=$(cd "$here/../../examples/split" && pwd)
servers="karmada member-north member-south"
. "$here/live.sh"
# pods SERVER COUNT: so many pods of the job run there.
pods() { [ "$("$sandbox" get pods --kubeconfig "$work/$1.kubeconfig" | grep -c 'fit-worker.*Running')" -eq "$2" ]; }

start_sandbox "$example/clusters.yaml"
cat >"$work/config.yaml" <<'END'
{apiVersion: v1, kind: ConfigMap, metadata: {name: fit, namespace: lab}, data: {fit.py: ""}}
END
apply "$example/queue.yaml" "$work/config.yaml"
start_controller
apply "$example/job.yaml"
until_true shows karmada jobs 'fit.*Running'
until_true pods member-north 4
until_true pods member-south 2
until_true shows karmada jobs 'fit.*Completed'
