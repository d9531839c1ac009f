from __future__ import annotations

import pytest

from descheduler.kube.answers import StatusCause
from descheduler.kube.evict import EvictionResponse
from descheduler.migration.dispatch.judgement import Judgement, judge
from descheduler.plan.outcome import OutcomeCode, OutcomeKind
from tests.migration.stand_ins import make_eviction, no_answer, no_disruption, not_sent, turned_away, wait_told

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
            EvictionResponse(403, causes=(StatusCause("DisruptionBudget", "too many pending evictions"),)),
            OutcomeKind.REFUSED,
            OutcomeCode.BUDGET,
            None,
            id="a budget that is in disorder, as Kubernetes 1.37 tells it",
        ),
        pytest.param(
            EvictionResponse(403, causes=(StatusCause("NamespaceTerminating", "namespace n is being terminated"),)),
            OutcomeKind.REFUSED,
            OutcomeCode.NAMESPACE_TERMINATING,
            None,
            id="the namespace is being deleted",
        ),
        pytest.param(
            EvictionResponse(500, message=SEVERAL, retry_after_seconds=1.0),
            OutcomeKind.REFUSED,
            OutcomeCode.SEVERAL_BUDGETS,
            None,
            id="several budgets are never asked again",
        ),
        pytest.param(EvictionResponse(409), OutcomeKind.REFUSED, OutcomeCode.CONFLICT, None, id="a conflict"),
        pytest.param(no_answer(), OutcomeKind.FAILED, OutcomeCode.NO_ANSWER, 1.0, id="the answer was lost"),
        pytest.param(not_sent(), OutcomeKind.FAILED, OutcomeCode.NO_CONNECTION, 1.0, id="no connection could be made"),
        pytest.param(
            EvictionResponse(503, retry_after_seconds=3.0),
            OutcomeKind.FAILED,
            OutcomeCode.SERVER_ERROR,
            3.0,
            id="the server shuts down",
        ),
        pytest.param(EvictionResponse(500), OutcomeKind.FAILED, OutcomeCode.SERVER_ERROR, 1.0, id="a server error"),
        pytest.param(EvictionResponse(401), OutcomeKind.FAILED, OutcomeCode.SERVER_ERROR, 1.0, id="no credentials"),
        pytest.param(EvictionResponse(400), OutcomeKind.FAILED, OutcomeCode.SERVER_ERROR, None, id="a bad request"),
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
        "Cannot evict pod; The disruption budget b needs 3 healthy pods and has 3 currently (429)"
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


TOLD, UNTOLD = True, False


@pytest.mark.parametrize(
    ("status_code", "is_told", "is_open"),
    [
        *((code, TOLD, False) for code in (201, 200, 403, 404, 409, 422, 429)),
        *((code, TOLD, True) for code in (302, 400, 401, 405, 408, 500, 502, 503, 504)),
        *(
            (code, UNTOLD, True)
            for code in (0, 200, 201, 204, 302, 400, 403, 404, 408, 409, 422, 429, 500, 502, 503, 504)
        ),
    ],
)
def test_only_a_refusal_of_the_api_server_says_for_certain_that_nothing_was_done(
    status_code: int, is_told: bool, is_open: bool
) -> None:
    response = EvictionResponse(status_code, "Reason", "text", is_told=is_told)

    assert judge(make_eviction("cart"), response, evictions_in_background=False).is_open is is_open


def test_several_budgets_are_a_refusal_for_certain() -> None:
    response = EvictionResponse(500, message=SEVERAL)

    assert judge(make_eviction("cart"), response, evictions_in_background=False).is_open is False


def test_refused_credentials_of_an_eviction_have_a_way_out() -> None:
    response = EvictionResponse(401, "Unauthorized", "Unauthorized")

    judged = judge(make_eviction("a"), response, evictions_in_background=False)

    assert judged.message == "Unauthorized (401); renew the credentials"


@pytest.mark.parametrize(
    ("kind", "code", "wants_look"),
    [
        (OutcomeKind.GONE, OutcomeCode.POD_GONE, True),
        (OutcomeKind.REFUSED, OutcomeCode.CONFLICT, True),
        (OutcomeKind.REFUSED, OutcomeCode.BUDGET, False),
        (OutcomeKind.EVICTED, OutcomeCode.DONE, False),
    ],
)
def test_pod_is_looked_at_where_another_may_have_its_name(
    kind: OutcomeKind, code: OutcomeCode, wants_look: bool
) -> None:
    assert Judgement(kind, code, "").wants_look is wants_look


@pytest.mark.parametrize(
    ("response", "code", "retry_after_seconds"),
    [
        pytest.param(EvictionResponse(299), OutcomeCode.DONE, None, id="the last success"),
        pytest.param(EvictionResponse(300), OutcomeCode.SERVER_ERROR, None, id="a redirection"),
        pytest.param(EvictionResponse(199), OutcomeCode.SERVER_ERROR, None, id="no success yet"),
        pytest.param(EvictionResponse(499), OutcomeCode.SERVER_ERROR, None, id="the last fault of a client"),
        pytest.param(EvictionResponse(408), OutcomeCode.SERVER_ERROR, 1.0, id="a time-out"),
        pytest.param(EvictionResponse(422), OutcomeCode.SERVER_ERROR, None, id="an invalid request"),
        pytest.param(EvictionResponse(500, retry_after_seconds=0.0), OutcomeCode.SERVER_ERROR, 0.0, id="come at once"),
        pytest.param(
            EvictionResponse(429, is_told=False, retry_after_seconds=None), OutcomeCode.THROTTLED, None, id="no wait"
        ),
        pytest.param(
            EvictionResponse(500, message=SEVERAL, is_told=False), OutcomeCode.SERVER_ERROR, 1.0, id="a proxy's word"
        ),
        pytest.param(EvictionResponse(404, is_told=False), OutcomeCode.SERVER_ERROR, None, id="a proxy finds nothing"),
        pytest.param(EvictionResponse(409, is_told=False), OutcomeCode.SERVER_ERROR, None, id="a proxy's conflict"),
        pytest.param(EvictionResponse(403, is_told=False), OutcomeCode.SERVER_ERROR, None, id="a proxy forbids"),
    ],
)
def test_answer_at_the_edge_of_its_kind(
    response: EvictionResponse, code: OutcomeCode, retry_after_seconds: float | None
) -> None:
    judgement = judge(make_eviction("cart"), response, evictions_in_background=False)

    assert (judgement.code, judgement.retry_after_seconds) == (code, retry_after_seconds)


def test_first_cause_that_is_known_says_what_a_refusal_is_about() -> None:
    causes = (StatusCause("Other", ""), StatusCause("NamespaceTerminating", "it ends"), StatusCause("DisruptionBudget"))

    judgement = judge(make_eviction("cart"), EvictionResponse(403, "", "No.", causes), evictions_in_background=False)

    assert (judgement.code, judgement.message) == (OutcomeCode.NAMESPACE_TERMINATING, "No; it ends (403)")


def test_only_an_answer_that_names_an_evacuation_hands_a_pod_over() -> None:
    eviction, other = make_eviction("vm", request_evict_only=True), EvictionResponse(429, "", "busy")

    assert judge(eviction, other, evictions_in_background=True).kind is OutcomeKind.REFUSED


def test_answer_that_says_nothing_is_told_as_such() -> None:
    judgement = judge(make_eviction("cart"), EvictionResponse(502, is_told=False), evictions_in_background=False)

    assert judgement.message == "not an answer of the Kubernetes API (502)"
