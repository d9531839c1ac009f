"""How much of which resource is missing."""

from __future__ import annotations

from collections.abc import Iterator

from descheduler.model.requests import CPU, PODS
from descheduler.model.text.amounts import amount_text
from descheduler.placement.framework.obstacle import Obstacle, Shortage
from descheduler.placement.framework.refused_node import RefusedNode

__all__ = ["explain_resources"]


def explain_resources(refused: RefusedNode, obstacle: Obstacle) -> Iterator[str]:
    """Such as `200m CPU short: requests 500m, 300m of 4 is free`."""
    del refused
    for fact in obstacle.facts:
        if isinstance(fact, Shortage):
            yield _sentence(fact)


def _sentence(fact: Shortage) -> str:
    name = fact.resource
    if name == PODS:
        return f"maximum pods reached: {fact.allocatable - fact.free} of {fact.allocatable} pods"
    shown = "CPU" if name == CPU else name
    missing = fact.requested - fact.free
    more, asked, free, whole = (
        amount_text(name, amount) for amount in (missing, fact.requested, fact.free, fact.allocatable)
    )
    if fact.requested > fact.allocatable:
        return f"node too small: requests {asked} {shown}, {whole} is allocatable"
    if fact.free < 0:
        over = amount_text(name, -fact.free)
        return f"{more} {shown} short: requests {asked}, node is over-committed by {over}"
    return f"{more} {shown} short: requests {asked}, {free} of {whole} is free"
