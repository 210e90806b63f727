#!/bin/sh
# examples/quickstart/demo.sh FOLDER: Caldera live, on one page. FOLDER has the programs just built.
# A Karmada API and four members run in one process on loopback; the controller is the real one.
set -eu
build=$(cd "$1" && pwd)
cd "$(dirname "$0")/../.."
COLUMNS=${COLUMNS:-120}
export COLUMNS
caldera=$build/caldera
sandbox=$build/test/caldera-sandbox
work=$(mktemp -d)
KUBECONFIG=$work/karmada.kubeconfig
CALDERA_LEDGER=$work/ledger.db
export KUBECONFIG CALDERA_LEDGER
pids=
stop() {
  for pid in $pids; do kill "$pid" 2>/dev/null || :; done
  wait
  rm -rf "$work"
}
trap stop EXIT
trap 'exit 1' INT TERM

# What is typed, then what comes.
run() {
  printf '\n$ caldera'
  for word; do
    case $word in *' '*) printf ' "%s"' "$word" ;; *) printf ' %s' "$word" ;; esac
  done
  printf '\n'
  "$caldera" "$@"
}

# until_true SECONDS COMMAND: waits for it to succeed, so long at most.
until_true() {
  end=$(($(date +%s) + $1))
  shift
  while ! "$@" >/dev/null 2>&1; do
    if [ "$(date +%s)" -ge $end ]; then
      echo "demo: waited in vain for: $*" >&2
      jobs >&2 || :
      cat "$work"/*.log >&2
      exit 1
    fi
    sleep 0.1
  done
}
# One value of the ledger.
ask() { "$caldera" ledger sql "$1" -o csv 2>/dev/null | tr -d '\r' | tail -1; }
jobs() { "$sandbox" get jobs; }
started() { [ "$(jobs | grep -cE ' (Running|Completed) ')" -ge "$1" ]; }
finished() { [ "$(ask "SELECT count(*) FROM jobs WHERE state = 'finished'")" -ge "$1" ]; }

echo "1. A Karmada API with the clusters frankfurt, dublin, oregon and tokyo, and the controller."
"$sandbox" --dir "$work" --fleet examples/quickstart/clusters.yaml --duration 8s \
  --ready-file "$work/ready" >"$work/sandbox.log" 2>&1 &
pids=$!
until_true 30 test -s "$work/ready"
"$build/caldera-controller" --kubeconfig "$KUBECONFIG" --ledger "$CALDERA_LEDGER" \
  --set listen.port=0 --set leader.enabled=false --set members.view=nodes \
  >"$work/controller.log" 2>&1 &
pids="$pids $!"

echo
echo "2. Three teams bring their Queues, quotas and Volcano Jobs, unchanged, at once."
cd examples/quickstart
"$sandbox" apply --create-namespaces -f queues.yaml tenants.yaml jobs-*.yaml | awk -F/ '
  { count[$1]++; if (!($1 in seen)) { seen[$1] = 1; order[++n] = $1 } }
  END { for (i = 1; i <= n; i++) printf "%s%d %s", (i > 1 ? ", " : ""), count[order[i]], order[i]
        print " created" }'
until_true 30 started 6
printf '\n$ kubectl get jobs.batch.volcano.sh --all-namespaces\n'
jobs

echo
echo "3. Who runs where; and what every queue deserves and holds."
run ledger sql "SELECT s.cluster, s.tenant, j.name AS job, s.queue, s.min_available FROM shards s JOIN jobs j ON j.id = s.job WHERE s.until IS NULL ORDER BY 1, 2, 3"
run ledger queues

echo
echo "4. Why does a job wait?"
waiting=$(ask "SELECT namespace || '/' || name FROM jobs WHERE state = 'pending'
  ORDER BY verdict = 'QueueCapability' DESC, verdict = 'TenantQuota' DESC, verdict = 'Held' LIMIT 1")
run ledger explain "$waiting"

echo
echo "5. What runs ends, room frees, and those that waited go."
until_true 60 finished 11
printf '\n$ kubectl get jobs.batch.volcano.sh --all-namespaces\n'
jobs

echo
echo "6. Every decision is in the ledger, with its reason; each cycle can be planned again."
run ledger sql "SELECT i.cycle, i.action, j.namespace || '/' || j.name AS job, i.reason FROM intents i JOIN jobs j ON j.id = i.job ORDER BY i.number"
run ledger usage --by tenant --window 5m
run ledger check
