"""MigrationPlanner with ReduceFragmentation: free GPUs in pieces that pods of the cluster's own sizes can use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from descheduler.migration_planner.args import (
    MigrationPlannerArgs,
    PlannerObjective,
    ReduceFragmentation,
    validate_args,
)
from descheduler.migration_planner.problem.pod_sizes import sizes_of
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.placement.landings.openings import Openings
from descheduler.placement.prover import LandingProver
from descheduler.plan.decisions import Decisions
from descheduler.plan.goals import Goal
from tests.builders import Object, make_node, make_pod, make_snapshot
from tests.strategies.runs import evicted, run_plugin

GPU = "nvidia.com/gpu"


def node(name: str, gpus: int = 8, **facts: Any) -> Node:
    return make_node(name, cpu="64", allocatable={GPU: str(gpus)}, **facts)


def pod(name: str, gpus: int, on: str, **facts: Any) -> Pod:
    asked = {"cpu": "1", **({GPU: str(gpus)} if gpus else {})}
    return make_pod(name, node=on, **{"requests": asked, **facts})


def run(nodes: Sequence[Node], pods: Sequence[Pod], **others: Any) -> Decisions:
    args: Object = {"objectives": [{"reduceFragmentation": {"resource": GPU}}], "timeLimit": "1s"}
    return run_plugin("MigrationPlanner", nodes, pods, args={**args, **others.pop("args", {})}, **others)


def goal_of(decisions: Decisions) -> Goal:
    (goal,) = decisions.facts["p", "MigrationPlanner"].goals
    return goal


def test_small_pods_are_moved_together_so_that_a_large_slot_is_free() -> None:
    """Each of the two nodes has 6 of 8 GPUs free, and pods request 2 or 8."""
    nodes = [node(name) for name in "ab"]
    pods = [pod("p", 2, "a"), pod("q", 2, "b"), pod("large", 8, "")]

    decisions = run(nodes, pods)

    assert len(evicted(decisions)) == 1
    assert goal_of(decisions).levels[0].counts == "units of nvidia.com/gpu stranded"
    assert goal_of(decisions).levels[0].after < goal_of(decisions).levels[0].before
    assert goal_of(decisions).sentence.startswith("4 units of nvidia.com/gpu stranded → 2, 1 eviction")
    assert "has 6 free nvidia.com/gpu, of which pods that request 8 cannot use all" in decisions.moves[0].reason


def test_the_gain_of_an_eviction_is_not_rounded_up() -> None:
    """It is 8 GPUs for one of three pods, the large one."""
    nodes = [node(name) for name in "ab"]
    pods = [pod("p", 2, "a"), pod("q", 2, "b"), pod("large", 8, "")]

    decisions = run(nodes, pods, args={"minGainPerDisruption": 2.8})

    assert evicted(decisions) == []
    assert "gains 2.6 for an eviction (minGainPerDisruption: 2.8)" in goal_of(decisions).sentence


def test_a_pod_without_devices_makes_way_for_those_with_them() -> None:
    """The cores of node a are taken, and its GPUs are of no use to anybody until they are free again."""
    nodes = [node("a"), make_node("plain", cpu="64")]
    pods = [pod("web", 0, "a", requests={"cpu": "60"}), pod("train", 8, "", requests={"cpu": "32", GPU: "8"})]

    decisions = run(nodes, pods)

    assert evicted(decisions) == ["web"]
    assert goal_of(decisions).sentence == "8 units of nvidia.com/gpu stranded → 0, 1 eviction"


def test_nothing_is_moved_where_pods_can_use_all_that_is_free() -> None:
    decisions = run([node("a"), node("b")], [pod("p", 4, "a"), pod("q", 4, "b")])

    assert evicted(decisions) == []
    assert goal_of(decisions).sentence == ("no free nvidia.com/gpu is stranded: pods that request 4 can use all of it")


def test_nothing_is_moved_where_no_pod_requests_the_resource() -> None:
    decisions = run([node("a"), node("b")], [pod("p", 0, "a")])

    assert goal_of(decisions).sentence == "no pod requests nvidia.com/gpu"


def test_limits_bind_the_plan() -> None:
    nodes = [node(name) for name in "abcd"]
    pods = [*(pod(f"p{name}", 2, name) for name in "abcd"), pod("large", 8, "")]

    decisions = run(nodes, pods, args={"maxEvictions": 1})

    assert len(evicted(decisions)) == 1


def test_nothing_is_asked_of_a_plan_that_moves_nothing() -> None:
    """What is stranded on the one node cannot be mended."""
    decisions = run([node("a")], [pod("p", 1, "a"), pod("large", 8, "")], args={"minGainPerDisruption": 1})

    assert evicted(decisions) == []
    assert goal_of(decisions).status != "nothing"


def test_many_sizes_are_few_classes_of_which_the_largest_is_one() -> None:
    openings = make_openings([node("a", gpus=64)])
    sizes = sizes_of([pod(f"p{n}", n, "") for n in range(1, 33)], GPU, openings)

    assert sizes is not None
    assert len(sizes.amounts) == 8
    assert sizes.amounts[-1] == 32
    assert sizes.weights.sum() == 32


def test_a_resource_of_which_any_part_is_requested_is_a_fault_of_the_policy() -> None:
    objective = PlannerObjective(reduce_fragmentation=ReduceFragmentation("cpu"))

    (problem,) = validate_args(MigrationPlannerArgs((objective,)))

    assert problem.field == "objectives[0].reduceFragmentation.resource"
    assert problem.message == "'cpu' is not an extended resource such as nvidia.com/gpu"


@pytest.mark.parametrize("resource", ["koordinator.sh/gpu-core", "koordinator.sh/rdma"])
def test_of_shared_devices_only_gpus_as_a_whole_are_named(resource: str) -> None:
    objective = PlannerObjective(reduce_fragmentation=ReduceFragmentation(resource))

    (problem,) = validate_args(MigrationPlannerArgs((objective,)))

    assert problem.message.startswith(f"pods can share devices of {resource}; ")


def make_openings(nodes: Sequence[Node]) -> Openings:
    return LandingProver(make_snapshot(nodes)).openings()
