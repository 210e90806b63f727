#!/bin/sh
# examples/quickstart/sandbox.sh FOLDER: the clusters of this folder as a sandbox, with the
# controller, until Ctrl-C. FOLDER has the programs just built.
set -eu
build=$(cd "$1" && pwd)
cd "$(dirname "$0")/../.."
dir=$PWD/build/sandbox
rm -rf "$dir"
mkdir -p "$dir"
pids=
stop() {
  for pid in $pids; do kill "$pid" 2>/dev/null || :; done
  wait
}
trap stop EXIT
trap 'exit 0' INT TERM

"$build/test/caldera-sandbox" --dir "$dir" --fleet examples/quickstart/clusters.yaml \
  --duration 30s --ready-file "$dir/ready" >"$dir/sandbox.log" 2>&1 &
pids=$!
while ! [ -s "$dir/ready" ]; do
  kill -0 "$pids" || { cat "$dir/sandbox.log"; exit 1; }
  sleep 0.1
done
"$build/caldera-controller" --kubeconfig "$dir/karmada.kubeconfig" --ledger "$dir/ledger.db" \
  --set listen.port=0 --set leader.enabled=false --set members.view=nodes \
  >"$dir/controller.log" 2>&1 &
pids="$pids $!"
cat <<END
A Karmada API with the clusters frankfurt, dublin, oregon and tokyo, and caldera-controller.
In another shell:

  export KUBECONFIG=$dir/karmada.kubeconfig CALDERA_LEDGER=$dir/ledger.db
  cd examples/quickstart
  $build/test/caldera-sandbox apply --create-namespaces -f queues.yaml tenants.yaml jobs-*.yaml
  kubectl get vcjob -A                       # a member's pods: --kubeconfig $dir/member-oregon.kubeconfig
  kubectl -n vision describe vcjob detect    # why it waits
  $build/caldera ledger queues

Logs: $dir/*.log. Pods run for 30s, or as annotation sandbox.caldera.sh/duration says. Ctrl-C ends it.
END
wait
