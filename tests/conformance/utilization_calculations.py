"""Checks of the small calculations of the utilization plugins and of topology spread, on the functions that run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from descheduler.model.pod import Pod
from descheduler.model.quantity import parse_quantity
from descheduler.strategies.node_utilization.classify import NodeLoad, sort_by_usage
from descheduler.strategies.node_utilization.thresholds import average_percent, clamp, shifted_percent, usage_percent
from descheduler.strategies.remove_pods_violating_topology_spread_constraint.domains import SpreadDomains, leaving_order
from tests.builders import decode_pod, make_node

Vector = Mapping[str, Any]

WITHOUT_COUNTERPART: dict[str, str] = {
    "weightedAverage": "a run takes one sample of the metrics server; nothing lives long enough to smooth several",
    "classify": (
        "the cases hand in conditions of their own, every resource above the limit among them; the plugins ask whether "
        "any is, which the cases of whole runs check"
    ),
}
"""Functions that this design does not have, each with the reason."""


def check_calc(vector: Vector) -> str | None:
    """How our result of one calculation differs from the recorded one, or None."""
    result = _CALCULATIONS[vector["function"]](vector["input"])
    expected = vector["expect"]["result"]
    return None if result == expected else f"expected {expected}, got {result}"


def _average(given: Vector) -> object:
    percents = given["values"].values()
    return average_percent(percents, sorted({resource for percent in percents for resource in percent}))


def _clamp(given: Vector) -> object:
    return {name: clamp(value, given["minimum"], given["maximum"]) for name, value in given["values"].items()}


def _sum(given: Vector) -> object:
    return shifted_percent(given["a"], given["b"], sign=1)


def _usage_percent(given: Vector) -> object:
    return usage_percent(_quantities(given["usage"]), _quantities(given["capacity"]))


def _sort_nodes(given: Vector) -> object:
    loads = [NodeLoad(make_node(entry["node"]), (), _quantities(entry["usage"]), {}) for entry in given["nodes"]]
    return [load.node.name for load in sort_by_usage(loads, ascending=given["ascending"])]


def _sort_domains(given: Vector) -> object:
    # Pods that may not be evicted never get this far here; in the cases they have no priority and so come first anyway.
    pods = {value: [decode_pod(pod) for pod in members] for value, members in given["domains"].items()}
    ids = np.repeat(np.arange(len(pods)), [len(members) for members in pods.values()])
    ranked = SpreadDomains(tuple(pods), np.arange(len(ids)), ids, {}).ranked()
    return [{"domain": value, "pods": _leaving(pods[value])} for value in map(tuple(pods).__getitem__, ranked)]


def _leaving(pods: Sequence[Pod]) -> list[str]:
    return [pods[place].key for place in np.argsort(leaving_order(pods, highest_first=True))]


def _quantities(texts: Mapping[str, str | None]) -> dict[str, int]:
    return {name: parse_quantity(text) for name, text in texts.items() if text is not None}


_CALCULATIONS: Mapping[str, Callable[[Vector], object]] = {
    "average": _average,
    "clamp": _clamp,
    "sum": _sum,
    "resourceUsageToPercentage": _usage_percent,
    "sortNodesByUsage": _sort_nodes,
    "sortDomains": _sort_domains,
}

FUNCTIONS = frozenset(_CALCULATIONS)
"""The calculations that are checked here."""
