"""Profiles that verify landings in different ways, or not at all, in one policy."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from descheduler.cycle.deciding.decide import decide
from descheduler.cycle.deciding.round import Round
from descheduler.cycle.plugins import REGISTRY
from descheduler.eviction.placement_verification.landing_book import LandingBook
from descheduler.eviction.placement_verification.scheduling_settings import SchedulingSettings
from descheduler.eviction.placement_verification.together import judge_together
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.placement.landings.landing import LandingVerdict
from descheduler.plan.moves import Move
from descheduler.policy.load import load_policy
from descheduler.report.plan.document import Plan
from descheduler.report.plan.making import make_plan
from descheduler.report.tables.summary import landing_summary
from tests.builders import NOW, make_node, make_pod, make_snapshot

NODES = [
    make_node("a", unschedulable=True),
    make_node("b", cpu="2"),
    make_node("c", cpu="8", taints=["closed=yes:NoSchedule"]),
]


def profile(namespace: str, *, verifies: bool = True, **args: object) -> dict[str, Any]:
    """A profile named after the namespace whose pods it evicts after a minute."""
    life_time = {"maxPodLifeTimeSeconds": 60, "namespaces": {"include": [namespace]}}
    configs: list[dict[str, Any]] = [{"name": "PodLifeTime", "args": life_time}]
    plugins: dict[str, Any] = {"deschedule": {"enabled": ["PodLifeTime"]}}
    if verifies:
        configs.append({"name": "PlacementVerification", "args": args})
        plugins["preevictionfilter"] = {"enabled": ["PlacementVerification"]}
    return {"name": namespace, "pluginConfig": configs, "plugins": plugins}


def plan_of(
    profiles: list[dict[str, Any]],
    pods: list[Pod],
    *,
    prior: tuple[Pod, ...] = (),
    most: int = 100,
    nodes: Sequence[Node] = NODES,
) -> Plan:
    """The plan of a policy of these profiles; pods of `prior` were evicted by an earlier round."""
    document = {"apiVersion": "descheduler/v1alpha2", "kind": "DeschedulerPolicy", "profiles": profiles}
    moves = [Move(pod, pod.namespace, "PodLifeTime") for pod in prior]
    policy, snapshot = load_policy(document, REGISTRY), make_snapshot(nodes, pods)
    return make_plan(decide(policy, snapshot, now=NOW, this_round=Round(prior_moves=moves, most_assessed=most)))


def targets(plan: Plan) -> dict[str, str | None]:
    return {move.pod.name: move.to_node for move in plan.moves}


def test_each_move_shows_where_the_scheduler_puts_it_under_which_it_was_granted(blind: Path) -> None:
    pods = [make_pod(name, namespace=name, node="a", cpu="1") for name in ("seeing", "blind")]
    profiles = [profile("seeing"), profile("blind", schedulerConfigFile=str(blind))]

    forth, back = plan_of(profiles, pods), plan_of(profiles[::-1], pods)

    assert targets(forth) == targets(back) == {"seeing": "b", "blind": "c"}


def test_moves_that_nobody_verifies_are_assessed_beside_verified_ones() -> None:
    pods = [make_pod("early", namespace="plain", node="a"), make_pod("sure", namespace="careful", node="a")]
    large = make_pod("large", namespace="plain", node="a", cpu="7")
    profiles = [profile("plain", verifies=False), profile("careful", onUnknown="allow", kubeVersion="1.34")]

    plan = plan_of(profiles, [*pods, large])

    assert targets(plan) == {"early": "b", "large": None, "sure": "b"}
    assert (plan.landings.num_assessed, plan.landings.no, plan.landings.is_verified) == (3, 1, False)
    assert "enable PlacementVerification to evict only pods" in landing_summary(plan.landings)


def test_no_more_of_them_are_assessed_than_asked_for() -> None:
    ages = {"early": 900, "late": 800, "later": 700}
    pods = [make_pod(name, namespace="plain", node="a", age=age) for name, age in ages.items()]
    profiles = [profile("plain", verifies=False), profile("careful", kubeVersion="1.34")]

    plan = plan_of(profiles, [*pods, make_pod("sure", namespace="careful", node="a")], most=2)

    assert targets(plan) == {"early": "b", "late": "b", "later": None, "sure": "b"}


def test_what_an_earlier_round_evicted_keeps_its_landing() -> None:
    gone = make_pod("gone", namespace="careful", node="a")

    plan = plan_of([profile("careful")], [gone], prior=(gone,), most=0)

    assert targets(plan) == {"gone": "b"}


def test_moves_of_several_schedulers_are_judged_together_each_by_its_own(blind: Path) -> None:
    """The scheduler of the first minds the taint of the only node that has room for the second."""
    pods = [make_pod("seeing", namespace="seeing", node="a", cpu="1"), make_pod("blind", namespace="blind", cpu="4")]

    together = plan_of([profile("seeing"), profile("blind", schedulerConfigFile=str(blind))], pods).landings.together

    assert together == "lands"


def test_plan_of_several_schedulers_evicts_nothing_that_depends_on_the_order() -> None:
    """The small one would take the only place of the large one, if it came first: emptier nodes score better."""
    large = make_pod("a-large", namespace="first", node="a", cpu="2")
    small = make_pod("b-small", namespace="second", node="a", cpu="1", labels={"app": "small"})
    nodes = [make_node("a", unschedulable=True), make_node("b", cpu="2"), make_node("c", cpu="1")]
    profiles = [profile("first"), profile("second", kubeVersion="1.34")]

    plan = plan_of(profiles, [large, small], nodes=nodes)

    assert [move.pod.name for move in plan.moves] == ["a-large"]
    assert [(refusal.pod.name, refusal.code) for refusal in plan.refusals] == [("b-small", "OrderDependentLanding")]
    assert plan.landings.together == "lands"


def test_no_more_moves_than_asked_for_are_judged_together() -> None:
    pods = [make_pod(name, node="a") for name in ("one", "two")]
    book = LandingBook(make_snapshot(NODES, pods))
    for pod in pods:
        book.book(pod, SchedulingSettings())

    judged = [judge_together(book, most) for most in (1, 2)]

    assert [None if verdict is None else verdict.verdict for verdict in judged] == [None, LandingVerdict.LANDS]


def test_profiles_of_one_name_verify_each_as_it_says() -> None:
    """A DeschedulerPolicy may use a name twice."""
    pods = [make_pod("careful", namespace="careful", node="a", cpu="7"), make_pod("plain", namespace="plain", node="a")]
    profiles = [{**profile("plain", verifies=False), "name": "same"}, {**profile("careful"), "name": "same"}]

    plan = plan_of(profiles, pods)

    assert [move.pod.name for move in plan.moves] == ["plain"]
    assert [(refusal.pod.name, refusal.code) for refusal in plan.refusals] == [("careful", "NoLanding")]
