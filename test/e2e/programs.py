"""Where the programs come from, and what is said when they are not there."""
import os
import pathlib
import shutil

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TOOLS = ["etcd", "kube-apiserver", "kube-controller-manager", "kubectl", "kwok"]
REAL = [
    "karmada-controller-manager",
    "karmada-aggregated-apiserver",
    "vc-controller-manager",
    "vc-scheduler",
    "vc-webhook-manager",
]


class Programs:
    """`[name]` is the path of a program. `real`: Karmada and Volcano are there themselves."""

    def __init__(self, caldera):
        self.paths = {}
        tools = os.environ.get("CALDERA_E2E_TOOLS") or ROOT / "build" / "e2e" / "bin"
        self._take(tools, TOOLS, "make e2e builds them; CALDERA_E2E_TOOLS names another folder")
        self._take(caldera, ["caldera-controller", "caldera"], "make e2e builds them")
        given = os.environ.get("CALDERA_E2E_BIN")
        self.real = bool(given)
        if given:
            self._take(given, REAL, "CALDERA_E2E_BIN must name a folder that has them all")
        else:
            self._take(caldera / "test", ["caldera-sandbox"], "make e2e builds it")
        if not shutil.which("openssl"):
            raise SystemExit("e2e: openssl is missing (Debian: apt-get install openssl)")
        self.crds = os.environ.get("CALDERA_E2E_CRDS")

    def __getitem__(self, name):
        return self.paths[name]

    def _take(self, folder, names, hint):
        found = {name: pathlib.Path(folder, name).resolve() for name in names}
        missing = [name for name, path in found.items() if not os.access(path, os.X_OK)]
        if missing:
            raise SystemExit(f"e2e: not in {folder}: {' '.join(missing)} ({hint})")
        self.paths.update(found)

    def mode(self):
        """One line: what runs here."""
        who = "Karmada's and Volcano's own programs" if self.real else "the sandbox's stand-ins"
        crds = f"the CRDs of {self.crds}" if self.crds else "the suite's own CRDs"
        return f"{who} on real API servers, {crds}"
