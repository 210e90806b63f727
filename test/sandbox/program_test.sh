#!/bin/sh
# test/sandbox/program_test.sh PROGRAM: caldera-sandbox as a shell sees it. A Work that is applied at
# its Karmada API runs to its end in a member and says so; `act` goes on where a server has nobody
# who acts; a signal ends it within two seconds.
set -eu
sandbox=$1
work=$(mktemp -d)
pid=
stop() {
  [ -z "$pid" ] || kill "$pid" 2>/dev/null || :
  rm -rf "$work"
}
trap stop EXIT
fail() {
  echo "program_test: $*" >&2
  cat "$work"/*.log >&2
  exit 1
}
# until_true COMMAND: waits for it to succeed, half a minute at most.
until_true() {
  tenths=300
  while ! "$@" >/dev/null 2>&1; do
    tenths=$((tenths - 1))
    [ $tenths -gt 0 ] || fail "waited in vain for: $*"
    sleep 0.1
  done
}
# shows KUBECONFIG KIND PATTERN
shows() { "$sandbox" get "$2" --kubeconfig "$work/$1.kubeconfig" | grep -Eq "$3"; }

cat >"$work/work.yaml" <<'END'
apiVersion: work.karmada.io/v1alpha1
kind: Work
metadata: {name: train, namespace: karmada-es-m1}
spec:
  workload:
    manifests:
      - apiVersion: batch.volcano.sh/v1alpha1
        kind: Job
        metadata:
          name: train
          namespace: team-a
          labels: {karmada.io/managed: "true"}
          annotations:
            work.karmada.io/namespace: karmada-es-m1
            work.karmada.io/name: train
            sandbox.caldera.sh/duration: 1s
        spec:
          schedulerName: volcano
          tasks:
            - name: w
              replicas: 2
              template:
                spec:
                  restartPolicy: Never
                  containers:
                    - {name: c, image: x, resources: {requests: {cpu: "1"}}}
END
cat >"$work/namespace.yaml" <<'END'
{apiVersion: v1, kind: Namespace, metadata: {name: team-a}}
END

"$sandbox" --dir "$work" --members m1,m2 --ready-file "$work/ready" >"$work/serve.log" 2>&1 &
pid=$!
until_true test -s "$work/ready"
[ "$(cat "$work/ready")" = "$work/karmada.kubeconfig" ] || fail "the ready file names no kubeconfig"
grep -qx "export KUBECONFIG=$work/karmada.kubeconfig" "$work/serve.log" || fail "no export line"
until_true shows karmada clusters '^m1 .* True '
until_true "$sandbox" apply -f "$work/namespace.yaml" -f "$work/work.yaml" \
  --kubeconfig "$work/karmada.kubeconfig"
until_true shows member-m1 jobs '^team-a +train +Completed '
until_true shows karmada works '^karmada-es-m1 +train +.*True '
shows member-m2 jobs train && fail "m2 has a Job that is not its own"
"$sandbox" apply -f "$work/work.yaml" --kubeconfig "$work/karmada.kubeconfig" |
  grep -qx 'work/karmada-es-m1/train configured' || fail "a second apply does not configure"

"$sandbox" get nothing --kubeconfig "$work/karmada.kubeconfig" 2>"$work/get.log" &&
  fail "a kind that is not there is listed"
grep -q "no kind named 'nothing'" "$work/get.log" || fail "get does not say what is wrong"
"$sandbox" --fleet "$work/work.yaml" --dir "$work" 2>"$work/fleet.log" && fail "a Work is a fleet"
grep -q 'a fleet has Cluster, Node, HyperNode and Pod' "$work/fleet.log" || fail "no word on fleets"
"$sandbox" --duration soon --dir "$work" 2>"$work/flag.log" && fail "--duration takes anything"
grep -q "must be a duration such as 5s" "$work/flag.log" || fail "no word on durations"

"$sandbox" act --kubeconfig "$work/karmada.kubeconfig" --no-life \
  --member "m1=$work/member-m1.kubeconfig" >"$work/act.log" 2>&1 &
act=$!
until_true grep -qx acting "$work/act.log"
for process in "$act" "$pid"; do
  kill "$process"
  tenths=20
  while kill -0 "$process" 2>/dev/null; do
    tenths=$((tenths - 1))
    [ $tenths -gt 0 ] || fail "a signal does not end it in two seconds"
    sleep 0.1
  done
  wait "$process" || fail "exit code $? after a signal"
done
pid=
