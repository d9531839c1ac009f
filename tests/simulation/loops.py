"""Small clusters, and policies that run on them again and again."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

from descheduler.cluster.snapshot import Snapshot
from descheduler.cycle.deciding.decide import decide
from descheduler.cycle.deciding.round import Round
from descheduler.cycle.plugins import REGISTRY
from descheduler.plan.decisions import Decisions
from descheduler.policy.load import load_policy
from descheduler.policy.types import Policy
from descheduler.report.simulation_document import SimulatedPolicy
from descheduler.simulation.carrying_out import CarriedOut, carried_out
from descheduler.simulation.simulating import SimulationOptions, Start, simulate
from tests.builders import NOW, Object, node_object, pod_object
from tests.placement.workloads import cluster_of, workload_object
from tests.strategies.runs import policy_with

FIVE_MINUTES = timedelta(minutes=5)


def policy_of(plugin: str, /, *, evictor: Object | None = None, **args: object) -> Policy:
    """A policy that runs one plugin with these arguments; `evictor` are those of DefaultEvictor."""
    return load_policy(policy_with(plugin, args=args, evictor=evictor), REGISTRY, name=f"{plugin}.yaml")


def evicting(**evictor: object) -> Policy:
    """A policy that evicts pods which have restarted."""
    return policy_of("RemovePodsHavingTooManyRestarts", evictor=evictor, podRestartThreshold=1)


def balancing() -> Policy:
    """A policy that evicts pods from nodes that are more than half full, where others are less than a third full."""
    return policy_of(
        "LowNodeUtilization", thresholds={"cpu": 33, "pods": 100}, targetThresholds={"cpu": 50, "pods": 100}
    )


def resting(cooldown: str) -> Policy:
    """A policy that evicts pods from tainted nodes, and none of a workload that has lost one within `cooldown`.

    Nobody verifies where replacements go.
    """
    args = {
        "defaultJobMode": "EvictDirectly",
        "maxMigratingPerNode": 0,
        "maxMigratingPerWorkload": 1,
        "maxUnavailablePerWorkload": 9,
        "objectLimiters": {"workload": {"duration": "0s"}},
        "moveHistory": {"cooldown": cooldown, "window": "24h"},
    }
    profile = {
        "name": "main",
        "plugins": {
            "deschedule": {"enabled": [{"name": "RemovePodsViolatingNodeTaints"}]},
            "filter": {"enabled": [{"name": "MigrationController"}], "disabled": [{"name": "PlacementVerification"}]},
        },
        "pluginConfig": [{"name": "MigrationController", "args": args}],
    }
    document = {"apiVersion": "descheduler/v1alpha2", "kind": "DeschedulerConfiguration", "profiles": [profile]}
    return load_policy(document, REGISTRY, name="resting.yaml")


def crowded(*, num_pods: int = 4) -> list[Object]:
    """Pods of one core each on one of three nodes of four cores."""
    nodes = [node_object(name, cpu="4") for name in "abc"]
    return [*nodes, *(pod_object(f"p{number}", node="a", cpu="1") for number in range(num_pods))]


def drained() -> list[Object]:
    """Two pods of one workload on a node that has to be emptied, and room for them on another one."""
    nodes = [node_object("a", taints=["maintenance:NoSchedule"]), node_object("b")]
    pods = [pod_object(f"p{number}", node="a") for number in range(2)]
    return [*nodes, workload_object("ReplicaSet/web", replicas=10), *pods]


def decided(policy: Policy, *objects: Object, **facts: Any) -> Decisions:
    """A dry run of `policy` over a cluster of `objects`; facts are fields of the snapshot."""
    snapshot: Snapshot = replace(cluster_of(*objects), **facts)
    return decide(policy, snapshot, now=NOW, this_round=Round(most_assessed=len(snapshot.pods)))


def carry_out(policy: Policy, *objects: Object, **facts: Any) -> CarriedOut:
    """What comes of that dry run five minutes later."""
    return carried_out(decided(policy, *objects, **facts), FIVE_MINUTES)


def simulated(policy: Policy, *objects: Object, cycles: int = 10, every: timedelta = FIVE_MINUTES) -> SimulatedPolicy:
    """What comes of `policy` in so many cycles."""
    options = SimulationOptions(cycles, every)
    (found,) = simulate([Start(policy, cluster_of(*objects))], now=NOW, options=options).policies
    return found
