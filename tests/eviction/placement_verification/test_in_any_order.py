"""What is evicted at once is scheduled again in whatever order the replacements come."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pytest

from descheduler.cluster.snapshot import Snapshot
from descheduler.cycle.deciding.decide import decide
from descheduler.cycle.plugins import REGISTRY
from descheduler.model.groups.workloads import Workload
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.plan.decisions import Decisions
from descheduler.policy.load import load_policy
from descheduler.report.plan.making import make_plan
from descheduler.report.tables.plan_table import plan_table
from descheduler.report.tables.summary import landing_summary
from descheduler.report.tables.table_style import TableStyle
from tests.builders import NOW, make_node, make_pod
from tests.eviction.placement_verification.test_placement_verification import codes, evicted, policy_of, run
from tests.placement.batches.brute_force import every_order_lands
from tests.placement.batches.small_batches import make_instance, snapshot_of
from tests.series import Part, parts

JOBS = frozenset({"PodMigrationJob.scheduling.koordinator.sh"})


def seven_pods(small: str, large: str) -> tuple[list[Node], list[Pod]]:
    """Four pods of 1 CPU and three of 3 CPU on a node that is closed, and a node for each."""
    nodes = [make_node("source", cpu="16", taints=["closed=yes:NoSchedule"])]
    nodes += [make_node(f"node-{index}", cpu="1") for index in range(4)]
    nodes += [make_node(f"node-{index}", cpu="3") for index in range(4, 7)]
    pods = [make_pod(f"{small}-{index}", node="source", cpu="1", labels={"app": small}) for index in range(4)]
    pods += [make_pod(f"{large}-{index}", node="source", cpu="3", labels={"app": large}) for index in range(3)]
    return nodes, pods


@pytest.mark.parametrize(
    ("small", "large"),
    [pytest.param("a", "b", id="the small ones first"), pytest.param("b", "a", id="the large ones first")],
)
def test_only_what_is_scheduled_in_every_order_is_evicted_at_once(small: str, large: str) -> None:
    nodes, pods = seven_pods(small, large)

    decisions = run(nodes, pods)

    assert sorted(evicted(decisions)) == [f"{small}-{index}" for index in range(4)]
    code = "OrderDependentLanding" if large < small else "NoLanding"  # what is known of the first ones is certain
    assert codes(decisions) == {f"{large}-{index}": code for index in range(3)}
    assert decisions.together is not None
    assert (decisions.together.verdict.value, decisions.together.is_proven) == ("lands", True)
    totals = make_plan(decisions).landings
    assert landing_summary(totals) == "4 can be scheduled; all that are evicted together fit in every order"


def test_json_and_explain_say_the_same_of_what_stays() -> None:
    nodes, pods = seven_pods("b", "a")

    plan = make_plan(run(nodes, pods))

    stays = [refusal for refusal in plan.refusals if refusal.code == "OrderDependentLanding"]
    assert [refusal.pod.name for refusal in stays] == ["a-0", "a-1", "a-2"]
    assert "the replacement pods of default/b-0, default/b-1, default/b-2 and 1 more" in stays[0].message
    assert "a later run evicts the pod if room is left for its replacement" in stays[0].message
    assert {move.wave for move in plan.moves} == {1}
    assert (plan.landings.together, plan.landings.lands, plan.landings.conditions) == ("lands", 4, ())


def test_table_says_once_which_pods_compete() -> None:
    nodes, pods = seven_pods("b", "a")

    table = "\n".join(plan_table(make_plan(run(nodes, pods)), TableStyle()))

    assert table.count("a later run evicts the pod if room is left for its replacement") == 1
    assert "a-0 and 2 more" in table


@pytest.mark.parametrize(
    ("small", "large"),
    [pytest.param("a", "b", id="the small ones first"), pytest.param("b", "a", id="the large ones first")],
)
def test_all_are_evicted_in_waves_where_jobs_carry_them_out(small: str, large: str) -> None:
    """The large ones have their nodes before the small ones look for one."""
    nodes, pods = seven_pods(small, large)
    policy = by_jobs()
    web = Workload("ReplicaSet", "default", "web", "replicaset-web", 7)

    decisions = run(nodes, pods, policy, kinds=JOBS, workloads={web.uid: web})

    assert [(move.pod.name, move.wave) for move in decisions.moves] == [
        *((f"{large}-{index}", 1) for index in range(3)),
        *((f"{small}-{index}", 2) for index in range(4)),
    ]
    assert decisions.together is not None
    assert (decisions.together.verdict.value, decisions.together.is_proven) == ("lands", True)


def test_a_pod_that_needs_the_room_of_another_one_is_evicted_in_a_later_wave() -> None:
    """The eviction of that other one may be refused when it is called."""
    nodes, pods = pods_in_turn()
    web = Workload("ReplicaSet", "default", "web", "replicaset-web", 2)

    decisions = run(nodes, pods, by_jobs(), kinds=JOBS, workloads={web.uid: web})

    assert [(move.pod.name, move.wave) for move in decisions.moves] == [("first", 1), ("second", 2)]


def test_landing_that_needs_an_earlier_wave_says_so_in_table_and_document() -> None:
    nodes, pods = pods_in_turn()
    web = Workload("ReplicaSet", "default", "web", "replicaset-web", 2)

    plan = make_plan(run(nodes, pods, by_jobs(), kinds=JOBS, workloads={web.uid: web}))
    table = "\n".join(plan_table(plan, TableStyle()))

    found = [(move.landing.verdict, move.landing.conditions) for move in plan.moves if move.landing is not None]
    assert found == [("lands", ()), ("lands_if", ("wave 1 has ended",))]
    assert (plan.landings.lands, plan.landings.lands_if, plan.landings.together) == (1, 1, "lands")
    assert "a (if)" in table
    assert "wave 1 has ended" in table


def pods_in_turn() -> tuple[list[Node], list[Pod]]:
    """Two pods of which the second has a node once the first has left it, and not before."""
    nodes = [
        make_node("a", cpu="4", taints=["batch=yes:NoSchedule"]),
        make_node("b", cpu="4", taints=["old=yes:NoSchedule"]),
        make_node("c", cpu="3500m"),
    ]
    batch = {"key": "batch", "operator": "Exists"}
    pods = [
        make_pod("first", node="a", cpu="3", labels={"app": "first"}),
        make_pod("second", node="b", cpu="3800m", labels={"app": "second"}, tolerations=[batch]),
    ]
    return nodes, pods


def by_jobs() -> dict[str, Any]:
    """A policy whose evictions are carried out as PodMigrationJobs."""
    policy = policy_of(kind="DeschedulerConfiguration")
    for config in policy["profiles"][0]["pluginConfig"]:
        if config["name"] == "MigrationController":
            config["args"] |= {
                "defaultJobMode": "EvictDirectly",
                "maxUnavailablePerWorkload": 10,
                "maxMigratingPerWorkload": 10,
                "skipEvictionGates": ["ExpectedReplicas", "MaxUnavailablePerWorkload"],
            }
    return policy


SEEDS = range(150)


def evicted_at_random(seed: int, document: dict[str, Any] | None = None) -> tuple[Snapshot, Decisions]:
    """What a policy evicts that would like four pods of a small random cluster to leave."""
    snapshot = snapshot_of(make_instance(seed))
    policy = load_policy((document or policy_of()) | {"maxNoOfPodsToEvictTotal": 4}, REGISTRY)
    return snapshot, decide(policy, snapshot, now=NOW)


@pytest.mark.long
@pytest.mark.parametrize("seed", SEEDS)
def test_replacements_of_random_pods_are_scheduled_in_every_order(seed: int) -> None:
    """By brute force over every order and every tie-break."""
    snapshot, decisions = evicted_at_random(seed)

    assert every_order_lands(snapshot, [move.pod for move in decisions.leaving])
    assert decisions.together is None or decisions.together.verdict.value == "lands"


@pytest.mark.long
@pytest.mark.parametrize("part", parts(4))
def test_any_part_of_a_wave_leaves_no_replacement_pending(part: Part) -> None:
    """The API server may refuse any of them when they are called. By brute force over every part of first waves."""
    seeds = part.of(SEEDS)
    broken, num_parts = [], 0
    for seed in seeds:
        snapshot, decisions = evicted_at_random(seed, by_jobs())
        first = [move.pod for move in decisions.leaving if move.wave == 1]
        chosen = [some for number in range(1, len(first) + 1) for some in combinations(first, number)]
        num_parts += len(chosen)
        broken += [(seed, [pod.name for pod in some]) for some in chosen if not every_order_lands(snapshot, some)]

    assert broken == []
    assert num_parts > len(seeds)


@pytest.mark.long
def test_little_stays_that_is_scheduled_one_after_the_other() -> None:
    decided = [evicted_at_random(seed)[1] for seed in SEEDS[::3]]

    num_evicted = sum(len(decisions.leaving) for decisions in decided)
    num_held_back = sum(
        refusal.verdict.code == "OrderDependentLanding" for decisions in decided for refusal in decisions.refusals
    )
    assert num_held_back < num_evicted / 4
