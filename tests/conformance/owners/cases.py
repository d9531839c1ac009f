"""Finds out what a recorded eviction differs in: each check looks at a part of the case."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tests.conformance.outcomes import CaseTally, difference_or_crash
from tests.conformance.owners import after_evictions, budget_answers

Case = Mapping[str, Any]
Check = Callable[[Case], str | None]

CHECKS: tuple[Check, ...] = (after_evictions.check, budget_answers.check)
"""Each says what differs in its part of a case, or None: what the API answers, and what comes after what it accepts."""


def is_owner_case(vector: Mapping[str, Any]) -> bool:
    """Whether a recorded case is one of evictions and what comes after them."""
    return vector.keys() >= {"dump", "evictions", "expect"}


def difference_of(case: Case) -> str | None:
    """How our answer departs from the recorded one, or None. A crash is a difference too."""
    return "; ".join(filter(None, (difference_or_crash(check, case) for check in CHECKS))) or None


@dataclass
class OwnerTally(CaseTally):
    """Outcomes by class."""

    def add(self, case: Case) -> str | None:
        """Checks one case, notes the outcome and returns what differs, if anything."""
        return self.note(case["id"], case["class"], "cases", difference_of(case))

    def table(self) -> str:
        """Passed of all, by class, as a Markdown table."""
        return self.outcomes.table("class", self.outcomes.columns)
