"""Credential plugins that leave processes behind, and whether these are gone in time."""

from __future__ import annotations

import json
import stat
import time
from collections.abc import Callable
from pathlib import Path

import yaml

from tests.integration.fake_api import FakeApi

IN_TIME_SECONDS = 30
"""Far less than what any process here would hang for, far more than what a busy machine takes."""


def write_plugin(kubeconfig: Path, api: FakeApi, script: str) -> Path:
    """Has the kubeconfig ask a credential plugin: the file in which NOTE of its script leaves its process id and that
    of its child.

    Over https, since no credentials are looked for where they would travel in clear.
    """
    api.write_kubeconfig(kubeconfig)
    folder = kubeconfig.parent
    pids, plugin = folder / "pids", folder / "plugin"
    credential = {"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": {"token": "t"}}
    (folder / "credential").write_text(json.dumps(credential))
    note = f"echo $$ $! > {pids}.new\nmv {pids}.new {pids}"
    plugin.write_text(f"#!/bin/sh\ncd {folder}\n{script.replace('NOTE', note)}\n")
    plugin.chmod(plugin.stat().st_mode | stat.S_IXUSR)
    document = yaml.safe_load(kubeconfig.read_text())
    exec_section = {"apiVersion": "client.authentication.k8s.io/v1", "command": str(plugin), "interactiveMode": "Never"}
    document["users"][0]["user"] = {"exec": exec_section}
    kubeconfig.write_text(yaml.safe_dump(document))
    return pids


def _is_alive(pid: int) -> bool:
    """Whether there is such a process that is more than its remains."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_until(is_so: Callable[[], bool], *, seconds: float = IN_TIME_SECONDS) -> bool:
    """Whether it comes true in time."""
    give_up_at = time.monotonic() + seconds
    while not is_so() and time.monotonic() < give_up_at:
        time.sleep(0.02)
    return is_so()


def are_gone(pids: Path) -> bool:
    """Whether the processes that a plugin has noted end in time."""
    return wait_until(lambda: not any(_is_alive(int(pid)) for pid in pids.read_text().split()))
