"""Figures before and after a plan: how full the nodes are by what their pods request."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import sqrt
from typing import NamedTuple

from descheduler.cluster.snapshot import Snapshot
from descheduler.documents.fields import Fields
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.model.requests import CPU, MEMORY, PODS, ResourceList

_NANO_PER_UNIT = 10**9
_NANO_PER_MILLI = 10**6
_WHOLE_GPUS = ("nvidia.com/gpu", "amd.com/gpu", "dcu.com/gpu")
_GPU_PERCENT = ("koordinator.sh/gpu", "koordinator.sh/gpu-core")
"""Percent of one GPU; a node or pod that has the first seldom means the second too."""
_ZONE_LABELS = ("topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone")
NUM_STEPS = 21
"""Steps of 5 percent from 0 on; the last holds 100 percent and above."""

_Sum = tuple[int, int, int, int]
"""Pods, cpu in nano cores, memory in nano bytes, GPUs in nano: exact until it is rounded once, for the document."""
_NOTHING: _Sum = (0, 0, 0, 0)


class Amounts(Fields, frozen=True):
    """Pods that have not finished, and their effective requests: cpu in milli cores, memory in bytes, and thousandths
    of GPUs, which counts the resources `nvidia.com/gpu`, `amd.com/gpu`, `dcu.com/gpu` and `koordinator.sh/gpu`."""

    pods: int
    cpu_milli: int
    memory_bytes: int
    gpu_milli: int


class NodeFigures(Fields, frozen=True):
    """One node that loses or receives pods. `after` counts the replacements that are expected on it.

    `zone` and `pool` are from its labels, empty without such a label.
    """

    name: str
    zone: str
    pool: str
    before: Amounts
    after: Amounts
    allocatable: Amounts


class GroupFigures(Fields, frozen=True):
    """All nodes of one zone and pool. `unchanged` maps `cpu`, `memory` and `gpu` to the number of nodes whose pods do
    not change, by their share of the resource in steps of 5 percent; the last step is 100 percent and above."""

    zone: str
    pool: str
    num_nodes: int
    before: Amounts
    after: Amounts
    allocatable: Amounts
    unchanged: Mapping[str, tuple[int, ...]]


class Balance(Fields, frozen=True):
    """Mean and standard deviation of the shares of a `resource` that nodes are requested of, in percent."""

    resource: str
    mean_before: float
    deviation_before: float
    mean_after: float
    deviation_after: float


class TotalFigures(Fields, frozen=True):
    """All nodes together. `displaced` are the evicted pods, `landing` the pods that are expected on nodes instead, and
    pending ones that need evictions; `after` is `before` less `displaced`."""

    num_nodes: int
    before: Amounts
    after: Amounts
    displaced: Amounts
    landing: Amounts
    allocatable: Amounts


class Figures(Fields, frozen=True):
    """How full the cluster is, without and with the plan. `nodes` holds those whose pods change, in name order."""

    nodes: tuple[NodeFigures, ...]
    groups: tuple[GroupFigures, ...]
    balance: tuple[Balance, ...]
    total: TotalFigures


class PodChange(NamedTuple):
    """A pod that leaves its node, a pod that comes to `node`, or both; each at most once."""

    leaves: Pod | None
    comes: Pod | None = None
    node: str = ""


class _OnNode(NamedTuple):
    node: Node
    before: _Sum
    lost: _Sum
    gained: _Sum
    is_changed: bool

    @property
    def after(self) -> _Sum:
        return _plus(_minus(self.before, self.lost), self.gained)


def make_figures(snapshot: Snapshot, changes: Iterable[PodChange]) -> Figures:
    """The figures of `snapshot` as it is, and after `changes`."""
    leaving: dict[str, list[Pod]] = {}
    coming: dict[str, list[Pod]] = {}
    for change in changes:
        if change.leaves is not None:
            leaving.setdefault(change.leaves.node_name, []).append(change.leaves)
        if change.comes is not None and change.node:
            coming.setdefault(change.node, []).append(change.comes)
    found = [_on_node(node, snapshot.pods_by_node.get(node.name, ()), leaving, coming) for node in snapshot.nodes]
    return Figures(
        nodes=tuple(_node_figures(each) for each in found if each.is_changed),
        groups=tuple(_groups(found)),
        balance=tuple(_balances(found)),
        total=_total(found),
    )


def shares_of(amounts: Amounts, allocatable: Amounts) -> Mapping[str, float]:
    """Resource → share in percent, of the resources that there are."""
    parts = {
        "cpu": (amounts.cpu_milli, allocatable.cpu_milli),
        "memory": (amounts.memory_bytes, allocatable.memory_bytes),
        "gpu": (amounts.gpu_milli, allocatable.gpu_milli),
    }
    return {name: 100 * part / whole for name, (part, whole) in parts.items() if whole}


def step_of(percent: float) -> int:
    """The step of a share; see `NUM_STEPS`."""
    return min(NUM_STEPS - 1, int(percent // 5))


def _on_node(
    node: Node, pods: Sequence[Pod], leaving: Mapping[str, Sequence[Pod]], coming: Mapping[str, Sequence[Pod]]
) -> _OnNode:
    has_gpus = bool(_gpus(node.allocatable))
    lost, gained = leaving.get(node.name, ()), coming.get(node.name, ())
    before, less, more = (_sum(each, has_gpus) for each in (pods, lost, gained))
    return _OnNode(node, before, less, more, is_changed=bool(lost or gained))


def _node_figures(each: _OnNode) -> NodeFigures:
    return NodeFigures(
        name=each.node.name,
        zone=_label(each.node, _ZONE_LABELS),
        pool=each.node.pool,
        before=_requested(each.before),
        after=_requested(each.after),
        allocatable=_allocatable((each.node,)),
    )


def _groups(found: Iterable[_OnNode]) -> Iterator[GroupFigures]:
    groups: dict[tuple[str, str], list[_OnNode]] = {}
    for each in found:
        groups.setdefault((_label(each.node, _ZONE_LABELS), each.node.pool), []).append(each)
    for (zone, pool), members in sorted(groups.items()):
        yield GroupFigures(
            zone=zone,
            pool=pool,
            num_nodes=len(members),
            before=_requested(_add(each.before for each in members)),
            after=_requested(_add(each.after for each in members)),
            allocatable=_allocatable(each.node for each in members),
            unchanged=_steps(each for each in members if not each.is_changed),
        )


def _steps(found: Iterable[_OnNode]) -> Mapping[str, tuple[int, ...]]:
    counts = {name: [0] * NUM_STEPS for name in ("cpu", "memory", "gpu")}
    for each in found:
        for name, percent in shares_of(_requested(each.before), _allocatable((each.node,))).items():
            counts[name][step_of(percent)] += 1
    return {name: tuple(numbers) for name, numbers in counts.items() if any(numbers)}


def _balances(found: Iterable[_OnNode]) -> Iterator[Balance]:
    shares: dict[str, list[tuple[float, float]]] = {}
    for each in found:
        allocatable = _allocatable((each.node,))
        before, after = (shares_of(_requested(amounts), allocatable) for amounts in (each.before, each.after))
        for name, percent in before.items():
            shares.setdefault(name, []).append((percent, after[name]))
    for name, pairs in shares.items():
        (mean_before, deviation_before), (mean_after, deviation_after) = map(_spread, zip(*pairs, strict=True))
        yield Balance(
            resource=name,
            mean_before=mean_before,
            deviation_before=deviation_before,
            mean_after=mean_after,
            deviation_after=deviation_after,
        )


def _spread(percents: Sequence[float]) -> tuple[float, float]:
    """Mean and standard deviation."""
    mean = sum(percents) / len(percents)
    return round(mean, 2), round(sqrt(sum((each - mean) ** 2 for each in percents) / len(percents)), 2)


def _total(found: Sequence[_OnNode]) -> TotalFigures:
    before, displaced = _add(each.before for each in found), _add(each.lost for each in found)
    return TotalFigures(
        num_nodes=len(found),
        before=_requested(before),
        after=_requested(_minus(before, displaced)),
        displaced=_requested(displaced),
        landing=_requested(_add(each.gained for each in found)),
        allocatable=_allocatable(each.node for each in found),
    )


def _label(node: Node, keys: Iterable[str]) -> str:
    return next((node.labels[key] for key in keys if node.labels.get(key)), "")


def _sum(pods: Iterable[Pod], has_gpus: bool) -> _Sum:
    asked: list[ResourceList] = [pod.spec.requests for pod in pods if not pod.is_terminal]
    cpu_nano = sum([requests.get(CPU, 0) for requests in asked])
    memory_nano = sum([requests.get(MEMORY, 0) for requests in asked])
    return len(asked), cpu_nano, memory_nano, sum(map(_gpus, asked)) if has_gpus else 0


def _gpus(amounts: ResourceList) -> int:
    """GPUs in nano; a fraction of one where percent of one are told."""
    whole = sum(amounts.get(name, 0) for name in _WHOLE_GPUS)
    return whole or next((amounts[name] // 100 for name in _GPU_PERCENT if amounts.get(name)), 0)


def _add(sums: Iterable[_Sum]) -> _Sum:
    total = _NOTHING
    for each in sums:
        total = _plus(total, each)
    return total


def _plus(left: _Sum, right: _Sum) -> _Sum:
    return left[0] + right[0], left[1] + right[1], left[2] + right[2], left[3] + right[3]


def _minus(left: _Sum, right: _Sum) -> _Sum:
    return left[0] - right[0], left[1] - right[1], left[2] - right[2], left[3] - right[3]


def _requested(amounts: _Sum) -> Amounts:
    """Rounded up, as the scheduler rounds requests."""
    pods, cpu_nano, memory_nano, gpu_nano = amounts
    return Amounts(
        pods=pods,
        cpu_milli=-(-cpu_nano // _NANO_PER_MILLI),
        memory_bytes=-(-memory_nano // _NANO_PER_UNIT),
        gpu_milli=-(-gpu_nano // _NANO_PER_MILLI),
    )


def _allocatable(nodes: Iterable[Node]) -> Amounts:
    """Rounded down: what cannot be given in whole units is not there."""
    pods = cpu_nano = memory_nano = gpu_nano = 0
    for node in nodes:
        pods += node.allocatable.get(PODS, 0)
        cpu_nano += node.allocatable.get(CPU, 0)
        memory_nano += node.allocatable.get(MEMORY, 0)
        gpu_nano += _gpus(node.allocatable)
    return Amounts(
        pods=pods // _NANO_PER_UNIT,
        cpu_milli=cpu_nano // _NANO_PER_MILLI,
        memory_bytes=memory_nano // _NANO_PER_UNIT,
        gpu_milli=gpu_nano // _NANO_PER_MILLI,
    )
