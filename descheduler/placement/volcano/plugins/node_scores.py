"""Plugins nodeorder, binpack and nodegroup: scores of kube-scheduler, fuller nodes, and the groups that queues name."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from descheduler.model.groups.volcano import QUEUE_NAME_ANNOTATION, NodeGroups
from descheduler.model.pod import Pod
from descheduler.model.requests import CPU, MEMORY
from descheduler.placement.configuration.volcano import PluginOption
from descheduler.placement.configuration.volcano_arguments import Arguments
from descheduler.placement.framework.scoring import KeptTotals
from descheduler.placement.shadow.node_masks import BoolMask
from descheduler.placement.shadow.shadow_cluster import Cycle
from descheduler.placement.volcano.jobs import Task
from descheduler.placement.volcano.plugins.kube_scheduler import KubeScore
from descheduler.placement.volcano.session import Session
from descheduler.placement.volcano.tiers import OPEN, UNRESOLVABLE, Callbacks, NodeCodes, as_before

_GROUP = "volcano.sh/nodegroup-name"
_QUEUE = "volcano.sh/queue-name"
_REQUIRED, _PREFERRED, _AVOIDED = 100.0, 50.0, -1.0


def start_nodegroup(session: Session, option: PluginOption) -> Callbacks:
    """The filter and the score of nodes by their group; a task that names no queue is free to go anywhere.

    A queue that names no group takes no node at all, as in Volcano 1.10.
    """
    groups = session.kept("nodegroup", lambda: [node.labels.get(_GROUP, "") for node in session.cluster.table.nodes])

    def mask(names: Collection[str]) -> BoolMask:
        return np.array([group in names for group in groups], dtype=bool)

    def predicate(task: Task) -> NodeCodes:
        queue = _queue_of(task.pod)
        named = _named(session, queue)
        is_open = mask(named.required | named.preferred) & ~mask(named.excluded) | mask(named.avoided)
        return np.where(is_open | (not queue), OPEN, UNRESOLVABLE).astype(np.int8)

    def score(task: Task, among: BoolMask) -> NDArray[np.float64]:
        named = _named(session, _queue_of(task.pod))
        found = _REQUIRED * mask(named.required) + _PREFERRED * mask(named.preferred)
        return np.where(mask(named.avoided), _AVOIDED, found)

    return Callbacks(predicate=predicate, node_order=score)


def _named(session: Session, queue: str) -> NodeGroups:
    known = session.queues.get(queue)
    return NodeGroups() if known is None else known.queue.node_groups


def _queue_of(pod: Pod) -> str:
    """The queue that a pod names, whatever the queue of its job is."""
    stated = (pod.labels.get(_QUEUE), pod.annotations.get(_QUEUE), pod.annotations.get(QUEUE_NAME_ANNOTATION))
    return next((name for name in stated if name is not None), "")


_MOST = 100


def start_binpack(session: Session, option: PluginOption) -> Callbacks:
    """The score, unless its weight is 0."""
    weight = option.arguments.whole("binpack.weight", 1)
    weights = _weights(option.arguments)
    nodes = session.nodes

    def score(task: Task, among: BoolMask) -> NDArray[np.float64]:
        total, sum_of_weights = np.zeros(len(among)), 0
        fits = np.ones(len(among), dtype=bool)
        for name, amount in task.request.items():
            own = weights.get(name)
            if own is None or not amount:
                continue
            row = nodes.rows[name]
            filled = nodes.used[row] + amount
            has_some = nodes.allocatable[row] > 0
            if own:
                fits &= (filled <= nodes.allocatable[row]) | ~has_some
            part = np.divide(filled, nodes.allocatable[row], out=np.zeros(len(among)), where=has_some)
            total += own * part
            sum_of_weights += own
        if not sum_of_weights:
            return np.zeros(len(among))
        scores: NDArray[np.float64] = np.where(fits, total / sum_of_weights * _MOST * weight, 0.0)
        return scores

    return Callbacks(node_order=score if weight else None, reopen=as_before)


def _weights(arguments: Arguments) -> dict[str, int]:
    """Resource → weight; those below 0 count as 1."""
    listed = {name: f"binpack.resources.{name}" for name in arguments.names("binpack.resources")}
    keys = {CPU: "binpack.cpu", MEMORY: "binpack.memory", **listed}
    found = {name: arguments.whole(key, 1) for name, key in keys.items()}
    return {name: 1 if weight < 0 else weight for name, weight in found.items()}


class _Scored(NamedTuple):
    """One score: its argument and default weight, and the plugin of kube-scheduler that gives it."""

    argument: str
    weight: int
    plugin: str
    args: Mapping[str, Any] | None = None
    is_raw: bool = False


def _strategy(kind: str) -> Mapping[str, Any]:
    return {"scoringStrategy": {"type": kind, "resources": [{"name": "cpu"}, {"name": "memory"}]}}


_SCORES = (
    _Scored("leastrequested", 1, "NodeResourcesFit", _strategy("LeastAllocated")),
    _Scored("mostrequested", 0, "NodeResourcesFit", _strategy("MostAllocated")),
    _Scored(
        "balancedresource",
        1,
        "NodeResourcesBalancedAllocation",
        {"resources": [{"name": name, "weight": 1} for name in ("cpu", "memory", "nvidia.com/gpu")]},
    ),
    _Scored("nodeaffinity", 2, "NodeAffinity", is_raw=True),
    _Scored("imagelocality", 1, "ImageLocality"),
    _Scored("podaffinity", 2, "InterPodAffinity"),
    _Scored("tainttoleration", 3, "TaintToleration"),
    _Scored("podtopologyspread", 2, "PodTopologySpread"),
)


def _made(session: Session, scored: _Scored) -> KubeScore:
    def make() -> KubeScore:
        return KubeScore(session.cluster, scored.plugin, scored.args, is_first_cycle=session.is_first_cycle)

    return session.kept(scored.argument, make)


def start_nodeorder(session: Session, option: PluginOption) -> Callbacks:
    """The sum of all scores whose weight is not 0."""
    weights = [(each, option.arguments.whole(f"{each.argument}.weight", each.weight)) for each in _SCORES]
    scores = [(_made(session, each), each.is_raw, weight) for each, weight in weights if weight]
    cluster = session.cluster
    own = KeptTotals(cluster.table, [(each.own_node, weight) for each, _, weight in scores if each.own_node])
    others = [scored for scored in scores if scored[0].own_node is None]

    def score(task: Task, nodes: BoolMask) -> NDArray[np.float64]:
        cycle = Cycle(cluster.placement_class(task.pod), cluster)
        with cycle.view():
            total = own.of(cycle.pod).astype(np.float64)
        for each, is_raw, weight in others:
            found = each.of(task, nodes, tuple(session.unlisted.values()), is_raw=is_raw)
            if found is not None:
                total += found * weight
        return total

    return Callbacks(node_order=score, reopen=as_before)
