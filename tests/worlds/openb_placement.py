"""Where the pods of the openb trace run, which the trace does not say.

The rule: pods are placed in order of creation. Three of four go to the tightest of at most 32 nodes with room that are
drawn at random (fewest GPU thousandths left, then fewest cores), the fourth to any of them. One node in seven joined
late and sees the last tenth of the pods only. A pod needs cores, memory, one of 110 pod places, and its GPU share on
single devices: a part on the fullest device that has it, whole GPUs on empty devices. What finds no room waits.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

from tests.worlds.openb_trace import TraceNode, TracePod

_NUM_DRAWN = 32
_NUM_TRIES = 400
_WHOLE_MILLI = 1000


@dataclass(frozen=True, slots=True)
class Placement:
    """The node of a pod (None while it waits) and the indexes of its GPUs there."""

    node: TraceNode | None
    gpus: tuple[int, ...] = ()


@dataclass(slots=True)
class _Room:
    """What is left on a node; `gpu_milli` is per device."""

    node: TraceNode
    is_late: bool
    cpu_milli: int = field(init=False)
    memory_mib: int = field(init=False)
    num_pods: int = field(default=110, init=False)
    gpu_milli: list[int] = field(init=False)

    def __post_init__(self) -> None:
        self.cpu_milli = self.node.cpu_milli
        self.memory_mib = self.node.memory_mib
        self.gpu_milli = [_WHOLE_MILLI] * self.node.num_gpus

    def gpus_for(self, pod: TracePod) -> tuple[int, ...] | None:
        """Indexes of the devices that the pod would get, None when it does not fit on the node."""
        if self.cpu_milli < pod.cpu_milli or self.memory_mib < pod.memory_mib or not self.num_pods:
            return None
        if pod.models and self.node.model not in pod.models:
            return None
        fitting = sorted((free, index) for index, free in enumerate(self.gpu_milli) if free >= pod.gpu_milli)
        if len(fitting) < pod.num_gpus:
            return None
        return tuple(index for _, index in fitting[: pod.num_gpus])

    def take(self, pod: TracePod, gpus: Sequence[int]) -> None:
        """Books the pod."""
        self.cpu_milli -= pod.cpu_milli
        self.memory_mib -= pod.memory_mib
        self.num_pods -= 1
        for index in gpus:
            self.gpu_milli[index] -= pod.gpu_milli


def place_pods(nodes: Sequence[TraceNode], pods: Sequence[TracePod], rng: random.Random) -> list[Placement]:
    """The place of each pod, by the rule above. Pods that the trace left pending wait; finished ones take no room."""
    rooms = [_Room(node, is_late=rng.random() < 1 / 7) for node in nodes]
    early = [room for room in rooms if not room.is_late]
    return [
        _place(rooms if position >= len(pods) * 0.9 else early, pod, rng) if pod.phase != "Pending" else Placement(None)
        for position, pod in enumerate(pods)
    ]


def _place(rooms: Sequence[_Room], pod: TracePod, rng: random.Random) -> Placement:
    found: list[tuple[_Room, tuple[int, ...]]] = []
    for _ in range(_NUM_TRIES if rooms else 0):
        room = rooms[rng.randrange(len(rooms))]
        gpus = room.gpus_for(pod)
        if gpus is not None:
            found.append((room, gpus))
            if len(found) == _NUM_DRAWN:
                break
    if not found:
        return Placement(None)
    if rng.random() < 0.75:
        room, gpus = min(found, key=lambda option: (sum(option[0].gpu_milli), option[0].cpu_milli))
    else:
        room, gpus = found[0]
    if pod.phase == "Running":
        room.take(pod, gpus)
    return Placement(room.node, gpus)
