"""Markdown of plans and simulations, section by section."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from descheduler.report.document import PodReference
from descheduler.report.formats.render import render
from descheduler.report.pictures.markdown import command_lines, escaped
from descheduler.report.plan.document import Plan
from descheduler.report.plan.goal import GoalLevel, PendingPod
from descheduler.report.simulation_document import BackAndForth, Difference, SimulatedPolicy, Simulation
from descheduler.version import VERSION
from tests.builders import make_pod
from tests.report.decided_cycles import make_test_plan
from tests.report.pictures.builders import (
    amounts,
    cluster,
    cycle,
    figures,
    goal,
    group,
    objective,
    simulated_move,
    simulated_policy,
    simulation,
    two_nodes,
)


def markdown(document: Plan | Simulation) -> list[str]:
    return "".join(render(document, "markdown")).splitlines()


def section(document: Plan | Simulation, title: str) -> list[str]:
    """The lines of the section, without empty ones."""
    lines = markdown(document)
    start = lines.index(f"## {title}") + 1
    end = next((at for at, line in enumerate(lines) if at >= start and line.startswith("## ")), len(lines))
    return [line for line in lines[start:end] if line]


PLANS = {each: make_test_plan([make_pod(f"old-{n:02}") for n in range(each)]) for each in (1, 2, 20, 21, 23)}
"""By the number of their moves."""


def moved(number: int, **change: Any) -> Plan:
    """A plan with so many moves of pods of one workload, all of which have the facts of `change`."""
    plan = PLANS[number]
    return replace(plan, moves=tuple(replace(move, **change) for move in plan.moves))


def pending_pod(name: str, node: str | None, *, is_held: bool = False) -> PendingPod:
    return PendingPod(pod=PodReference(namespace="shop", name=name, uid=name), to_node=node, holds_target=is_held)


def test_pending_pods_have_a_row_each_with_the_node_that_evictions_give_them() -> None:
    pods = (pending_pod("cart", "a", is_held=True), pending_pod("web", None))
    plan = replace(moved(1), goal=goal(objective(pending_pods=pods)))

    assert section(plan, "Goal")[2:] == [
        "Pending pods that need evictions: 1 of 2 can be scheduled after them:",
        "| Pod | Target | Room held |",
        "| --- | --- | --- |",
        "| shop/cart | a | yes |",
        "| shop/web | pending | no |",
    ]
    assert not any("Pending pods" in line for line in markdown(replace(plan, moves=(), workloads=())))


def test_of_many_pending_pods_the_first_are_listed() -> None:
    pods = tuple(pending_pod(f"p{number}", "a") for number in range(22))

    lines = section(replace(moved(1), goal=goal(objective(pending_pods=pods))), "Goal")

    assert lines[-2:] == ["| shop/p19 | a | no |", "2 more pods"]


def test_first_line_is_the_verdict_and_the_table_names_the_program() -> None:
    lines = markdown(moved(1))

    assert lines[0] == "# 1 pod would be evicted"
    assert f"| Made by | descheduler {VERSION} |" in lines


def test_nodes_are_shown_as_a_strip_before_and_after_with_their_balance() -> None:
    lines = section(replace(moved(1), figures=two_nodes()), "Nodes before and after")

    assert lines[0] == "Share of cpu that pods request, the fullest nodes before the plan first:"
    assert lines[2:4] == ["before ▅▃▂", "after  ·▇▂"]
    assert lines[5:] == [
        "| Zone and pool | Nodes | cpu |",
        "| --- | --- | --- |",
        "| all zones and pools | 3 | 0% → 0% |",
        "- cpu: mean 50% → 50%, standard deviation 10% → 5%",
    ]


def test_resource_that_a_group_does_not_have_is_shown_as_such() -> None:
    without = group(num_nodes=1, allocatable=amounts(0, 100))

    lines = section(replace(moved(1), figures=figures([], [without])), "Nodes before and after")

    assert "| all zones and pools | 1 | \\- |" in lines


def test_plan_of_no_nodes_has_no_section_about_them() -> None:
    plan = moved(1)

    empty = replace(plan, figures=replace(plan.figures, groups=()))

    assert "## Nodes before and after" not in markdown(empty)


LEVEL = GoalLevel(counts="nodes over target", before=1500, after=2, bound=1)


@pytest.mark.parametrize(("bound", "shown"), [(None, "not proven"), (0, "0"), (1200, "1,200")])
def test_goal_has_a_row_for_each_figure_with_what_is_proven(bound: int | None, shown: str) -> None:
    levels = (LEVEL, replace(LEVEL, counts="pods"))
    plan = replace(moved(1), goal=goal(objective(levels=levels, evictions=3, bound=bound)))

    assert section(plan, "Goal")[2:] == [
        f"| BalanceNodes | nodes over target | 1,500 | 2 | 1 | 3 | {shown} |",
        f"| BalanceNodes | pods | 1,500 | 2 | 1 | 3 | {shown} |",
    ]


def test_objectives_of_several_profiles_are_told_apart() -> None:
    one, two = (objective(levels=(LEVEL,), profile=profile) for profile in ("one", "two"))

    rows = section(replace(moved(1), goal=goal(one, two)), "Goal")[2:]

    assert [row.split(" | ")[0] for row in rows] == ["| BalanceNodes (profile one)", "| BalanceNodes (profile two)"]


def test_plan_without_planners_has_no_section_about_a_goal() -> None:
    assert "## Goal" not in markdown(moved(1))


def test_workloads_have_a_row_each_and_their_pods() -> None:
    lines = section(moved(2, to_node="b"), "Workloads")

    assert lines[2] == "| ReplicaSet default/web | 2 | 2 | 2 | no budget |"
    assert lines[4:7] == [
        "- ReplicaSet default/web",
        "  - old-00: a → b: 1 h old (maxPodLifeTimeSeconds: 60)",
        "  - old-01: a → b: 1 h old (maxPodLifeTimeSeconds: 60)",
    ]


@pytest.mark.parametrize(
    ("number", "more"), [(20, []), (21, ["  - 1 more pod"]), (23, ["  - 3 more pods"])], ids=["20", "21", "23"]
)
def test_first_twenty_pods_of_a_workload_are_listed(number: int, more: list[str]) -> None:
    lines = section(moved(number), "Workloads")

    assert len([line for line in lines if line.startswith("  - old-")]) == 20
    assert [line for line in lines if "more pod" in line] == more


@pytest.mark.parametrize(
    ("change", "shown"),
    [
        pytest.param({}, "a → b: too old", id="certain"),
        pytest.param({"verdict": "likely"}, "a → b (likely): too old", id="likely"),
        pytest.param(
            {"verdict": "lands\\_if", "conditions": ("x", "y")}, "a → b (lands\\_if); if x; if y: too old", id="if"
        ),
    ],
)
def test_pod_is_shown_with_what_is_uncertain_about_its_target(change: dict[str, Any], shown: str) -> None:
    plan = moved(1, to_node="b", reason="too old")
    landing = plan.moves[0].landing
    assert landing is not None
    change = {name: value.replace("\\", "") if isinstance(value, str) else value for name, value in change.items()}

    plan = replace(plan, moves=(replace(plan.moves[0], landing=replace(landing, **change)),))

    assert f"  - old-00: {shown}" in markdown(plan)


def test_pod_whose_landing_was_not_looked_up_goes_to_an_unknown_node() -> None:
    assert "  - old-00: a → unknown: too old" in markdown(moved(1, to_node=None, landing=None, reason="too old"))


def test_several_waves_are_a_section_and_one_is_none() -> None:
    plan = make_test_plan([make_pod("old-1"), make_pod("old-2")])
    waves = tuple(replace(move, wave=wave) for wave, move in enumerate(plan.moves, start=1))

    lines = section(replace(plan, moves=waves), "Waves")

    assert lines[0].startswith("A DeschedulerPolicy does not wait between waves")
    assert lines[3:] == ["| 1 | 1 | 30s | ReplicaSet default/web 2 |", "| 2 | 1 | \\- |  |"]
    assert "## Waves" not in markdown(plan)


def test_reasons_why_pods_stay_are_a_table() -> None:
    plan = make_test_plan([make_pod("bare", owners=())])

    assert section(plan, "Not evicted, by reason")[2:] == [
        "| 1 | BarePod | the pod has no owner that recreates it | \\- | default/bare |"
    ]
    assert "## Not evicted, by reason" not in markdown(moved(1))


def test_warnings_are_told_once() -> None:
    missing = "21 kinds are not in the dump and assumed empty"
    plan = replace(make_test_plan([make_pod("young", age=1)]), warnings=("look here", missing))

    lines = section(plan, "Risks and warnings")

    assert lines == [f"- {missing}", "- look here"]


def test_plan_without_risks_and_warnings_has_no_such_section() -> None:
    assert "## Risks and warnings" not in markdown(make_test_plan([make_pod("young", age=1)]))


def test_commands_that_do_not_apply_take_no_line_and_none_ends_the_block() -> None:
    lines = list(command_lines({"a": "x ```", "b": "", "c": "y"}))

    assert lines == ["## Commands", "", "```sh", "x '''", "y", "```"]
    assert list(command_lines({})) == []


@pytest.mark.parametrize(
    ("text", "shown"),
    [("#1", "\\#1"), ("a#1", "a#1"), ("-1", "\\-1"), ("a-1", "a-1"), ("a|b", "a\\|b"), ("www.x", "www&#46;x")],
)
def test_marks_are_escaped_where_they_mean_something(text: str, shown: str) -> None:
    assert escaped(text) == shown


def cycles_of(policy: SimulatedPolicy) -> list[str]:
    return [line for line in markdown(simulation(policy)) if line]


def test_time_line_is_relative_to_the_highest_value_of_each_figure() -> None:
    policy = simulated_policy(
        cycle(1, evictions=4, after=cluster(pending=2)), cycle(2, evictions=1, after=cluster(pending=1))
    )

    lines = cycles_of(policy)

    assert [line.split() for line in lines if line.startswith(("Evictions ", "Pods pending"))] == [
        ["Evictions", "·█▃", "5", "in", "all"],
        ["Pods", "pending", "·█▅", "0", "→", "1"],
    ]


@pytest.mark.parametrize(
    ("number", "more"), [(50, []), (51, ["  - 1 more pod"]), (203, ["  - 153 more pods"])], ids=["50", "51", "203"]
)
def test_first_fifty_evictions_of_a_cycle_are_listed(number: int, more: list[str]) -> None:
    moves = [simulated_move(f"p{each}") for each in range(number)]

    lines = cycles_of(simulated_policy(cycle(1, *moves)))

    assert len([line for line in lines if line.startswith("  - default/p")]) == 50
    assert [line for line in lines if "more pod" in line] == more


def test_eviction_is_shown_with_what_becomes_of_its_replacement() -> None:
    pending = simulated_move("waits", to_node=None, replacement="pending")

    lines = cycles_of(simulated_policy(cycle(1, simulated_move("p"), pending, goals=("2 nodes emptied",))))

    assert "- Cycle 1: 2 evictions" in lines
    assert "  - 2 nodes emptied" in lines
    assert "  - default/p: a → b (PodLifeTime)" in lines
    assert "  - default/waits: a → pending (PodLifeTime)" in lines


def test_cell_without_a_value_shows() -> None:
    assert "| start | \\- | \\- | 0 | \\- | 50% | 5% | 20% | 2.5% |" in cycles_of(simulated_policy(cycle(1)))


def test_pods_that_go_back_and_forth_are_a_table() -> None:
    back = BackAndForth(workload="web", nodes=("a", "b"), from_cycle=2, evictions=1200, returned=3)

    lines = cycles_of(simulated_policy(cycle(1), back_and_forth=(back,)))

    assert "| web | 2 | 1,200 | 3 | a, b |" in lines
    assert not [line for line in cycles_of(simulated_policy(cycle(1))) if "return to their nodes" in line]


def test_policy_without_evictions_has_no_list_of_them() -> None:
    assert not [line for line in cycles_of(simulated_policy(cycle(1))) if "details" in line]


def test_differences_of_two_policies_are_a_table() -> None:
    policies = [simulated_policy(cycle(1), path=path) for path in ("a.yaml", "b.yaml")]
    differences = (Difference(figure="evictions", first=2, second=0), Difference(figure="nodes", first=None, second=1))

    lines = section(simulation(*policies, differences=differences), "Differences at the end")

    assert lines[2:4] == ["| evictions | 2 | 0 | \\-2 |", "| nodes |  | 1 |  |"]
    assert "## Differences at the end" not in markdown(simulation(*policies))
