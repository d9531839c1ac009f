"""Runs one program through the byte counter and reads what it took."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import yaml

from tests.bench.measure import Usage, run_command
from tests.bench.peer.byte_counter import ByteCounter
from tests.bench.peer.programs import Job, Program, num_evictions

_LOG_BYTES_SHOWN = 2000


@dataclass(frozen=True, slots=True)
class Run:
    """One run of one program. `num_evictions` is None, and `was_stopped` true, when its time was over first.

    `server_cpu_seconds` is what the API server took meanwhile.
    """

    usage: Usage
    server_cpu_seconds: float
    bytes_received: int
    num_evictions: int | None
    was_stopped: bool


def measured(program: Program, job: Job, server_cpu: Callable[[], float], *, limit_seconds: float) -> Run:
    """Runs `program` once; it is killed after `limit_seconds`. Raises RuntimeError when it fails by itself.

    `server_cpu` tells the CPU seconds that the API server has taken so far.
    """
    with tempfile.TemporaryDirectory() as folder, ByteCounter(_port(job.kubeconfig)) as counter:
        kubeconfig = _through(counter.port, job.kubeconfig, Path(folder) / "kubeconfig")
        log = Path(folder) / "log"
        command = program.command(Job(kubeconfig, job.policy, job.dry_run))
        server_cpu_before = server_cpu()
        ended = run_command(command, log=log, limit_seconds=limit_seconds)
        server_cpu_seconds = server_cpu() - server_cpu_before
        if ended.exit_code and not ended.was_stopped:
            tail = log.read_bytes()[-_LOG_BYTES_SHOWN:].decode(errors="replace")
            raise RuntimeError(f"{command[0]}: exit {ended.exit_code}: {tail}")
        with log.open(errors="replace") as lines:
            return Run(ended.usage, server_cpu_seconds, counter.bytes_received, num_evictions(lines), ended.was_stopped)


def _port(kubeconfig: Path) -> int:
    server = yaml.safe_load(kubeconfig.read_text())["clusters"][0]["cluster"]["server"]
    return urlsplit(server).port or 443


def _through(port: int, kubeconfig: Path, copy: Path) -> Path:
    """A copy of `kubeconfig` that goes through the relay; the certificate is for the address, whatever the port."""
    document = yaml.safe_load(kubeconfig.read_text())
    document["clusters"][0]["cluster"]["server"] = f"https://127.0.0.1:{port}"
    copy.write_text(json.dumps(document))
    return copy
