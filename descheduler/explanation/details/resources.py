"""NodeResourcesFit: how much of which resource is missing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from descheduler.explanation.details.site import Site
from descheduler.model.requests import PODS
from descheduler.placement.framework.extension_points import Obstacle
from descheduler.placement.plugins.node_resources_fit.filter import Shortage
from descheduler.report.amounts import amount_text
from descheduler.report.explanation.placement import Deficit

__all__ = ["deficits_of", "explain_resources", "shortage"]


def deficits_of(obstacle: Obstacle) -> tuple[Deficit, ...]:
    """What a node is short of, in the order of the reasons; empty for obstacles of other plugins."""
    return tuple(
        Deficit(
            resource=fact.resource,
            missing=fact.requested - fact.free,
            requested=fact.requested,
            free=fact.free,
            allocatable=fact.allocatable,
        )
        for fact in obstacle.facts
        if isinstance(fact, Shortage)
    )


def shortage(deficits: Iterable[Deficit]) -> float:
    """How much is missing, as a share of what the pod asks for, summed over the resources."""
    return sum(deficit.missing / max(1, deficit.requested) for deficit in deficits)


def explain_resources(site: Site, obstacle: Obstacle) -> Iterator[str]:
    """Such as `needs 200m cpu more: asks for 500m, 300m of 4 is free`."""
    for deficit in deficits_of(obstacle):
        if deficit.resource == PODS:
            yield f"has no place left: {deficit.allocatable - deficit.free} of {deficit.allocatable} pods are there"
            continue
        name = deficit.resource
        more, asked, free, whole = (
            amount_text(name, amount)
            for amount in (deficit.missing, deficit.requested, deficit.free, deficit.allocatable)
        )
        if deficit.requested > deficit.allocatable:
            yield f"too small: the pod asks for {asked} {name}, the node has {whole} in all"
        else:
            yield f"needs {more} {name} more: the pod asks for {asked}, {free} of {whole} is free"
