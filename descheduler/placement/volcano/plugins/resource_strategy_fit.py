"""Plugin resource-strategy-fit: for each resource fuller or emptier nodes, and nodes without what is scarce.

By volcano.md §10.4: the policy `sra` scores nodes that lack scarce resources higher; `proportional` is a filter.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from descheduler.model.requests import CPU, MEMORY
from descheduler.placement.configuration.volcano import PluginOption
from descheduler.placement.configuration.volcano_arguments import Arguments
from descheduler.placement.shadow.node_masks import BoolMask
from descheduler.placement.volcano.jobs import Task
from descheduler.placement.volcano.nodes import Nodes
from descheduler.placement.volcano.resources import QUANTUM
from descheduler.placement.volcano.session import Session
from descheduler.placement.volcano.tiers import OPEN, UNRESOLVABLE, Callbacks, NodeCodes

_MEGA = 10**6


class ScarceResource(NamedTuple):
    """A resource, and how much cpu (in milli) and memory (in millions of bytes) is kept for each thousandth of it."""

    name: str
    cpu: float
    memory: float

    @classmethod
    def of(cls, name: str, cpu: float, memory: float) -> ScarceResource:
        """What is stated of it; rates below 0 count as 1."""
        return cls(name, 1 if cpu < 0 else cpu, 1 if memory < 0 else memory)


def proportional_codes(session: Session, task: Task, scarce: Sequence[ScarceResource]) -> NodeCodes:
    """The nodes on which a task that asks for no scarce resource leaves too little beside what is idle of one.

    Nodes that do not state the resource, not even as 0, keep nothing.
    """
    nodes = session.nodes
    codes: NodeCodes = np.full(len(nodes.is_there), OPEN, dtype=np.int8)
    if any(task.request.get(each.name, 0.0) for each in scarce):
        return codes
    cpu, memory = (nodes.idle[nodes.rows[name]] - task.request[name] for name in (CPU, MEMORY))
    for each in scarce:
        if each.name in nodes.rows:
            idle = nodes.idle[nodes.rows[each.name]]
            is_short = (cpu < idle * each.cpu) | (memory < idle * each.memory * _MEGA)
            codes[is_short & _states(session, each.name)] = UNRESOLVABLE
    return codes


def _states(session: Session, name: str) -> BoolMask:
    def find() -> BoolMask:
        return np.array([name in node.allocatable for node in session.cluster.table.nodes], dtype=bool)

    return session.kept(("scarce", name), find)


_TYPE, _WEIGHTS = "volcano.sh/resource-strategy-scoring-type", "volcano.sh/resource-strategy-weight"
"""Annotations of a pod: the type of all its resources, and an object of weights by resource."""
_LEAST, _MOST_ALLOCATED = "LeastAllocated", "MostAllocated"
_decode_weights = msgspec.json.Decoder(dict[str, Annotated[int, msgspec.Meta(le=2**63 - 1)]]).decode
_MOST = 100
_WEIGHT = 10
_ANY = "*"


class _Strategy(NamedTuple):
    """What is made of one resource: fuller nodes come first, or emptier ones."""

    is_most: bool
    weight: int


def start(session: Session, option: PluginOption) -> Callbacks:
    """The sum of both scores, and the filter, as far as they are configured."""
    arguments = option.arguments
    weight = arguments.whole("resourceStrategyFitWeight", _WEIGHT)
    own, strategies = (weight if weight >= 0 else _WEIGHT) * _MOST, _strategies(arguments.part("resources"))
    avoided, scarce = _enabled(arguments, "sra"), list(_scarce(_enabled(arguments, "proportional")))
    avoided_weight = avoided.whole("weight", 0) * _MOST
    nodes = session.nodes

    def score(task: Task, among: BoolMask) -> NDArray[np.float64]:
        total = np.zeros(len(nodes.is_there))
        if own:
            total += own * _fit(nodes, task, _of_pod(task, strategies))
        if avoided_weight > 0:
            total += avoided_weight * _lack(nodes, task, avoided)
        return total

    def predicate(task: Task) -> NodeCodes:
        return proportional_codes(session, task, scarce)

    has_score = own > 0 or avoided_weight > 0
    return Callbacks(node_order=score if has_score else None, predicate=predicate if scarce else None)


def _enabled(arguments: Arguments, policy: str) -> Arguments:
    part = arguments.part(policy)
    return part if part.switch("enable", default=False) else Arguments()


def _scarce(policy: Arguments) -> Iterator[ScarceResource]:
    rates = policy.part("resourceProportion")
    for name in policy.names("resources"):
        yield ScarceResource.of(name, rates.number(f"{name}.cpu", 1), rates.number(f"{name}.memory", 1))


def _strategies(resources: Arguments) -> Mapping[str, _Strategy]:
    """By name; a name that ends with its only `*` stands for all that begin so, and any other with one for nothing."""
    if not resources.values:
        return dict.fromkeys((CPU, MEMORY), _Strategy(is_most=False, weight=1))
    parts = {name: resources.part(name) for name in resources.values if _ANY not in name.removesuffix(_ANY)}
    return {
        name: _Strategy(part.text("type") == _MOST_ALLOCATED, max(part.whole("weight", 1), 0) or 1)
        for name, part in parts.items()
        if name != _ANY
    }


def _strategy_of(resource: str, strategies: Mapping[str, _Strategy]) -> _Strategy | None:
    """The strategy of the name itself, else of the longest beginning."""
    if resource in strategies:
        return strategies[resource]
    fitting = (name for name in strategies if name.endswith(_ANY) and resource.startswith(name.removesuffix(_ANY)))
    longest = max(fitting, key=len, default=None)
    return None if longest is None else strategies[longest]


def _of_pod(task: Task, strategies: Mapping[str, _Strategy]) -> Mapping[str, _Strategy]:
    """What applies to each resource that the task asks for: the annotations of the pod come first."""
    annotations = task.pod.annotations
    stated = {_LEAST: False, _MOST_ALLOCATED: True}.get(annotations.get(_TYPE, ""))
    weights = _weights(annotations.get(_WEIGHTS))
    found = {}
    for resource in _asked(task):
        common = _strategy_of(resource, strategies)
        weight = (common.weight if common else 0) if weights is None else weights.get(resource, 0)
        if weight > 0:
            is_most = stated if stated is not None else common is not None and common.is_most
            found[resource] = _Strategy(is_most, weight)
    return found


def _weights(text: str | None) -> Mapping[str, int] | None:
    """The weights of an annotation, none where it cannot be read; None without it."""
    if text is None:
        return None
    try:
        return _decode_weights(text)
    except (ValueError, RecursionError):
        return {}


def _asked(task: Task) -> Iterable[str]:
    return (name for name, amount in task.request.items() if amount >= QUANTUM)


def _fit(nodes: Nodes, task: Task, strategies: Mapping[str, _Strategy]) -> NDArray[np.float64]:
    """From 0 to 1, 0 where a resource that counts does not suffice; one that a node has not got gives it nothing."""
    total = np.zeros(len(nodes.is_there))
    suffices = np.ones(len(total), dtype=bool)
    for resource, strategy in strategies.items():
        row = nodes.rows[resource]
        all_of_it, filled = nodes.allocatable[row], nodes.used[row] + task.request[resource]
        has_some = all_of_it > 0
        suffices &= (filled <= all_of_it) | ~has_some
        part = filled if strategy.is_most else all_of_it - filled
        total += strategy.weight * np.divide(part, all_of_it, out=np.zeros(len(total)), where=has_some)
    sum_of_weights = sum(strategy.weight for strategy in strategies.values())
    return np.where(suffices, total, 0.0) / (sum_of_weights or 1)


def _lack(nodes: Nodes, task: Task, policy: Arguments) -> NDArray[np.float64]:
    """From 0 to 1, by the weights of the scarce resources that a node lacks; 0 where it lacks what is asked for."""
    stated = policy.part("resourceWeight")
    weights = {name: stated.whole(name, 1) for name in policy.names("resources")}
    weights = {name: 1 if weight < 0 else weight for name, weight in weights.items()}
    present = np.zeros(len(nodes.is_there))
    for name, weight in weights.items():
        if name in nodes.rows:
            present += weight * (nodes.allocatable[nodes.rows[name]] > 0)
    suits = np.ones(len(present), dtype=bool)
    for name in _asked(task):
        suits &= nodes.allocatable[nodes.rows[name]] > 0
    sum_of_weights = sum(weights.values())
    return np.where(suits, 1 - present / sum_of_weights, 0.0) if sum_of_weights else np.zeros(len(present))
