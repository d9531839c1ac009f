"""The schedulers that can be asked, and what each of them needs."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from tests.e2e import commands
from tests.e2e.control_plane import ControlPlane
from tests.e2e.kube_api import Object, condition, wait_until
from tests.e2e.pins import CONTROL_PLANE, PEERS, Pins
from tests.e2e.processes import Component, free_port

_QPS = 5000


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
    swept: Sequence[str] = ()
    """Prefixes in etcd that are emptied between worlds."""

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


def start_volume_binder(plane: ControlPlane) -> None:
    """Starts the controller that completes what the scheduler begins for claims that waited for a consumer."""
    port = free_port()
    binary = plane.binaries["kube-controller-manager"]
    command = commands.kube_controller_manager(binary, folder=plane.folder, port=port, kubeconfig=plane.kubeconfig)
    command.append("--controllers=persistentvolume-binder-controller")
    ready = commands.answers(f"https://127.0.0.1:{port}/healthz")
    plane.add(Component("kube-controller-manager", command, plane.folder, is_ready=ready))


def _start_framework(plane: ControlPlane, program: str, profile: Mapping[str, Any], *flags: str) -> None:
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
        *flags,
    ]
    ready = commands.answers(f"https://127.0.0.1:{port}/healthz")
    plane.add(Component(program, command, plane.folder, is_ready=ready))


_KOORDINATOR_PLUGINS = {
    "queueSort": (True, ["PrioritySort"]),
    "preEnqueue": (False, ["Coscheduling"]),
    "preFilter": (False, ["SchedulingHint", "Reservation", "NodeNUMAResource", "DeviceShare", "Coscheduling"]),
    "filter": (False, ["LoadAwareScheduling", "NodeNUMAResource", "DeviceShare", "Reservation"]),
    "postFilter": (True, ["Reservation", "Coscheduling", "DefaultPreemption"]),
    "preScore": (False, ["Reservation", "Coscheduling"]),
    "score": (False, ["LoadAwareScheduling", "NodeNUMAResource", "DeviceShare", "Reservation", "Coscheduling"]),
    # Without Reservation in front no reservation is ever consumed.
    "reserve": (False, ["Reservation", "LoadAwareScheduling", "NodeNUMAResource", "DeviceShare", "Coscheduling"]),
    "permit": (False, ["Coscheduling"]),
    "preBind": (False, ["NodeNUMAResource", "DeviceShare", "Reservation", "Coscheduling", "DefaultPreBind"]),
    "bind": (True, ["Reservation", "DefaultBinder"]),
    "postBind": (False, ["Coscheduling"]),
}
"""Extension point → whether the default plugins go, and the plugins of koord-scheduler's own manifest."""
_KOORDINATOR_WEIGHTS = {"Reservation": 5000}


def _start_koord_scheduler(plane: ControlPlane) -> None:
    _define(plane, "koordinator")
    plane.api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "koordinator-system"}})
    plugins = {point: _plugin_set(replaces, names) for point, (replaces, names) in _KOORDINATOR_PLUGINS.items()}
    profile = {"schedulerName": "koord-scheduler", "plugins": plugins}
    insecure = ("--address=127.0.0.1", f"--port={free_port()}")
    _start_framework(plane, "koord-scheduler", profile, *insecure)


def _plugin_set(replaces: bool, names: Sequence[str]) -> Object:
    enabled = [{"name": n, **({"weight": w} if (w := _KOORDINATOR_WEIGHTS.get(n)) else {})} for n in names]
    return {"enabled": enabled, **({"disabled": [{"name": "*"}]} if replaces else {})}


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
_VOLCANO_GROUP = "scheduling.k8s.io/group-name"


def _start_volcano(plane: ControlPlane) -> None:
    _define(plane, "volcano")
    plane.api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "volcano-system"}})
    file = plane.folder / "volcano-scheduler.conf"
    file.write_text(_VOLCANO_CONFIGURATION)
    port = free_port()
    command = [
        str(plane.binaries["volcano-scheduler"]),
        f"--kubeconfig={plane.kubeconfig}",
        f"--scheduler-conf={file}",
        "--scheduler-name=volcano",
        "--leader-elect=false",
        "--schedule-period=20ms",
        f"--kube-api-qps={_QPS}",
        f"--kube-api-burst={_QPS}",
        "--enable-healthz=true",
        f"--healthz-address=127.0.0.1:{port}",
        f"--listen-address=127.0.0.1:{free_port()}",
        "--percentage-nodes-to-find=100",
        "--cache-dumper=false",
    ]
    ready = commands.answers(f"http://127.0.0.1:{port}/healthz")
    plane.add(Component("volcano-scheduler", command, plane.folder, is_ready=ready))


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


def _define(plane: ControlPlane, pins_name: str) -> None:
    defined = []
    for file in sorted(plane.binaries.definitions[pins_name].glob("*.yaml")):
        for document in yaml.safe_load_all(file.read_text()):
            if document:
                defined.append(plane.api.create(document))
    for each in defined:
        wait_until(
            f"{each['metadata']['name']} is served",
            lambda each=each: condition(plane.api.get(each), "Established") == "True",  # type: ignore[misc]
        )


def _peer(name: str) -> Pins:
    return next(pins for pins in PEERS if pins.name == name)


KUBE_SCHEDULER = kube_scheduler()
KOORD_SCHEDULER = SchedulerKind("koord-scheduler", "koord-scheduler", _peer("koordinator"), _start_koord_scheduler)
VOLCANO = SchedulerKind(
    "volcano",
    "volcano",
    _peer("volcano"),
    _start_volcano,
    _volcano_group,
    swept=("/registry/scheduling.volcano.sh/podgroups/",),
)
SEATS = {seat.name: seat for seat in (KUBE_SCHEDULER, KOORD_SCHEDULER, VOLCANO)}
