"""One rank of a training that runs over all shards of a split Job.

Every pod fits y = w * x + b to samples of its own; after each step the gradients of all ranks are
added up at rank 0, which listens at the rendezvous, and go back to everybody. So all ranks end
with one model, although their pods are in clusters that know nothing of each other.
"""

import json
import os
import random
import socket
import sys
import time

STEPS = 200
RATE = 0.5
PATIENCE_S = 60


class Peers:
    """All ranks, joined at rank 0."""

    def __init__(self, rank, world, address):
        host, port = address.rsplit(":", 1)
        self.links = []
        if rank == 0:
            with socket.create_server(("", int(port)), backlog=world) as server:
                server.settimeout(PATIENCE_S)
                while len(self.links) < world - 1:
                    self.links.append(server.accept()[0].makefile("rw"))
        else:
            self.links.append(connect(host.strip("[]"), int(port)).makefile("rw"))
        self.leads = rank == 0

    def add_up(self, numbers):
        """The sum over all ranks, the same at each of them."""
        if not self.leads:
            send(self.links[0], numbers)
            return receive(self.links[0])
        columns = zip(numbers, *[receive(link) for link in self.links])
        total = [sum(column) for column in columns]
        for link in self.links:
            send(link, total)
        return total


def connect(host, port):
    """Rank 0 may come up later than we do."""
    end = time.monotonic() + PATIENCE_S
    while True:
        try:
            return socket.create_connection((host, port), timeout=PATIENCE_S)
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)


def send(link, numbers):
    link.write(json.dumps(numbers) + "\n")
    link.flush()


def receive(link):
    line = link.readline()
    if not line:
        sys.exit("a rank is gone: the whole job starts again")
    return json.loads(line)


def main():
    # Volcano counts the pods of one shard; Caldera says how many there are before them.
    rank = int(os.environ["CALDERA_RANK_OFFSET"]) + int(os.environ["VC_TASK_INDEX"])
    world = int(os.environ["CALDERA_WORLD_SIZE"])
    peers = Peers(rank, world, os.environ["CALDERA_RENDEZVOUS"])
    dice = random.Random(rank)
    samples = [(x, 3 * x + 1) for x in (dice.random() for _ in range(100))]
    w = b = 0.0
    for _ in range(STEPS):
        errors = [(w * x + b - y, x) for x, y in samples]
        down_w, down_b, count = peers.add_up(
            [sum(e * x for e, x in errors), sum(e for e, _ in errors), len(samples)])
        w -= RATE * down_w / count
        b -= RATE * down_b / count
    print(f"rank {rank} of {world} in {os.environ['CALDERA_CLUSTER']} (shard "
          f"{int(os.environ['CALDERA_SHARD_INDEX']) + 1} of {os.environ['CALDERA_SHARD_COUNT']}): "
          f"w={w:.6f} b={b:.6f} from {int(count)} samples")


if __name__ == "__main__":
    main()
