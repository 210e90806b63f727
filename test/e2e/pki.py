"""Certificates of one run: a CA, one server certificate for all servers, an administrator."""
import base64
import json
import subprocess

SERVER_NAMES = ",".join(
    [
        "IP:127.0.0.1",
        "DNS:localhost",
        "DNS:kubernetes.default.svc",
        "DNS:karmada-aggregated-apiserver.karmada-system.svc",
    ]
)


class Pki:
    def __init__(self, folder):
        self.folder = folder
        folder.mkdir()
        self._openssl(
            *"req -x509 -newkey rsa:2048 -nodes -days 7 -subj /CN=caldera-e2e".split(),
            "-keyout",
            self / "ca.key",
            "-out",
            self / "ca.crt",
        )
        self._certificate("server", "/CN=localhost", f"subjectAltName={SERVER_NAMES}\n")
        self._certificate("admin", "/O=system:masters/CN=system:admin")
        self._certificate("front-proxy", "/CN=front-proxy-client")
        self._openssl("genrsa", "-out", self / "accounts.key", "2048")
        public = ["rsa", "-in", self / "accounts.key", "-pubout", "-out", self / "accounts.pub"]
        self._openssl(*public)

    def __truediv__(self, name):
        return self.folder / name

    def kubeconfig(self, path, port, user=None):
        """Writes a kubeconfig; USER is its entry `user`, the administrator where it is absent."""
        user = user or {
            "client-certificate-data": self.encoded("admin.crt"),
            "client-key-data": self.encoded("admin.key"),
        }
        server = f"https://127.0.0.1:{port}"
        cluster = {"server": server, "certificate-authority-data": self.encoded("ca.crt")}
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "e2e",
            "clusters": [{"name": "e2e", "cluster": cluster}],
            "users": [{"name": "e2e", "user": user}],
            "contexts": [{"name": "e2e", "context": {"cluster": "e2e", "user": "e2e"}}],
        }
        path.write_text(json.dumps(config))
        return path

    def encoded(self, name):
        return base64.b64encode((self / name).read_bytes()).decode()

    def _certificate(self, name, subject, extensions=""):
        key, request = self / f"{name}.key", self / f"{name}.csr"
        self._openssl(
            *"req -newkey rsa:2048 -nodes".split(),
            *("-subj", subject, "-keyout", key, "-out", request),
        )
        (self / f"{name}.ext").write_text("extendedKeyUsage=serverAuth,clientAuth\n" + extensions)
        self._openssl(
            *("x509", "-req", "-in", request, "-out", self / f"{name}.crt", "-days", "7"),
            *("-CA", self / "ca.crt", "-CAkey", self / "ca.key", "-CAcreateserial"),
            *("-extfile", self / f"{name}.ext"),
        )

    @staticmethod
    def _openssl(*arguments):
        subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True)
