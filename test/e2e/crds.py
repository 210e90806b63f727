"""CustomResourceDefinitions for the API servers: those of a given folder, else the suite's own."""
import pathlib

import yaml

HERE = pathlib.Path(__file__).resolve().parent


def own(section):
    """The suite's own definitions of a section of crds/kinds.yaml."""
    kinds = yaml.safe_load((HERE / "crds" / "kinds.yaml").read_text())
    return [_definition(*line) for line in kinds[section]]


def given(folder, section):
    """The definitions under FOLDER/SECTION (karmada or volcano)."""
    files = sorted(pathlib.Path(folder, section).glob("*.yaml"))
    if not files:
        raise SystemExit(f"e2e: CALDERA_E2E_CRDS: no *.yaml in {pathlib.Path(folder, section)}")
    return [d for f in files for d in yaml.safe_load_all(f.read_text()) if d]


def _definition(group, versions, kind, plural, scope, status, short_names):
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    names = {"kind": kind, "listKind": kind + "List", "plural": plural, "singular": kind.lower()}
    if short_names:
        names["shortNames"] = short_names
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        # Groups under *.k8s.io are Kubernetes' own: it wants to be told that this is known.
        "metadata": {
            "name": f"{plural}.{group}",
            "annotations": {"api-approved.kubernetes.io": "unapproved, for tests"},
        },
        "spec": {
            "group": group,
            "scope": scope,
            "names": names,
            "versions": [
                {
                    "name": version,
                    "served": True,
                    "storage": version == versions[-1],
                    "schema": {"openAPIV3Schema": schema},
                    **({"subresources": {"status": {}}} if status else {}),
                }
                for version in versions
            ],
        },
    }
