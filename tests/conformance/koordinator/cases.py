"""Finds what a recorded case of Koordinator is about, and the module that checks it.

A module of this folder that has the name of a subject checks its cases by `check(case)`, which says what differs, or
None. Nobody lists the modules: a subject without one fails, with a message that says so.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from tests.conformance.outcomes import CaseTally, difference_or_crash

Case = Mapping[str, Any]
Check = Callable[[Case], str | None]

SUBJECTS: Mapping[str, frozenset[str]] = {
    "deviceshare": frozenset({"devices", "steps"}),
    "elasticquota": frozenset({"quotas", "steps"}),
    "lownodeload": frozenset({"rounds", "args"}),
    "coscheduling": frozenset({"podgroups", "steps"}),
    "arbitration": frozenset({"jobs", "workloads"}),
    "phases": frozenset({"job", "target"}),
    "reservation": frozenset({"reservations", "pods"}),
}
"""Subject → the members by which its cases are told from others; the first that fits counts."""


def subject_of(case: Case) -> str | None:
    """What a case is about; None for one that was not recorded on Koordinator."""
    return next((subject for subject, members in SUBJECTS.items() if members <= case.keys()), None)


def is_koordinator_case(vector: Mapping[str, Any]) -> bool:
    """Whether a recorded case is one of Koordinator's."""
    return "kind" not in vector and "class" in vector and "candidates" not in vector and subject_of(vector) is not None


def difference_of(case: Case) -> str | None:
    """How our answer departs from the recorded one, or None. A crash is a difference too."""
    subject = subject_of(case)
    name = f"{__package__}.{subject}"
    if subject is None or find_spec(name) is None:
        return f"nothing here checks cases about {subject}"
    check: Check = importlib.import_module(name).check
    return difference_or_crash(check, case)


@dataclass
class KoordinatorTally(CaseTally):
    """Outcomes by subject and class."""

    def add(self, case: Case) -> str | None:
        """Checks one case, notes the outcome and returns what differs, if anything."""
        subject = str(subject_of(case))
        return self.note(case["id"], f"{subject}: {case['class']}", "cases", difference_of(case))

    def table(self) -> str:
        """Passed of all, by subject and class, as a Markdown table."""
        return self.outcomes.table("subject and class", self.outcomes.columns)
