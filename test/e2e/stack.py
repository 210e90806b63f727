"""Brings up a Karmada host and its members as plain processes on the loopback.

Always real: etcd, the API servers, their controller managers, kwok. Karmada and Volcano: their own
programs (karmada.py, volcano.py), or the sandbox's stand-ins for them (standin.py).
"""
import collections
import time

import crds
import karmada
import standin
import volcano
from kube import Api, NODE
from pki import Pki
from processes import eventually, free_ports

Ports = collections.namedtuple("Ports", "etcd peer karmada aggregated health m1 m2 kwok1 kwok2")
MEMBERS = ("m1", "m2")
NODES, RACK = 8, 4
NODE_SIZE = {"cpu": "64", "memory": "512Gi", "pods": "110", "nvidia.com/gpu": "8"}
TOKEN = "caldera-e2e-member"  # Of the administrator of each API server, for Karmada's sake.
HERE = crds.HERE


class Stack:
    def __init__(self, folder, programs, processes):
        self.folder, self.programs, self.processes = folder, programs, processes
        self.ports = Ports(*free_ports(len(Ports._fields)))
        self.pki = Pki(folder / "pki")
        self.tokens = folder / "tokens.csv"
        self.tokens.write_text(f'{TOKEN},karmada,karmada,"system:masters"\n')
        self.karmada = self._api("karmada", self.ports.karmada)
        self.members = {m: self._api(m, getattr(self.ports, m)) for m in MEMBERS}

    def up(self):
        began = time.monotonic()
        self._etcd()
        for api in (self.karmada, *self.members.values()):
            self._api_server(api)
        for api in (self.karmada, *self.members.values()):
            eventually(f"API server {api.name} is ready", api.ready, 120)
        self._controllers(self.karmada)
        self._define(self.karmada, "volcano")
        self._define(self.karmada, "karmada")
        if self.programs.real:
            karmada.start(self)
        else:
            self._define(self.karmada, "aggregated")
        for index, member in enumerate(self.members.values()):
            self._member(member, (self.ports.kwok1, self.ports.kwok2)[index])
        for member in self.members.values():
            karmada.join(self.karmada, self.pki, member, TOKEN)
        if not self.programs.real:
            standin.start(self)
        self._await()
        return time.monotonic() - began

    def _api(self, name, port):
        kubeconfig = self.pki.kubeconfig(self.folder / f"{name}.kubeconfig", port)
        return Api(name, port, kubeconfig, self.pki, self.programs["kubectl"])

    def _etcd(self):
        clients = f"http://127.0.0.1:{self.ports.etcd}"
        peers = f"http://127.0.0.1:{self.ports.peer}"
        self.processes.start(
            "etcd",
            self.programs["etcd"],
            "--unsafe-no-fsync",
            f"--data-dir={self.folder / 'etcd'}",
            f"--listen-client-urls={clients}",
            f"--advertise-client-urls={clients}",
            f"--listen-peer-urls={peers}",
            f"--initial-advertise-peer-urls={peers}",
            f"--initial-cluster=default={peers}",
        )

    def _api_server(self, api):
        pki = self.pki
        self.processes.start(
            f"{api.name}-apiserver",
            self.programs["kube-apiserver"],
            f"--etcd-servers=http://127.0.0.1:{self.ports.etcd}",
            f"--etcd-prefix=/{api.name}",
            "--bind-address=127.0.0.1",
            "--advertise-address=127.0.0.1",
            f"--secure-port={api.port}",
            "--endpoint-reconciler-type=none",
            "--authorization-mode=Node,RBAC",
            # Pods here have no ServiceAccount of their own namespace to wait for.
            "--disable-admission-plugins=ServiceAccount,StorageObjectInUseProtection",
            f"--token-auth-file={self.tokens}",
            f"--client-ca-file={pki / 'ca.crt'}",
            f"--tls-cert-file={pki / 'server.crt'}",
            f"--tls-private-key-file={pki / 'server.key'}",
            "--service-account-issuer=https://kubernetes.default.svc.cluster.local",
            f"--service-account-key-file={pki / 'accounts.pub'}",
            f"--service-account-signing-key-file={pki / 'accounts.key'}",
            "--service-cluster-ip-range=10.96.0.0/16",
            f"--requestheader-client-ca-file={pki / 'ca.crt'}",
            "--requestheader-allowed-names=front-proxy-client",
            "--requestheader-username-headers=X-Remote-User",
            "--requestheader-group-headers=X-Remote-Group",
            "--requestheader-extra-headers-prefix=X-Remote-Extra-",
            f"--proxy-client-cert-file={pki / 'front-proxy.crt'}",
            f"--proxy-client-key-file={pki / 'front-proxy.key'}",
        )

    def _controllers(self, api, *more):
        wanted = ["namespace", "garbage-collector", "serviceaccount-token", *more]
        self.processes.start(
            f"{api.name}-controllers",
            self.programs["kube-controller-manager"],
            f"--kubeconfig={api.kubeconfig}",
            "--controllers=" + ",".join(f"{name}-controller" for name in wanted),
            f"--service-account-private-key-file={self.pki / 'accounts.key'}",
            f"--root-ca-file={self.pki / 'ca.crt'}",
            "--use-service-account-credentials=false",
            "--leader-elect=false",
            "--secure-port=0",
        )

    def _define(self, api, section):
        real = self.programs.crds and section != "aggregated"
        objects = crds.given(self.programs.crds, section) if real else crds.own(section)
        api.apply_on_server(*objects)
        names = [f"crd/{o['metadata']['name']}" for o in objects]
        api.kubectl("wait", "--for=condition=Established", "--timeout=60s", *names)

    def _member(self, member, kwok_port):
        self._controllers(member, "serviceaccount", "node-lifecycle")
        self._define(member, "volcano")
        if self.programs.real:
            volcano.start(self, member)
        self.processes.start(
            f"{member.name}-kwok",
            self.programs["kwok"],
            f"--kubeconfig={member.kubeconfig}",
            f"--config={HERE / 'stages.yaml'}",
            "--manage-all-nodes=true",
            "--node-lease-duration-seconds=40",
            "--node-ip=127.0.0.1",
            f"--server-address=127.0.0.1:{kwok_port}",
        )
        self._fleet(member)

    def _fleet(self, member):
        racks = collections.defaultdict(list)
        for index in range(NODES):
            racks[index // RACK].append(f"{member.name}-n{index}")
        nodes = [_node(name, rack) for rack, names in racks.items() for name in names]
        hypers = [
            _hyper_node(f"{member.name}-rack{rack}", 1, "Node", names)
            for rack, names in racks.items()
        ]
        spine = [f"{member.name}-rack{rack}" for rack in racks]
        hypers.append(_hyper_node(f"{member.name}-spine", 2, "HyperNode", spine))
        member.apply(*nodes)
        eventually(f"HyperNodes of {member.name}", lambda: member.apply(*hypers), 60)

    def _await(self):
        for member in self.members.values():
            eventually(
                f"nodes of {member.name} are ready",
                lambda m=member: sum(_is_ready(n) for n in m.list(NODE)) == NODES,
                120,
            )
            eventually(
                f"Cluster {member.name} is ready and shows what it has",
                lambda m=member: karmada.shows(self.karmada, m.name, str(64 * NODES)),
                120,
            )
        self.processes.check()


def _is_ready(node):
    if any(t["key"].startswith("node.kubernetes.io/") for t in node["spec"].get("taints", [])):
        return False
    conditions = node["status"].get("conditions", [])
    return any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)


def _node(name, rack):
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"topology.example/rack": f"r{rack}"}},
        "status": {"allocatable": NODE_SIZE, "capacity": NODE_SIZE},
    }


def _hyper_node(name, tier, kind, members):
    exact = [{"type": kind, "selector": {"exactMatch": {"name": m}}} for m in members]
    return {
        "apiVersion": "topology.volcano.sh/v1alpha1",
        "kind": "HyperNode",
        "metadata": {"name": name},
        "spec": {"tier": tier, "members": exact},
    }
