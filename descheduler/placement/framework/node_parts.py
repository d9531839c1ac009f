"""Parts of nodes that pods get one by one, such as GPUs, as far as planners may count them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple, Protocol

from descheduler.model.pod import Pod
from descheduler.model.requests import ResourceList

WHOLE_PART = 100
"""Percent."""
ALL_PARTS = -1
"""In the place of a number of parts: all those of a node, however many it has."""


class FreePart(NamedTuple):
    """Percent of one part that are free: of its cores, and of its memory."""

    core: int
    memory_ratio: int


class PartNeed(NamedTuple):
    """`number` parts, or `ALL_PARTS`, and percent of each."""

    number: int
    core: int
    memory_ratio: int


class NodeParts(Protocol):
    """The parts of the nodes of one shadow cluster, by a number on their node."""

    is_listed: bool
    """Whether objects of the cluster list any."""

    def state(self, node: int) -> object:
        """What stands for the parts of the node of this index and what is free of them: one object for one state."""

    def free(self, node: int) -> Mapping[int, FreePart]:
        """What is free of each usable part of a node, by ascending number."""

    def held_by(self, pod: Pod) -> tuple[int, ...]:
        """The parts that a pod has, ascending; none for a pod that has none, or whose parts are unknown."""

    def most_memory(self, nodes: Iterable[int]) -> int:
        """The most bytes that a part of the nodes has; 0 where that is not told."""

    def need(self, requests: ResourceList, most_memory: int) -> PartNeed | None:
        """What a pod with these effective requests asks for; None where it asks for no part, or for what no node has.

        Memory in bytes counts as its share of `most_memory`: which part it gets is not known before.
        """

    def need_of(self, pod: Pod, most_memory: int) -> PartNeed | None:
        """What `pod`, or its replacement, asks for, as `need`."""

    def why_uncounted(self, pod: Pod) -> str:
        """Why it cannot be told which parts `pod`, or its replacement, asks for, a sentence; empty where it can."""


class NoParts:
    """Of a cluster in which no plugin hands any out, and the base of parts that pods do not get by requests."""

    is_listed = False

    def state(self, node: int) -> object:
        """Always the same."""
        return None

    def free(self, node: int) -> Mapping[int, FreePart]:
        """Nothing."""
        return {}

    def held_by(self, pod: Pod) -> tuple[int, ...]:
        """None."""
        return ()

    def most_memory(self, nodes: Iterable[int]) -> int:
        """Not told."""
        return 0

    def need(self, requests: ResourceList, most_memory: int) -> PartNeed | None:
        """Never any."""
        return None

    def need_of(self, pod: Pod, most_memory: int) -> PartNeed | None:
        """Never any."""
        return None

    def why_uncounted(self, pod: Pod) -> str:
        """Nothing is uncounted."""
        return ""
