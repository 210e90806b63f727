"""The program under test: its settings, its rights, and what it may not have said in the end."""
import re
import time

import rights
from processes import eventually

NAME = "caldera-controller"
# Short waits where the defaults are made for real fleets; nothing else is changed.
SETTINGS = {
    "listen.port": "0",
    "timing.summaryPeriod": "2s",
    "timing.readyDebounce": "1s",
    "timing.releaseMargin": "1s",
    "timing.clusterBackoff": "20s",
    "timing.unscheduledAfter": "60s",
    "leader.leaseDuration": "10s",
    "leader.renewDeadline": "8s",
    "leader.retryPeriod": "1s",
}


def start(stack, kubeconfig):
    chosen = SETTINGS | rights.settings()
    settings = [part for key, value in chosen.items() for part in ("--set", f"{key}={value}")]
    stack.processes.start(
        NAME,
        stack.programs[NAME],
        f"--kubeconfig={kubeconfig}",
        f"--ledger={stack.folder / 'ledger.db'}",
        *settings,
    )
    await_leader(stack)


def await_leader(stack):
    """The one that runs has taken the Lease. A killed one's Lease must run out first."""
    # Who holds it is logged as HOST_PID, be it another one.
    pid = stack.processes.running[NAME].pid
    leads = re.compile(rf"message=leader holder=\S+_{pid}$", re.MULTILINE)
    eventually("the controller leads", lambda: _matches(stack, leads), 60)


def _matches(stack, leads):
    stack.processes.check()
    return leads.search(stack.processes.log(NAME))


def complaints(stack):
    """Lines of its log that no scenario accounts for: what it was forbidden, and errors. A member
    may be watched a moment before its access, which the controller sends there, has arrived."""
    early = f"message=watch source={rights.NODES_OF}/"
    log = [line for line in stack.processes.log(NAME).splitlines() if early not in line]
    return [line for line in log if "orbidden" in line or "level=error" in line]


def stop(stack):
    """Ends it as a rollout would; the seconds that took. It must be under two."""
    began = time.monotonic()
    code = stack.processes.stop(NAME)
    assert code == 0, f"the controller ended with {code}"
    return time.monotonic() - began
