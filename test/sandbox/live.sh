# Sourced by the tests that run the real controller in a sandbox, with $1, the folder of the
# programs, and `servers`, those that a failure shows. Not a program of its own.
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
  echo "$0: $*" >&2
  for server in $servers; do
    for kind in jobs works pods events; do
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
apply() { "$sandbox" apply --kubeconfig "$work/karmada.kubeconfig" --create-namespaces -f "$@" >>"$work/apply.log" 2>&1; }
# start_sandbox FLEET
start_sandbox() {
  "$sandbox" --dir "$work" --fleet "$1" --duration 8s \
    --ready-file "$work/ready" >"$work/sandbox.log" 2>&1 &
  pids="$pids $!"
  until_true test -s "$work/ready"
}
# start_controller [--set KEY=VALUE...]
start_controller() {
  "$controller" --kubeconfig "$work/karmada.kubeconfig" --ledger "$work/ledger.db" \
    --set listen.port=0 --set leader.enabled=false "$@" >"$work/controller.log" 2>&1 &
  pids="$pids $!"
}
