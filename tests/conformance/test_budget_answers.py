"""The check of recorded answers of the Eviction API tells right from wrong."""

from __future__ import annotations

from typing import Any

import pytest

from tests.builders import Object, node_object, pod_object
from tests.conformance.owners.budget_answers import check

APP = {"app": "web"}
EVICTED: Object = {"code": 201, "status": "Success"}
STALE: Object = {
    "code": 429,
    "reason": "TooManyRequests",
    "message": "Cannot evict pod as it would violate the pod's disruption budget.",
    "causes": [{"message": "The disruption budget web is still being processed by the server."}],
    "retryAfterHeader": "10",
}


def case(answer: Object, *, generation: int = 1, options: Object | None = None) -> Object:
    """One pod under a budget that allows 1, evicted once."""
    budget = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "web", "namespace": "default", "generation": generation},
        "spec": {"maxUnavailable": 1, "selector": {"matchLabels": APP}},
        "status": {"observedGeneration": 1, "disruptionsAllowed": 1, "currentHealthy": 2, "desiredHealthy": 1},
    }
    items = [node_object("a"), pod_object("p", node="a", labels=APP, uid="1"), budget]
    eviction = {"pod": "p", "at": 0.0, "answer": answer, "deleteOptions": options}
    return {"dump": {"items": items}, "evictions": [eviction], "expect": {"created": []}, "unseen": False}


@pytest.mark.parametrize(
    ("recorded", "facts"),
    [
        pytest.param(EVICTED, {}, id="evicted"),
        pytest.param(STALE, {"generation": 2}, id="a status of an earlier spec"),
        pytest.param(
            {"code": 409, "reason": "Conflict", "message": "x"},
            {"options": {"preconditions": {"uid": "2"}}},
            id="another uid",
        ),
    ],
)
def test_answer_that_is_predicted_passes(recorded: Object, facts: dict[str, Any]) -> None:
    assert check(case(recorded, **facts)) is None


@pytest.mark.parametrize(
    ("recorded", "facts"),
    [
        pytest.param(STALE, {}, id="refused instead of evicted"),
        pytest.param(EVICTED, {"generation": 2}, id="evicted instead of refused"),
        pytest.param(STALE | {"retryAfterHeader": None}, {"generation": 2}, id="without Retry-After"),
        pytest.param(STALE | {"causes": [{"message": "x"}]}, {"generation": 2}, id="another cause"),
    ],
)
def test_other_answer_fails(recorded: Object, facts: dict[str, Any]) -> None:
    difference = check(case(recorded, **facts))

    assert difference is not None
    assert difference.startswith("p: ")
