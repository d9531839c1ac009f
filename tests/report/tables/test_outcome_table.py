"""Outcomes as tables: what was evicted, what was not and why."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from descheduler.plan.outcome import OutcomeCode, OutcomeKind
from descheduler.report.outcome.document import OutcomeDocument
from descheduler.report.plan.document import PlannedRefusal, Target
from descheduler.report.tables.outcome_table import outcome_table
from descheduler.report.tables.table_style import TableStyle
from tests.report.decided_cycles import OLD
from tests.report.outcomes import EVICTED, FAILED, GONE, executed, outcome_of

CONDITIONAL = Target(
    node="b", verdict="lands_if", returns="at once", returns_to_source=False, conditions=("a volume is attached",)
)


def make_refusal(outcome: OutcomeDocument) -> PlannedRefusal:
    """Of the pod of the first result, by a budget."""
    return PlannedRefusal(
        pod=outcome.results[0].pod,
        node="a",
        profile="main",
        plugin="P",
        reason="",
        code="PodDisruptionBudget",
        message="by a budget",
        subject="",
        limit="",
        is_attempt=True,
        others=(),
        api_answer=None,
    )


def lines_of(outcome: OutcomeDocument, **style: Any) -> list[str]:
    """The table, with one space between columns and without empty lines."""
    return [" ".join(line.split()) for line in outcome_table(outcome, TableStyle(**style)) if line]


def with_targets(outcome: OutcomeDocument, *targets: Target | None) -> OutcomeDocument:
    results = tuple(replace(each, target=target) for each, target in zip(outcome.results, targets, strict=True))
    return replace(outcome, results=results)


def test_conditions_are_those_of_pods_that_were_evicted() -> None:
    outcome = with_targets(outcome_of(EVICTED, FAILED), None, CONDITIONAL)

    assert not [line for line in lines_of(outcome) if "a volume is attached" in line]
    assert [line for line in lines_of(with_targets(outcome, CONDITIONAL, None)) if "a volume is attached" in line] == [
        "1 default/old-1 a volume is attached"
    ]


def test_marks_are_explained_for_pods_that_were_evicted() -> None:
    likely = replace(CONDITIONAL, verdict="likely", conditions=())

    evicted, not_evicted = (
        lines_of(with_targets(outcome_of(EVICTED, FAILED), *targets))
        for targets in ((likely, None), (CONDITIONAL, likely))
    )

    assert any("~ = likely" in line for line in evicted)
    assert not any("~ = likely" in line for line in not_evicted)


def test_pods_that_were_not_evicted_have_their_result_and_its_cause() -> None:
    lines = lines_of(outcome_of(EVICTED, FAILED, GONE))

    start = lines.index("Planned but not evicted: 2 pods")
    assert lines[start + 1 : start + 4] == [
        "NAMESPACE POD NODE PLUGIN RESULT CAUSE",
        "default old-2 a PodLifeTime failed boom",
        "default old-3 a PodLifeTime gone -",
    ]


@pytest.mark.parametrize(
    ("results", "title"),
    [
        ([EVICTED, FAILED], "Planned but not evicted: 1 pod"),
        (
            [replace(EVICTED, eviction=replace(EVICTED.eviction, users_job="mine", plugin="")), FAILED],
            "Planned, or requested by users, but not evicted: 1 pod",
        ),
        ([EVICTED], ""),
    ],
    ids=["planned", "requested", "none"],
)
def test_title_says_who_wanted_the_pods_gone(results: list[Any], title: str) -> None:
    found = [line for line in lines_of(outcome_of(*results)) if "but not evicted" in line]

    assert found == ([title] if title else [])


def test_each_plugin_has_a_table_with_the_same_columns() -> None:
    other = executed(OLD[1], OutcomeKind.EVICTED, OutcomeCode.DONE)
    other = replace(other, eviction=replace(other.eviction, plugin="RemoveDuplicates"))

    lines = lines_of(outcome_of(EVICTED, other, FAILED))

    assert [line for line in lines if line.endswith("evicted") and "pod" in line][:2] == [
        "PodLifeTime: 1 pod evicted",
        "RemoveDuplicates: 1 pod evicted",
    ]
    assert "default old-1 a - runs for too long" in lines


def test_new_nodes_and_codes_are_columns_where_they_are_asked_for() -> None:
    seen = outcome_of(replace(EVICTED, landed_on="b"))

    def header(outcome: OutcomeDocument, **style: Any) -> str:
        return next(line for line in lines_of(outcome, **style) if line.startswith("NAMESPACE POD NODE"))

    assert header(outcome_of(EVICTED)) == "NAMESPACE POD NODE TARGET REASON"
    assert header(seen) == "NAMESPACE POD NODE TARGET NEW NODE REASON"
    assert header(seen, is_wide=True) == "NAMESPACE POD NODE TARGET NEW NODE CODE REASON"


def test_what_is_unclear_about_an_eviction_stands_behind_its_reason() -> None:
    unclear = executed(OLD[0], OutcomeKind.EVICTED, OutcomeCode.OUTCOME_UNKNOWN, "no answer")

    assert "default old-1 a - runs for too long; no answer" in lines_of(outcome_of(unclear))


def test_without_headers_there_is_a_row_for_each_result() -> None:
    assert lines_of(outcome_of(EVICTED, FAILED), has_headers=False) == [
        "default old-1 a - PodLifeTime evicted runs for too long",
        "default old-2 a - PodLifeTime failed runs for too long",
    ]


def test_quiet_leaves_the_summary() -> None:
    assert lines_of(outcome_of(EVICTED, FAILED), is_quiet=True)[0] == "1 pod evicted, 1 failed"


def test_pods_that_were_not_evicted_are_not_listed_as_blocked_again() -> None:
    """A pod of the plan can be one that a further plugin was refused, in another row."""
    outcome = outcome_of(FAILED)
    plan = outcome.plan
    (result,) = outcome.results
    refused = make_refusal(outcome)

    shown = lines_of(replace(outcome, plan=replace(plan, refusals=(refused,), moves=())))
    evicted = lines_of(
        replace(
            outcome, results=(replace(result, result="evicted"),), plan=replace(plan, refusals=(refused,), moves=())
        )
    )

    assert not [line for line in shown if line.endswith("by a budget")]
    assert [line for line in evicted if line.endswith("by a budget")] == ["default old-2 a P by a budget"]
