"""The programs that play the scenarios, each started once over a policy, with evictions allowed."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

from tests.e2e.control_plane import ControlPlane
from tests.e2e.kube_api import Object
from tests.e2e.peers.upstream import run_once
from tests.e2e.program import Program


@dataclass(frozen=True, slots=True)
class Contender:
    """A program. `run` raises RuntimeError when it fails; `verifies` says that it knows how to prove landings."""

    name: str
    verifies: bool
    run: Callable[[ControlPlane, Object], None]


def _run_upstream(plane: ControlPlane, policy: Object) -> None:
    run_once(plane, policy)


def _run_ours(plane: ControlPlane, policy: Object) -> None:
    report = Program(plane.kubeconfig, plane.folder).run(json.dumps(policy))
    if report.exit_code != 0:
        raise RuntimeError(f"descheduler run ended with {report.exit_code}: {report.log[-4000:]}")


UPSTREAM = Contender("upstream", verifies=False, run=_run_upstream)
OURS = Contender("ours", verifies=True, run=_run_ours)
