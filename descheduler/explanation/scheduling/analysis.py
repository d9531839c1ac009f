"""One pod through the scheduler's plugins, as an operator wants to see it: counts, nearest misses, best nodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from descheduler.explanation.scheduling.misses import Blocked, finality, nearest_misses, node_obstacles, num_nearest
from descheduler.explanation.scheduling.placement import (
    NodeObstacle,
    ObstacleCount,
    PlacementAnalysis,
    PodRefusal,
    RankedNode,
)
from descheduler.explanation.scheduling.quotas import quota_facts
from descheduler.model.pod import Pod
from descheduler.model.text.counted import most_first
from descheduler.placement.configuration.kube_scheduler.configuration import SchedulerConfiguration
from descheduler.placement.framework.evaluation import PodEvaluation, ScoreTable
from descheduler.placement.framework.extension_points import ScoreError
from descheduler.placement.framework.refused_node import RefusedNode
from descheduler.placement.framework.scheduler_model import SchedulerModel
from descheduler.placement.framework.scheduling_plugin import SchedulingPlugin
from descheduler.placement.plugins.reservation.ledgers import RESERVATION, state_of
from descheduler.placement.plugins.table import PLUGINS
from descheduler.placement.schedulers.schedulers import Schedulers
from descheduler.placement.shadow.shadow_cluster import Company, ShadowCluster


def analyse(
    cluster: ShadowCluster,
    configuration: SchedulerConfiguration,
    pod: Pod,
    source: str = "",
    *,
    plugins: Mapping[str, SchedulingPlugin] = PLUGINS,
) -> PlacementAnalysis:
    """What the scheduler of `pod` would make of it now; `source` is the node that it leaves, if any.

    Of a pod whose scheduler is not modelled kube-scheduler as it comes is asked, and `notes` say so.
    """
    scheduler, notes = _scheduler_for(cluster, configuration, pod, plugins)
    company = _company(scheduler, cluster, pod)
    evaluation = scheduler.evaluate(pod, company)
    waits = () if company is None or evaluation.refusals else scheduler.held_back(company.pods)
    nodes = cluster.table.nodes
    blocked = [] if evaluation.refusals else _blocked(evaluation)
    ranking, counts = rank(evaluation, source), _counts(blocked)
    return PlacementAnalysis(
        scheduler=scheduler.name,
        summary=_summary(evaluation, len(nodes)),
        num_nodes=len(nodes),
        num_feasible=len(evaluation.nodes),
        is_queued=evaluation.is_queued,
        refusals=tuple(
            PodRefusal(plugin=o.plugin, finality=finality(o.code), reasons=o.reasons) for o in evaluation.refusals
        ),
        obstacles=counts,
        misses=nearest_misses(blocked, evaluation.cycle, scheduler, source, plugins),
        num_misses=num_nearest(blocked),
        ranking=ranking.nodes,
        margin=ranking.margin,
        score_error=ranking.error,
        notes=(
            *notes,
            *filter(None, [evaluation.cause]),
            *dict.fromkeys(evaluation.cycle.notes),
            *unused_reservations(evaluation, scheduler),
            *(sentence for obstacle in waits for sentence in obstacle.short),
            *(() if (fault := scheduler.why_unbound(evaluation)) is None else fault.reasons),
            *_origins(scheduler, counts),
        ),
        quota=quota_facts(cluster, scheduler, pod),
    )


def obstacles_on(
    cluster: ShadowCluster,
    configuration: SchedulerConfiguration,
    pod: Pod,
    node_name: str,
    *,
    plugins: Mapping[str, SchedulingPlugin] = PLUGINS,
) -> tuple[NodeObstacle, ...]:
    """What the scheduler of `pod` has against one node now; nothing where it takes the pod."""
    scheduler, _ = _scheduler_for(cluster, configuration, pod, plugins)
    evaluation = scheduler.evaluate(pod, _company(scheduler, cluster, pod))
    if evaluation.refusals:
        return tuple(
            NodeObstacle(plugin=o.plugin, finality=finality(o.code), reasons=o.reasons, details=(), deficits=())
            for o in evaluation.refusals
        )
    node = cluster.table.index[node_name]
    if evaluation.feasible[node]:
        return ()
    with evaluation.cycle.view():
        blocked = _blocked_on(evaluation, node)
        return node_obstacles(RefusedNode(evaluation.cycle, scheduler, node), blocked, plugins)


def _company(scheduler: SchedulerModel, cluster: ShadowCluster, pod: Pod) -> Company | None:
    """`pod` and the pending pods that the scheduler places together with it; None where it is placed alone."""
    unit = scheduler.unit_of(pod)
    if not unit:
        return None
    others = (each for each in cluster.snapshot.pods if each is not pod and not each.node_name)
    return Company((pod, *(each for each in others if not each.is_terminal and scheduler.unit_of(each) == unit)))


def _scheduler_for(
    cluster: ShadowCluster, configuration: SchedulerConfiguration, pod: Pod, plugins: Mapping[str, SchedulingPlugin]
) -> tuple[SchedulerModel, tuple[str, ...]]:
    """The scheduler of `pod`, or kube-scheduler in its place, and what leaves its answers in doubt."""
    schedulers = Schedulers(cluster, configuration, plugins=plugins)
    doubt, scheduler = schedulers.doubt(pod), schedulers.scheduler_of(pod)
    if schedulers.is_foreign(pod):
        return scheduler, (f"{doubt}; the default rules of kube-scheduler are shown",)
    return scheduler, tuple(filter(None, (doubt, _beside(scheduler, plugins))))


def _beside(scheduler: SchedulerModel, plugins: Mapping[str, SchedulingPlugin]) -> str:
    """What else the scheduler runs, which changes the scores of nodes at least."""
    names = sorted(name for name, row in plugins.items() if not row.is_modelled and scheduler.runs(name))
    which = "which is" if len(names) == 1 else "which are"
    return f"{scheduler.name} also runs {', '.join(names)}, {which} not fully modelled" if names else ""


def _blocked(evaluation: PodEvaluation) -> list[Blocked]:
    """The nodes that do not take the pod, with everything against it there."""
    found = []
    with evaluation.cycle.view():
        for node, fits in enumerate(evaluation.feasible.tolist()):
            if not fits:
                found.append(_blocked_on(evaluation, node))
    return found


def _blocked_on(evaluation: PodEvaluation, node: int) -> Blocked:
    """A node that the pod's own terms leave out by name may have nothing else against it."""
    return Blocked(node, evaluation.obstacles_on(node) or (evaluation.first_obstacle_on(node),))


def _counts(blocked: Iterable[Blocked]) -> tuple[ObstacleCount, ...]:
    """One entry a plugin and reason, the most frequent first."""
    counts: Counter[tuple[str, str]] = Counter()
    alone: Counter[tuple[str, str]] = Counter()
    for node in blocked:
        reasons = [(obstacle.plugin, reason) for obstacle in node.obstacles for reason in obstacle.reasons]
        counts.update(reasons)
        if len(reasons) == 1:
            alone.update(reasons)
    return tuple(
        ObstacleCount(plugin=plugin, reason=reason, num_nodes=number, num_alone=alone[plugin, reason])
        for (plugin, reason), number in most_first(counts)
    )


def _origins(scheduler: SchedulerModel, counts: Iterable[ObstacleCount]) -> Iterator[str]:
    """A sentence for each part of the scheduler's configuration that refuses nodes under names of other plugins."""
    found: dict[str, dict[str, None]] = {}
    for count in counts:
        if origin := scheduler.origin_of(count.plugin):
            found.setdefault(origin, {})[count.plugin] = None
    for origin, plugins in found.items():
        yield f"{origin} refuses nodes ({', '.join(plugins)})"


def _summary(evaluation: PodEvaluation, num_nodes: int) -> str:
    """How many nodes take the pod, or what the scheduler's event would say."""
    if not evaluation.is_queued:
        return f"not queued for scheduling: {_joined(evaluation.refusals[0].reasons)}"
    if evaluation.refusals:
        return f"0/{num_nodes} nodes are available: {_joined(evaluation.refusals[0].reasons)}"
    if evaluation.fits:
        return f"{len(evaluation.nodes)}/{num_nodes} nodes are available"
    reasons: Counter[str] = Counter()
    with evaluation.cycle.view():
        for node in range(num_nodes):
            reasons.update(evaluation.first_obstacle_on(node).reasons)
    # The scheduler sorts these as text, so that the count comes first.
    parts = sorted(f"{number} {reason}" for reason, number in reasons.items())
    return f"0/{num_nodes} nodes are available: {', '.join(parts) or 'there are none'}"


def _joined(reasons: Sequence[str]) -> str:
    return ", ".join(reasons)


_MOST_NODES = 20


class Ranking(NamedTuple):
    """The best nodes in order, and the node that the pod leaves. `error` says why a pod cannot be scored."""

    nodes: tuple[RankedNode, ...] = ()
    margin: int | None = None
    error: str = ""


def rank(evaluation: PodEvaluation, source: str) -> Ranking:
    """The ranking of the feasible nodes; of equal totals in name order."""
    if not evaluation.fits:
        return Ranking()
    try:
        table = evaluation.scores()
    except ScoreError as error:
        return Ranking(error=str(error))
    choice = evaluation.choose()
    best = () if choice is None else choice.ties
    names = [evaluation.cycle.cluster.table.nodes[node].name for node in table.nodes.tolist()]
    # A stable sort of the negated totals keeps nodes of one total in name order.
    in_order = np.argsort(-table.totals, kind="stable").tolist()
    shown = [place for index, place in enumerate(in_order) if index < _MOST_NODES or names[place] == source]
    rows = tuple(_row(table, place, names[place], best, source) for place in shown)
    return Ranking(rows, None if choice is None else choice.margin)


def _row(table: ScoreTable, place: int, name: str, best: Collection[int], source: str) -> RankedNode:
    total = int(table.totals[place])
    return RankedNode(
        node=name,
        total=total,
        is_best=int(table.nodes[place]) in best,
        is_source=name == source,
        scores={plugin: int(scores.final[place]) for plugin, scores in table.by_plugin.items()},
    )


_MOST_NAMED = 3


def unused_reservations(evaluation: PodEvaluation, scheduler: SchedulerModel) -> Iterator[str]:
    """A sentence for the first Reservations whose room the pod gets and that stay unused, by name."""
    state = state_of(evaluation.cycle)
    if state is None or scheduler.runs(RESERVATION, "reserves"):
        return
    names = evaluation.cycle.cluster.table.names
    held = sorted(
        (state.nominated[node][0].name, names[node]) for node in evaluation.nodes.tolist() if node in state.nominated
    )
    for name, node in held[:_MOST_NAMED]:
        yield (
            f"its Reservation {name} holds room on {node}, but the configuration of {scheduler.name} does not "
            "enable Reservation under reserve, so the Reservation stays unused"
        )
