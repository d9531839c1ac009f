"""Which rows and columns a plan's tables have, and when."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from descheduler.plan.decisions import Failure
from descheduler.report.document import PodReference
from descheduler.report.plan.document import (
    BackgroundEviction,
    Plan,
    PlannedAllocation,
    PlannedRefusal,
    RefusalCount,
    RepeatedRequest,
)
from descheduler.report.plan.goal import PendingPod
from descheduler.report.tables.plan_table import decision_tables, plan_table
from descheduler.report.tables.table_style import TableStyle
from tests.builders import make_pod
from tests.report.decided_cycles import make_test_plan, pod_life_time_policy
from tests.report.pictures.builders import goal, objective

PLAN = make_test_plan([make_pod("old")])
IDLE = make_test_plan([make_pod("young", age=1)])
TWO_IDLE = make_test_plan([make_pod("young", age=1)], policy=pod_life_time_policy(["one", "two"]))


def lines_of(plan: Plan, **style: Any) -> list[str]:
    """The tables, with one space between columns and without empty lines."""
    return [" ".join(line.split()) for line in plan_table(plan, TableStyle(**style)) if line]


def pod(name: str) -> PodReference:
    return PodReference(namespace="default", name=name, uid=name)


def refusal(name: str, **facts: Any) -> PlannedRefusal:
    given: dict[str, Any] = {"code": "BarePod", "message": "no owner", "subject": "", "limit": "", "is_attempt": False}
    rest: dict[str, Any] = {"others": (), "api_answer": None, "reason": "too old"}
    return PlannedRefusal(pod=pod(name), node="a", profile="main", plugin="P", **given | rest | facts)


def with_refusals(plan: Plan, *refusals: PlannedRefusal) -> Plan:
    codes = dict.fromkeys(each.code for each in refusals)
    counts = [
        RefusalCount(
            code=code,
            summary=f"meaning of {code}",
            key="",
            num_refusals=sum(each.code == code for each in refusals),
            num_attempts=0,
        )
        for code in codes
    ]
    return replace(plan, refusals=refusals, refusal_counts=tuple(counts))


@pytest.mark.parametrize(
    ("facts", "shown"),
    [
        pytest.param({"is_attempt": True}, True, id="a request that was refused"),
        pytest.param({"is_attempt": True, "limit": "maxNoOfPodsToEvictTotal"}, False, id="by a limit"),
        pytest.param({}, False, id="a candidate"),
        pytest.param({"code": "TooFewObservations"}, True, id="one that a later run evicts"),
    ],
)
def test_pods_that_something_blocks_are_listed_beside_evictions(facts: dict[str, Any], shown: bool) -> None:
    lines = lines_of(with_refusals(PLAN, refusal("x", **facts)))

    assert ("default x a P no owner" in lines) is shown
    assert "default x a P too old no owner" in lines_of(with_refusals(PLAN, refusal("x", **facts)), is_wide=True)


def test_all_pods_that_stay_are_listed_where_nothing_else_is() -> None:
    limited = refusal("x", is_attempt=True, limit="maxNoOfPodsToEvictTotal")

    assert "default x a P no owner" in lines_of(with_refusals(IDLE, limited))


@pytest.mark.parametrize(
    ("number", "title"),
    [
        (20, "Not evicted: 20 pods"),
        (21, "Not evicted: 20 of 21 pods; -o wide shows all"),
    ],
)
def test_first_pods_that_stay_are_listed(number: int, title: str) -> None:
    plan = with_refusals(IDLE, *(refusal(f"p{each:02}", message=f"why {each}") for each in range(number)))

    assert title in lines_of(plan)
    assert f"Not evicted: {number} pods" in lines_of(plan, is_wide=True)


def test_pods_that_were_listed_before_are_not_listed_again() -> None:
    plan = with_refusals(IDLE, refusal("x", is_attempt=True), refusal("y", is_attempt=True))

    lines = [" ".join(line.split()) for line in decision_tables(plan, TableStyle(), listed=frozenset({pod("x")}))]

    assert "Not evicted: 2 pods" in lines
    assert ("default x a P no owner" in lines, "default y a P no owner" in lines) == (False, True)


@pytest.mark.parametrize(
    ("refusals", "row"),
    [
        pytest.param([refusal("x")], "1 BarePod no owner: default/x", id="one message"),
        pytest.param([refusal("x"), refusal("y", message="other")],
                     "2 BarePod meaning of BarePod: default/x and 1 more", id="several messages"),
        pytest.param([refusal("x", message="")], "1 BarePod meaning of BarePod: default/x", id="no message"),
        pytest.param([refusal("x", is_attempt=True)], "1 BarePod meaning of BarePod: default/x", id="told above"),
    ],
)  # fmt: skip
def test_reason_is_told_by_what_is_said_of_all_its_pods(refusals: list[PlannedRefusal], row: str) -> None:
    assert row in lines_of(with_refusals(PLAN, *refusals))


def test_plugins_that_evict_nothing_are_told_unless_the_summary_says_it() -> None:
    (figures,) = IDLE.plugins
    assert figures.facts is not None
    others = [replace(figures, plugin=f"P{n}", facts=replace(figures.facts, why_nothing=f"why {n}")) for n in range(3)]
    many = replace(IDLE, plugins=tuple(others))
    evicting = replace(PLAN, plugins=(*PLAN.plugins, *others[:1]))

    assert "Plugins that evict nothing" not in lines_of(IDLE)
    assert "Plugins that evict nothing" in lines_of(many)
    assert "P0 why 0" in lines_of(evicting)
    assert "Plugins that evict nothing" not in lines_of(PLAN)
    failed = replace(IDLE, plugins=(replace(figures, facts=None),))
    assert "Plugins that evict nothing" not in lines_of(failed)


def test_failures_and_warnings_come_before_the_summary() -> None:
    failure = Failure(profile="main", plugin="P", message="boom")

    lines = lines_of(replace(PLAN, failures=(failure,), warnings=("look",)))

    at = next(place for place, line in enumerate(lines) if line.startswith("Failed: main/P: "))
    assert lines[at + 1 : at + 3] == ["Warning: look", "1 pod would be evicted"]


def test_kinds_that_the_dump_lacks_are_named_in_wide_tables() -> None:
    plan = replace(PLAN, snapshot=replace(PLAN.snapshot, missing_kinds=("jobs.batch",)))

    assert "Kinds that are not in the dump: jobs.batch" in lines_of(plan, is_wide=True)
    assert not [line for line in lines_of(plan) if "jobs.batch" in line]
    assert not [line for line in lines_of(PLAN, is_wide=True) if "Kinds" in line]


def test_targets_are_a_column_where_landings_were_looked_up() -> None:
    none = replace(PLAN, landings=replace(PLAN.landings, num_assessed=0))

    def header(plan: Plan) -> str:
        return next(line for line in lines_of(plan) if line.startswith("NAMESPACE"))

    assert header(PLAN) == "NAMESPACE POD NODE TARGET REASON"
    assert header(none) == "NAMESPACE POD NODE REASON"


def test_allocations_are_a_column_of_wide_tables_where_there_are_some() -> None:
    (move,) = PLAN.moves
    assert move.landing is not None
    gpu = PlannedAllocation(plugin="DeviceShare", kind="gpu", name="0", resources={})
    allocated = replace(move, landing=replace(move.landing, allocations=(gpu,)))

    def has_column(*moves: Any, is_wide: bool = True) -> bool:
        return any("ALLOCATED" in line for line in lines_of(replace(PLAN, moves=moves), is_wide=is_wide))

    assert has_column(allocated)
    assert has_column(replace(move, landing=None), allocated)
    assert not has_column(move)
    assert not has_column(allocated, is_wide=False)


@pytest.mark.parametrize(
    ("moves", "pods", "title"),
    [
        (1, [("x", "a"), ("y", None)], "Pending pods that need evictions: 1 of 2 can be scheduled after them"),
        (0, [("x", "a")], ""),
        (1, [], ""),
    ],
    ids=["some", "no evictions", "none"],
)
def test_pending_pods_are_counted_where_evictions_make_room(
    moves: int, pods: list[tuple[str, str | None]], title: str
) -> None:
    pending = tuple(PendingPod(pod=pod(name), to_node=node, holds_target=False) for name, node in pods)
    plan = replace(PLAN, moves=PLAN.moves[:moves], goal=goal(objective(pending_pods=pending)))

    assert [line for line in lines_of(plan) if line.startswith("Pending pods")] == ([title] if title else [])


@pytest.mark.parametrize(("number", "end"), [(20, "after them"), (21, "after them; 20 shown, -o wide shows all")])
def test_first_pending_pods_are_listed(number: int, end: str) -> None:
    pending = tuple(PendingPod(pod=pod(f"p{n:02}"), to_node="a", holds_target=False) for n in range(number))
    plan = replace(PLAN, goal=goal(objective(pending_pods=pending), objective(pending_pods=pending[:1])))

    (title,) = [line for line in lines_of(plan) if line.startswith("Pending pods")]

    assert title.endswith(end)
    assert len([line for line in lines_of(plan, is_wide=True) if line.startswith("default p")]) == number


def test_further_requests_are_told_in_wide_tables_and_evictions_of_others_always() -> None:
    request = RepeatedRequest(pod=pod("x"), node="a", profile="again", plugin="P", reason="too old")
    taken = BackgroundEviction(pod=pod("y"), node="a", profile="main", plugin="P", reason="too old")
    plan = replace(PLAN, repeated_requests=(request,), background=(taken,))

    narrow, wide = lines_of(plan), lines_of(plan, is_wide=True)

    assert ("Selected twice, evicted once" in narrow, "Selected twice, evicted once" in wide) == (False, True)
    assert "Evicted by another controller: 1 pod" in narrow
    assert "default y a P too old" in narrow
