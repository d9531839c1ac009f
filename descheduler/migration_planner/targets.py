"""How full nodes may be, as percent of what they have, and how full they are as things are booked."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from descheduler.eviction.plugin_evictor import PluginEvictor
from descheduler.planner.arrays import Ints

__all__ = ["UNLIMITED", "Targets", "Usage", "usage_of"]

UNLIMITED = 2**60
"""The ceiling of a resource without a target."""


class Usage:
    """What of `resources` is taken of one node, and what it has: int64[R] each."""

    def __init__(self, resources: Sequence[str], taken: Ints, allocatable: Ints) -> None:
        self.resources = tuple(resources)
        self.taken = taken
        self.allocatable = allocatable


def usage_of(evictor: PluginEvictor, node: str) -> Usage:
    """The usage of a node as things are booked. Raises KeyError."""
    openings = evictor.prover().openings()
    column = openings.place_of(node)
    return Usage(openings.resources, openings.taken[:, column], openings.capacity[:, column])


class Targets:
    """Percent of allocatable by resource that may be taken of a node at most."""

    def __init__(self, percent: Mapping[str, float]) -> None:
        self.percent = dict(sorted(percent.items()))

    @property
    def text(self) -> str:
        """Such as `cpu 70 %, memory 80 %`."""
        return ", ".join(f"{resource} {percent:g} %" for resource, percent in self.percent.items())

    def ceilings(self, resources: Sequence[str], allocatable: Ints) -> Ints:
        """int64[..., R]: the most that may be taken of nodes with that much `allocatable`, of the same shape."""
        found = np.full_like(allocatable, UNLIMITED)
        for column, resource in enumerate(resources):
            if resource in self.percent:
                # Divided last: 100 cores at 57 % are 57 cores, and a little less the other way round.
                found[..., column] = np.floor(allocatable[..., column] * self.percent[resource] / 100)
        return found

    def resources_over(self, usage: Usage, need: Ints | None = None) -> tuple[str, ...]:
        """The resources of which a node is over its target; with `need` (int64[R]) on top, those that this takes."""
        over = usage.taken > self.ceilings(usage.resources, usage.allocatable)
        if need is not None:
            over = (usage.taken + need > self.ceilings(usage.resources, usage.allocatable)) & (need > 0)
        return tuple(usage.resources[column] for column in np.flatnonzero(over).tolist())

    def text_of(self, resources: Sequence[str]) -> str:
        """The targets of `resources`."""
        return ", ".join(f"{resource} {self.percent[resource]:g} %" for resource in resources)

    def text_over(self, usage: Usage) -> str:
        """Such as `cpu 93 % of 70 %`, of what is over its target; empty where nothing is."""
        return ", ".join(
            f"{resource} {_percent(usage, resource)} % of {self.percent[resource]:g} %"
            for resource in self.resources_over(usage)
        )


def _percent(usage: Usage, resource: str) -> int:
    """Rounded up: what is over its target must not look as if it were at it."""
    column = usage.resources.index(resource)
    return math.ceil(100 * int(usage.taken[column]) / max(int(usage.allocatable[column]), 1))
