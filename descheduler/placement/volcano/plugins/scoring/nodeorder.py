"""Plugin nodeorder: the scores of kube-scheduler, by weight."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from descheduler.placement.configuration.volcano import PluginOption
from descheduler.placement.framework.own_node_score import KeptTotals
from descheduler.placement.shadow.node_masks import BoolMask
from descheduler.placement.shadow.shadow_cluster import Cycle
from descheduler.placement.volcano.jobs import Task
from descheduler.placement.volcano.plugins.kube_scheduler import KubeScore
from descheduler.placement.volcano.session import Session
from descheduler.placement.volcano.tiers import Callbacks, as_before

__all__ = ["start"]


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


def start(session: Session, option: PluginOption) -> Callbacks:
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
