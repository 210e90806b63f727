#!/bin/sh
# test/sandbox/reclaim_test.sh FOLDER: reclaim live. Queue `late` deserves half of what queue `early`
# has borrowed: one Job of `early` is evicted for it, waits in its place, and runs to its end later.
# FOLDER has the programs.
set -eu
sandbox=$1/test/caldera-sandbox
controller=$1/caldera-controller
work=$(mktemp -d)
pids=
stop() {
  for pid in $pids; do kill "$pid" 2>/dev/null || :; done
  wait
  rm -rf "$work"
}
trap stop EXIT
fail() {
  echo "reclaim_test: $*" >&2
  for kind in jobs works events; do
    "$sandbox" get $kind --kubeconfig "$work/karmada.kubeconfig" >&2 || :
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
# shows KIND PATTERN
shows() { "$sandbox" get "$1" --kubeconfig "$work/karmada.kubeconfig" | grep -Eq "$2"; }
apply() { "$sandbox" apply --kubeconfig "$work/karmada.kubeconfig" --create-namespaces -f "$@" >>"$work/apply.log" 2>&1; }
# job NAME QUEUE SECONDS
job() {
  cat >"$work/$1.yaml" <<JOB
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: $1, namespace: lab}
spec:
  queue: $2
  tasks:
    - name: worker
      replicas: 2
      template:
        metadata: {annotations: {sandbox.caldera.sh/duration: $3s}}
        spec:
          restartPolicy: Never
          terminationGracePeriodSeconds: 0
          containers: [{name: main, image: example.com/train, resources: {requests: {cpu: "2"}}}]
JOB
  apply "$work/$1.yaml"
}

cat >"$work/fleet.yaml" <<'END2'
apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: north}
spec: {syncMode: Push}
status:
  conditions:
    - {type: Ready, status: "True", reason: ClusterReady, lastTransitionTime: "2026-11-01T00:00:00Z"}
  resourceSummary:
    allocatable: {cpu: "8", memory: 32Gi, pods: "110"}
END2
cat >"$work/queues.yaml" <<'END2'
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: early}
spec: {weight: 1}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: late}
spec: {weight: 1}
END2
"$sandbox" --dir "$work" --fleet "$work/fleet.yaml" --duration 8s \
  --ready-file "$work/ready" >"$work/sandbox.log" 2>&1 &
pids=$!
until_true test -s "$work/ready"
apply "$work/queues.yaml"
"$controller" --kubeconfig "$work/karmada.kubeconfig" --ledger "$work/ledger.db" \
  --set listen.port=0 --set leader.enabled=false --set sharing.minRuntime=1s \
  --set timing.releaseMargin=0s --set timing.summaryPeriod=2s >"$work/controller.log" 2>&1 &
pids="$pids $!"
job first early 40
job second early 40
until_true shows jobs 'first.*Running'
until_true shows jobs 'second.*Running'
sleep 1
job claims late 5
until_true shows jobs 'claims.*Running'
shows jobs '(first|second).*Running' || fail "both jobs of queue early went"
shows jobs '(first|second).*Pending' || fail "no job of queue early waits"
until_true shows jobs 'claims.*Completed'
until_true shows jobs 'first.*Running'
until_true shows jobs 'second.*Running'
