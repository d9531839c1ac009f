"""The line above every table, and the outputs that go without it."""

from __future__ import annotations

import pytest

from descheduler.model.shard import Shard
from descheduler.report.formats.render import render
from descheduler.report.plan_difference import difference_of
from descheduler.report.tables.table_style import TableStyle
from tests.builders import make_pod
from tests.report.decided_cycles import make_test_plan


@pytest.mark.parametrize(
    ("source", "named"),
    [
        pytest.param("dump.json", "dump: dump.json", id="a dump"),
        pytest.param("https://10.0.0.1:6443", "cluster: https://10.0.0.1:6443", id="a cluster"),
    ],
)
@pytest.mark.parametrize("output", ["table", "wide"])
def test_table_begins_with_policy_source_time_and_plan(source: str, named: str, output: str) -> None:
    plan = make_test_plan([make_pod("old")], source=source)

    first, second, *_ = render(plan, "table" if output == "table" else "wide")

    assert first == f"Policy: policy.yaml; {named}; time: 2026-06-30T12:00:00Z; plan: {plan.plan_id}\n"
    assert second == "\n"


def test_line_of_a_shard_names_shard_and_label() -> None:
    plan = make_test_plan([make_pod("old")], shard=Shard(1, 4, label="rack"))

    first, *_ = render(plan, "table")

    assert first.startswith("Policy: policy.yaml; dump: dump.json; shard 1 of 4 by label rack; time: ")


def test_comparison_begins_with_both_plans() -> None:
    old, new = make_test_plan([make_pod("old")]), make_test_plan([make_pod("new")])

    first, *_ = render(difference_of(old, new), "table")

    assert first == f"Policy: policy.yaml; plans: {old.plan_id} and {new.plan_id}\n"


def test_line_is_wrapped_on_a_terminal_and_escaped() -> None:
    plan = make_test_plan([make_pod("old")], source="a\x1b[31m b.json")

    lines = list(render(plan, "table", TableStyle(width=40)))

    assert all(len(line) <= 41 for line in lines[:4])
    assert "\x1b" not in "".join(lines)


@pytest.mark.parametrize(
    "style",
    [
        pytest.param(TableStyle(has_headers=False), id="no-headers"),
        pytest.param(TableStyle(is_quiet=True), id="quiet"),
    ],
)
def test_rows_for_programs_and_a_summary_alone_have_no_such_line(style: TableStyle) -> None:
    assert "Policy:" not in "".join(render(make_test_plan([make_pod("old")]), "table", style))


def test_flat_formats_have_no_such_line() -> None:
    plan = make_test_plan([make_pod("old")])

    for output in ("name", "csv", "jsonl"):
        assert "Policy:" not in "".join(render(plan, output))
