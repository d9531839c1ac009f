"""Packages with plugins, installed beside the program for as long as a test runs it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
STRATEGIES, SCHEDULING = "descheduler.plugins", "descheduler.scheduling_plugins"


def install(folder: Path, modules: Mapping[str, str], entries: Mapping[str, str], name: str = "acme-plugins") -> None:
    """Puts a package with `modules` of `acme_plugins` into `folder` as pip would.

    `entries` are `group/name` of its entry points, and what each stands for.
    """
    (folder / "acme_plugins").mkdir(exist_ok=True)
    for module, code in modules.items():
        (folder / "acme_plugins" / f"{module}.py").write_text(code)
    metadata = folder / f"{name.replace('-', '_')}-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    groups: dict[str, list[str]] = {}
    for key, value in entries.items():
        group, _, plugin = key.partition("/")
        groups.setdefault(group, []).append(f"{plugin} = {value}")
    text = "\n".join("\n".join((f"[{group}]", *lines)) for group, lines in groups.items())
    (metadata / "entry_points.txt").write_text(f"{text}\n")


def descheduler(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The program, with the packages of `folder`."""
    path = os.pathsep.join((str(folder), str(ROOT)))
    command = [sys.executable, "-m", "descheduler", *arguments]
    environment = {**os.environ, "PYTHONPATH": path}
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120, check=False)
