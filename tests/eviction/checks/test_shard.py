"""What one shard of a cluster may evict, and where its replacements count."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from descheduler.cluster.snapshot import Snapshot
from descheduler.cycle.deciding.decide import decide
from descheduler.cycle.plugins import REGISTRY
from descheduler.model.shard import Shard
from descheduler.model.verdict import Reason
from descheduler.plan.decisions import Decisions
from descheduler.policy.load import load_policy
from tests.builders import NOW, make_budget, make_node, make_pod, make_snapshot
from tests.eviction.migration_controller.koordinator_clusters import make_workload
from tests.report.decided_cycles import pod_life_time_policy

COUNT = 2
RACKS = ("a", "b", "g", "h")
"""Of two shards each owns two of them."""

SPARE = {"maxMigratingPerWorkload": 20, "maxUnavailablePerWorkload": 20}
"""Of workloads so many pods may be on the move."""


def cluster(num_pods: int = 3, *, namespace: str = "shop", **more: Any) -> Snapshot:
    """So many old pods on each of two nodes in every rack."""
    nodes = [make_node(f"{rack}{number}", labels={"rack": rack}) for rack in RACKS for number in (0, 1)]
    pods = [
        make_pod(f"web-{node.name}-{number}", namespace=namespace, node=node.name, labels={"app": "web"})
        for node in nodes
        for number in range(num_pods)
    ]
    return make_snapshot(nodes, pods, **more)


def decided(snapshot: Snapshot, document: Mapping[str, Any], *, turn: str = "") -> list[Decisions]:
    """What the shards decide one by one, all over the same snapshot."""
    policy = load_policy(dict(document), REGISTRY)
    shards = (Shard(index, COUNT, "rack", turn) for index in range(COUNT))
    return [decide(policy, replace(snapshot, shard=shard), now=NOW) for shard in shards]


def decide_whole(snapshot: Snapshot, document: Mapping[str, Any]) -> Decisions:
    """What one run over the whole cluster decides."""
    return decide(load_policy(dict(document), REGISTRY), snapshot, now=NOW)


def evicted(all_decisions: Sequence[Decisions]) -> list[str]:
    return [move.pod.key for decisions in all_decisions for move in decisions.moves]


def targets(decisions: Decisions) -> set[str]:
    """The nodes on which replacements are expected."""
    landings = (move.landing for move in decisions.moves if move.landing is not None)
    return {landing.node for landing in landings if landing.node is not None}


def codes(decisions: Decisions) -> set[Reason | None]:
    return {refusal.verdict.reason for refusal in decisions.refusals}


def test_shards_evict_every_pod_once_that_one_run_evicts() -> None:
    snapshot, policy = cluster(), pod_life_time_policy()

    found = evicted(decided(snapshot, policy))

    assert sorted(found) == sorted(evicted([decide_whole(snapshot, policy)]))
    assert len(found) == len(snapshot.pods)


def test_shard_evicts_from_its_own_nodes_alone() -> None:
    snapshot = cluster()

    for index, decisions in enumerate(decided(snapshot, pod_life_time_policy())):
        owned = {node.name for node in snapshot.nodes if Shard(index, COUNT, "rack").owns(node)}
        assert {move.pod.node_name for move in decisions.moves} == owned


@pytest.mark.parametrize("limit", [0, 1, 5, 6])
def test_total_limit_is_divided(limit: int) -> None:
    found = evicted(decided(cluster(), pod_life_time_policy(maxNoOfPodsToEvictTotal=limit)))

    assert len(found) == limit


def test_a_shard_of_one_node_says_why_no_plugin_runs() -> None:
    nodes = [make_node(rack, labels={"rack": rack}) for rack in RACKS[:3]]

    skipped = {decisions.skipped for decisions in decided(make_snapshot(nodes), pod_life_time_policy())}

    way_out = "use fewer --shards, or another --shard-by"
    text = "at least 2 are required"
    one = "only 1 ready node matches the policy in shard {} of 2 by label rack (1 of 3 nodes); {}: {}"
    assert len(skipped - {""}) == 1
    assert skipped - {""} <= {one.format(index, text, way_out) for index in range(COUNT)}


def test_what_a_plugin_says_of_all_nodes_is_said_of_those_of_the_shard() -> None:
    document = pod_life_time_policy(balance=["RemoveDuplicates"])
    snapshot = replace(cluster(), pods=())

    texts = [
        {plugin: facts.why_nothing for (_, plugin), facts in decisions.facts.items()}
        for decisions in (*decided(snapshot, document), decide_whole(snapshot, document))
    ]

    of_all = texts[-1]
    # RemoveDuplicates gets the nodes of all shards.
    of_a_shard = of_all | {"PodLifeTime": f"{of_all['PodLifeTime']}; only this shard's 4 nodes are examined"}
    assert texts == [of_a_shard, of_a_shard, of_all]


def test_limit_of_a_namespace_is_divided() -> None:
    found = evicted(decided(cluster(), pod_life_time_policy(maxNoOfPodsToEvictPerNamespace=5)))

    assert len(found) == 5


def test_percentage_of_the_cluster_is_divided() -> None:
    found = evicted(decided(cluster(), pod_life_time_policy(maxNoOfPodsToEvictTotal="25%")))

    assert len(found) == 6


def test_limit_of_a_node_is_not_divided() -> None:
    found = evicted(decided(cluster(), pod_life_time_policy(maxNoOfPodsToEvictPerNode=1)))

    assert len(found) == len(RACKS) * 2


def test_share_of_a_limit_is_told() -> None:
    _, second = decided(cluster(), pod_life_time_policy(maxNoOfPodsToEvictTotal=5))

    messages = {refusal.verdict.message for refusal in second.refusals if refusal.verdict.reached}
    assert messages == {"maxNoOfPodsToEvictTotal (5, 2 for shard 1 of 2) reached"}


@pytest.mark.parametrize("allowed", [0, 1, 3])
def test_disruptions_of_a_budget_are_divided(allowed: int) -> None:
    budget = make_budget("web", namespace="shop", labels={"app": "web"}, disruptions_allowed=allowed)

    found = decided(cluster(budgets=(budget,)), pod_life_time_policy())

    assert len(evicted(found)) == allowed
    assert allowed == 0 or any(Reason.SHARD_SHARE in codes(decisions) for decisions in found)


def test_turn_decides_which_shard_has_the_last_disruption() -> None:
    budget = make_budget("web", namespace="shop", labels={"app": "web"}, disruptions_allowed=1)
    snapshot = cluster(budgets=(budget,))

    served = {
        tuple(len(each.moves) for each in decided(snapshot, pod_life_time_policy(), turn=f"job-{number}"))
        for number in range(8)
    }

    assert served == {(0, 1), (1, 0)}


def verified_policy(**migration: Any) -> dict[str, Any]:
    """A policy whose one profile evicts old pods where their replacements can be scheduled."""
    migration = {"defaultJobMode": "EvictDirectly", "objectLimiters": {"workload": {"duration": "0s"}}} | migration
    config = [
        {"name": "PodLifeTime", "args": {"maxPodLifeTimeSeconds": 60}},
        {"name": "MigrationController", "args": migration},
        {"name": "PlacementVerification"},
    ]
    plugins = {"deschedule": {"enabled": [{"name": "PodLifeTime"}]}}
    return {
        "apiVersion": "descheduler/v1alpha2",
        "kind": "DeschedulerConfiguration",
        "profiles": [{"name": "p", "pluginConfig": config, "plugins": plugins}],
    }


def test_replacement_counts_on_no_node_of_another_shard() -> None:
    """Of its own shard only the node that the pod leaves has room."""
    nodes = [make_node(name, labels={"rack": name}, cpu="1") for name in ("a", "b", "g", "h")]
    web = make_workload(5, name="web")
    pods = [
        make_pod("moving", node="a", cpu="600m"),
        make_pod("young", node="a", cpu="100m", age=1, owners=["ReplicaSet/db"]),
        make_pod("full", node="b", cpu="600m", age=1, owners=["ReplicaSet/db"]),
    ]
    snapshot = make_snapshot(nodes, pods, workloads={web.uid: web})

    _, own = decided(snapshot, verified_policy())

    whole = decide_whole(snapshot, verified_policy())
    assert targets(own) == {"a"}
    assert targets(whole) <= {"g", "h"}


def test_replacement_lands_within_the_shard() -> None:
    web = make_workload(24, name="web")
    snapshot = cluster(namespace="default", workloads={web.uid: web})

    for index, decisions in enumerate(decided(snapshot, verified_policy(**SPARE))):
        shard = Shard(index, COUNT, "rack")
        assert targets(decisions)
        assert all(shard.owns(snapshot.nodes_by_name[name]) for name in targets(decisions))


def test_pods_on_the_move_are_divided() -> None:
    web = make_workload(24, name="web")
    snapshot = cluster(namespace="default", workloads={web.uid: web})

    found = evicted(decided(snapshot, verified_policy(maxMigratingGlobally=3, **SPARE)))

    assert len(found) == 3
