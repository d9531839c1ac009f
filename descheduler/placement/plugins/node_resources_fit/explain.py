"""How much of which resource is missing."""

from __future__ import annotations

from collections.abc import Iterator

from descheduler.model.amounts import amount_text
from descheduler.model.requests import PODS
from descheduler.placement.framework.obstacle import Obstacle, Shortage
from descheduler.placement.framework.refused_node import RefusedNode

__all__ = ["explain_resources"]


def explain_resources(refused: RefusedNode, obstacle: Obstacle) -> Iterator[str]:
    """Such as `needs 200m cpu more: asks for 500m, 300m of 4 is free`."""
    del refused
    for fact in obstacle.facts:
        if isinstance(fact, Shortage):
            yield _sentence(fact)


def _sentence(fact: Shortage) -> str:
    name = fact.resource
    if name == PODS:
        return f"has no place left: {fact.allocatable - fact.free} of {fact.allocatable} pods are there"
    missing = fact.requested - fact.free
    more, asked, free, whole = (
        amount_text(name, amount) for amount in (missing, fact.requested, fact.free, fact.allocatable)
    )
    if fact.requested > fact.allocatable:
        return f"too small: the pod asks for {asked} {name}, the node has {whole} in all"
    return f"needs {more} {name} more: the pod asks for {asked}, {free} of {whole} is free"
