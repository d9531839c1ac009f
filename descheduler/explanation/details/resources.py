"""NodeResourcesFit: how much of which resource is missing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from descheduler.explanation.details.site import Site
from descheduler.model.requests import PODS
from descheduler.placement.framework import Cycle, Obstacle
from descheduler.placement.node_table import PODS_ROW
from descheduler.report.amounts import amount_text
from descheduler.report.explanation.placement import Deficit

__all__ = ["deficits_on", "explain_resources", "shortage"]

_TOO_MANY_PODS = "Too many pods"
_INSUFFICIENT = "Insufficient "


def deficits_on(cycle: Cycle, node: int, obstacle: Obstacle) -> tuple[Deficit, ...]:
    """What `node` is short of, in the order of the reasons; empty for obstacles of other plugins."""
    table = cycle.cluster.table
    names = table.resources
    asked = {names[row]: (row, amount) for row, amount in (*cycle.pod.demand.amounts, (PODS_ROW, 1))}
    found = []
    for reason in obstacle.reasons if obstacle.plugin == "NodeResourcesFit" else ():
        resource = PODS if reason == _TOO_MANY_PODS else reason.removeprefix(_INSUFFICIENT)
        if resource in asked:
            row, requested = asked[resource]
            allocatable = int(table.allocatable[row, node])
            credit = cycle.credit.get(row)
            free = allocatable - int(table.requested[row, node]) + (0 if credit is None else int(credit[node]))
            found.append(
                Deficit(
                    resource=resource, missing=requested - free, requested=requested, free=free, allocatable=allocatable
                )
            )
    return tuple(found)


def shortage(deficits: Iterable[Deficit]) -> float:
    """How much is missing, as a share of what the pod asks for, summed over the resources."""
    return sum(deficit.missing / max(1, deficit.requested) for deficit in deficits)


def explain_resources(site: Site, obstacle: Obstacle) -> Iterator[str]:
    """Such as `needs 200m cpu more: asks for 500m, 300m of 4 is free`."""
    for deficit in deficits_on(site.cycle, site.node_index, obstacle):
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
