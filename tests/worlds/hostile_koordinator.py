"""Small Koordinator clusters whose objects say odd things: huge numbers, empty names, loops, unknown words."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

from tests.builders import Object, ago, node_object, pod_object

_D = "scheduling.koordinator.sh/"
_G = "gang.scheduling.koordinator.sh/"
_Q = "quota.scheduling.koordinator.sh/"
_GPU = ("koordinator.sh/gpu-core", "koordinator.sh/gpu-memory-ratio")
_QUANTITIES = (
    "1",
    "500m",
    "0",
    "-1",
    "9223372036854775807",
    "1e300",
    "1n",
    "100Ei",
    "2",
    "",
    "0.0000000001",
    "99999999",
)
_TEXTS = (
    "",
    " ",
    "\x1b[31mred\x1b[0m",
    "a" * 300,
    "null",
    "{}",
    "[]",
    "[" * 2000,
    '"',
    "\u202e",
    "true",
    "0",
    "-1",
    "1e9",
)
_NAMES = ("", "gone", "a", "b", "train", "team", "all", "../x", "room", "\n", "default/train", "pod-0")
_WORDS = ("", "Odd", "Restricted", "Aligned", "restricted", "Available", "Failed", "once-satisfied", "only-waiting")
_NODES = ("a", "b", "c")


class _Maker:
    """Values that are sane, but for one in so many."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.share = random.choice((0.05, 0.15, 0.4))

    def of(self, sane: Sequence[Any], odd: Sequence[Any]) -> Any:
        return self.random.choice(odd if self.random.random() < self.share else sane)

    def quantity(self, *sane: str) -> str:
        return str(self.of(sane, _QUANTITIES))

    def some(self, most: int) -> range:
        return range(self.random.randint(0, most))

    def allocated(self) -> str:
        """What a pod or a Reservation has of devices."""
        minor = self.of((0, 1), (-1, 7, 2**31 - 1, 0))
        amounts = {name: self.quantity("50", "100") for name in _GPU}
        entries = [{"minor": minor, "resources": amounts}] * self.of((1,), (2, 0))
        return str(self.of((json.dumps({self.of(("gpu",), ("rdma", "odd", "")): entries}),), _TEXTS))

    def gang(self) -> Object:
        """Annotations of a PodGroup, or of a pod without one."""
        groups = [self.of(("default/train", "default/crew"), (*_NAMES, 7, None)) for _ in self.some(3)]
        return {
            f"{_G}min-available": str(self.of(("1", "2", "3"), (*_TEXTS, "99999999999"))),
            f"{_G}mode": str(self.of(("Strict", "NonStrict"), _WORDS)),
            f"{_G}match-policy": str(self.of(("once-satisfied", "only-waiting", "waiting-and-running"), _WORDS)),
            f"{_G}groups": self.of((json.dumps(groups), ""), _TEXTS),
            f"{_G}waiting-time": str(self.of(("30s",), (*_TEXTS, "-5s", "9999999h"))),
            f"{_G}total-number": str(self.of(("3",), _TEXTS)),
        }


def hostile_world(random: Random) -> list[Object]:
    """Three nodes, one of them tainted, with pods, Reservations, Devices, quotas, gangs and jobs."""
    make = _Maker(random)
    return [
        *_nodes(make),
        *(each for index in range(random.randint(3, 10)) for each in _pod(make, index)),
        *(_reservation(make, index) for index in make.some(4)),
        *(_device(make, name) for name in make.of((_NODES,), ((*_NODES, "gone"), ("a", "a"), ()))),
        *(_quota(make, name) for name in ("all", "team", "crew", "all")[: random.randint(0, 4)]),
        *(_pod_group(make, name) for name in ("train", "crew")[: random.randint(0, 2)]),
        *(_job(make, index) for index in make.some(3)),
    ]


def _nodes(make: _Maker) -> Iterator[Object]:
    for index, name in enumerate(_NODES):
        reserved = {"resources": {"cpu": make.quantity("2", "7")}, "reservedCPUs": make.of(("", "0-1"), ("5-1", "x"))}
        yield node_object(
            name,
            cpu="8",
            allocatable={key: make.quantity("200") for key in _GPU},
            taints=["maintenance=x:NoSchedule"] if index == 0 else (),
            annotations={"node.koordinator.sh/reservation": make.of(("", json.dumps(reserved)), _TEXTS)},
            labels={"node.koordinator.sh/numa-topology-policy": make.of(("", "", "Restricted"), _WORDS)},
        )


def _pod(make: _Maker, index: int) -> tuple[Object, Object]:
    """A pod and its ReplicaSet."""
    node = make.of((*_NODES, "a", "", ""), ("gone",))
    labels = {
        "app": make.of(("web", "db"), ("",)),
        f"{_Q}name": make.of(("team", "all", ""), _NAMES),
        "pod-group.scheduling.sigs.k8s.io": make.of(("", "", "train", "crew"), _NAMES),
    }
    annotations = {
        f"{_D}device-allocated": make.allocated() if node and make.random.random() < 0.6 else "",
        f"{_D}reservation-allocated": make.of(
            ("", json.dumps({"name": "room-0", "uid": "uid-room-0"})), (*_TEXTS, '{"uid": 5}')
        ),
        f"{_D}reservation-affinity": make.of(("",), ('{"name": "room-0"}', '{"name": "gone"}', '{"x": 1}', *_TEXTS)),
        f"{_D}numa-topology-spec": make.of(("",), ('{"numaTopologyPolicy": "Odd"}', *_TEXTS)),
        f"{_D}device-allocate-hint": make.of(("",), ('{"gpu": {"allocateStrategy": "Odd"}}', *_TEXTS)),
        **(make.gang() if make.random.random() < 0.3 else {}),
    }
    gpu = {key: make.quantity("50", "100") for key in _GPU} if make.random.random() < 0.5 else {}
    pod = pod_object(
        f"pod-{index}",
        node=node,
        phase="Running" if node else "Pending",
        cpu=make.quantity("1", "2", "500m"),
        requests=gpu,
        labels={key: value for key, value in labels.items() if value},
        annotations={key: value for key, value in annotations.items() if value},
        scheduler=make.of(("koord-scheduler",), ("default-scheduler", "odd", "")),
        priority=make.of((9000,), (2**31 - 1, -1, 5500)),
        owners=[f"ReplicaSet/web-{index}"],
        deleted=make.of((None,), (10,)),
    )
    metadata = {"labels": pod["metadata"].get("labels", {})}
    # What the scheduler has noted on the pod is not in the template.
    noted = (f"{_D}device-allocated", f"{_D}reservation-allocated")
    stated = pod["metadata"].get("annotations", {})
    metadata["annotations"] = {key: value for key, value in stated.items() if key not in noted}
    spec = {key: value for key, value in pod["spec"].items() if key != "nodeName"}
    owner = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": f"web-{index}", "namespace": "default", "uid": f"replicaset-web-{index}"},
        "spec": {"replicas": 3, "template": {"metadata": metadata, "spec": spec}},
    }
    return pod, owner


def _reservation(make: _Maker, index: int) -> Object:
    selector = {"matchLabels": {"app": "web"}}
    odd_owners: tuple[Any, ...] = (
        [],
        [{}],
        [{"object": {"apiVersion": "v1"}}],
        [{"labelSelector": {"matchExpressions": [{"key": "", "operator": "Odd"}]}}],
        [{"controller": {"kind": "", "controller": True}}],
    )
    requests = {"cpu": make.quantity("1", "4")}
    template: Object = {"spec": {"containers": [{"name": "c", "resources": {"requests": requests}}]}}
    template["spec"]["schedulerName"] = make.of(("koord-scheduler",), ("", "odd"))
    return {
        "apiVersion": "scheduling.koordinator.sh/v1alpha1",
        "kind": "Reservation",
        "metadata": {
            "name": f"room-{index}",
            "uid": make.of((f"uid-room-{index}",), ("", "uid-room-0")),
            "creationTimestamp": make.of((ago(60),), ("0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z")),
            "annotations": {f"{_D}device-allocated": make.allocated() if make.random.random() < 0.4 else ""},
        },
        "spec": {
            "template": make.of((template,), (None, {})),
            "owners": make.of(([{"labelSelector": selector}],), odd_owners),
            "ttl": make.of(("0s", "1h"), ("2562047h", "-1h", "1ns")),
            "allocateOnce": make.of((True, False), (None,)),
            "allocatePolicy": make.of(("", "Restricted"), _WORDS),
            "unschedulable": make.of((False,), (True,)),
            "preAllocation": make.of((False,), (True,)),
            "taints": make.of(([],), ([{"key": "", "effect": "Odd"}], [{"key": "x", "effect": "NoSchedule"}])),
        },
        "status": {
            "phase": make.of(("Available", "Pending", ""), (*_WORDS, "Waiting")),
            "nodeName": make.of(("b", "c", ""), ("gone", "a")),
            "allocatable": {"cpu": make.quantity("1", "4")},
            "currentOwners": make.of(([],), ([{"uid": "default-pod-0"}], [{"name": "gone"}], [{}])),
        },
    }


def _device(make: _Maker, name: str) -> Object:
    devices = [
        {
            "type": make.of(("gpu",), ("rdma", "", "odd")),
            "minor": make.of((index,), (0, -1, 2**31 - 1, None)),
            "health": make.of((True,), (False, None)),
            "resources": {key: make.quantity("100") for key in _GPU},
            "topology": make.of((None, {"nodeID": 0, "pcieID": "0"}), ({"nodeID": -1}, {})),
        }
        for index in range(2)
    ]
    annotations = {"scheduling.koordinator.sh/gpu-partitions": make.of(("",), _TEXTS)}
    return {
        "apiVersion": "scheduling.koordinator.sh/v1alpha1",
        "kind": "Device",
        "metadata": {"name": name, "annotations": annotations},
        "spec": {"devices": devices},
    }


def _quota(make: _Maker, name: str) -> Object:
    labels = {
        f"{_Q}parent": make.of(("", "all"), _NAMES),
        f"{_Q}is-parent": make.of(("", "true"), _TEXTS),
        f"{_Q}tree-id": make.of(("",), ("t", "")),
    }
    return {
        "apiVersion": "scheduling.sigs.k8s.io/v1alpha1",
        "kind": "ElasticQuota",
        "metadata": {"name": name, "namespace": "default", "labels": labels},
        "spec": {"min": {"cpu": make.quantity("1", "2")}, "max": {"cpu": make.quantity("4", "8")}},
    }


def _pod_group(make: _Maker, name: str) -> Object:
    return {
        "apiVersion": "scheduling.sigs.k8s.io/v1alpha1",
        "kind": "PodGroup",
        "metadata": {"name": name, "namespace": make.of(("default",), ("other",)), "annotations": make.gang()},
        "spec": {
            "minMember": make.of((1, 2, 3), (0, -1, 2**31 - 1)),
            "scheduleTimeoutSeconds": make.of((30,), (-1, None)),
        },
    }


def _job(make: _Maker, index: int) -> Object:
    return {
        "apiVersion": "scheduling.koordinator.sh/v1alpha1",
        "kind": "PodMigrationJob",
        "metadata": {"name": f"job-{index}", "uid": f"job-{index}", "creationTimestamp": ago(600)},
        "spec": {
            "podRef": make.of(({"namespace": "default", "name": "pod-1"},), ({}, {"name": ""}, {"name": "gone"})),
            "ttl": make.of(("5m", ""), ("-1m", "2562047h")),
            "mode": make.of(("ReservationFirst",), _WORDS),
            "paused": make.of((False,), (True, None)),
            "reservationOptions": make.of((None,), ({"reservationRef": {"name": "room-0"}}, {})),
        },
        "status": {
            "phase": make.of(("", "Pending", "Running", "Succeeded"), _WORDS),
            "conditions": make.of((None,), ([{}], [{"type": "Odd", "status": "Odd"}])),
            "podRef": make.of((None,), ({}, {"name": "pod-2"})),
        },
    }
