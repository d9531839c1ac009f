"""MigrationPlanner with ReduceFragmentation: free GPUs in pieces that pods of the cluster's own sizes can use."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, cast

import pytest

from descheduler.eviction.strategy_handle import StrategyHandle
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.model.verdict import Reason
from descheduler.optimizer.order.waves import Reassignment
from descheduler.placement.landings.openings import Openings
from descheduler.placement.prover import LandingProver
from descheduler.plan.decisions import Decisions
from descheduler.plan.goals import Goal, Level
from descheduler.planner.args import MigrationPlannerArgs, PlannerObjective, validate_args
from descheduler.planner.objective_args import ReduceFragmentationArgs
from descheduler.planner.objectives.reduce_fragmentation import ReduceFragmentationObjective
from descheduler.planner.problem.pod_sizes import sizes_of
from tests.builders import Object, make_node, make_pod, make_snapshot
from tests.strategies.runs import evicted, run_plugin

GPU = "nvidia.com/gpu"


def node(name: str, gpus: int = 8, **facts: Any) -> Node:
    return make_node(name, cpu="64", allocatable={GPU: str(gpus)}, **facts)


def pod(name: str, gpus: int, on: str, **facts: Any) -> Pod:
    asked = {"cpu": "1", **({GPU: str(gpus)} if gpus else {})}
    return make_pod(name, node=on, **{"requests": asked, **facts})


def run(nodes: Sequence[Node], pods: Sequence[Pod], **others: Any) -> Decisions:
    args: Object = {"objectives": [{"reduceFragmentation": {"resource": GPU}}], "timeLimit": "60s", "workLimit": 1}
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
    assert goal_of(decisions).levels[0].counts == "unusable units of free nvidia.com/gpu"
    assert goal_of(decisions).levels[0].after < goal_of(decisions).levels[0].before
    assert goal_of(decisions).sentence.startswith("4 unusable units of free nvidia.com/gpu → 1.33 with 1 eviction")
    assert "has 6 free nvidia.com/gpu, of which pods that request 8 cannot use all" in decisions.moves[0].reason


def test_a_gain_of_a_third_of_a_unit_is_seen_in_the_goal() -> None:
    """Each of three nodes has 1 GPU free, and one of six pods requests 2."""
    decisions = run(*_one_free_each())

    assert len(evicted(decisions)) == 1
    assert goal_of(decisions).levels == (Level("unusable units of free nvidia.com/gpu", 3, 1, 1, scale=6),)
    assert goal_of(decisions).sentence.startswith("0.5 unusable units of free nvidia.com/gpu → 0.17 with 1 eviction")


def test_a_gain_that_no_two_decimals_show_is_told_in_words() -> None:
    """The same, where one of 505 pods requests 2."""
    nodes, pods = _one_free_each()
    others = [pod(f"other{number}", 1, "full", owners=()) for number in range(499)]

    decisions = run([*nodes, node("full", 499)], [*pods, *others])

    sentence = "0.01 unusable units of free nvidia.com/gpu → slightly fewer with 1 eviction"
    assert goal_of(decisions).sentence.startswith(sentence)


def _one_free_each() -> tuple[list[Node], list[Pod]]:
    pods = [*(pod(name, 1, name[0]) for name in ("a1", "a2", "b1", "b2", "c1")), pod("large", 2, "")]
    return [node("a", 3), node("b", 3), node("c", 2)], pods


def test_of_plans_that_differ_by_less_than_a_unit_the_better_one_is_taken() -> None:
    """Nodes a to e have 1 GPU free each. The first plan evicts pods p and x, and x in vain: the scheduler places its
    replacement onto node z. A plan with y instead of x, which is dearer, gains more than p alone."""
    nodes = [_with_cpu("a", 2, "4"), _with_cpu("b", 2, "64"), _with_cpu("c", 3, "4"), _with_cpu("d", 2, "64")]
    nodes += [_with_cpu("e", 2, "4"), _with_cpu("f", 2, "4"), _with_cpu("z", 8, "640")]
    pods = [_bound("p", "ab"), _bound("b1", "b"), pod("x", 1, "c"), _bound("y", "cd", priority=10)]
    pods += [_bound("d1", "d"), _bound("e1", "e"), pod("large", 2, "f")]

    decisions = run(nodes, pods)

    assert evicted(decisions) == ["p", "y"]
    assert goal_of(decisions).levels == (Level("unusable units of free nvidia.com/gpu", 5, 1, 1, scale=7),)


def _with_cpu(name: str, gpus: int, cpu: str) -> Node:
    """The scheduler prefers nodes of which less CPU is requested."""
    return make_node(name, cpu=cpu, allocatable={GPU: str(gpus)}, labels={"node": name})


def _bound(name: str, nodes: str, **facts: Any) -> Pod:
    """A pod on the first of `nodes` that can be on these alone."""
    expression = {"key": "node", "operator": "In", "values": list(nodes)}
    terms = {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
    return pod(name, 1, nodes[0], affinity=affinity, **facts)


def test_a_plan_above_its_bound_by_less_than_a_unit_is_not_called_optimal() -> None:
    """Each of three nodes has 1 GPU free, and no pod of 1 GPU can leave its node; on one node 1 would be stranded."""
    pods = [_bound("a1", "a"), _bound("b1", "b"), _bound("c1", "c"), pod("large", 2, "")]

    decisions = run([_with_cpu(name, 2, "64") for name in "abc"], pods)

    assert evicted(decisions) == []
    assert goal_of(decisions).levels == (Level("unusable units of free nvidia.com/gpu", 3, 3, 1, scale=4),)
    assert goal_of(decisions).status == "feasible"
    assert "no better plan was found within the limits" in goal_of(decisions).sentence


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
    assert goal_of(decisions).sentence == "8 unusable units of free nvidia.com/gpu → 0 with 1 eviction"


def test_nothing_is_moved_where_pods_can_use_all_that_is_free() -> None:
    decisions = run([node("a"), node("b")], [pod("p", 4, "a"), pod("q", 4, "b")])

    assert evicted(decisions) == []
    assert goal_of(decisions).sentence == ("pods that request 4 can use all free nvidia.com/gpu")


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
    objective = PlannerObjective(reduce_fragmentation=ReduceFragmentationArgs("cpu"))

    (problem,) = validate_args(MigrationPlannerArgs((objective,)))

    assert problem.field == "objectives[0].reduceFragmentation.resource"
    assert problem.message == "'cpu' is not an extended resource such as nvidia.com/gpu"


@pytest.mark.parametrize("resource", ["koordinator.sh/gpu-core", "koordinator.sh/rdma"])
def test_of_shared_devices_only_gpus_as_a_whole_are_named(resource: str) -> None:
    objective = PlannerObjective(reduce_fragmentation=ReduceFragmentationArgs(resource))

    (problem,) = validate_args(MigrationPlannerArgs((objective,)))

    assert problem.message.startswith(f"pods can share devices of {resource}; ")


def make_openings(nodes: Sequence[Node]) -> Openings:
    return LandingProver(make_snapshot(nodes)).openings()


def test_nothing_is_evicted_where_a_pending_pod_would_take_what_is_freed() -> None:
    """It needs the cores of node a, whose free GPUs no pod can use then: more are stranded than before."""

    def piece(name: str, gpus: int, on: str, cpu: str) -> Pod:
        return make_pod(name, node=on, requests={"cpu": cpu, GPU: str(gpus)})

    nodes = [
        make_node(name, cpu=cpu, allocatable={GPU: "8"}) for name, cpu in zip("abc", ("12", "12", "10"), strict=True)
    ]
    pods = [piece("p", 4, "a", "3"), piece("q", 4, "a", "3"), piece("r", 2, "b", "2"), piece("s", 1, "b", "3")]
    pods += [piece(name, 4, "c", "3") for name in "tu"]

    decisions = run(nodes, [*pods, make_pod("cores", cpu="8", node="", phase="Pending")])

    assert evicted(decisions) == []
    assert goal_of(decisions).levels[0].after == goal_of(decisions).levels[0].before


@pytest.mark.parametrize(
    ("num_moves", "pods"),
    [
        pytest.param(1, "replacement pod", id="one pod"),
        pytest.param(2, "replacement pods", id="several pods"),
    ],
)
def test_moves_after_which_as_much_is_stranded_are_refused_in_words_for_one_pod_or_several(
    num_moves: int, pods: str
) -> None:
    """Each of the two nodes has 6 of 8 GPUs free, and pods request 2 or 8; nothing has moved yet."""
    nodes = [node(name) for name in "ab"]
    snapshot = make_snapshot(nodes, [pod("p", 2, "a"), pod("q", 2, "b"), pod("large", 8, "")])
    prover = LandingProver(snapshot)
    handle = SimpleNamespace(view=SimpleNamespace(snapshot=snapshot), evictor=SimpleNamespace(prover=lambda: prover))
    objective = ReduceFragmentationObjective(ReduceFragmentationArgs(GPU), cast("StrategyHandle", handle), nodes)

    verdict = objective.gain_of([Reassignment(0, 0, 1), Reassignment(1, 1, 0)][:num_moves])()

    assert verdict.reason is Reason.NO_GAIN
    assert verdict.message.startswith(f"no larger slots of {GPU} are left where the {pods} would be scheduled; ")
