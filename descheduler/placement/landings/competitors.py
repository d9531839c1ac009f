"""Pending pods that stand in the way of a replacement: where it would land without them, or why they go first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from descheduler.model.pod import Pod
from descheduler.placement.framework.attempt import Placement, put_on_node
from descheduler.placement.framework.evaluation import PodEvaluation
from descheduler.placement.framework.scheduler_model import Unit
from descheduler.placement.landings.pending_groups import Competitor, DoubtfulPod
from descheduler.placement.landings.pending_pods import PendingPods
from descheduler.placement.landings.unplaced import UnplacedReplacement
from descheduler.placement.shadow.node_masks import BoolMask
from descheduler.placement.shadow.node_table import NodeTable
from descheduler.placement.shadow.shadow_cluster import ShadowCluster

_MOST_KINDS = 20
"""How many kinds of pods are asked for their nodes; more count as pods that may go anywhere."""
_MOST_OPEN_NODES = 3


class _Rival(NamedTuple):
    """A pod that may be on any of `nodes`, and what a landing hangs on for that."""

    form: Pod
    nodes: BoolMask
    condition: str


def rival_condition(
    pods: Sequence[DoubtfulPod],
    tied: Iterable[Competitor],
    unplaced: UnplacedReplacement,
    node: str,
    cluster: ShadowCluster,
) -> str:
    """On what the landing of `unplaced` on `node` hangs where `pods`, or others that are `tied` between nodes, may
    leave it without any; empty if all of them cannot.

    Each pod closes one node at most, and none closes a node that takes the replacement beside all of them.
    """
    own_node = cluster.table.index[node]
    of_own_node = [each for each in tied if own_node in each.ties and own_node != each.node]
    if not pods and not of_own_node:
        return ""
    with cluster.what_if():
        cluster.remove(unplaced.pod, own_node)
        is_open = _open_to(unplaced, own_node)
        if of_own_node and len(pods) + len(of_own_node) >= int(is_open.sum()):
            for each in of_own_node:
                cluster.remove(each.form, each.node)
            is_open = _open_to(unplaced, own_node)
        rivals = [_Rival(each.form, nodes, each.condition) for each, nodes in with_nodes(pods, cluster)]
        rivals += [_Rival(each.form, mask_of(each.ties, cluster), each.condition) for each in of_own_node]
        rivals = [each for each in rivals if (each.nodes & is_open).any()]
        if len(rivals) < int(is_open.sum()) or _has_room_beside(rivals, is_open, unplaced, cluster):
            return ""
    return rivals[0].condition


def _open_to(unplaced: UnplacedReplacement, own_node: int) -> BoolMask:
    """The nodes that take a replacement, which has been on its own one."""
    is_open = unplaced.evaluate(unit_is_begun=True).feasible.copy()
    is_open[own_node] = True
    return is_open


def mask_of(nodes: Iterable[int], cluster: ShadowCluster) -> BoolMask:
    """bool[N]: these nodes."""
    mask: BoolMask = np.zeros(len(cluster.table), dtype=bool)
    mask[list(nodes)] = True
    return mask


def with_nodes(pods: Iterable[DoubtfulPod], cluster: ShadowCluster) -> list[tuple[DoubtfulPod, BoolMask]]:
    """Each pod with the nodes that take it as far as is modelled."""
    known: dict[int, BoolMask] = {}
    found = []
    for each in pods:
        kind = id(cluster.placement_class(each.form))
        if kind not in known:
            anywhere = np.ones(len(cluster.table), dtype=bool)
            known[kind] = each.scheduler.evaluate_binding(each.form).feasible if len(known) < _MOST_KINDS else anywhere
        nodes = known[kind]
        nominated = cluster.table.index.get(each.pod.nominated_node_name) if each.scheduler.holds_nominated else None
        found.append((each, nodes if nominated is None else mask_of([nominated], cluster)))
    return found


def _has_room_beside(
    rivals: Iterable[_Rival],
    is_open: BoolMask,
    unplaced: UnplacedReplacement,
    cluster: ShadowCluster,
) -> bool:
    """Whether one of the open nodes takes the replacement beside all `rivals` that may go there; a few are tried."""
    for node in np.flatnonzero(is_open)[:_MOST_OPEN_NODES].tolist():
        with cluster.what_if():
            for each in rivals:
                if each.nodes[node]:
                    cluster.add(each.form, node)
            if unplaced.evaluate(unit_is_begun=True).feasible[node]:
                return True
    return False


_MOST_LIFTED = 100
_MOST_NODES = 20


class Competition(NamedTuple):
    """A pending pod that takes the room of a replacement, and where the replacement goes otherwise.

    `placement` is None where the pending pod has the room in any case.
    """

    competitor: Competitor
    placement: Placement | None


def forestalled(competitor: Competitor, unplaced: UnplacedReplacement, table: NodeTable) -> str:
    """Why a replacement does not have the room that `competitor` takes, whoever is tried first."""
    node_name = table.names[competitor.node]
    if competitor.is_nominated:
        return f"the room on {node_name} is held for {competitor.label} (nominatedNodeName)"
    if _are_of_one_order(competitor, unplaced):
        return f"{competitor.label} comes first by its queue and job, and is scheduled onto {node_name}"
    return f"{competitor.label} has a higher priority and is scheduled onto {node_name} first"


def goes_first(competitor: Competitor, unplaced: UnplacedReplacement) -> bool:
    """Whether `competitor`, which is on no node now, has one before a replacement, whoever is tried first.

    A scheduler that reorders takes the first by its order, as the cluster is now.
    One of a higher priority preempts a replacement that comes before it. A nominated one counts as placed for all pods
    of no higher priority (kubernetes 1.36 `pkg/scheduler/framework/runtime/framework.go`, addGENominatedPods). Of pods
    of the same priority the one that is tried first has the room, and with back-offs that may be either.
    """
    if _are_of_one_order(competitor, unplaced):
        return unplaced.scheduler.next_of([Unit((unplaced.pod,)), Unit((competitor.form,))]).pods[0] is competitor.form
    priority = unplaced.priority
    return competitor.priority >= priority if competitor.is_nominated else competitor.priority > priority


def _are_of_one_order(competitor: Competitor, unplaced: UnplacedReplacement) -> bool:
    """Whether one scheduler places both, which decides anew who is first."""
    scheduler = unplaced.scheduler
    return scheduler.reorders and competitor.group is not None and competitor.group.scheduler is scheduler


class CompetitorFinder:
    """Finds competitors among the pending pods that were placed."""

    def __init__(self, cluster: ShadowCluster, pending: PendingPods) -> None:
        self._cluster = cluster
        self._pending = pending

    def competition(self, unplaced: UnplacedReplacement, evaluation: PodEvaluation) -> Competition | None:
        """The competitor without which `unplaced`, refused after `evaluation`, would land; None without one.

        All pending pods on nodes that may ever take it are lifted, the last hundred at most. Those that go first have
        their rooms, unless they find others: where the scheduler puts them is a guess.
        """
        if not self._pending.placed:
            return None
        open_nodes = evaluation.open_for_good()
        near = [each for each in reversed(self._pending.placed) if open_nodes[each.node]][:_MOST_LIFTED]
        with self._cluster.what_if():
            self._pending.lift(near)
            first = [each for each in near if goes_first(each, unplaced)]
            feasible = unplaced.evaluate().feasible
            placement = unplaced.place().placement
        if placement is None:
            return None
        if not first:
            return Competition(_on(placement.node, self._pending.placed[::-1]), placement)
        others = [each for each in near if each not in first]
        return self._beside(first, others, unplaced, feasible) or Competition(_on(placement.node, first), None)

    def _beside(
        self,
        first: Sequence[Competitor],
        others: Sequence[Competitor],
        unplaced: UnplacedReplacement,
        feasible: BoolMask,
    ) -> Competition | None:
        """A landing of `unplaced` without `others`, in which all of those that go `first` have a node as well.

        None was found where it is None: those of one node are moved elsewhere, on twenty nodes at most.
        """
        with self._cluster.what_if():
            self._pending.lift(others)
            with self._cluster.what_if():
                placement = unplaced.place().placement
            if placement is not None:
                return Competition(_on(placement.node, others), placement)
            for node in np.flatnonzero(feasible)[:_MOST_NODES].tolist():
                movable = [each for each in first if each.node == node and not each.is_nominated]
                placement = self._instead_of(movable, unplaced, node) if movable else None
                if placement is not None:
                    return Competition(movable[0], placement)
        return None

    def _instead_of(self, movable: Sequence[Competitor], unplaced: UnplacedReplacement, node: int) -> Placement | None:
        """The landing of `unplaced` on `node`, from where all of `movable` go to other nodes; None if one cannot."""
        with self._cluster.what_if():
            self._pending.lift(movable)
            evaluation = unplaced.evaluate()
            if not evaluation.feasible[node]:
                return None
            placement = put_on_node(evaluation, node)
            return placement if self._pending.put_back(movable) else None


def _on(node: int, competitors: Sequence[Competitor]) -> Competitor:
    """The first of `competitors` on this node, else the first of all."""
    return next((each for each in competitors if each.node == node), competitors[0])
