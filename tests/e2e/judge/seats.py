"""The schedulers that can be asked, and what each of them needs."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.e2e import commands
from tests.e2e.control_plane import ControlPlane
from tests.e2e.kube_api import Object
from tests.e2e.peers import koordinator, volcano
from tests.e2e.pins import CONTROL_PLANE, PEERS, Pins
from tests.e2e.processes import Component, free_port

_QPS = 5000
_VOLCANO_GROUP = "scheduling.k8s.io/group-name"
# Without the action "enqueue" a group of pods need not wait for a session of its own before it is looked at.
_VOLCANO_CONFIGURATION = """\
actions: "allocate, backfill"
tiers:
- plugins:
  - name: priority
  - name: gang
  - name: conformance
- plugins:
  - name: predicates
  - name: nodeorder
"""


@dataclass(frozen=True, slots=True)
class Dressed:
    """A pod as a scheduler wants it, and the objects to be created before it."""

    pod: Object
    companions: Sequence[Object] = ()


@dataclass(frozen=True, slots=True)
class SchedulerKind:
    """One kind of scheduler that can take the judge's seat."""

    name: str
    scheduler_name: str
    """What pods give as `spec.schedulerName`."""
    pins: Pins
    """Where its program comes from."""
    start: Callable[[ControlPlane], None]
    """Starts it, with what it cannot do without, on a control plane that has a store only."""
    companions: Callable[[Object], tuple[Mapping[str, str], Sequence[Object]]] = lambda _pod: ({}, ())
    """Annotations that a pod needs, and objects that must be there first."""

    @property
    def version(self) -> str:
        """The Kubernetes version of its API server, without the leading `v`."""
        return CONTROL_PLANE.version("k8s.io/kubernetes").removeprefix("v")

    def dress(self, pod: Object) -> Dressed:
        """The pod with its scheduler's name and all that this scheduler asks of a pod."""
        annotations, companions = self.companions(pod)
        metadata = {**pod["metadata"]}
        if annotations:
            metadata["annotations"] = {**metadata.get("annotations", {}), **annotations}
        spec = {**pod["spec"], "schedulerName": self.scheduler_name}
        return Dressed({**pod, "apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}, companions)


def kube_scheduler(profile: Mapping[str, Any] | None = None) -> SchedulerKind:
    """kube-scheduler with its default profile, or with the plugins and arguments of `profile`."""
    name = "default-scheduler"

    def start(plane: ControlPlane) -> None:
        _start_framework(plane, "kube-scheduler", {"schedulerName": name, **(profile or {})})

    return SchedulerKind("kube-scheduler", name, CONTROL_PLANE, start)


def _start_framework(plane: ControlPlane, program: str, profile: Mapping[str, Any]) -> None:
    port = free_port()
    configuration = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "clientConnection": {"kubeconfig": str(plane.kubeconfig), "qps": _QPS, "burst": _QPS},
        "leaderElection": {"leaderElect": False},
        "profiles": [dict(profile)],
    }
    file = plane.folder / f"{program}.json"
    file.write_text(json.dumps(configuration, indent=2))
    command = [
        str(plane.binaries[program]),
        f"--config={file}",
        f"--authentication-kubeconfig={plane.kubeconfig}",
        f"--authorization-kubeconfig={plane.kubeconfig}",
        "--authentication-skip-lookup=true",
        "--bind-address=127.0.0.1",
        f"--secure-port={port}",
    ]
    ready = commands.answers(f"https://127.0.0.1:{port}/healthz")
    plane.add(Component(program, command, plane.folder, is_ready=ready))


def _start_koord_scheduler(plane: ControlPlane) -> None:
    koordinator.install_koordinator(plane)
    koordinator.start_scheduler(plane)


def _start_volcano(plane: ControlPlane) -> None:
    volcano.install_volcano(plane)
    volcano.start_scheduler(plane, _VOLCANO_CONFIGURATION, schedule_period="20ms")


def _volcano_group(pod: Object) -> tuple[Mapping[str, str], Sequence[Object]]:
    metadata = {"name": f"{pod['metadata']['name']}-group", "namespace": pod["metadata"]["namespace"]}
    group = {
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "PodGroup",
        "metadata": metadata,
        "spec": {"minMember": 1, "queue": "default"},
        "status": {"phase": "Inqueue"},
    }
    return {_VOLCANO_GROUP: metadata["name"]}, [group]


def _peer(name: str) -> Pins:
    return next(pins for pins in PEERS if pins.name == name)


KUBE_SCHEDULER = kube_scheduler()
KOORD_SCHEDULER = SchedulerKind(
    koordinator.SCHEDULER, koordinator.SCHEDULER, _peer("koordinator"), _start_koord_scheduler
)
VOLCANO = SchedulerKind("volcano", volcano.SCHEDULER, _peer("volcano"), _start_volcano, _volcano_group)
SEATS = {seat.name: seat for seat in (KUBE_SCHEDULER, KOORD_SCHEDULER, VOLCANO)}
