"""Why a quota, or a child of it, uses more than it may; and what stands in its table."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from descheduler.explanation.scheduling.quotas import QuotaFacts, QuotaResource, quota_table
from descheduler.explanation.subjects.quota import Sharing, excess_notes
from descheduler.report.tables.table_style import TableStyle

CPU = QuotaResource(resource="cpu", min=1000, max=8000, runtime=4000, used=4000, requested=4000, pod=0)


def quota(name: str = "team", **cpu: Any) -> QuotaFacts:
    return QuotaFacts(name=name, parent="", tree="", resources=(replace(CPU, **cpu),))


def notes(facts: QuotaFacts, *children: QuotaFacts, **runtimes: int) -> list[str]:
    """The notes, where the quota and its siblings have these runtime quotas of 12 CPU."""
    return list(excess_notes(facts, children, lambda _facts, _resource: Sharing(12000, runtimes)))


LEAD = "team uses 1 CPU more than its runtime quota"


@pytest.mark.parametrize(
    ("cpu", "note"),
    [
        pytest.param({"used": 4000}, None, id="all that it may"),
        pytest.param({"used": 9000, "runtime": None}, None, id="no limit"),
        pytest.param({"used": 5000}, f"{LEAD}: it requests 4 CPU", id="requests that are less by now"),
        pytest.param(
            {"used": 5000, "requested": 4001, "min": 4000},
            f"{LEAD}: it borrowed 1 CPU over its min, which others request now or which is gone; 12 CPU in all are"
            " shared out as nothing", id="borrowed",
        ),
        pytest.param(
            {"used": 5000, "requested": 5000, "min": 5000},
            f"{LEAD}: there is not enough for the min of every quota; 12 CPU in all are shared out as nothing",
            id="not enough",
        ),
        pytest.param(
            {"used": 5000, "max": 4999},
            f"{LEAD} and more than its max of 4999m: its pods were placed before the max was lowered, or by a scheduler"
            " that does not check quotas", id="above its max",
        ),
        pytest.param({"used": 5000, "max": 5000}, f"{LEAD}: it requests 4 CPU", id="at its max"),
        pytest.param({"used": 5000, "max": None}, f"{LEAD}: it requests 4 CPU", id="without a max"),
    ],
)  # fmt: skip
def test_cause_of_an_excess_is_told(cpu: dict[str, Any], note: str | None) -> None:
    assert notes(quota(**cpu)) == ([] if note is None else [note])


def test_children_are_told_as_well_and_those_that_borrow_are_named_at_their_parent() -> None:
    small = quota("small", used=1000, min=1000)
    large = quota("large", used=5000, requested=3000)

    found = notes(quota(used=6000, requested=4000), small, large)

    assert found == [
        "team uses 2 CPU more than its runtime quota: it requests 4 CPU, as each child counts up to its max",
        "children of team that use more than their min: large 4 CPU",
        "large uses 1 CPU more than its runtime quota: it requests 3 CPU",
    ]


def test_borrowing_children_are_not_named_where_their_parent_is_within_its_quota() -> None:
    assert notes(quota(), quota("large", used=3000)) == []


def test_children_that_borrow_nothing_are_not_named() -> None:
    assert len(notes(quota(used=5000), quota("small", used=500))) == 1


@pytest.mark.parametrize(
    ("runtimes", "shares"),
    [
        ({"one": 1000, "two": 3000, "none": 0}, "two 3, one 1"),
        ({"b": 2000, "a": 2000}, "a 2, b 2"),
        (dict.fromkeys("abcde", 1000), "a 1, b 1, c 1, d 1, e 1"),
        (dict.fromkeys("abcdef", 1000), "a 1, b 1, c 1, d 1, e 1, 1 more"),
        ({}, "nothing"),
    ],
    ids=["largest first", "then by name", "five", "six", "none"],
)
def test_largest_shares_are_told(runtimes: dict[str, int], shares: str) -> None:
    (note,) = notes(quota(used=5000, requested=5000), **runtimes)

    assert note.endswith(f"12 CPU in all are shared out as {shares}")


def test_table_has_what_the_pod_requests_and_what_is_not_limited() -> None:
    facts = replace(quota(max=None, runtime=None, pod=500), parent="all")

    lines = [" ".join(line.split()) for line in quota_table(facts, TableStyle())]

    assert lines[:3] == [
        "Elastic quota team, parent all",
        "RESOURCE MIN MAX RUNTIME USED REQUESTED POD",
        "cpu 1 unlimited unlimited 4 4 500m",
    ]
    assert next(iter(quota_table(quota(), TableStyle()))) == "Elastic quota team"
