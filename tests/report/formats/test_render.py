"""Which formats a document has."""

from __future__ import annotations

import pytest

from descheduler.report.formats.render import render
from descheduler.report.tables.table_style import TableStyle
from tests.builders import make_pod
from tests.report.decided_cycles import make_test_plan
from tests.report.outcomes import EVICTED, outcome_of


def test_wide_tables_have_more_columns_whatever_the_style_says() -> None:
    plan = make_test_plan([make_pod("old")])

    for style in (TableStyle(), TableStyle(is_wide=True)):
        assert "UID" in "".join(render(plan, "wide", style))
        assert "UID" not in "".join(render(plan, "table", style))


@pytest.mark.parametrize("output", ["html", "markdown"])
def test_outcome_has_no_pictures(output: str) -> None:
    with pytest.raises(ValueError, match=f"OutcomeDocument cannot be written as {output}"):
        list(render(outcome_of(EVICTED), "html" if output == "html" else "markdown"))


def test_csv_has_its_header_unless_that_is_left_out() -> None:
    plan = make_test_plan([make_pod("old")])

    lengths = [len(list(render(plan, "csv", TableStyle(has_headers=has_headers)))) for has_headers in (True, False)]

    assert lengths == [2, 1]
