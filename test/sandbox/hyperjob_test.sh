#!/bin/sh
# test/sandbox/hyperjob_test.sh FOLDER: examples/hyperjob live. Four Jobs in three clusters are one
# HyperJob at the Karmada API, which has completed when all of them have. FOLDER has the programs.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
example=$(cd "$here/../../examples/hyperjob" && pwd)
servers="karmada member-east member-north member-south"
. "$here/live.sh"
# in_state NAME STATE: so is that Job in the member that has it.
in_state() { shows member-east jobs "$1.*$2" || shows member-north jobs "$1.*$2" || shows member-south jobs "$1.*$2"; }

start_sandbox "$example/clusters.yaml"
apply "$example/queue.yaml"
start_controller
apply "$example/hyperjob.yaml"
until_true shows member-south jobs 'sweep-reader-0.*Running'
until_true shows member-south jobs 'sweep-reader-1.*Running'
until_true in_state sweep-trainer-0 Running
until_true in_state sweep-trainer-1 Running
[ "$("$sandbox" get works --kubeconfig "$work/karmada.kubeconfig" | grep -c -- '-\(reader\|trainer\)-')" -eq 4 ] ||
  fail "a HyperJob of four Jobs has another number of Works"
until_true shows karmada events 'Completed.*hyperjob/sweep'
in_state sweep-trainer-1 Completed || fail "the HyperJob has ended before its Jobs"
