"""One run, top to bottom: policy and snapshot in, every decision with its reason out.

`decide` is the part without I/O that dry runs, live runs and `evaluate` share.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime

from descheduler.cluster.snapshot import Snapshot
from descheduler.eviction.answers import Answers
from descheduler.eviction.evictor import Evictor
from descheduler.eviction.handle import Handle
from descheduler.eviction.limits import EvictionLimits
from descheduler.model.labels import EVERYTHING
from descheduler.model.node import Node
from descheduler.placement.node_fit import NodeFit
from descheduler.placement.shadow_cluster import ShadowCluster
from descheduler.policy.plugin import Registry
from descheduler.policy.priority_thresholds import resolve_priority_thresholds
from descheduler.policy.types import Policy
from descheduler.strategies.decisions import Decisions
from descheduler.strategies.profiles import run_profiles
from descheduler.strategies.registry import REGISTRY

__all__ = ["EVICTIONS_IN_BACKGROUND", "decide"]

EVICTIONS_IN_BACKGROUND = "EvictionsInBackground"
"""The feature gate under which another controller may carry an eviction out."""

_LEAST_NODES = 2


def decide(
    policy: Policy,
    snapshot: Snapshot,
    *,
    now: datetime,
    answers: Answers | None = None,
    evicted: AbstractSet[str] = frozenset(),
    feature_gates: Mapping[str, bool] | None = None,
    registry: Registry = REGISTRY,
    processed_nodes: Sequence[Node] | None = None,
) -> Decisions:
    """Runs all plugins of `policy` over `snapshot` and books what may go. No I/O; the same input gives the same answer.

    `answers` are refusals of the eviction API that are known already, `evicted` the keys of pods that an earlier
    decision of this run has evicted. `processed_nodes` are handed to the plugins as
    they are; without them it is the ready nodes that the policy selects, of which there must be two. Raises
    PolicyError when a PriorityClass that the policy names does not exist.
    """
    priorities = {name: priority.value for name, priority in snapshot.priority_classes.items()}
    policy = resolve_priority_thresholds(policy, priorities)
    shadow = ShadowCluster(snapshot, moves_take_effect=policy.kind == "DeschedulerConfiguration")
    evictor = Evictor(
        shadow,
        EvictionLimits(policy.max_evictions_per_node, policy.max_evictions_per_namespace, policy.max_evictions_total),
        answers=answers,
        evicted=evicted,
        evictions_in_background=bool(feature_gates and feature_gates.get(EVICTIONS_IN_BACKGROUND)),
    )
    if processed_nodes is None:
        processed_nodes = shadow.ready_nodes(policy.node_selector or EVERYTHING)
        if len(processed_nodes) < _LEAST_NODES:
            skipped = f"{len(processed_nodes)} ready nodes match the policy, at least {_LEAST_NODES} are needed"
            return Decisions(policy, snapshot, evictor, now, skipped=skipped)
    handle = Handle(policy, shadow, NodeFit(shadow), now)
    failures = run_profiles(policy, registry, handle, evictor, processed_nodes)
    return Decisions(policy, snapshot, evictor, now, failures)
