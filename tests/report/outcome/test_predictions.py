from __future__ import annotations

import pytest
from msgspec.structs import replace

from descheduler.placement.landings.landing import Landing, LandingVerdict
from descheduler.placement.replacements.answer import OwnerAnswer, Returns
from descheduler.placement.replacements.replacement import Replacement
from descheduler.plan.outcome import Outcome, OutcomeCode, OutcomeKind
from descheduler.report.outcome.predictions import Prediction, prediction_of
from tests.builders import make_pod
from tests.migration.stand_ins import make_eviction


def landing_on(node: str | None) -> Landing:
    """On `node`, which ranks as high as d."""
    pod, lands = make_pod("cart"), LandingVerdict.LANDS
    made = Replacement(pod, OwnerAnswer(Returns.AT_ONCE), pod, "template")
    return Landing(pod, made, lands, lands, node, ties=(node, "d") if node else ())


@pytest.mark.parametrize(
    ("predicted", "landed_on", "expected"),
    [
        pytest.param("b", "b", Prediction.AS_PREDICTED, id="on the predicted node"),
        pytest.param("b", "d", Prediction.TIED, id="on another node that ranks as high"),
        pytest.param("b", "c", Prediction.ELSEWHERE, id="on another node"),
        pytest.param("b", "", Prediction.NOT_SEEN, id="not seen ready"),
        pytest.param(None, "c", None, id="no node was predicted"),
    ],
)
def test_prediction_is_compared_with_where_the_replacement_is_ready(
    predicted: str | None, landed_on: str, expected: Prediction | None
) -> None:
    eviction = replace(make_eviction("cart"), landing=landing_on(predicted))

    outcome = Outcome(eviction, OutcomeKind.EVICTED, OutcomeCode.DONE, "", landed_on=landed_on)

    assert prediction_of(outcome) is expected


def test_pod_that_was_not_evicted_says_nothing_of_its_prediction() -> None:
    eviction = replace(make_eviction("cart"), landing=landing_on("b"))

    assert prediction_of(Outcome(eviction, OutcomeKind.REFUSED, OutcomeCode.BUDGET, "")) is None
