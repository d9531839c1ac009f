"""What pods request and nodes have, in nano units of each resource."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache

from descheduler.model.quantity import NANO, parse_quantity
from tests.living.store import Object

Amounts = dict[str, int]
"""Resource → nano units."""

_PARTS = re.compile(r"(\d+(?:\.\d+)?)(ns|us|µs|ms|h|m|s)")
_SECONDS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}

_parsed = cache(parse_quantity)


def amounts(quantities: Mapping[str, object] | None) -> Amounts:
    """A map of quantities as objects hold it."""
    return {name: _parsed(str(text)) for name, text in (quantities or {}).items()}


def added(left: Mapping[str, int], right: Mapping[str, int], sign: int = 1) -> Amounts:
    """`left` and `sign` times `right`."""
    return {name: left.get(name, 0) + sign * right.get(name, 0) for name in {**left, **right}}


def summed(parts: Iterable[Mapping[str, int]]) -> Amounts:
    """All of `parts` together."""
    total: Amounts = {}
    for part in parts:
        for name, value in part.items():
            total[name] = total.get(name, 0) + value
    return total


def pod_requests(pod: Object) -> Amounts:
    """What a pod takes on its node, its place among the pods included."""
    spec = pod["spec"]
    running = summed(_container(found) for found in spec.get("containers") or ())
    for found in spec.get("initContainers") or ():
        needed = _container(found)
        if found.get("restartPolicy") == "Always":
            running = added(running, needed)
        else:
            running = {name: max(running.get(name, 0), needed.get(name, 0)) for name in {**running, **needed}}
    return added(running, amounts(spec.get("overhead")) | {"pods": NANO})


def allocatable(node: Object) -> Amounts:
    """What pods can take of a node."""
    return amounts(node.get("status", {}).get("allocatable"))


def as_text(nano: int) -> str:
    """The quantity in base units, or in thousandths where these are needed."""
    return str(nano // NANO) if nano % NANO == 0 else f"{nano * 1000 // NANO}m"


def duration_seconds(text: str) -> float:
    """A duration as Go writes it, such as `5m0s` or `24h`."""
    return sum(float(number) * _SECONDS[unit] for number, unit in _PARTS.findall(text))


def _container(found: Object) -> Amounts:
    resources = found.get("resources") or {}
    return {**amounts(resources.get("limits")), **amounts(resources.get("requests"))}
