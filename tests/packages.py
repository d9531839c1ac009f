"""Packages with plugins, installed beside the program for as long as a test runs it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
STRATEGIES, SCHEDULING = "descheduler.plugins", "descheduler.scheduling_plugins"

SPOT = '''"""RemoveSpot: evicts what it finds."""
import sys
from descheduler.model.verdict import ACCEPTED
from descheduler.plan.facts import PluginFacts
from descheduler.policy.plugin import Needs, PluginSpec
from descheduler.policy.shared_args import Args


class RemoveSpotArgs(Args, frozen=True):
    """Arguments of RemoveSpot."""


def fail():
    {fault}


def give(hook, answer):
    return fail() if hook == "{hook}" else answer


class RemoveSpot:
    def __init__(self, args, handle):
        self._handle = handle
        give("factory", None)

    def deschedule(self, nodes):
        give("deschedule", None)
        for node in nodes:
            for pod in self._handle.view.pods_on(node.name):
                self._handle.evictor.request(pod, give("reason", "is on spot"))

    def filter(self, pod):
        return give("filter", ACCEPTED)

    def pre_eviction_filter(self, pod):
        return give("pre_eviction_filter", ACCEPTED)

    def why_not(self, pod):
        return give("why_not", "")

    def facts(self):
        return give("facts", PluginFacts("", 1, 1))

    def note(self):
        return give("note", b"")


def spec(points):
    return PluginSpec(
        name="RemoveSpot",
        args_type=RemoveSpotArgs,
        extension_points=points,
        factory=RemoveSpot,
        validate=lambda args: give("validate", []),
        defaults=lambda args: give("defaults", args),
        construction_problems=lambda args: give("construction_problems", []),
        warnings=lambda args: give("warnings", []),
        needs=lambda args: give("needs", Needs()),
        creates_reservations=lambda args: give("creates_reservations", False),
        samples=lambda args: give("samples", []),
        without_limits=lambda args: give("without_limits", args),
        cordons=lambda args, nodes, files: give("cordons", frozenset()),
    )


REMOVE_SPOT = spec(frozenset({{"deschedule", "filter", "preEvictionFilter"}}))
give("import", None)
'''
"""The module of a strategy that is also a filter: in `hook` it does what the line `fault` says."""


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


def install_spot(folder: Path, hook: str, fault: str) -> None:
    """Puts the package with `SPOT` into `folder`."""
    entries = {f"{STRATEGIES}/RemoveSpot": "acme_plugins.spot:REMOVE_SPOT"}
    install(folder, {"spot": SPOT.format(fault=fault, hook=hook)}, entries)


def spot_policy() -> dict[str, Any]:
    """RemoveSpot beside a plugin of the program that evicts the same pod."""
    config = [
        {"name": "DefaultEvictor"},
        {"name": "RemoveSpot"},
        {"name": "PodLifeTime", "args": {"maxPodLifeTimeSeconds": 1}},
    ]
    plugins = {"deschedule": {"enabled": ["RemoveSpot", "PodLifeTime"]}}
    profile = {"name": "p", "pluginConfig": config, "plugins": plugins}
    return {"apiVersion": "descheduler/v1alpha2", "kind": "DeschedulerPolicy", "profiles": [profile]}
