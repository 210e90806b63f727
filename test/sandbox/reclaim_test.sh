#!/bin/sh
# test/sandbox/reclaim_test.sh FOLDER: reclaim live. Queue `late` deserves half of what queue `early`
# has borrowed: one Job of `early` is evicted for it, waits in its place, and runs to its end later.
# FOLDER has the programs.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
servers=karmada
. "$here/live.sh"
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
start_sandbox "$work/fleet.yaml"
apply "$work/queues.yaml"
start_controller --set sharing.minRuntime=1s --set timing.releaseMargin=0s \
  --set timing.summaryPeriod=2s
job first early 40
job second early 40
until_true shows karmada jobs 'first.*Running'
until_true shows karmada jobs 'second.*Running'
sleep 1
job claims late 5
until_true shows karmada jobs 'claims.*Running'
shows karmada jobs '(first|second).*Running' || fail "both jobs of queue early went"
shows karmada jobs '(first|second).*Pending' || fail "no job of queue early waits"
until_true shows karmada jobs 'claims.*Completed'
until_true shows karmada jobs 'first.*Running'
until_true shows karmada jobs 'second.*Running'
