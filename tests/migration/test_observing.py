"""Replacements that were not seen ready leave outcomes as they are."""

from __future__ import annotations

from typing import Any, cast

from descheduler.migration.observing import Observer
from descheduler.plan.outcome import Outcome, OutcomeCode, OutcomeKind
from tests.migration.stand_ins import make_eviction


def test_outcome_names_no_node_before_its_replacement_was_seen() -> None:
    outcome = Outcome(make_eviction("web"), OutcomeKind.EVICTED, OutcomeCode.DONE, "")

    assert Observer((outcome,), frozenset(), cast(Any, None)).outcomes == (outcome,)
