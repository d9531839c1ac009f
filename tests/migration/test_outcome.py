from __future__ import annotations

import pytest

from descheduler.kube.evict import EvictionResponse, PodState
from descheduler.kube.status import StatusCause
from descheduler.migration.outcome import Judgement, OutcomeCode, OutcomeKind, judge, judge_conclusively
from tests.migration.worlds import make_eviction, no_answer, no_disruption, turned_away, wait_told

SEVERAL = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
EVACUATION = EvictionResponse(429, "TooManyRequests", "denied: Eviction triggered evacuation of VMI")


@pytest.mark.parametrize(
    ("response", "kind", "code", "retry_after_seconds"),
    [
        pytest.param(EvictionResponse(201), OutcomeKind.EVICTED, OutcomeCode.DONE, None, id="created"),
        pytest.param(EvictionResponse(404), OutcomeKind.GONE, OutcomeCode.POD_GONE, None, id="not found"),
        pytest.param(no_disruption(), OutcomeKind.REFUSED, OutcomeCode.BUDGET, None, id="a budget allows nothing"),
        pytest.param(
            wait_told(10.0), OutcomeKind.REFUSED, OutcomeCode.THROTTLED, 10.0, id="the server asks to come back"
        ),
        pytest.param(
            turned_away(1.0),
            OutcomeKind.REFUSED,
            OutcomeCode.OVERLOADED,
            1.0,
            id="the server turns calls of any kind away",
        ),
        pytest.param(
            EvictionResponse(429, causes=(StatusCause("DisruptionBudget", "x"),), retry_after_seconds=10.0),
            OutcomeKind.REFUSED,
            OutcomeCode.BUDGET,
            10.0,
            id="a budget is not observed yet",
        ),
        pytest.param(EvictionResponse(403), OutcomeKind.REFUSED, OutcomeCode.FORBIDDEN, None, id="forbidden"),
        pytest.param(
            EvictionResponse(500, message=SEVERAL, retry_after_seconds=1.0),
            OutcomeKind.REFUSED,
            OutcomeCode.SEVERAL_BUDGETS,
            None,
            id="several budgets are never asked again",
        ),
        pytest.param(
            EvictionResponse(409, pod_state=PodState.REPLACED),
            OutcomeKind.GONE,
            OutcomeCode.POD_GONE,
            None,
            id="a successor has the name",
        ),
        pytest.param(
            EvictionResponse(409, pod_state=PodState.PRESENT),
            OutcomeKind.REFUSED,
            OutcomeCode.CONFLICT,
            None,
            id="a conflict about a pod that stays",
        ),
        pytest.param(
            no_answer(PodState.GONE),
            OutcomeKind.EVICTED,
            OutcomeCode.LEFT_WITHOUT_ANSWER,
            None,
            id="the answer was lost and the pod left",
        ),
        pytest.param(
            EvictionResponse(504, pod_state=PodState.TERMINATING),
            OutcomeKind.EVICTED,
            OutcomeCode.LEFT_WITHOUT_ANSWER,
            None,
            id="the server timed out and the pod leaves",
        ),
        pytest.param(
            no_answer(PodState.PRESENT),
            OutcomeKind.FAILED,
            OutcomeCode.NO_ANSWER,
            1.0,
            id="the answer was lost and the pod stays",
        ),
        pytest.param(
            no_answer(PodState.UNTOUCHED),
            OutcomeKind.FAILED,
            OutcomeCode.NO_CONNECTION,
            1.0,
            id="no connection could be made",
        ),
        pytest.param(
            no_answer(PodState.UNKNOWN),
            OutcomeKind.FAILED,
            OutcomeCode.OUTCOME_UNKNOWN,
            None,
            id="the answer was lost and nobody knows",
        ),
        pytest.param(
            EvictionResponse(503, retry_after_seconds=3.0),
            OutcomeKind.FAILED,
            OutcomeCode.SERVER_ERROR,
            3.0,
            id="the server shuts down",
        ),
        pytest.param(EvictionResponse(500), OutcomeKind.FAILED, OutcomeCode.SERVER_ERROR, None, id="a server error"),
        pytest.param(EvictionResponse(401), OutcomeKind.FAILED, OutcomeCode.SERVER_ERROR, None, id="no credentials"),
    ],
)
def test_each_answer_of_the_eviction_api_has_one_meaning(
    response: EvictionResponse, kind: OutcomeKind, code: OutcomeCode, retry_after_seconds: float | None
) -> None:
    judgement = judge(make_eviction("cart"), response, evictions_in_background=False)

    assert (judgement.kind, judgement.code) == (kind, code)
    assert judgement.retry_after_seconds == retry_after_seconds


def test_refusal_of_a_budget_names_the_budget() -> None:
    judgement = judge(make_eviction("cart"), no_disruption(), evictions_in_background=False)

    assert judgement.message == (
        "pod shop/cart not evicted: Cannot evict pod; "
        "The disruption budget b needs 3 healthy pods and has 3 currently (429)"
    )


@pytest.mark.parametrize(
    ("gate", "annotated", "kind"),
    [
        pytest.param(True, True, OutcomeKind.BACKGROUND, id="gate on and pod annotated"),
        pytest.param(False, True, OutcomeKind.REFUSED, id="gate off"),
        pytest.param(True, False, OutcomeKind.REFUSED, id="pod not annotated"),
    ],
)
def test_eviction_is_handed_over_only_with_gate_and_annotation(gate: bool, annotated: bool, kind: OutcomeKind) -> None:
    eviction = make_eviction("vm", request_evict_only=annotated)

    assert judge(eviction, EVACUATION, evictions_in_background=gate).kind is kind


def test_ordinary_refusal_of_an_annotated_pod_is_no_background_eviction() -> None:
    eviction = make_eviction("vm", request_evict_only=True)

    assert judge(eviction, no_disruption(), evictions_in_background=True).kind is OutcomeKind.REFUSED


@pytest.mark.parametrize(
    ("earlier_unanswered", "kind"),
    [
        pytest.param(True, OutcomeKind.EVICTED, id="after a lost answer it counts as evicted"),
        pytest.param(False, OutcomeKind.GONE, id="else it left by itself"),
    ],
)
def test_pod_found_gone_is_read_in_the_light_of_earlier_calls(earlier_unanswered: bool, kind: OutcomeKind) -> None:
    eviction = make_eviction("cart")
    gone = Judgement(OutcomeKind.GONE, OutcomeCode.POD_GONE, "gone")

    assert judge_conclusively(eviction, gone, earlier_unanswered=earlier_unanswered).kind is kind
