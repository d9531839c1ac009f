"""MigrationPlanner with DrainNodes: which nodes are drained, in which waves, and what is said of the others."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

from descheduler.cycle.deciding.decide import decide
from descheduler.cycle.plugins import REGISTRY
from descheduler.documents.problems import PolicyError
from descheduler.model.groups.workloads import Workload
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.plan.decisions import Decisions
from descheduler.plan.goals import Level
from descheduler.policy.load import load_policy
from tests.builders import NOW, Object, make_budget, make_node, make_pod, make_snapshot, required_anti_affinity
from tests.planner.choosing import choosing_policy, run_choosing
from tests.planner.runs import goal_of, run_objective, verified
from tests.strategies.runs import evicted, run_plugin

OLD = {"pool": "old"}
CORDONED = [make_node(name, cpu="10", labels=OLD, unschedulable=True) for name in ("old-1", "old-2", "old-3")]
FREE = [make_node(name, cpu="10") for name in ("new-1", "new-2")]


def pod(name: str, node: str, cpu: str = "2", **facts: Any) -> Pod:
    return make_pod(name, cpu=cpu, node=node, **facts)


def run(pods: Iterable[Pod], nodes: Sequence[Node] = (*CORDONED, *FREE), **others: Any) -> Decisions:
    args: Object = {"nodeSelector": {"matchLabels": OLD}, **others.pop("args", {})}
    return run_objective("drainNodes", nodes, pods, args=args, packs=False, **others)


def waves(decisions: Decisions) -> dict[int, set[str]]:
    """The nodes that pods leave in each wave."""
    found = defaultdict[int, set[str]](set)
    for move in decisions.moves:
        found[move.wave].add(move.pod.node_name)
    return dict(found)


def test_every_pod_leaves_the_nodes_that_are_to_be_drained_and_no_other() -> None:
    pods = [pod("p", "old-1"), pod("q", "old-1"), pod("r", "old-2"), pod("stays", "new-1")]

    decisions = run(pods)

    assert sorted(evicted(decisions)) == ["p", "q", "r"]
    goal = goal_of(decisions)
    assert goal.levels == (Level("nodes to be drained", 2, 0, 0),)
    assert (goal.evictions, goal.bound, goal.status) == (3, 3, "optimal")
    assert goal.sentence == (
        "2 nodes to be drained → 0 with 3 evictions (at least 3 are needed); 2 waves (at least 2 are needed)"
    )


@pytest.mark.parametrize(
    "args",
    [
        pytest.param({"nodes": ["a"]}, id="by name"),
        pytest.param({"nodeSelector": {"matchLabels": OLD}}, id="by label"),
        pytest.param({"conditions": ["MaintenancePlanned"]}, id="by condition"),
    ],
)
def test_nodes_are_chosen(args: Object) -> None:
    nodes = [make_node("a", labels=OLD, unschedulable=True, conditions=["MaintenancePlanned"]), make_node("b")]

    decisions = run_objective("drainNodes", nodes, [pod("p", "a"), pod("q", "b")], args=args, packs=False)

    assert evicted(decisions) == ["p"]


def test_no_more_nodes_are_drained_at_once_than_may_be_unavailable() -> None:
    pods = [pod(f"p{number}", f"old-{number}", "1") for number in (1, 2, 3)]

    assert sorted(map(len, waves(run(pods)).values())) == [1, 1, 1]
    assert sorted(map(len, waves(run(pods, args={"maxUnavailable": 2})).values())) == [1, 2]


def test_no_wave_is_empty_where_a_replacement_requests_less_than_the_pod() -> None:
    """The scheduler prefers the node of 2 CPU, which has no room for the pod of 4, but for its replacement of 1."""
    template = make_pod("t", node="", cpu="1")
    workloads = {"replicaset-web": Workload("ReplicaSet", "default", "web", "replicaset-web", 2, template=template)}

    pods = [pod("p", "old-1", "4"), pod("q", "old-2", "1"), pod("full", "new-1", "6", owners=["ReplicaSet/full"])]

    decisions = run(pods, [*CORDONED, FREE[0], make_node("small", cpu="2")], workloads=workloads)

    assert sorted(waves(decisions)) == [1, 2]
    assert goal_of(decisions).sentence.endswith("; 2 waves (at least 2 are needed)")


@pytest.mark.parametrize(
    ("least", "drained"),
    [
        pytest.param(0.9, ["q"], id="a node with one pod gains 1 for its eviction"),
        pytest.param(0.4, ["p", "p2", "q"], id="a node with two pods gains half of that"),
    ],
)
def test_a_drained_node_gains_one_whether_its_pods_go_to_nodes_with_pods_or_without(
    least: float, drained: Sequence[str]
) -> None:
    pods = [pod("p", "old-1"), pod("p2", "old-1"), pod("q", "old-2")]

    decisions = run(pods, planner={"minGainPerDisruption": least})

    assert sorted(evicted(decisions)) == drained


def test_no_replacement_goes_onto_a_node_that_is_drained_later() -> None:
    """Without the cordon the scheduler prefers old-3, which has no pod: room is on new-1 alone."""
    nodes = [make_node(name, cpu="10", labels=OLD) for name in ("old-1", "old-2", "old-3")]

    decisions = run([pod("p", "old-1"), pod("full", "new-1", "7")], [*nodes, FREE[0]])

    assert evicted(decisions) == []
    assert goal_of(decisions).sentence == (
        "1 node to be drained → 1 with 0 evictions; no better plan was found within the limits;"
        " set cordon: true, or cordon the nodes, so that no replacement pod is scheduled onto nodes to be drained;"
        " node old-1 cannot be drained: pod default/p cannot be evicted: the replacement pod would be scheduled onto"
        " old-1 again"
    )


def test_nodes_that_a_live_run_cordons_count_as_unschedulable() -> None:
    nodes = [make_node(name, cpu="10", labels=OLD) for name in ("old-1", "old-2", "old-3")]

    decisions = run([pod("p", "old-1"), pod("full", "new-1", "7")], [*nodes, FREE[0]], args={"cordon": True})

    assert [(move.pod.name, move.landing.node) for move in decisions.moves if move.landing] == [("p", "new-1")]
    assert decisions.notes == (
        "a live run cordons 3 nodes before the first eviction (cordon: true): old-1, old-2, old-3",
    )


def test_nodes_that_are_cordoned_already_are_left_to_who_cordoned_them() -> None:
    assert run([pod("p", "old-1")], args={"cordon": True}).notes == ()


@pytest.mark.parametrize("condition", ["MaintenancePlanned", "DrainInProgress"])
def test_no_replacement_goes_onto_a_node_that_its_owner_is_about_to_drain(condition: str) -> None:
    """The scheduler would take it, because it has the most room."""
    leaving = make_node("new-3", cpu="20", conditions=[condition])

    decisions = run([pod("p", "old-1"), pod("full", "new-1", "7")], [*CORDONED, FREE[0], leaving])

    assert evicted(decisions) == []
    assert goal_of(decisions).sentence.endswith(
        "node old-1 cannot be drained: pod default/p cannot be evicted:"
        f" the replacement pod would be scheduled onto new-3, which has the condition {condition}"
    )


def test_zones_are_drained_one_after_the_other() -> None:
    """Otherwise two nodes of different zones share a wave."""
    zones = {"old-1": "b", "old-2": "a", "old-3": "b", "old-4": "a"}
    nodes = [
        make_node(name, cpu="10", labels={**OLD, "topology.kubernetes.io/zone": zone}, unschedulable=True)
        for name, zone in zones.items()
    ]
    pods = [pod(f"p{number}", name, "1") for number, name in enumerate(zones)]

    decisions = run(pods, [*nodes, *FREE], args={"maxUnavailable": 3, "zonesInTurn": True})

    assert waves(decisions) == {1: {"old-2", "old-4"}, 2: {"old-1", "old-3"}}
    assert goal_of(decisions).sentence.endswith("; 2 waves (at least 2 are needed)")


def test_a_zone_comes_later_where_pods_of_another_one_have_to_leave_first_and_its_nodes_keep_together() -> None:
    """The large pod fits on new-b alone, to which the spread by zone opens once the other one has left zone b."""
    zone = "topology.kubernetes.io/zone"
    nodes = [
        *(
            make_node(name, cpu="10", labels={**OLD, zone: name[4]}, unschedulable=True)
            for name in ("old-a1", "old-a2")
        ),
        make_node("old-b", cpu="10", labels={**OLD, zone: "b"}, unschedulable=True),
        *(make_node(f"new-{name}", cpu=cpu, labels={zone: name}) for name, cpu in (("a", "1"), ("b", "4"), ("c", "2"))),
    ]
    apart: Object = {
        "labels": {"app": "s"},
        "spread": [
            {
                "maxSkew": 1,
                "topologyKey": zone,
                "whenUnsatisfiable": "DoNotSchedule",
                "labelSelector": {"matchLabels": {"app": "s"}},
            }
        ],
    }
    pods = [
        pod("large", "old-a1", "4", owners=["ReplicaSet/l"], **apart),
        pod("p", "old-a2", "1", node_selector={zone: "a"}, owners=["ReplicaSet/p"]),
        pod("small", "old-b", "1", owners=["ReplicaSet/s"], node_selector={zone: "c"}, **apart),
    ]

    decisions = run(pods, nodes, args={"maxUnavailable": 3, "zonesInTurn": True})

    assert waves(decisions) == {1: {"old-b"}, 2: {"old-a1", "old-a2"}}
    assert goal_of(decisions).sentence.endswith("; 2 waves (at least 2 are needed)")


def test_nodes_are_read_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "nodes.txt"
    file.write_text("# the old image\n\nnode/old-1\nold-2  # by hand\ngone\n")
    pods = [pod("p", "old-1"), pod("q", "old-2"), pod("r", "old-3")]

    decisions = run_objective("drainNodes", [*CORDONED, *FREE], pods, args={"nodesFile": str(file)}, packs=False)

    assert sorted(evicted(decisions)) == ["p", "q"]
    assert goal_of(decisions).sentence.endswith(f"; {file}:5: gone not found among the nodes of the cluster")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("old-1\nold 2\n", "{file}:2: 'old 2' is not the name of a node", id="two words in a line"),
        pytest.param("# nothing\n", "{file}: names no node", id="no name"),
        pytest.param(None, "{file}: no such file; name the node list file to read", id="no file"),
    ],
)
def test_faults_of_the_file_are_told_with_their_line(tmp_path: Path, text: str | None, message: str) -> None:
    file = tmp_path / "nodes.txt"
    if text is not None:
        file.write_text(text)

    with pytest.raises(PolicyError, match=re.escape(message.format(file=file))):
        run_objective("drainNodes", FREE, [], args={"nodesFile": str(file)})


def test_a_node_is_drained_whole_or_not_at_all_and_the_budget_in_the_way_is_named() -> None:
    pods = [pod("guarded", "old-1", labels={"app": "db"}), pod("p", "old-1"), pod("q", "old-2")]
    budget = make_budget("db", {"app": "db"}, disruptions_allowed=0)

    decisions = run(pods, budgets=(budget,))

    assert evicted(decisions) == ["q"]
    goal = goal_of(decisions)
    assert (goal.levels, goal.status) == ((Level("nodes to be drained", 2, 1, 1),), "optimal")
    assert "node old-1 cannot be drained: pod default/guarded cannot be evicted: PodDisruptionBudget" in goal.sentence


def tight(on_conditional: str) -> Decisions:
    """Pods of 1, 2 and 4 CPU have to leave, and 4 and 3 CPU are free: all have room if the largest is placed first."""
    policy = choosing_policy({"drainNodes": {"nodes": ["old-1"]}}, chooses=False)
    verification: Object = {"name": "PlacementVerification", "args": {"onConditional": on_conditional}}
    policy["profiles"][0]["pluginConfig"].append(verification)
    sizes = {"a": "1", "b": "2", "c": "4"}
    pods = [pod(name, "old-1", cpu, owners=[f"ReplicaSet/{name}"]) for name, cpu in sizes.items()]
    nodes = [CORDONED[0], make_node("new-1", cpu="4"), make_node("new-2", cpu="3")]
    return decide(load_policy(policy, REGISTRY), make_snapshot(nodes, pods), now=NOW)


def test_the_largest_pods_of_a_node_leave_first_where_the_others_would_take_their_room() -> None:
    assert evicted(tight("allow")) == ["c", "b", "a"]


def test_a_node_whose_pods_have_room_in_some_orders_alone_is_not_said_to_lack_room() -> None:
    assert goal_of(tight("refuse")).sentence.endswith(
        "node old-1 cannot be drained: pod default/a cannot be evicted together with the other pods of the node: in"
        " some orders or tie-breaks of the replacement pods, no node is left for it (onConditional: refuse)"
    )


def test_a_node_whose_pods_find_no_room_is_named() -> None:
    decisions = run([pod("large", "old-1", "9"), pod("x", "new-1"), pod("y", "new-2")])

    assert evicted(decisions) == []
    cause = "0/5 nodes are available for the replacement pod: 3 unschedulable, 2 insufficient cpu"
    assert goal_of(decisions).sentence == (
        "1 node to be drained → 1 with 0 evictions; no plan leaves fewer;"
        f" node old-1 cannot be drained: pod default/large cannot be evicted: {cause}"
    )


@pytest.mark.parametrize(
    ("others", "cause"),
    [
        pytest.param(
            {"budgets": [make_budget("db", {"app": "db"}, disruptions_allowed=1, current_healthy=2)]},
            "PodDisruptionBudget default/db allows 1 disruption, used by other pods of this run (2 healthy, 0"
            " required)",
            id="a budget",
        ),
        pytest.param(
            {"policy": {"maxNoOfPodsToEvictPerNode": 1}},
            "maxNoOfPodsToEvictPerNode (1) reached for node old-1",
            id="a limit of the policy",
        ),
        pytest.param({"planner": {"maxEvictions": 1}}, "maxEvictions (1) reached", id="a limit of the planner"),
    ],
)
def test_what_blocks_the_pods_of_a_node_only_together_is_named_with_the_pod(others: Object, cause: str) -> None:
    pods = [pod("p", "old-1", labels={"app": "db"}), pod("q", "old-1", labels={"app": "db"})]

    decisions = run(pods, **others)

    assert goal_of(decisions).sentence.endswith(
        "node old-1 cannot be drained: pod default/q cannot be evicted together with the other pods of the node:"
        f" {cause}"
    )


def test_a_node_whose_pods_have_no_nodes_but_such_as_are_to_be_drained_says_so() -> None:
    nodes = [make_node(name, cpu="10", labels=OLD) for name in ("old-1", "old-2")]

    decisions = run([pod("p", "old-1")], nodes, args={"cordon": False})

    assert goal_of(decisions).sentence.endswith(
        "node old-1 cannot be drained: pod default/p cannot be evicted: all other nodes that its replacement pod can be"
        " scheduled onto receive no replacement pods (old-2 is to be drained)"
    )


def test_a_node_that_receives_a_replacement_of_an_earlier_strategy_says_so() -> None:
    """The older pod is evicted first, and the scheduler prefers the node that is to be drained."""
    policy = verified(
        {"objectives": [{"drainNodes": {"nodes": ["old"]}}], "timeLimit": "60s", "workLimit": 2}, packs=False
    )
    profile = policy["profiles"][0]
    profile["pluginConfig"].append({"name": "PodLifeTime", "args": {"maxPodLifeTimeSeconds": 60}})
    profile["plugins"]["deschedule"] = {"enabled": ["PodLifeTime"]}
    nodes = [make_node("old", cpu="10"), make_node("a", cpu="10"), make_node("b", cpu="10")]
    pods = [
        pod("aged", "a", "2"),
        pod("young", "old", "1", started=10, age=10),
        *(pod(f"full-{name}", name, "6", started=10, age=10) for name in "ab"),
    ]

    decisions = run_plugin("MigrationPlanner", nodes, pods, policy=policy)

    assert goal_of(decisions).sentence.endswith(
        "node old cannot be drained: this run evicts pod default/aged, whose replacement pod would be scheduled onto it"
    )


def test_pods_of_daemonsets_stay() -> None:
    decisions = run([pod("agent", "old-1", owners=["DaemonSet/agent"]), pod("p", "old-2")])

    assert evicted(decisions) == ["p"]
    assert goal_of(decisions).levels == (Level("nodes to be drained", 1, 0, 0),)


def test_gain_that_is_too_small_is_said_once() -> None:
    decisions = run([pod("p", "old-1"), pod("q", "old-1")], planner={"minGainPerDisruption": 0.6})

    assert goal_of(decisions).sentence.endswith(
        "pod default/p cannot be evicted: its part of the plan gains 0.49 for each of 2 evictions"
        " (minGainPerDisruption: 0.6)"
    )


def test_selector_that_no_node_matches_is_said() -> None:
    args = {"nodeSelector": {"matchLabels": {"pool": "odl"}}}

    assert goal_of(run_objective("drainNodes", FREE, [pod("p", "new-1")], args=args)).sentence == (
        "no node is to be drained; drainNodes.nodeSelector (pool in (odl)): 0 of 2 nodes match"
    )


def test_names_without_a_node_are_said() -> None:
    decisions = run_objective("drainNodes", FREE, [pod("p", "new-1")], args={"nodes": ["gone"]})

    assert goal_of(decisions).sentence == (
        "no node is to be drained; drainNodes.nodes: gone not found among the nodes of the cluster"
    )


@pytest.mark.parametrize(
    "args",
    [
        pytest.param({"nodes": ["a"]}, id="by name"),
        pytest.param({"nodeSelector": {"matchLabels": OLD}}, id="by label"),
    ],
)
def test_a_node_that_is_not_ready_is_said_not_to_be_drained(args: Object) -> None:
    nodes = [make_node("a", labels=OLD, ready=False), *FREE]

    decisions = run_objective("drainNodes", nodes, [pod("p", "a")], args=args, packs=False, processed=FREE)

    assert goal_of(decisions).sentence == "node a cannot be drained: it is not Ready"


def test_a_pod_that_the_filters_reject_is_named_before_one_that_a_budget_keeps() -> None:
    """As `explain` says it of the pods of the node."""
    pods = [pod("alone", "old-1", owners=[]), pod("kept", "old-1", labels={"app": "kept"})]

    decisions = run(pods, budgets=[make_budget("kept", {"app": "kept"}, disruptions_allowed=0)])

    assert "node old-1 cannot be drained: pod default/alone cannot be evicted:" in goal_of(decisions).sentence


def test_a_node_with_nothing_but_a_rejected_pod_names_it() -> None:
    assert "pod default/alone cannot be evicted:" in goal_of(run([pod("alone", "old-1", owners=[])])).sentence


def test_no_pod_of_another_node_leaves_to_make_room() -> None:
    """Node a opens to the pod that is to leave once the one that it keeps apart from has gone to b."""
    nodes = [CORDONED[0], make_node("a", cpu="10"), make_node("b", cpu="3")]
    apart: Object = {"labels": {"app": "x"}, "affinity": required_anti_affinity({"app": "x"})}
    pods = [
        pod("large", "old-1", "5", owners=["ReplicaSet/l"], **apart),
        pod("small", "a", "3", owners=["ReplicaSet/s"], **apart),
    ]

    decisions = run_choosing("drainNodes", nodes, pods, args={"nodeSelector": {"matchLabels": OLD}})

    assert evicted(decisions) == []
