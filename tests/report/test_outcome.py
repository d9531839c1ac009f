from __future__ import annotations

import re
from typing import get_args

from descheduler.plan.outcome import OutcomeKind
from descheduler.report.document import PodReference
from descheduler.report.outcome import EvictionResult, ResultKind
from descheduler.report.render import render
from tests.report.outcomes import EVICTED, FAILED, GONE, outcome_of


def test_the_document_knows_every_way_an_eviction_can_end() -> None:
    kinds = {kind.value for kind in OutcomeKind if kind is not OutcomeKind.UNSET}

    assert kinds == set(get_args(ResultKind))


def test_each_eviction_has_its_result() -> None:
    outcome = outcome_of(EVICTED)

    assert outcome.results == (
        EvictionResult(
            pod=PodReference(namespace="default", name="old-1", uid="default-old-1"),
            node="a",
            profile="main",
            plugin="PodLifeTime",
            result="evicted",
            code="done",
            message="pod default/old-1 evicted",
            status_code=201,
            num_attempts=1,
        ),
    )


def test_results_are_counted_and_kinds_that_did_not_occur_are_zero() -> None:
    outcome = outcome_of(EVICTED, FAILED, GONE)

    assert outcome.counts == {
        "evicted": 1,
        "gone": 1,
        "refused": 0,
        "background": 0,
        "failed": 1,
        "not-attempted": 0,
    }


def test_table_shows_what_became_of_each_eviction() -> None:
    text = "".join(render(outcome_of(EVICTED, FAILED), "table"))

    assert re.search(
        r"^default +old-2 +a +PodLifeTime +failed +pod default/old-2 not evicted: boom$", text, re.MULTILINE
    )
    assert "1 pod evicted, 1 failed, 0 requests refused, 0 candidates kept" in text
