"""Figures before and after a plan: how full the nodes are by what their pods request."""

from __future__ import annotations

from collections.abc import Iterable

from descheduler.cluster.snapshot import Snapshot
from descheduler.documents.fields import Fields
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.model.requests import CPU, MEMORY, PODS, ResourceList

__all__ = ["Amounts", "Figures", "NodeFigures", "TotalFigures", "make_figures"]

_NANO_PER_UNIT = 10**9
_NANO_PER_MILLI = 10**6

_Sum = tuple[int, int, int]
"""Pods, cpu in nano cores, memory in nano bytes: exact until it is rounded once, for the document."""


class Amounts(Fields, frozen=True):
    """Pods that have not finished, and their effective requests (cpu in milli cores, memory in bytes)."""

    pods: int
    cpu_milli: int
    memory_bytes: int


class NodeFigures(Fields, frozen=True):
    """One node that loses pods. `after` does not count replacements, which can be scheduled onto this node again."""

    name: str
    before: Amounts
    after: Amounts
    allocatable: Amounts


class TotalFigures(Fields, frozen=True):
    """All nodes together. `displaced` are the evicted pods: `before` less `after`."""

    num_nodes: int
    before: Amounts
    after: Amounts
    displaced: Amounts
    allocatable: Amounts


class Figures(Fields, frozen=True):
    """How full the cluster is, without and with the plan. `nodes` holds those that lose pods, in name order."""

    nodes: tuple[NodeFigures, ...]
    total: TotalFigures


def make_figures(snapshot: Snapshot, leaving: Iterable[Pod]) -> Figures:
    """The figures of `snapshot` as it is, and without the pods that are `leaving` (each at most once)."""
    leaving_by_node: dict[str, list[Pod]] = {}
    for pod in leaving:
        leaving_by_node.setdefault(pod.node_name, []).append(pod)
    nodes: list[NodeFigures] = []
    before: _Sum = (0, 0, 0)
    displaced: _Sum = (0, 0, 0)
    for node in snapshot.nodes:
        on_node = _sum(snapshot.pods_by_node.get(node.name, ()))
        before = _plus(before, on_node)
        if node.name in leaving_by_node:
            lost = _sum(leaving_by_node[node.name])
            displaced = _plus(displaced, lost)
            nodes.append(_node_figures(node, on_node, lost))
    total = TotalFigures(
        num_nodes=len(snapshot.nodes),
        before=_requested(before),
        after=_requested(_minus(before, displaced)),
        displaced=_requested(displaced),
        allocatable=_allocatable(snapshot.nodes),
    )
    return Figures(nodes=tuple(nodes), total=total)


def _node_figures(node: Node, on_node: _Sum, lost: _Sum) -> NodeFigures:
    return NodeFigures(
        name=node.name,
        before=_requested(on_node),
        after=_requested(_minus(on_node, lost)),
        allocatable=_allocatable((node,)),
    )


def _sum(pods: Iterable[Pod]) -> _Sum:
    asked: list[ResourceList] = [pod.spec.requests for pod in pods if not pod.is_terminal]
    cpu_nano = sum([requests.get(CPU, 0) for requests in asked])
    return len(asked), cpu_nano, sum([requests.get(MEMORY, 0) for requests in asked])


def _plus(left: _Sum, right: _Sum) -> _Sum:
    return left[0] + right[0], left[1] + right[1], left[2] + right[2]


def _minus(left: _Sum, right: _Sum) -> _Sum:
    return left[0] - right[0], left[1] - right[1], left[2] - right[2]


def _requested(amounts: _Sum) -> Amounts:
    """Rounded up, as the scheduler rounds requests."""
    return Amounts(
        pods=amounts[0], cpu_milli=-(-amounts[1] // _NANO_PER_MILLI), memory_bytes=-(-amounts[2] // _NANO_PER_UNIT)
    )


def _allocatable(nodes: Iterable[Node]) -> Amounts:
    """Rounded down: what cannot be given in whole units is not there."""
    pods = cpu_nano = memory_nano = 0
    for node in nodes:
        pods += node.allocatable.get(PODS, 0)
        cpu_nano += node.allocatable.get(CPU, 0)
        memory_nano += node.allocatable.get(MEMORY, 0)
    return Amounts(
        pods=pods // _NANO_PER_UNIT, cpu_milli=cpu_nano // _NANO_PER_MILLI, memory_bytes=memory_nano // _NANO_PER_UNIT
    )
