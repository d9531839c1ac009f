from __future__ import annotations

import msgspec

from descheduler.report.document import PodReference
from descheduler.report.formats.render import render
from descheduler.report.plan.document import Target
from descheduler.report.tables.table_style import TableStyle
from descheduler.report.tables.targets import condition_table, target_cell, target_text
from tests.report.outcomes import EVICTED, outcome_of

FIRST = "pending pod default/hi may be scheduled there first"
TARGET = Target(
    node="n2",
    verdict="lands_if",
    returns="at once",
    returns_to_source=False,
    conditions=(FIRST, "volume v is attached"),
)


def reference(name: str) -> PodReference:
    return PodReference(namespace="shop", name=name, uid=f"shop-{name}")


def test_each_condition_is_listed_once_with_the_number_of_its_pods() -> None:
    pods = [(reference("a"), (FIRST,)), (reference("b"), ()), (reference("c"), ("volume v is attached", FIRST))]

    assert list(condition_table(pods, TableStyle())) == [
        "Conditions of targets marked (if)",
        "PODS   FIRST POD   CONDITION",
        f"2      shop/a      {FIRST}",
        "1      shop/c      volume v is attached",
        "",
    ]


def test_long_list_of_conditions_is_cut_and_says_so() -> None:
    pods = [(reference(f"p{number}"), (f"volume {number} is attached",)) for number in range(12)]

    titles = [next(condition_table(pods, TableStyle(is_wide=is_wide))) for is_wide in (False, True)]

    assert titles == [
        "Conditions of targets marked (if): 10 of 12; -o wide shows all",
        "Conditions of targets marked (if)",
    ]


def test_outcome_lists_conditions_below_the_evicted_pods() -> None:
    outcome = outcome_of(EVICTED)
    results = tuple(msgspec.structs.replace(result, target=TARGET) for result in outcome.results)

    text = "".join(render(msgspec.structs.replace(outcome, results=results), "table"))

    assert "n2 (if)" in text
    assert f"1      default/old-1   {FIRST}\n1      default/old-1   volume v is attached\n" in text


def test_likely_target_under_a_condition_has_both_marks() -> None:
    likely = msgspec.structs.replace(TARGET, verdict="likely")

    assert target_cell(likely, "n2") == "~n2 (if)"


def test_explanations_have_the_same_mark() -> None:
    assert [target_text(verdict, "n2") for verdict in ("lands", "lands_if", "likely")] == ["n2", "n2 (if)", "~n2"]
