"""Nodes that a run cordons before its first eviction, and the cluster as it is once they are cordoned."""

from __future__ import annotations

import dataclasses

from msgspec.structs import replace

from descheduler.cluster.snapshot import Snapshot
from descheduler.model.selection.labels import EVERYTHING
from descheduler.model.text.counted import counted, first_names
from descheduler.plan.decisions import Decisions
from descheduler.policy.plugin import Registry
from descheduler.policy.types import Policy

__all__ = ["cordon_notes", "cordoned_by", "with_cordons"]

_MOST_NAMED = 10


def cordoned_by(policy: Policy, snapshot: Snapshot, registry: Registry) -> frozenset[str]:
    """The names of the nodes that a live run cordons: of those that the policy processes, without cordoned ones."""
    everywhere, found = policy.node_selector or EVERYTHING, set[str]()
    open_nodes = [node for node in snapshot.nodes if node.is_ready and not node.unschedulable]
    processed = [node for node in open_nodes if everywhere.matches(node.labels)]
    for profile in policy.profiles:
        selector = profile.node_selector or EVERYTHING
        nodes = [node for node in processed if selector.matches(node.labels)]
        for name in (*profile.deschedule, *profile.balance):
            found |= registry[name].cordons(profile.args[name], nodes, policy.scheduler_files)
    return frozenset(found)


def with_cordons(policy: Policy, snapshot: Snapshot, registry: Registry) -> Snapshot:
    """The cluster while a run of `policy` evicts; `snapshot` itself where it cordons no node."""
    names = cordoned_by(policy, snapshot, registry)
    if not names:
        return snapshot
    nodes = (replace(node, unschedulable=True) if node.name in names else node for node in snapshot.nodes)
    return dataclasses.replace(snapshot, nodes=tuple(nodes))


def cordon_notes(decisions: Decisions, before: Snapshot) -> tuple[str, ...]:
    """The sentence that names the nodes that a live run cordons for `decisions`; `before` is the cluster as it is."""
    was = {node.name: node.unschedulable for node in before.nodes}
    names = [node.name for node in decisions.snapshot.nodes if node.unschedulable and not was[node.name]]
    if not names or not decisions.moves:
        return ()
    listed = first_names(names, _MOST_NAMED)
    return (f"a live run cordons {counted(len(names), 'node')} before the first eviction (cordon: true): {listed}",)
