"""MigrationPlanner with DrainNodes: which nodes are drained, in which waves, and where their pods go."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import pytest

from descheduler.documents.problems import PolicyError
from descheduler.model.groups.workloads import Workload
from descheduler.plan.decisions import Decisions
from descheduler.plan.goals import Level
from tests.builders import Object, make_node, make_pod, required_anti_affinity
from tests.planner.choosing import run_choosing
from tests.planner.nodes_to_drain import CORDONED, FREE, OLD, pod, run
from tests.planner.runs import goal_of, run_objective
from tests.strategies.runs import evicted


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


def test_pods_of_daemonsets_stay() -> None:
    decisions = run([pod("agent", "old-1", owners=["DaemonSet/agent"]), pod("p", "old-2")])

    assert evicted(decisions) == ["p"]
    assert goal_of(decisions).levels == (Level("nodes to be drained", 1, 0, 0),)


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
