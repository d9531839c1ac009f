"""Pending pods that may or may not be scheduled: they may take the last node of a replacement."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from descheduler.model.pod import Pod
from descheduler.placement.landings.pending_groups import Competitor, DoubtfulPod
from descheduler.placement.landings.unplaced import UnplacedReplacement
from descheduler.placement.shadow.node_masks import BoolMask
from descheduler.placement.shadow.shadow_cluster import ShadowCluster

__all__ = ["mask_of", "rival_condition", "with_nodes"]

_MOST_KINDS = 20
"""How many kinds of pods are asked for their nodes; more count as pods that may go anywhere."""
_MOST_NODES = 3


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
    for node in np.flatnonzero(is_open)[:_MOST_NODES].tolist():
        with cluster.what_if():
            for each in rivals:
                if each.nodes[node]:
                    cluster.add(each.form, node)
            if unplaced.evaluate(unit_is_begun=True).feasible[node]:
                return True
    return False
