"""Proofs that a batch cannot land, each one sentence: something that is too small however the batch is placed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from descheduler.model.quantity import format_quantity
from descheduler.placement.alone import Alone
from descheduler.placement.framework import BoolMask
from descheduler.placement.incoming import Incoming
from descheduler.placement.members import Member
from descheduler.placement.node_table import CPU_ROW, EPHEMERAL_ROW, PODS_ROW, NodeTable
from descheduler.placement.pod_groups import PodGroups
from descheduler.placement.shadow_cluster import ShadowCluster
from descheduler.placement.spread_constraints import SpreadConstraint, SpreadConstraints

__all__ = ["certificate"]

_FIT, _SPREAD = "NodeResourcesFit", "PodTopologySpread"
_CHECKED_ROWS = range(EPHEMERAL_ROW + 1)
"""Resources that no configuration takes out of the comparison."""
_ENDLESS = 2**62


def certificate(members: Sequence[Member], alone: Mapping[Incoming, Alone], cluster: ShadowCluster) -> str:
    """Why `members` can never all land on `cluster`, which is as it is without any of them; empty without a proof.

    `alone` is what their classes find on that very cluster.
    """
    for member in members:
        if sentence := _hopeless(member, alone[member.incoming]):
            return sentence
    if all(_FIT in member.scheduler.filters for member in members):
        by_class: dict[Incoming, list[Member]] = {}
        for member in members:
            by_class.setdefault(member.incoming, []).append(member)
        proofs = (
            *(_too_few_slots(alike, alone[incoming].may, cluster.table) for incoming, alike in by_class.items()),
            _too_little_in_all(members, alone, cluster.table),
            *(_too_uneven(alike, members, alone[incoming].may, cluster) for incoming, alike in by_class.items()),
        )
        return next((sentence for sentence in proofs if sentence), "")
    return ""


def _hopeless(member: Member, alone: Alone) -> str:
    """A member for which no node is left even when it is alone, and that no other can help."""
    if not alone.open.any():
        return f"no node may ever take the replacement of {member.victim.key}: {alone.refusal}"
    if not alone.may.any():
        return f"with all victims gone and nothing else placed for {member.victim.key}, {alone.refusal}"
    return ""


def _too_few_slots(alike: Sequence[Member], may: BoolMask, table: NodeTable) -> str:
    """More members of one class than fit on the nodes that may take them, each filled up with that class alone."""
    slots = _free(table, PODS_ROW, may)
    for row, amount in alike[0].incoming.demand.amounts:
        if row in _CHECKED_ROWS:
            slots = np.minimum(slots, _free(table, row, may) // amount)
    num_slots = int(slots.sum())
    if num_slots >= len(alike):
        return ""
    return (
        f"{_replacements(len(alike))} like that of {alike[0].victim.key} need a place each, and the nodes that may"
        f" take them have {num_slots}"
    )


def _too_little_in_all(members: Sequence[Member], alone: Mapping[Incoming, Alone], table: NodeTable) -> str:
    """More of one resource than is free on all nodes that may take any of the members."""
    may = np.zeros(len(table), dtype=bool)
    need = dict.fromkeys(_CHECKED_ROWS, 0)
    for member in members:
        may |= alone[member.incoming].may
        need[PODS_ROW] += 1
        for row, amount in member.incoming.demand.amounts:
            if row in _CHECKED_ROWS:
                need[row] += amount
    for row, amount in need.items():
        free = int(_free(table, row, may).sum())
        if amount > free:
            what = table.resources[row]
            return (
                f"{_replacements(len(members))} need {_quantity(row, amount)} {what}, and the nodes that may take them"
                f" have {_quantity(row, free)}"
            )
    return ""


def _too_uneven(alike: Sequence[Member], members: Sequence[Member], may: BoolMask, cluster: ShadowCluster) -> str:
    """More members of one class than a spread constraint lets into the domains that may take them.

    As long as some domain takes none of them, its count bounds the others. Only where no other member counts for the
    constraint too.
    """
    first = alike[0]
    plugin = first.scheduler.filters.get(_SPREAD)
    if plugin is None or not first.pod.spec.topology_spread:
        return ""
    constraints = SpreadConstraints(cluster, first.scheduler.profile.args.pod_topology_spread)
    for constraint in constraints.of(first.pod, "DoNotSchedule"):
        others = (member.pod for member in members if member.incoming is not first.incoming)
        if constraint.is_self_matching and not any(
            constraint.query.covers(pod.namespace, pod.labels) for pod in others
        ):
            most = _most_in_domains(constraint, may, cluster)
            if most is not None and most < len(alike):
                return (
                    f"topology spread over {constraint.topology_key} lets {most} of"
                    f" {_replacements(len(alike))} like that of {first.victim.key} into the domains that may take them"
                )
    return ""


def _most_in_domains(constraint: SpreadConstraint, may: BoolMask, cluster: ShadowCluster) -> int | None:
    """How many pods fit into the open domains of a constraint; None when no closed domain bounds them."""
    counted = constraint.counted
    if int(counted.sums(may.astype(np.int32))[:-1].sum()) < int(may.sum()):
        return None  # on nodes that do not count, any number may stand
    sums = counted.sums(cluster.follow(PodGroups).counts(constraint.query))
    is_open = np.zeros(counted.domains.num + 1, dtype=bool)
    is_open[counted.domains.ids[may]] = True
    least = 0
    if counted.num >= constraint.min_domains:
        least = counted.least(np.where(is_open, _ENDLESS, sums))
    if least == _ENDLESS:
        return None
    return int(np.maximum(0, least + constraint.max_skew - sums[is_open]).sum())


def _free(table: NodeTable, row: int, nodes: BoolMask) -> NDArray[np.int64]:
    free: NDArray[np.int64] = np.maximum(0, table.allocatable[row] - table.requested[row])[nodes]
    return free


def _quantity(row: int, amount: int) -> str:
    return format_quantity(amount * (10**6 if row == CPU_ROW else 10**9))


def _replacements(number: int) -> str:
    return "1 replacement" if number == 1 else f"{number} replacements"
