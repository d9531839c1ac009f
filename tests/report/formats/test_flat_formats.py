"""The formats with a row or a line for each pod."""

from __future__ import annotations

import csv
import io
import json

from descheduler.plan.outcome import OutcomeCode, OutcomeKind
from descheduler.report.formats.flat_rows import CSV_HEADER
from descheduler.report.formats.render import render
from descheduler.report.plan.document import Plan
from descheduler.report.tables.table_style import TableStyle
from tests.builders import make_pod
from tests.report.decided_cycles import OLD, make_test_plan
from tests.report.outcomes import EVICTED, FAILED, executed, outcome_of


def plan_with_a_blocked_pod() -> Plan:
    return make_test_plan([make_pod("old"), make_pod("bare", owners=())])


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_names_are_those_of_the_pods_to_evict() -> None:
    assert "".join(render(plan_with_a_blocked_pod(), "name")) == "default/old\n"


def test_names_of_an_outcome_are_those_of_the_evicted_pods() -> None:
    assert "".join(render(outcome_of(EVICTED, FAILED), "name")) == "default/old-1\n"


def test_csv_has_a_row_for_each_selected_pod_whether_evicted_or_not() -> None:
    found = rows("".join(render(plan_with_a_blocked_pod(), "csv")))

    assert [(row["decision"], row["pod"], row["code"]) for row in found] == [
        ("evict", "old", ""),
        ("blocked", "bare", "BarePod"),
    ]
    assert found[0]["target"] == "b"
    assert found[0]["verdict"] == "lands"


def test_csv_of_an_outcome_has_the_result_of_each_eviction() -> None:
    found = rows("".join(render(outcome_of(EVICTED, FAILED), "csv")))

    assert [(row["decision"], row["pod"], row["message"]) for row in found][:2] == [
        ("evicted", "old-1", ""),
        ("failed", "old-2", "boom"),
    ]


def test_text_that_would_steer_a_terminal_or_break_a_row_is_escaped() -> None:
    plan = make_test_plan([make_pod("a\x1b[2J\rb\nc", owners=()), make_pod("d\re\n")])

    assert [row["pod"] for row in rows("".join(render(plan, "csv")))] == [r"d\re\n", r"a\x1b[2J\rb\nc"]
    assert "".join(render(plan, "name")) == "default/d\\re\\n\n"


def test_spreadsheet_takes_no_cell_for_a_formula() -> None:
    messages = ["=HYPERLINK(1)", "+1", "-1", "@a", "a = b"]
    failures = [executed(OLD[1], OutcomeKind.FAILED, OutcomeCode.SERVER_ERROR, text, 500) for text in messages]

    cells = [row["message"] for row in rows("".join(render(outcome_of(*failures), "csv")))]

    assert cells == ["'=HYPERLINK(1)", "'+1", "'-1", "'@a", "a = b"]


def test_csv_can_go_without_its_header() -> None:
    text = "".join(render(plan_with_a_blocked_pod(), "csv", TableStyle(has_headers=False)))

    assert ",".join(CSV_HEADER) not in text
    assert text.startswith("evict,default,old,")


def test_each_line_of_jsonl_is_an_object_with_its_type_and_the_last_one_the_document() -> None:
    plan = plan_with_a_blocked_pod()

    lines = [json.loads(line) for line in "".join(render(plan, "jsonl")).splitlines()]

    types = [line["type"] for line in lines]
    assert (types[0], types[-1]) == ("moves", "Plan")
    assert types.count("moves") == len(plan.moves)
    assert types.count("refusals") == len(plan.refusals)
    assert lines[-1]["landings"]["evicted"] == 1


def test_jsonl_of_an_outcome_holds_its_results_and_the_lists_of_the_plan() -> None:
    lines = [json.loads(line) for line in "".join(render(outcome_of(EVICTED, FAILED), "jsonl")).splitlines()]

    types = [line["type"] for line in lines]
    assert types.count("results") == 2
    assert types.count("moves") == 3
    assert (types[-1], lines[-1]["counts"]["evicted"]) == ("Outcome", 1)
