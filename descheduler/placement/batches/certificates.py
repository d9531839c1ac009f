"""Proofs that a batch cannot land, each one sentence: something that is too small however the batch is placed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from descheduler.model.quantity import format_quantity
from descheduler.placement.batches.single_landings import SingleLanding
from descheduler.placement.framework.extension_points import SpreadConstraint
from descheduler.placement.framework.scheduling_plugin import Compares
from descheduler.placement.landings.unplaced import UnplacedReplacement
from descheduler.placement.shadow.node_masks import BoolMask
from descheduler.placement.shadow.node_table import CPU_ROW, EPHEMERAL_ROW, PODS_ROW, NodeTable
from descheduler.placement.shadow.placement_class import PlacementClass
from descheduler.placement.shadow.pod_counts import PodCounts
from descheduler.placement.shadow.shadow_cluster import ShadowCluster
from descheduler.placement.shadow.tally.pod_tally import FoundPods

_CHECKED_ROWS = range(EPHEMERAL_ROW + 1)
"""Resources that no configuration takes out of the comparison."""
_ENDLESS = 2**62


def certificate(
    replacements: Sequence[UnplacedReplacement], singles: Mapping[PlacementClass, SingleLanding], cluster: ShadowCluster
) -> str:
    """Why `replacements` can never all land on `cluster`, which is as it is without any of them; empty without a proof.

    `singles` is what their classes find on that very cluster.
    """
    for unplaced in replacements:
        if sentence := _hopeless(unplaced, singles[unplaced.placement_class]):
            return sentence
    if all(unplaced.scheduler.compares(Compares.REQUESTS) for unplaced in replacements):
        by_class: dict[PlacementClass, list[UnplacedReplacement]] = {}
        for unplaced in replacements:
            by_class.setdefault(unplaced.placement_class, []).append(unplaced)
        proofs = (
            *(
                _too_few_slots(alike, singles[placement_class], cluster.table)
                for placement_class, alike in by_class.items()
            ),
            _too_little_in_all(replacements, singles, cluster.table),
            *(
                _too_uneven(alike, replacements, singles[placement_class], cluster)
                for placement_class, alike in by_class.items()
            ),
        )
        return next((sentence for sentence in proofs if sentence), "")
    return ""


def _hopeless(unplaced: UnplacedReplacement, single: SingleLanding) -> str:
    """A replacement for which no node is left even on its own, and that no other can help."""
    if not single.open.any():
        return f"the replacement of {unplaced.victim.key} cannot be scheduled onto any node: {single.refusal}"
    if not single.may.any():
        return (
            f"the replacement of {unplaced.victim.key} cannot be scheduled onto any node, even without the evicted pods"
            f" and other replacement pods: {single.refusal}"
        )
    return ""


def _too_few_slots(alike: Sequence[UnplacedReplacement], single: SingleLanding, table: NodeTable) -> str:
    """More replacements of one class than fit on the nodes that may take them, each filled up with it alone."""
    slots = _room(table, PODS_ROW, single)[single.may]
    for row, amount in alike[0].placement_class.demand.amounts:
        if row in _CHECKED_ROWS:
            slots = np.minimum(slots, _room(table, row, single)[single.may] // amount)
    num_slots = int(slots.sum())
    if num_slots >= len(alike):
        return ""
    return (
        f"{_replacements(len(alike))} like that of {alike[0].victim.key} are created, and the eligible"
        f" nodes have room for {num_slots}"
    )


def _too_little_in_all(
    replacements: Sequence[UnplacedReplacement], singles: Mapping[PlacementClass, SingleLanding], table: NodeTable
) -> str:
    """More of one resource than there is room on all nodes that may take any of the replacements.

    The last one that a node takes sees all others there, so what is on it never exceeds the most that any one may use.
    """
    may = np.zeros(len(table), dtype=bool)
    need = dict.fromkeys(_CHECKED_ROWS, 0)
    for unplaced in replacements:
        may |= singles[unplaced.placement_class].may
        need[PODS_ROW] += 1
        for row, amount in unplaced.placement_class.demand.amounts:
            if row in _CHECKED_ROWS:
                need[row] += amount
    classes = {unplaced.placement_class: singles[unplaced.placement_class] for unplaced in replacements}.values()
    for row, amount in need.items():
        room = int(np.maximum.reduce([_room(table, row, each) for each in classes])[may].sum())
        if amount > room:
            what = table.resources[row]
            return (
                f"{_replacements(len(replacements))} request {_quantity(row, amount)} {what},"
                f" and the eligible nodes have {_quantity(row, room)} free"
            )
    return ""


def _too_uneven(
    alike: Sequence[UnplacedReplacement],
    replacements: Sequence[UnplacedReplacement],
    single: SingleLanding,
    cluster: ShadowCluster,
) -> str:
    """More replacements of one class than a spread constraint lets into the domains that may take them.

    As long as some domain takes none of them, its count bounds the others. Only where no other one counts for the
    constraint too, and none that the cluster lacks.
    """
    first = alike[0]
    if not first.pod.spec.topology_spread or single.sees_more:
        return ""
    for constraint in first.scheduler.spread(first.pod):
        others = (unplaced.pod for unplaced in replacements if unplaced.placement_class is not first.placement_class)
        if constraint.is_self_matching and not any(
            constraint.query.covers(pod.namespace, pod.labels) for pod in others
        ):
            most = _most_in_domains(constraint, single.may, cluster)
            if most is not None and most < len(alike):
                return (
                    f"topology spread over {constraint.topology_key} allows {most} of"
                    f" {_replacements(len(alike))} like that of {first.victim.key} in the eligible domains"
                )
    return ""


def _most_in_domains(constraint: SpreadConstraint, may: BoolMask, cluster: ShadowCluster) -> int | None:
    """How many pods fit into the open domains of a constraint; None when no closed domain bounds them."""
    counted = constraint.counted
    open_nodes = np.flatnonzero(may)
    if int(counted.sums(FoundPods(open_nodes, np.ones_like(open_nodes)))[:-1].sum()) < len(open_nodes):
        return None  # on nodes that do not count, any number may stand
    sums = counted.sums(cluster.follow(PodCounts).found(constraint.query))
    is_open = np.zeros(counted.domains.num + 1, dtype=bool)
    is_open[counted.domains.ids[may]] = True
    least = 0
    if counted.num >= constraint.min_domains:
        least = counted.least(np.where(is_open, _ENDLESS, sums))
    if least == _ENDLESS:
        return None
    return int(np.maximum(0, least + constraint.max_skew - sums[is_open]).sum())


def _room(table: NodeTable, row: int, single: SingleLanding) -> NDArray[np.int64]:
    """What a class may use of a resource on each node: what is free, and what plugins grant it on top."""
    free: NDArray[np.int64] = table.allocatable[row] - table.requested[row]
    credit = single.credit.get(row)
    return np.maximum(0, free if credit is None else free + credit)


def _quantity(row: int, amount: int) -> str:
    return format_quantity(amount * (10**6 if row == CPU_ROW else 10**9))


def _replacements(number: int) -> str:
    return "1 replacement pod" if number == 1 else f"{number} replacement pods"
