"""What is printed of a queue of Volcano."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from descheduler.explanation.asked import explained_by
from descheduler.explanation.scheduling.volcano import QueueFacts, VolcanoJobFacts
from descheduler.explanation.subjects.queue import QueueExplanation
from descheduler.report.subjects import SUBJECTS, types_of
from descheduler.report.tables.table_style import TableStyle

FACTS = QueueFacts(
    name="team",
    state="Open",
    weight=1,
    priority=0,
    is_reclaimable=True,
    parent="",
    hierarchy="",
    plugin="",
    tier=None,
    share=None,
    is_overused=False,
    resources=(),
)
JOB = VolcanoJobFacts("batch/a", "team", "Running", 0, 1, 1, 0, "", 0, True, None, (), "")


def lines_of(facts: QueueFacts = FACTS, *, number: int = 0, is_wide: bool = False, **change: Any) -> list[str]:
    """The tables of a queue with so many jobs, with one space between columns and without empty lines."""
    jobs = tuple(replace(JOB, name=f"batch/j{each:02}") for each in range(number))
    given = {"children": (), "phases": {}, "notes": (), **change}
    explanation = QueueExplanation(facts=facts, jobs=jobs, **given)
    table = explained_by(types_of(SUBJECTS)["queue"][1]).table
    return [" ".join(line.split()) for line in table(explanation, TableStyle(is_wide=is_wide)) if line]


@pytest.mark.parametrize(
    ("facts", "heading", "row"),
    [
        ({}, "Queue team", "Open 1 0 yes - no - -"),
        ({"parent": "root"}, "Queue team, parent root", "Open 1 0 yes - no - -"),
        (
            {"parent": "root", "hierarchy": "root/team"},
            "Queue team, parent root, hierarchy root/team",
            "Open 1 0 yes - no - -",
        ),
        (
            {"plugin": "proportion", "tier": 2, "share": 1.25, "is_overused": True, "is_reclaimable": False},
            "Queue team",
            "Open 1 0 no 1.25 yes proportion 2",
        ),
    ],
    ids=["alone", "with a parent", "in a hierarchy", "overused"],
)
def test_queue_is_told_by_its_place_and_its_share(facts: dict[str, Any], heading: str, row: str) -> None:
    lines = lines_of(replace(FACTS, **facts))

    assert (lines[0], lines[2]) == (heading, row)


@pytest.mark.parametrize(
    ("number", "more"), [(20, None), (21, "1 more job; -o wide shows all"), (23, "3 more jobs; -o wide shows all")]
)
def test_first_jobs_are_shown_and_the_others_are_counted(number: int, more: str | None) -> None:
    narrow, wide = (lines_of(number=number, is_wide=is_wide) for is_wide in (False, True))

    assert len([line for line in narrow if line.startswith("batch/")]) == 20
    assert len([line for line in wide if line.startswith("batch/")]) == number
    assert [line for line in narrow if "more job" in line] == ([] if more is None else [more])


def test_jobs_are_counted_by_phase_and_children_and_notes_come_last() -> None:
    lines = lines_of(number=2, phases={"Pending": 1, "Running": 1}, children=("a", "b"), notes=("a note",))

    assert "2 jobs: 1 Pending, 1 Running" in lines
    assert lines[-2:] == ["children: a, b", "a note"]
    assert not [line for line in lines_of() if "jobs" in line or "children" in line]
