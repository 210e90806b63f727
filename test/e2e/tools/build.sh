#!/bin/sh
# tools/build.sh FOLDER: builds etcd, kube-apiserver, kube-controller-manager, kubectl and kwok into
# FOLDER, at the versions of the go.mod files beside this. What is there already stays. From nothing
# it takes half an hour on two cores, 3 GB of memory and 6 GB of disk (Go's caches).
set -eu
folder=$1
here=$(cd "$(dirname "$0")" && pwd)
wanted=1.26

missing=
for program in etcd kube-apiserver kube-controller-manager kubectl kwok; do
  [ -x "$folder/$program" ] || missing="$missing $program"
done
[ -n "$missing" ] || exit 0

if ! command -v go >/dev/null 2>&1; then
  echo "e2e: missing:$missing. They are built with Go $wanted or newer, and there is no 'go' in PATH." >&2
  echo "     Install it (https://go.dev/dl), or name a folder that has them in CALDERA_E2E_TOOLS." >&2
  exit 1
fi
have=$(go env GOVERSION)
if ! printf 'go%s\n%s\n' "$wanted" "$have" | sort -C -V; then
  echo "e2e: $have is too old to build$missing: Go $wanted or newer is needed." >&2
  exit 1
fi

mkdir -p "$folder"
export CGO_ENABLED=0
version=$(awk '$1 == "require" && $2 == "k8s.io/kubernetes" { print $3 }' "$here/kubernetes/go.mod")
stamp=k8s.io/component-base/version
minor=${version#v*.}
stamps="-X $stamp.gitVersion=$version -X $stamp.gitMajor=1 -X $stamp.gitMinor=${minor%.*}"

build() { # PROGRAM MODULE PACKAGE
  [ -x "$folder/$1" ] && return
  echo "e2e: building $1"
  began=$(date +%s)
  # Under another name first: half a program must not look like one.
  (cd "$here/$2" && go build -trimpath -ldflags "-s -w $stamps" -o "$folder/.$1" "$3")
  mv "$folder/.$1" "$folder/$1"
  echo "e2e: built $1 in $(($(date +%s) - began)) s"
}

build etcd etcd .
build kube-apiserver kubernetes k8s.io/kubernetes/cmd/kube-apiserver
build kube-controller-manager kubernetes k8s.io/kubernetes/cmd/kube-controller-manager
build kubectl kubernetes ./kubectl
build kwok kwok sigs.k8s.io/kwok/cmd/kwok
