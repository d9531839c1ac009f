"""What an eviction's last answer means for it."""

from __future__ import annotations

import pytest

from descheduler.migration.dispatch.judgement import Judgement
from descheduler.migration.dispatch.task import EvictionTask
from descheduler.plan.outcome import OutcomeCode, OutcomeKind
from tests.migration.stand_ins import make_eviction


@pytest.mark.parametrize(
    ("kind", "code", "is_decided"),
    [
        (OutcomeKind.EVICTED, OutcomeCode.DONE, True),
        (OutcomeKind.GONE, OutcomeCode.POD_GONE, True),
        (OutcomeKind.REFUSED, OutcomeCode.BUDGET, False),
    ],
)
def test_pod_that_leaves_or_is_gone_needs_no_further_call(
    kind: OutcomeKind, code: OutcomeCode, is_decided: bool
) -> None:
    task = EvictionTask(make_eviction("web"))
    assert not task.is_decided

    task.answer(Judgement(kind, code, ""), now=0.0, effect_seconds=30.0)

    assert task.is_decided is is_decided
