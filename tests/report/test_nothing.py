"""A plan without moves says why: in its document, its table and one line."""

from __future__ import annotations

import json

import pytest
from msgspec.structs import replace

from descheduler.plan.decisions import Failure
from descheduler.report.formats.json_text import json_text
from descheduler.report.nothing import why_nothing
from descheduler.report.plan.document import BackgroundEviction, Plan
from descheduler.report.plan.making import make_plan
from descheduler.report.tables.plan_table import plan_table
from descheduler.report.tables.table_style import TableStyle
from tests.builders import make_node, make_pod
from tests.report.decided_cycles import OLD, make_test_plan, pod_life_time_policy
from tests.strategies.decided_worlds import World
from tests.strategies.quiet_worlds import QUIET


@pytest.mark.parametrize(("world", "why"), [pytest.param(*case, id=name) for name, case in QUIET.items()])
def test_table_json_and_last_line_give_the_plugins_reason(world: World, why: str) -> None:
    plan = make_plan(world.decisions())

    assert json.loads(json_text(plan))["plugins"][0]["facts"]["whyNothing"] == why
    text = "\n".join(plan_table(plan, TableStyle()))
    assert text.count(why) == 1
    assert f"{world.plugin}: {why}" in text.rpartition("0 pods would be evicted")[2]


def test_policy_without_plugins_says_so() -> None:
    plan = make_test_plan(policy="apiVersion: descheduler/v1alpha2\nkind: DeschedulerPolicy\n")

    assert why_nothing(plan) == "the policy enables no plugin under deschedule or balance"


def test_plugins_whose_pods_are_all_blocked_say_by_what() -> None:
    plan = make_test_plan([make_pod("bare", owners=()), make_pod("set", owners=["DaemonSet/x"])])

    assert (
        why_nothing(plan) == "PodLifeTime: 2 pods selected, none evicted: 1 blocked by BarePod, 1 blocked by DaemonSet"
    )


def test_a_plugin_whose_pods_another_one_evicts_says_so() -> None:
    plan = make_test_plan(policy=pod_life_time_policy(["one", "two"]))

    assert [figures.facts and figures.facts.why_nothing for figures in plan.plugins] == [
        "",
        "3 pods selected, none evicted: 3 evicted by another plugin",
    ]


def test_a_plugin_that_comes_after_a_reached_limit_counts_all_the_pods_that_it_selects() -> None:
    policy = pod_life_time_policy(["one", "two"], maxNoOfPodsToEvictTotal=1)
    plan = make_test_plan([make_pod("other", age=3600), *(make_pod(name) for name in ("bare", *OLD))], policy=policy)

    facts = plan.plugins[1].facts
    assert facts is not None
    assert facts.pods_selected == 5
    assert facts.why_nothing.startswith("5 pods selected, none evicted")


def test_of_many_plugins_two_are_quoted_those_that_select_pods_first() -> None:
    names = ["RemoveDuplicates", "RemovePodsViolatingTopologySpreadConstraint"]
    plan = make_test_plan([make_pod("bare", owners=())], policy=pod_life_time_policy(["one", "two"], balance=names))

    selected = "PodLifeTime: 1 pod selected, none evicted"
    expected = f"{selected}: 1 blocked by BarePod; {selected}: blocked by BarePod"
    assert why_nothing(plan) == f"{expected}; 4 other plugins select no pod"


@pytest.mark.parametrize(
    "plan",
    [
        pytest.param(make_test_plan(), id="with moves"),
        pytest.param(make_test_plan(nodes=[make_node("a")]), id="skipped"),
    ],
)
def test_other_plans_need_no_such_line(plan: Plan) -> None:
    assert why_nothing(plan) == ""


@pytest.mark.parametrize(
    ("selected", "rest"),
    [
        pytest.param([1, 1], "", id="two plugins"),
        pytest.param([1, 1, 1], "; 1 other plugin selects only pods that are blocked", id="a third one"),
        pytest.param([1, 1, 0, 0], "; 2 other plugins select no pod", id="others without pods"),
        pytest.param(
            [0, 2, 1, 3, 0],
            "; 1 other plugin selects only pods that are blocked; 2 other plugins select no pod",
            id="both",
        ),
    ],
)
def test_plugins_that_are_not_quoted_are_counted(selected: list[int], rest: str) -> None:
    plan = make_test_plan([make_pod("bare", owners=())])
    (figures,) = plan.plugins
    assert figures.facts is not None
    plugins = [
        replace(
            figures, plugin=f"P{number}", facts=replace(figures.facts, why_nothing=f"why {number}", pods_selected=pods)
        )
        for number, pods in enumerate(selected)
    ]
    quoted = sorted(range(len(selected)), key=lambda number: not selected[number])[:2]

    found = why_nothing(replace(plan, plugins=tuple(plugins)))

    assert found == "; ".join(f"P{number}: why {number}" for number in quoted) + rest


def test_plan_of_failed_plugins_alone_does_not_say_that_there_are_none() -> None:
    plan = make_test_plan([make_pod("bare", owners=())])
    failure = Failure(profile="main", plugin="PodLifeTime", message="boom")

    assert why_nothing(replace(plan, plugins=(), failures=(failure,))) == ""


def test_plan_whose_pods_another_controller_evicts_needs_no_such_line() -> None:
    plan = make_test_plan([make_pod("bare", owners=())])
    pod = plan.refusals[0].pod
    taken = BackgroundEviction(pod=pod, node="a", profile="main", plugin="PodLifeTime", reason="1 h old")

    assert why_nothing(replace(plan, background=(taken,))) == ""
