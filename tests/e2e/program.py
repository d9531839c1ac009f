"""`descheduler run` as an operator sees it: a process of its own, an exit code, a document and a log."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

from tests.e2e.kube_api import Object

_RUN_SECONDS = 300.0


@dataclass(frozen=True, slots=True)
class Report:
    """How a run ended. `document` is the plan of a dry run, else the outcome; empty when the run failed early."""

    exit_code: int
    document: Object
    log: str

    def pods(self, result: str) -> set[tuple[str, str]]:
        """Name and uid of the pods whose eviction ended so: "evicted", "refused" and so on."""
        return {(r["pod"]["name"], r["pod"]["uid"]) for r in self.document["results"] if r["result"] == result}

    def codes(self) -> dict[str, str]:
        """Name of a pod → how its eviction ended."""
        return {r["pod"]["name"]: r["code"] for r in self.document["results"]}

    def refusals(self) -> dict[str, str]:
        """Name of a pod → why it was kept before anything was asked of the API server."""
        plan = self.document.get("plan", self.document)
        return {refusal["pod"]["name"]: refusal["code"] for refusal in plan["refusals"]}

    def evicted_apps(self) -> Counter[str]:
        """Workload → how many of its pods were evicted, told from their names."""
        return Counter(name.partition("-")[0] for name, _ in self.pods("evicted"))


class RunningProgram:
    """A run on its way."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    @property
    def is_running(self) -> bool:
        """Whether the run has not ended."""
        return self._process.poll() is None

    def terminate(self) -> None:
        """Sends SIGTERM, as the kubelet does first."""
        self._process.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """Sends SIGKILL, as the kernel does when memory runs out."""
        self._process.kill()

    def wait(self, timeout_seconds: float = _RUN_SECONDS) -> Report:
        """The end of the run; raises TimeoutExpired, and ends it, when it takes longer."""
        try:
            output, log = self._process.communicate(timeout=timeout_seconds)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.communicate()
            raise
        return Report(self._process.returncode, json.loads(output) if output.strip() else {}, log)


@dataclass(frozen=True, slots=True)
class Program:
    """The installed program, used with `kubeconfig`; its policy files go into `folder`."""

    kubeconfig: Path
    folder: Path

    def start(self, policy: str, *flags: str) -> RunningProgram:
        """Starts a run and returns at once."""
        file = self.folder / f"policy-{uuid4().hex[:8]}.yaml"
        file.write_text(policy)
        command = [str(Path(sys.executable).parent / "descheduler"), "run", f"--policy-config-file={file}"]
        return RunningProgram(
            subprocess.Popen(
                [*command, f"--kubeconfig={self.kubeconfig}", "--output=json", *flags],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
        )

    def run(self, policy: str, *flags: str) -> Report:
        """A run from its start to its end."""
        return self.start(policy, *flags).wait()


def policy(
    plugin: str,
    args: Mapping[str, Any] | None = None,
    *,
    point: str = "deschedule",
    evictor: Mapping[str, Any] | None = None,
    **top: Any,
) -> str:
    """A DeschedulerPolicy that runs one plugin; `evictor` are arguments of DefaultEvictor, `top` top-level fields."""
    document = {
        "apiVersion": "descheduler/v1alpha2",
        "kind": "DeschedulerPolicy",
        **top,
        "profiles": [
            {
                "name": "e2e",
                "pluginConfig": [
                    {"name": "DefaultEvictor", "args": dict(evictor or {})},
                    {"name": plugin, "args": dict(args or {})},
                ],
                "plugins": {point: {"enabled": [plugin]}},
            }
        ],
    }
    return json.dumps(document)


def koordinator_policy(plugin: str, controller: Object) -> str:
    """A DeschedulerConfiguration that runs one plugin and evicts through MigrationController with these arguments."""
    profile = {
        "name": "e2e",
        "pluginConfig": [{"name": plugin, "args": {}}, {"name": "MigrationController", "args": controller}],
        "plugins": {
            "deschedule": {"enabled": [{"name": plugin}]},
            "evict": {"enabled": [{"name": "MigrationController"}]},
            "filter": {"enabled": [{"name": "MigrationController"}]},
        },
    }
    document = {"apiVersion": "descheduler/v1alpha2", "kind": "DeschedulerConfiguration", "profiles": [profile]}
    return json.dumps(document)
