#!/usr/bin/env python3
"""End-to-end suite: the real controller on real API servers. See README.md beside this file.

run.py [--keep] [--caldera FOLDER] [SCENARIO...]
"""
import argparse
import os
import pathlib
import shutil
import sys
import tempfile
import time
import traceback

import controller
import scenarios
from processes import Processes, exit_on_signals
from programs import ROOT, Programs
from rights import controller_kubeconfig
from stack import Stack
from world import World

MINUTES = 20  # In all, however slow the machine is.


def main():
    arguments = options()
    programs = Programs(arguments.caldera)
    exit_on_signals(60 * int(os.environ.get("CALDERA_E2E_MINUTES", MINUTES)))
    folder = pathlib.Path(tempfile.mkdtemp(prefix="caldera-e2e-"))
    processes = Processes(folder)
    print(f"e2e: {programs.mode()}", flush=True)
    passed = False
    try:
        stack = Stack(folder, programs, processes)
        print(f"e2e: all up in {stack.up():.0f} s", flush=True)
        controller.start(stack, controller_kubeconfig(stack))
        passed = run(stack, chosen(arguments.scenarios))
        if arguments.keep:
            keep(stack)
    finally:
        processes.stop_all()
        if passed:
            shutil.rmtree(folder)
        else:
            print(f"e2e: FAILED; logs are in {folder}", file=sys.stderr)
    return 0 if passed else 1


def options():
    parser = argparse.ArgumentParser(description="Caldera's end-to-end suite")
    parser.add_argument(
        "--caldera",
        type=pathlib.Path,
        default=ROOT / "build" / "release",
        help="build folder with Caldera's programs",
    )
    parser.add_argument("--keep", action="store_true", help="leave everything running until ^C")
    parser.add_argument("scenarios", nargs="*", help="names; all if none is given")
    return parser.parse_args()


def chosen(names):
    unknown = [name for name in names if name not in scenarios.ALL]
    if unknown:
        there = " ".join(scenarios.ALL)
        raise SystemExit(f"e2e: no such scenario: {' '.join(unknown)}; there are: {there}")
    return {name: scenarios.ALL[name] for name in names or scenarios.ALL}


def run(stack, wanted):
    """Runs scenario after scenario, the later ones too where one fails; True if all passed."""
    failed, began = [], time.monotonic()
    for name, scenario in wanted.items():
        if not attempt(stack, name, scenario):
            failed.append(name)
    problems = controller.complaints(stack)
    for line in problems:
        print(f"     controller: {line}")
    seconds = controller.stop(stack) if controller.NAME in stack.processes.running else 0
    if seconds > 2:
        problems.append("slow stop")
        print(f"     controller: took {seconds:.1f} s to stop")
    mode = stack.programs.mode()
    took = time.monotonic() - began
    passed = f"{len(wanted) - len(failed)} of {len(wanted)} scenarios passed"
    print(f"e2e: {passed} in {took:.0f} s: {mode}")
    return not failed and not problems


def attempt(stack, name, scenario):
    began, world = time.monotonic(), None
    try:
        world = World(stack, name)
        scenario(world)
        world.clean()
        stack.processes.check()
    except AssertionError as error:
        print(f"FAIL {name} ({time.monotonic() - began:.1f} s): {error}")
        frames = [f for f in traceback.extract_tb(error.__traceback__) if "scenarios" in f.filename]
        for frame in frames:
            print(f"     {frame.filename}:{frame.lineno}: {frame.line}")
        if world:
            show(world)
            tidy(world)
        return False
    print(f"ok   {name} ({time.monotonic() - began:.1f} s)", flush=True)
    return True


def tidy(world):
    """A scenario that failed must not take the room of those that follow."""
    try:
        world.clean()
    except AssertionError as error:
        print(f"     {error}")


def show(world):
    """What a person would ask next."""
    for api in (world.karmada, *world.members.values()):
        try:
            kinds = "jobs.batch.volcano.sh,pods,events"
            print(api.kubectl("get", kinds, "-n", world.ns, "-o", "wide"))
        except AssertionError as error:
            print(error)


def keep(stack):
    print(f"export KUBECONFIG={stack.karmada.kubeconfig}")
    for member in stack.members.values():
        print(f"# {member.name}: {member.kubeconfig}")
    while True:
        time.sleep(1)


if __name__ == "__main__":
    sys.exit(main())
