"""A surged pod leaves when its workload is scaled back, and what marked it is taken back if it stays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import pytest

from descheduler.kube.evict import EvictionResponse
from descheduler.migration.job.surges import Surges
from descheduler.model.koordinator.eviction_annotations import DELETION_COST_ANNOTATION
from tests.migration.job.surged import (
    BY_JOB,
    BY_OTHERS,
    POD_PATH,
    WEB,
    Api,
    Object,
    job,
    set_by,
    web,
)
from tests.migration.stand_ins import make_eviction, no_disruption

LOWEST = str(-(2**31))


def marked(*managers: str, uid: str = "old", cost: str | None = LOWEST) -> Object:
    """The pod with this deletion cost, stated by these."""
    path = ("f:metadata", "f:annotations", f"f:{DELETION_COST_ANNOTATION}")
    annotations = None if cost is None else {DELETION_COST_ANNOTATION: cost}
    return {"metadata": {"uid": uid, "annotations": annotations, "managedFields": set_by(*managers, path=path)}}


class Port:
    """Answers what a surge asks for with these, in turn, and keeps the calls."""

    def __init__(self, *answers: EvictionResponse | None) -> None:
        self._answers = list(answers)
        self.calls: list[str] = []

    def _answer(self, call: str) -> EvictionResponse | None:
        self.calls.append(call)
        return self._answers.pop(0)

    def try_evict(self, namespace: str, name: str, **options: object) -> EvictionResponse | None:
        """Whether the pod may go."""
        return self._answer(f"try {namespace}/{name}")

    def annotate(
        self, namespace: str, name: str, cost: Mapping[str, str], *, manager: str, **options: object
    ) -> EvictionResponse | None:
        """Marks the pod."""
        return self._answer(f"mark {name} {cost[DELETION_COST_ANNOTATION]} {manager}")

    def scale(self, path: str, patch: Mapping[str, Any], *, manager: str, **options: object) -> EvictionResponse | None:
        """Scales the workload."""
        return self._answer(f"scale {path} {patch['spec']['replicas']} {manager}")


def scaled_back(surges: Surges, *answers: EvictionResponse | None) -> tuple[EvictionResponse | None, list[str]]:
    """The response, and the calls for it."""
    port = Port(*answers)
    eviction = make_eviction("web-0", uid="old")
    return surges.scale_back(job(is_surged=True), cast(Any, port), eviction, lambda: True), port.calls


OK, CREATED, CONFLICT = EvictionResponse(200), EvictionResponse(201), EvictionResponse(409, "Conflict")
TRIED, MARKED = "try shop/web-0", f"mark web-0 {LOWEST} {BY_JOB}"
SCALED = f"scale {WEB}/scale 1 descheduler"


@pytest.mark.parametrize(
    ("answers", "calls"),
    [
        pytest.param([no_disruption()], [TRIED], id="a budget refuses"),
        pytest.param([None], [TRIED], id="the first call is withheld"),
        pytest.param([EvictionResponse(201, is_told=False)], [TRIED], id="a proxy answers"),
        pytest.param([EvictionResponse(300)], [TRIED], id="a redirection"),
        pytest.param([CREATED, None], [TRIED, MARKED], id="the mark is withheld"),
        pytest.param([CREATED, EvictionResponse(404, "NotFound")], [TRIED, MARKED], id="the pod is gone"),
        pytest.param([OK, OK, OK], [TRIED, MARKED, SCALED], id="all is done"),
        pytest.param([CREATED, OK, None], [TRIED, MARKED, SCALED], id="the scaling is withheld"),
        pytest.param([CREATED, OK, EvictionResponse(403)], [TRIED, MARKED, SCALED], id="the scaling is refused"),
        pytest.param([CREATED, OK, CONFLICT, OK], [TRIED, MARKED, SCALED, SCALED], id="a status came between"),
        pytest.param([CREATED, OK, *[CONFLICT] * 5], [TRIED, MARKED, *[SCALED] * 5], id="a status ever again"),
    ],
)
def test_pod_leaves_by_the_scale_once_it_may_and_is_marked(
    answers: list[EvictionResponse | None], calls: list[str]
) -> None:
    surges = Api({WEB: web(replicas=2, managers=(BY_JOB,))}).surges()
    assert scaled_back(surges, *answers) == (answers[-1], calls)


def test_workload_that_somebody_else_has_scaled_is_not_scaled_back() -> None:
    surges = Api({WEB: web(replicas=2, managers=(BY_OTHERS,))}).surges()
    assert scaled_back(surges, CREATED, OK) == (None, [TRIED, MARKED])


@pytest.mark.parametrize(
    ("found", "has_set", "is_taken_back"),
    [
        pytest.param(marked(BY_JOB), False, True, id="by the job"),
        pytest.param(marked(BY_JOB, BY_OTHERS), True, False, id="by the job and others"),
        pytest.param(marked(BY_OTHERS), True, False, id="by others"),
        pytest.param(marked(), True, True, id="by this run, as far as is known"),
        pytest.param(marked(), False, False, id="by nobody knows whom"),
        pytest.param(marked(BY_JOB, cost="0"), True, False, id="with another cost"),
        pytest.param(marked(cost=None), True, False, id="not at all"),
        pytest.param(marked(BY_JOB, uid="new"), True, False, id="on a successor"),
        pytest.param(None, True, False, id="on a pod that is gone"),
    ],
)
def test_mark_of_the_pod_is_taken_back_if_it_is_that_of_the_job(
    found: Object | None, *, has_set: bool, is_taken_back: bool
) -> None:
    api = Api({POD_PATH: found})
    surges = api.surges()
    if has_set:
        scaled_back(surges, CREATED, no_disruption())

    surges.take_back(job())

    unmarked = {"metadata": {"uid": "old", "annotations": {DELETION_COST_ANNOTATION: None}}}
    assert api.patches == ([(POD_PATH, unmarked, None)] if is_taken_back else [])


@pytest.mark.parametrize("facts", [{"pod_namespace": "a/b"}, {"pod_name": "../x"}])
def test_pod_that_can_have_no_such_name_has_no_mark(facts: Object) -> None:
    api = Api({WEB: None})
    api.surges().take_back(job(**facts))
    assert not [path for path in api.looks if "/pods/" in path]
