"""Plugin deviceshare: GPUs card by card, by memory, as whole cards, or as vGPUs.

What pods have is in their annotations: `volcano.sh/gpu-index` or `volcano.sh/vgpu-ids-new`. Cards that were given to
a pod which is not bound after all stay taken until the cycle ends, as in Volcano 1.10.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol

import msgspec
import numpy as np

from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.model.quantity import ceil_value
from descheduler.model.requests import ContainerResources
from descheduler.placement.configuration.volcano import PluginOption
from descheduler.placement.volcano.jobs import Task
from descheduler.placement.volcano.order import Choices
from descheduler.placement.volcano.session import Session
from descheduler.placement.volcano.tiers import OPEN, UNSCHEDULABLE, Callbacks, NodeCodes

_GPU_MEMORY, _GPU_NUMBER = "volcano.sh/gpu-memory", "volcano.sh/gpu-number"
_GPU_INDEX, _UNHEALTHY = "volcano.sh/gpu-index", "volcano.sh/gpu-unhealthy-ids"
_VGPU_NUMBER, _VGPU_MEMORY = "volcano.sh/vgpu-number", "volcano.sh/vgpu-memory"
_VGPU_PERCENTAGE, _VGPU_CORES = "volcano.sh/vgpu-memory-percentage", "volcano.sh/vgpu-cores"
_VGPU_IDS = "volcano.sh/vgpu-ids-new"
_REGISTER, _HANDSHAKE = "volcano.sh/node-vgpu-register", "volcano.sh/node-vgpu-handshake"
_USED_TYPES, _UNUSED_TYPES = "nvidia.com/use-gputype", "nvidia.com/nouse-gputype"
_MAKER = "NVIDIA"
_WHOLE = 100
_NUM_FIELDS = 5


class Cards(Protocol):
    """The cards of one node of one kind."""

    def asks(self, pod: Pod) -> bool:
        """Whether the pod asks for cards of this kind."""

    def has_room(self, pod: Pod) -> bool:
        """Whether there is room for the pod."""

    def take(self, pod: Pod, choices: Choices) -> str:
        """Gives it cards; what is noted on the pod, empty where there is no room."""

    def load(self, pod: Pod) -> None:
        """Counts a pod that has cards already."""

    def give_back(self, pod: Pod) -> bool:
        """The pod leaves, or is not bound after all; whether its annotation goes."""


def start(session: Session, option: PluginOption) -> Callbacks:
    """The filter, and the accounts of cards, for the kinds that the arguments enable."""
    switches = option.arguments
    shares = switches.switch("deviceshare.GPUSharingEnable", default=False)
    counts = switches.switch("deviceshare.GPUNumberEnable", default=False)
    is_virtual = switches.switch("deviceshare.VGPUEnable", default=False)
    nodes = session.cluster.table.nodes
    cards: list[Cards] = []
    if shares or counts:
        cards = [GpuCards(node, shares=shares, counts=counts) for node in nodes]
    elif is_virtual:
        cards = [VirtualCards(node) for node in nodes]
    for tasks, of_node in zip(session.nodes.tasks, cards, strict=False):
        for task in tasks.values():
            of_node.load(task.pod)

    def predicate(task: Task) -> NodeCodes:
        codes = [OPEN if not each.asks(task.pod) or each.has_room(task.pod) else UNSCHEDULABLE for each in cards]
        return np.array(codes or [OPEN] * len(nodes), dtype=np.int8)

    def allocated(task: Task) -> None:
        if cards and cards[task.node].asks(task.pod):
            noted = cards[task.node].take(task.pod, session.choices)
            if noted:
                session.devices[task.key] = noted

    def deallocated(task: Task) -> None:
        if cards and cards[task.node].asks(task.pod) and cards[task.node].give_back(task.pod):
            session.devices.pop(task.key, None)

    return Callbacks(predicate=predicate, allocated=allocated, deallocated=deallocated)


def _limit(container: ContainerResources, name: str) -> int:
    return ceil_value(container.limits.get(name, 0))


def _asked(pod: Pod, name: str) -> int:
    """What the containers ask for together, or one init container alone."""
    running = sum(_limit(container, name) for container in pod.spec.containers)
    return max([running, *(_limit(container, name) for container in pod.spec.init_containers)])


class GpuCards:
    """Cards that pods share by memory, or have whole."""

    def __init__(self, node: Node, *, shares: bool, counts: bool) -> None:
        self._shares, self._counts = shares, counts
        memory, number = (ceil_value(node.capacity.get(name, 0)) for name in (_GPU_MEMORY, _GPU_NUMBER))
        unhealthy = set(_indices(node.annotations.get(_UNHEALTHY, "")))
        self._memory = memory // number if number else 0
        found = range(number if memory else 0)
        self._pods: dict[int, dict[str, int]] = {index: {} for index in found if index not in unhealthy}

    def asks(self, pod: Pod) -> bool:
        """Whether it asks for memory or for cards, as far as that is enabled."""
        return (self._shares and _asked(pod, _GPU_MEMORY) > 0) or (self._counts and _asked(pod, _GPU_NUMBER) > 0)

    def has_room(self, pod: Pod) -> bool:
        """Whether one card has the memory, and enough of them are idle."""
        memory = _asked(pod, _GPU_MEMORY) if self._shares else 0
        number = _asked(pod, _GPU_NUMBER) if self._counts else 0
        return bool(self._pods) and (not memory or bool(self._with_room(memory))) and len(self._idle()) >= number

    def take(self, pod: Pod, choices: Choices) -> str:
        """The lowest card with room for the memory, or any idle ones."""
        memory = _asked(pod, _GPU_MEMORY)
        if memory:
            chosen = self._with_room(memory)[:1]
        else:
            chosen = choices.shuffled(self._idle())[: _asked(pod, _GPU_NUMBER)]
        for index in chosen:
            self._pods[index][pod.uid] = memory
        return ",".join(map(str, chosen))

    def load(self, pod: Pod) -> None:
        """A pod that asks for memory occupies its card; one that has whole cards does not, as Volcano 1.10 has it."""
        memory = _asked(pod, _GPU_MEMORY)
        for index in _indices(pod.annotations.get(_GPU_INDEX, "")) if memory else ():
            if index in self._pods:
                self._pods[index][pod.uid] = memory

    def give_back(self, pod: Pod) -> bool:
        """Frees the cards that its annotation names, so that those of a pod of this cycle stay taken."""
        for index in _indices(pod.annotations.get(_GPU_INDEX, "")):
            self._pods.get(index, {}).pop(pod.uid, None)
        return True

    def _with_room(self, memory: int) -> list[int]:
        return [index for index, pods in self._pods.items() if self._memory - sum(pods.values()) >= memory]

    def _idle(self) -> list[int]:
        return [index for index, pods in self._pods.items() if not pods]


def _indices(text: str) -> Iterator[int]:
    return (int(part) for part in text.split(",") if part.strip().isdecimal())


class _VirtualCard(msgspec.Struct):
    """A card that so many pods may share, and what they have of it."""

    uuid: str
    number: int
    memory: int
    type: str
    used_number: int = 0
    used_memory: int = 0
    used_cores: int = 0

    def use(self, memory: int, cores: int, by: int = 1) -> None:
        """One pod more, or one less with `by` -1."""
        self.used_number += by
        self.used_memory += by * memory
        self.used_cores += by * cores


class _Wish(NamedTuple):
    """What one container asks for: cards, and of each of them memory, a percentage of it (None: not stated), cores."""

    number: int
    memory: int
    percentage: int | None
    cores: int


class _Grant(NamedTuple):
    """One card that a container gets, by its place on the node."""

    card: int
    memory: int
    cores: int


class VirtualCards:
    """vGPUs. Cards are tried from the last one on."""

    def __init__(self, node: Node) -> None:
        annotations = node.annotations
        self._is_there = _REGISTER in annotations and _HANDSHAKE in annotations
        self._cards = list(_registered(annotations.get(_REGISTER, ""))) if self._is_there else []

    def asks(self, pod: Pod) -> bool:
        """Whether a container has a limit on cards or on their memory."""
        return any(_wishes(pod))

    def has_room(self, pod: Pod) -> bool:
        """Whether every container gets its cards."""
        return self._is_there and self._grants(pod) is not None

    def take(self, pod: Pod, choices: Choices) -> str:
        """The cards of each container."""
        grants = self._grants(pod) or ()
        for container in grants:
            self._use(container)
        return ";".join("".join(self._text(grant) for grant in container) for container in grants)

    def load(self, pod: Pod) -> None:
        """Counts what the annotation of a pod says."""
        for text in pod.annotations.get(_VGPU_IDS, "").replace(";", ":").split(":"):
            uuid, _, *figures = [*text.split(","), "", "", ""][:4]
            for place, card in enumerate(self._cards):
                if uuid and card.uuid in uuid and all(figure.isdecimal() for figure in figures):
                    self._use((_Grant(place, int(figures[0]), int(figures[1])),))

    def give_back(self, pod: Pod) -> bool:
        """Frees nothing: Volcano looks at the cards again in the next cycle."""
        return False

    def _use(self, grants: Iterable[_Grant], by: int = 1) -> None:
        for grant in grants:
            self._cards[grant.card].use(grant.memory, grant.cores, by)

    def _text(self, grant: _Grant) -> str:
        return f"{self._cards[grant.card].uuid},{_MAKER},{grant.memory},{grant.cores}:"

    def _grants(self, pod: Pod) -> Sequence[Sequence[_Grant]] | None:
        """The cards of each container; None where there are too few. They are not taken yet."""
        found: list[list[_Grant]] = []
        for wish in _wishes(pod):
            granted = self._grant(pod, wish) if wish.number <= len(self._cards) else []
            self._use(granted)
            found.append(granted)
            if len(granted) < wish.number:
                break
        is_whole = all(len(granted) == wish.number for granted, wish in zip(found, _wishes(pod), strict=False))
        for granted in found:
            self._use(granted, -1)
        return found if is_whole else None

    def _grant(self, pod: Pod, wish: _Wish) -> list[_Grant]:
        granted: list[_Grant] = []
        memory = wish.memory
        for place in reversed(range(len(self._cards))):
            card = self._cards[place]
            if wish.percentage is not None and not memory:
                memory = card.memory * (wish.percentage // _WHOLE)
            if len(granted) < wish.number and _fits(pod, card, memory, wish.cores):
                granted.append(_Grant(place, memory, wish.cores))
        return granted


def _fits(pod: Pod, card: _VirtualCard, memory: int, cores: int) -> bool:
    has_room = card.number > card.used_number and card.memory - card.used_memory >= memory
    has_cores = card.used_cores + cores <= _WHOLE
    is_alone = cores < _WHOLE or not card.used_number
    is_open = cores > 0 or card.used_cores < _WHOLE
    return has_room and has_cores and is_alone and is_open and _is_type_allowed(pod, card.type)


def _is_type_allowed(pod: Pod, kind: str) -> bool:
    """Whether the annotations of the pod let it use a card; of types that it must not use only a list counts."""
    if _MAKER not in kind:
        return False
    used, unused = (pod.annotations.get(key) for key in (_USED_TYPES, _UNUSED_TYPES))
    if used is not None:
        return any(each.upper() in kind.upper() for each in used.split(","))
    listed = unused.split(",") if unused is not None and "," in unused else []
    return not any(each.upper() in kind.upper() for each in listed)


def _wishes(pod: Pod) -> Iterator[_Wish]:
    for container in pod.spec.containers:
        limits = container.limits
        if _VGPU_NUMBER in limits or _VGPU_MEMORY in limits:
            memory = _limit(container, _VGPU_MEMORY)
            percentage = _limit(container, _VGPU_PERCENTAGE) if _VGPU_PERCENTAGE in limits else None
            if percentage is None and not memory:
                percentage = _WHOLE
            number = _limit(container, _VGPU_NUMBER) if _VGPU_NUMBER in limits else 1
            yield _Wish(number, memory, percentage, _limit(container, _VGPU_CORES))


def _registered(text: str) -> Iterator[_VirtualCard]:
    for entry in text.split(":"):
        fields = entry.split(",")
        if len(fields) >= _NUM_FIELDS and fields[1].isdecimal() and fields[2].isdecimal():
            yield _VirtualCard(fields[0], int(fields[1]), int(fields[2]), fields[3])
