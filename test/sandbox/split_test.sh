#!/bin/sh
# test/sandbox/split_test.sh FOLDER: examples/split live. The Job is larger than each cluster of the
# sandbox: it runs as shards in both, which start together, and is one Job at the Karmada API. FOLDER
# has the programs.
set -eu
sandbox=$1/test/caldera-sandbox
controller=$1/caldera-controller
example=$(cd "$(dirname "$0")/../../examples/split" && pwd)
work=$(mktemp -d)
pids=
stop() {
  for pid in $pids; do kill "$pid" 2>/dev/null || :; done
  wait
  rm -rf "$work"
}
trap stop EXIT
fail() {
  echo "split_test: $*" >&2
  for server in karmada member-north member-south; do
    for kind in jobs works pods; do
      "$sandbox" get $kind --kubeconfig "$work/$server.kubeconfig" >&2 || :
    done
  done
  cat "$work"/*.log >&2
  exit 1
}
# until_true COMMAND: waits for it to succeed, a minute at most.
until_true() {
  end=$(($(date +%s) + 60))
  while ! "$@" >/dev/null 2>&1; do
    [ "$(date +%s)" -lt $end ] || fail "waited in vain for: $*"
    sleep 0.1
  done
}
# shows SERVER KIND PATTERN
shows() { "$sandbox" get "$2" --kubeconfig "$work/$1.kubeconfig" | grep -Eq "$3"; }
# pods SERVER COUNT: so many pods of the job run there.
pods() { [ "$("$sandbox" get pods --kubeconfig "$work/$1.kubeconfig" | grep -c 'fit-worker.*Running')" -eq "$2" ]; }
apply() { "$sandbox" apply --kubeconfig "$work/karmada.kubeconfig" --create-namespaces -f "$@" >>"$work/apply.log" 2>&1; }

"$sandbox" --dir "$work" --fleet "$example/clusters.yaml" --duration 8s \
  --ready-file "$work/ready" >"$work/sandbox.log" 2>&1 &
pids=$!
until_true test -s "$work/ready"
cat >"$work/config.yaml" <<'END'
{apiVersion: v1, kind: ConfigMap, metadata: {name: fit, namespace: lab}, data: {fit.py: ""}}
END
apply "$example/queue.yaml" "$work/config.yaml"
"$controller" --kubeconfig "$work/karmada.kubeconfig" --ledger "$work/ledger.db" \
  --set listen.port=0 --set leader.enabled=false >"$work/controller.log" 2>&1 &
pids="$pids $!"
apply "$example/job.yaml"
until_true shows karmada jobs 'fit.*Running'
until_true pods member-north 4
until_true pods member-south 2
until_true shows karmada jobs 'fit.*Completed'
