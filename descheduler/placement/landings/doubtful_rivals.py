"""Pending pods that may or may not be scheduled: they may take the last node of a replacement."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from descheduler.placement.landings.candidates import UnplacedReplacement
from descheduler.placement.landings.pending_groups import DoubtfulPod
from descheduler.placement.shadow.node_masks import BoolMask
from descheduler.placement.shadow.shadow_cluster import ShadowCluster

__all__ = ["rival_of", "with_nodes"]

_MOST_KINDS = 20
"""How many kinds of pods are asked for their nodes; more count as pods that may go anywhere."""
_MOST_NODES = 3


def rival_of(
    pods: Iterable[DoubtfulPod], unplaced: UnplacedReplacement, node: str, cluster: ShadowCluster
) -> DoubtfulPod | None:
    """The first of `pods` that may leave `unplaced`, which is on `node`, without any; None if all of them cannot.

    Each pod closes one node at most, and none closes a node that takes the replacement beside all of them.
    """
    own_node = cluster.table.index[node]
    with cluster.what_if():
        cluster.remove(unplaced.pod, own_node)
        is_open = unplaced.evaluate(unit_is_begun=True).feasible.copy()
        is_open[own_node] = True
        rivals = [(each, nodes) for each, nodes in with_nodes(pods, cluster) if (nodes & is_open).any()]
        if len(rivals) < int(is_open.sum()) or _has_room_beside(rivals, is_open, unplaced, cluster):
            return None
    return rivals[0][0]


def with_nodes(pods: Iterable[DoubtfulPod], cluster: ShadowCluster) -> list[tuple[DoubtfulPod, BoolMask]]:
    """Each pod with the nodes that take it as far as is modelled."""
    known: dict[int, BoolMask] = {}
    found = []
    for each in pods:
        kind = id(cluster.placement_class(each.form))
        if kind not in known:
            anywhere = np.ones(len(cluster.table), dtype=bool)
            known[kind] = each.scheduler.evaluate(each.form).feasible if len(known) < _MOST_KINDS else anywhere
        nodes = known[kind]
        nominated = cluster.table.index.get(each.pod.nominated_node_name)
        found.append((each, nodes if nominated is None else _only(nominated, len(nodes))))
    return found


def _only(node: int, num_nodes: int) -> BoolMask:
    mask: BoolMask = np.zeros(num_nodes, dtype=bool)
    mask[node] = True
    return mask


def _has_room_beside(
    rivals: Iterable[tuple[DoubtfulPod, BoolMask]],
    is_open: BoolMask,
    unplaced: UnplacedReplacement,
    cluster: ShadowCluster,
) -> bool:
    """Whether one of the open nodes takes the replacement beside all `rivals` that may go there; a few are tried."""
    forms = [(each.form, nodes) for each, nodes in rivals]
    for node in np.flatnonzero(is_open)[:_MOST_NODES].tolist():
        with cluster.what_if():
            for form, nodes in forms:
                if nodes[node]:
                    cluster.add(form, node)
            if unplaced.evaluate(unit_is_begun=True).feasible[node]:
                return True
    return False
