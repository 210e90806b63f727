"""Plans examples/split, and runs its workers as the rendered Jobs say: do the shards meet?

usage: split_example.py CALDERA
"""

import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def rendered(caldera, folder):
    """The Jobs of the members, by cluster."""
    command = [caldera, "plan", "-f", str(ROOT / "examples/split"), "--render", folder]
    planned = subprocess.run(command, capture_output=True, text=True)
    assert planned.returncode == 0, planned.stderr
    shards = sorted(pathlib.Path(folder).glob("lab.fit.*.yaml"))
    return {path.suffixes[-2][1:]: path.read_text() for path in shards}


def environment(job):
    return dict(re.findall(r'name: (CALDERA_\w+)\n\s+value: "?([^"\n]*)"?\n', job))


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def main():
    with tempfile.TemporaryDirectory() as folder:
        shards = rendered(sys.argv[1], folder)
    port = free_port()
    pods = []
    for job in shards.values():
        variables = environment(job)
        assert variables["CALDERA_RENDEZVOUS"] == "fit.lab.example.org:29500", variables
        variables["CALDERA_RENDEZVOUS"] = f"127.0.0.1:{port}"
        for index in range(int(re.search(r"replicas: (\d+)", job).group(1))):
            pods.append(subprocess.Popen(
                [sys.executable, str(ROOT / "examples/split/fit.py")],
                env={**os.environ, **variables, "VC_TASK_INDEX": str(index)},
                stdout=subprocess.PIPE, text=True))
    said = [pod.communicate(timeout=120)[0] for pod in pods]
    sys.stdout.writelines(said)
    assert [pod.returncode for pod in pods] == [0] * 6, [pod.returncode for pod in pods]
    lines = [re.fullmatch(r"rank (\d) of 6 in (\w+) \(shard (\d) of 2\): (.*)\n", text)
             for text in said]
    assert all(lines), said
    assert sorted((line[2], line[1], line[3]) for line in lines) == [
        ("north", "0", "1"), ("north", "1", "1"), ("north", "2", "1"), ("north", "3", "1"),
        ("south", "4", "2"), ("south", "5", "2")], said
    models = {line[4] for line in lines}
    assert len(models) == 1 and "from 600 samples" in models.pop(), said
    w, b = re.search(r"w=(\S+) b=(\S+)", said[0]).groups()
    assert abs(float(w) - 3) < 0.01 and abs(float(b) - 1) < 0.01, said


main()
