from __future__ import annotations

from typing import Any

import msgspec
import pytest

from descheduler.report.document import PodReference
from descheduler.report.formats.render import render
from descheduler.report.plan.document import PlannedAllocation, Target
from descheduler.report.tables.columns import Cell, Toned
from descheduler.report.tables.palette import Tone
from descheduler.report.tables.table_style import TableStyle
from descheduler.report.tables.targets import (
    allocations_text,
    condition_table,
    target_cell,
    target_legend,
    target_text,
)
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


@pytest.mark.parametrize(
    ("facts", "node", "cell"),
    [
        pytest.param({"verdict": "lands"}, "n2", "n2", id="scheduled"),
        pytest.param({"verdict": "lands", "returns_to_source": True}, "n2", Toned("n2 (same node)", Tone.WARNING),
                     id="onto the same node"),
        pytest.param({"verdict": "lands_if"}, "n2", Toned("n2 (if)", Tone.WARNING), id="under a condition"),
        pytest.param({"verdict": "likely", "conditions": ()}, "n2", "~n2", id="likely"),
        pytest.param({"verdict": "unknown"}, "", Toned("unknown", Tone.WARNING), id="unknown"),
        pytest.param({"verdict": "no"}, "", Toned("pending", Tone.FAILURE), id="pending"),
        pytest.param({"verdict": "lands", "returns": "not created"}, "", "no new pod", id="not created"),
        pytest.param({"verdict": "lands", "returns": "not created"}, "n2", "n2", id="not created but on a node"),
        pytest.param({"verdict": "no", "returns": "owner ends"}, "", Toned("Job ends", Tone.FAILURE), id="a Job ends"),
    ],
)  # fmt: skip
def test_target_is_the_node_or_what_is_known_instead(facts: dict[str, Any], node: str, cell: Cell) -> None:
    assert target_cell(msgspec.structs.replace(TARGET, **facts), node) == cell


@pytest.mark.parametrize(
    ("cells", "marks"),
    [
        (["n1", "n2"], []),
        (["~n1"], ["~"]),
        (["n1~"], []),
        (["n1 (same node)"], ["(same node)"]),
        (["pending", Toned("unknown", Tone.WARNING)], ["pending", "unknown"]),
        (["pending-node", "is unknown"], []),
        ([""], ["-"]),
        (["no new pod", "Job ends"], ["no new pod", "Job ends"]),
    ],
)
def test_marks_are_explained_that_some_cell_has(cells: list[Cell], marks: list[str]) -> None:
    lines = list(target_legend(cells, TableStyle()))

    said = "" if not lines else lines[0].removeprefix("TARGET: ")
    assert [part.partition(" = ")[0] for part in said.split("; ") if part] == marks


def test_allocations_are_told_by_kind() -> None:
    found = [
        PlannedAllocation(plugin="P", kind=kind, name=name, resources={})
        for kind, name in (("gpu", "0"), ("rdma", "1"), ("gpu", "3"))
    ]

    assert allocations_text(found) == "gpu 0, 3; rdma 1"
    assert allocations_text([]) == ""


@pytest.mark.parametrize(("number", "end"), [(10, ""), (11, ": 10 of 11; -o wide shows all")])
def test_first_conditions_are_listed(number: int, end: str) -> None:
    pods = [(reference("p"), tuple(f"condition {each}" for each in range(number)))]

    title, *_ = condition_table(pods, TableStyle())

    assert title == f"Conditions of targets marked (if){end}"
