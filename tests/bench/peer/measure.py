"""Runs one program through the byte counter and reads what it took."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from tests.bench.measure import Usage
from tests.bench.peer.byte_counter import ByteCounter
from tests.bench.peer.programs import Job, Program, num_evictions

_LOG_BYTES_SHOWN = 2000


@dataclass(frozen=True, slots=True)
class Run:
    """One run of one program. `num_evictions` is None, and `was_stopped` true, when its time was over first."""

    usage: Usage
    bytes_received: int
    num_evictions: int | None
    was_stopped: bool


def measured(program: Program, job: Job, *, limit_seconds: float) -> Run:
    """Runs `program` once; it is killed after `limit_seconds`. Raises RuntimeError when it fails by itself."""
    with tempfile.TemporaryDirectory() as folder, ByteCounter(_port(job.kubeconfig)) as counter:
        kubeconfig = _through(counter.port, job.kubeconfig, Path(folder) / "kubeconfig")
        log = Path(folder) / "log"
        usage, was_stopped = _run(program.command(Job(kubeconfig, job.policy, job.dry_run)), log, limit_seconds)
        text = log.read_text(errors="replace")
        return Run(usage, counter.bytes_received, num_evictions(text), was_stopped)


def _run(command: Sequence[str], log: Path, limit_seconds: float) -> tuple[Usage, bool]:
    started = time.perf_counter()
    with log.open("wb") as out:
        # A child starts with the peak memory of its parent, which is small here: whatever is large happens elsewhere.
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=out)
    killer = threading.Timer(limit_seconds, os.kill, (process.pid, signal.SIGKILL))
    killer.start()
    _, status, used = os.wait4(process.pid, 0)
    killer.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)
    wall = time.perf_counter() - started
    was_stopped = process.returncode == -signal.SIGKILL and wall >= limit_seconds
    if process.returncode and not was_stopped:
        tail = log.read_bytes()[-_LOG_BYTES_SHOWN:].decode(errors="replace")
        raise RuntimeError(f"{command[0]}: exit {process.returncode}: {tail}")
    return Usage(wall, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024), was_stopped


def _port(kubeconfig: Path) -> int:
    server = json.loads(kubeconfig.read_text())["clusters"][0]["cluster"]["server"]
    return urlsplit(server).port or 443


def _through(port: int, kubeconfig: Path, copy: Path) -> Path:
    """A copy of `kubeconfig` that goes through the relay; the certificate is for the address, whatever the port."""
    document = json.loads(kubeconfig.read_text())
    document["clusters"][0]["cluster"]["server"] = f"https://127.0.0.1:{port}"
    copy.write_text(json.dumps(document))
    return copy
