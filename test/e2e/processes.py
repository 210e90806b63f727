"""Child processes that never outlive the suite, each with a log file of its own."""
import atexit
import contextlib
import ctypes
import os
import signal
import socket
import subprocess
import sys
import time

PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None, use_errno=True)


def _die_with_parent():
    _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class Processes:
    """Starts programs in process groups of their own; stop_all() ends them, in the end too."""

    def __init__(self, logs):
        self.logs = logs
        self.commands = {}
        self.running = {}
        atexit.register(self.stop_all)

    def start(self, name, *command):
        self.commands[name] = [str(part) for part in command]
        return self.restart(name)

    def restart(self, name):
        """Starts NAME (again), as it was started first; its log goes on."""
        with open(self.logs / f"{name}.log", "ab") as log:
            self.running[name] = subprocess.Popen(
                self.commands[name],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                preexec_fn=_die_with_parent,
            )
        return self.running[name]

    def stop(self, name, how=signal.SIGTERM, seconds=10):
        """Ends NAME and waits for it; kills what does not end in time. The exit code."""
        child = self.running.pop(name)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, how)
        try:
            return child.wait(seconds)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            return child.wait()

    def stop_all(self):
        for child in self.running.values():
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
        for child in self.running.values():
            child.wait()
        self.running.clear()

    def check(self):
        """Raises where a program has ended by itself."""
        for name, child in self.running.items():
            if child.poll() is not None:
                raise AssertionError(f"{name} ended with {child.returncode}, see {name}.log")

    def log(self, name):
        path = self.logs / f"{name}.log"
        return path.read_text(errors="replace") if path.exists() else ""


def exit_on_signals(seconds):
    """SIGTERM, SIGINT, SIGHUP and the end of SECONDS end this process with its clean-up."""

    def ended(number, _frame):
        what = "out of time" if number == signal.SIGALRM else signal.Signals(number).name
        print(f"e2e: {what}: everything is stopped", file=sys.stderr)
        raise SystemExit(128 + number)

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGALRM):
        signal.signal(number, ended)
    signal.alarm(seconds)


def free_ports(count):
    """Ports of the loopback that nobody listens on; all held open until all are found."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


def eventually(what, check, seconds=90):
    """Waits until CHECK gives a true value, which is returned; an AssertionError of CHECK counts
    as not yet. The last answer stands in the message."""
    end = time.monotonic() + seconds
    while True:
        try:
            answer = check()
        except AssertionError as error:
            answer, why = None, str(error)
        else:
            why = repr(answer)
        if answer:
            return answer
        if time.monotonic() > end:
            raise AssertionError(f"not within {seconds} s: {what}; at last: {why}")
        time.sleep(0.2)


def steadily(what, check, seconds=3):
    """CHECK must give a true value all the time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if not check():
            raise AssertionError(f"did not stay so for {seconds} s: {what}")
        time.sleep(0.2)
