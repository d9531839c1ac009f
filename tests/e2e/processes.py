"""A server process that a test can start, wait for, kill, pause and restart."""

from __future__ import annotations

import ctypes
import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

READY_SECONDS = 180.0
"""How long a component may take to answer on a busy machine."""
_POLL_SECONDS = 0.05
_STOP_SECONDS = 15.0
_LOG_LINES_SHOWN = 20
_RESTART_SECONDS = 0.5
_PR_SET_PDEATHSIG = 1
_PORTS = range(20_000, 32_000)
"""Below the range for outgoing connections, so that a port is still free when its server is restarted."""

_ports_taken: set[int] = set()
_libc = ctypes.CDLL(None)


class ComponentFailedError(Exception):
    """A component ended or stayed unready; the message ends with the last lines of its log."""


class Component:
    """One server process with a log file of its own, started from `command` in `folder`.

    `is_ready` is asked until it says yes; it must not raise. The kernel kills the process when the test run dies.
    One that `restarts` is started again whenever it ends by itself, as its Deployment would do.
    """

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        folder: Path,
        *,
        is_ready: Callable[[], bool],
        environment: Mapping[str, str] | None = None,
        restarts: bool = False,
    ) -> None:
        self.name = name
        self.log_file = folder / "logs" / f"{name}.log"
        self._command = [sys.executable, __file__, *command] if restarts else list(command)
        self._home = folder / name
        self._is_ready = is_ready
        self._environment = {**os.environ, "HOME": str(self._home), **(environment or {})}
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def is_running(self) -> bool:
        """Whether the process was started and has not ended."""
        return self._process is not None and self._process.poll() is None

    @property
    def cpu_seconds(self) -> float:
        """The CPU that the running process has taken so far, in user and in kernel mode."""
        assert self._process is not None, f"{self.name} was not started"
        # Names may hold spaces and brackets; the fields behind the last bracket start with the third.
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def start(self) -> None:
        """Spawns the process and returns at once; its output is appended to the log file."""
        self._home.mkdir(parents=True, exist_ok=True)
        self.log_file.parent.mkdir(parents=True, exist_ok=True)
        with self.log_file.open("ab") as log:
            self._process = subprocess.Popen(
                self._command,
                cwd=self._home,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                preexec_fn=_die_with_parent,
            )

    def wait_ready(self, timeout_seconds: float = READY_SECONDS) -> None:
        """Returns when the component answers; raises ComponentFailedError when it ended or the time is over."""
        deadline = time.monotonic() + timeout_seconds
        while not self._is_ready():
            if not self.is_running:
                code = None if self._process is None else self._process.returncode
                raise ComponentFailedError(f"{self.name} ended with {code}: {self.log_tail()}")
            if time.monotonic() > deadline:
                raise ComponentFailedError(f"{self.name} not ready after {timeout_seconds:g} s: {self.log_tail()}")
            time.sleep(_POLL_SECONDS)

    def stop(self) -> None:
        """Asks the process to end, and kills it when it takes too long. No effect when it does not run."""
        self._signal(signal.SIGCONT)
        self._signal(signal.SIGTERM)
        try:
            self._wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self) -> None:
        """Ends the process at once, as a crash or the kernel's memory guard would."""
        self._signal(signal.SIGKILL)
        self._wait(None)

    def pause(self) -> None:
        """Freezes the process: its connections stay open and nothing answers."""
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Lets a paused process go on."""
        self._signal(signal.SIGCONT)

    def restart(self) -> None:
        """Stops the process if it runs, starts it on the same port and data, and waits until it is ready."""
        self.stop()
        self.start()
        self.wait_ready()

    def log_tail(self) -> str:
        """The last lines of the log, or an empty text when there is none."""
        if not self.log_file.exists():
            return ""
        lines = self.log_file.read_text(errors="replace").splitlines()
        return "\n".join(["", *lines[-_LOG_LINES_SHOWN:]])

    def _signal(self, number: signal.Signals) -> None:
        if self._process is not None and self._process.poll() is None:
            os.killpg(self._process.pid, number)

    def _wait(self, timeout_seconds: float | None) -> None:
        if self._process is not None:
            self._process.wait(timeout_seconds)


def free_port() -> int:
    """A loopback port that nothing listens on and that this process has not handed out before."""
    while True:
        port = random.choice(_PORTS)
        with socket.socket() as probe:
            if port in _ports_taken or probe.connect_ex(("127.0.0.1", port)) == 0:
                continue
        _ports_taken.add(port)
        return port


def _die_with_parent() -> None:
    if sys.platform == "linux":  # elsewhere a run that is killed leaves its servers behind
        _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _keep_running(command: Sequence[str]) -> None:
    while True:
        subprocess.run(command, preexec_fn=_die_with_parent, check=False)
        time.sleep(_RESTART_SECONDS)


if __name__ == "__main__":
    _keep_running(sys.argv[1:])
