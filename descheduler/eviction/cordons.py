"""Nodes that a run cordons before its first eviction, and the cluster as it is once they are cordoned."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from msgspec.structs import replace

from descheduler.cluster.snapshot import Snapshot
from descheduler.model.node import Node
from descheduler.model.selection.labels import EVERYTHING
from descheduler.model.text.counted import counted, first_names
from descheduler.plan.decisions import Decisions
from descheduler.policy.plugin import Registry
from descheduler.policy.types import Policy

_MOST_NAMED = 10


def cordoned_by(policy: Policy, snapshot: Snapshot, registry: Registry) -> frozenset[str]:
    """The names of the nodes that a live run cordons: of those that the policy processes, without cordoned ones."""
    return _cordoned_of((node for node in snapshot.nodes if not node.unschedulable), policy, registry)


def kept_cordoned_by(policy: Policy, snapshot: Snapshot, registry: Registry) -> frozenset[str]:
    """The names of all nodes that are cordoned while a live run evicts because of `policy`, cordoned before or not."""
    return _cordoned_of(snapshot.nodes, policy, registry)


def _cordoned_of(nodes: Iterable[Node], policy: Policy, registry: Registry) -> frozenset[str]:
    everywhere, found = policy.node_selector or EVERYTHING, set[str]()
    processed = [node for node in nodes if node.is_ready and everywhere.matches(node.labels)]
    for profile in policy.profiles:
        selector = profile.node_selector or EVERYTHING
        chosen = [node for node in processed if selector.matches(node.labels)]
        for name in (*profile.deschedule, *profile.balance):
            found |= registry[name].cordons(profile.args[name], chosen, policy.scheduler_files)
    return frozenset(found)


def with_cordons(policy: Policy, snapshot: Snapshot, registry: Registry) -> Snapshot:
    """The cluster while a run of `policy` evicts; `snapshot` itself where it cordons no node."""
    names = cordoned_by(policy, snapshot, registry)
    if not names:
        return snapshot
    nodes = (
        replace(node, unschedulable=True, cordoned_by_run=True) if node.name in names else node
        for node in snapshot.nodes
    )
    return dataclasses.replace(snapshot, nodes=tuple(nodes))


def cordon_notes(decisions: Decisions) -> tuple[str, ...]:
    """The sentence that names the nodes that a live run cordons for `decisions`."""
    names = [node.name for node in decisions.snapshot.nodes if node.cordoned_by_run]
    if not names or not decisions.moves:
        return ()
    listed = first_names(names, _MOST_NAMED)
    return (f"a live run cordons {counted(len(names), 'node')} before the first eviction (cordon: true): {listed}",)
