"""Surges on the wire: what is scaled for a pod, what blocks it, and that only the job's own number is taken back."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from descheduler.migration.job.seen import UNSEEN, Scale
from descheduler.migration.job.surge import Surge
from descheduler.model.koordinator.eviction_annotations import DELETION_COST_ANNOTATION
from descheduler.model.pod import Pod
from descheduler.transport.errors import ExchangeError
from tests.builders import owner
from tests.migration.job.surged import (
    APPS,
    BY_JOB,
    BY_OTHERS,
    PLANNED,
    REPLICA_SET,
    REQUIRED,
    WEB,
    Api,
    Object,
    autoscaler,
    job,
    pod,
    replica_set,
    web,
    workload,
)


def test_deployment_of_the_pod_is_scaled() -> None:
    assert Api().surges().plan(REQUIRED, pod()) == PLANNED
    assert Api().surges().plan(Surge(), pod()) == replace(PLANNED, is_required=False)


@pytest.mark.parametrize("owners", [[], [owner("Deployment/web", controller=False)]], ids=["no owner", "no controller"])
def test_replica_set_that_nothing_controls_is_scaled_itself(owners: list[Object]) -> None:
    api = Api({REPLICA_SET: replica_set(*owners)})

    assert api.surges().plan(REQUIRED, pod()) == Surge(True, "ReplicaSet", "web-1", "r")


@pytest.mark.parametrize(
    ("objects", "why"),
    [
        pytest.param({REPLICA_SET: None}, "ReplicaSet web-1 does not exist any more", id="the ReplicaSet is gone"),
        pytest.param({WEB: None}, "Deployment web does not exist any more", id="the Deployment is gone"),
        pytest.param({REPLICA_SET: replica_set(owner("Shop/web"))}, "is managed by Shop web", id="another controller"),
        pytest.param({WEB: web(spec={"paused": True})}, "is paused", id="a pause"),
    ],
)
def test_what_is_not_scaled_says_why(objects: dict[str, Object | None], why: str) -> None:
    planned = Api(objects).surges().plan(REQUIRED, pod())

    assert not planned.is_planned
    assert planned.is_required
    assert why in planned.declined


@pytest.mark.parametrize(
    ("facts", "why"),
    [
        pytest.param({"owners": []}, "its owner is not a ReplicaSet", id="a bare pod"),
        pytest.param({"owners": ["StatefulSet/web-1"]}, "its owner is not a ReplicaSet", id="another kind"),
        pytest.param({"owners": [owner("ReplicaSet/web-1", group="x/v1")]}, "not a ReplicaSet", id="another group"),
        pytest.param({"claims": ["data"]}, "has PersistentVolumeClaims", id="a claim"),
        pytest.param({"annotations": {DELETION_COST_ANNOTATION: "5"}}, "has a deletion cost of its own", id="a cost"),
        pytest.param(
            {"volumes": [{"name": "v", "ephemeral": {"volumeClaimTemplate": {"spec": {}}}}]},
            "has PersistentVolumeClaims",
            id="an ephemeral volume",
        ),
    ],
)
def test_workload_of_such_a_pod_is_not_scaled(facts: dict[str, Any], why: str) -> None:
    planned = Api().surges().plan(REQUIRED, pod(**facts))

    assert not planned.is_planned
    assert why in planned.declined


UNSETTLED: Object = {"status": {"availableReplicas": 1}}


@pytest.mark.parametrize(
    ("surge", "facts", "is_required"),
    [
        pytest.param(REQUIRED, {"replicas": 2, "managers": ("descheduler-surge-x",)}, True, id="surged by another job"),
        pytest.param(REQUIRED, {"replicas": 2, **UNSETTLED}, True, id="scaled a moment ago"),
        pytest.param(REQUIRED, {"replicas": 2, "managers": (BY_OTHERS,)}, False, id="two pods"),
        pytest.param(REQUIRED, {"replicas": 3, **UNSETTLED}, False, id="three pods that are not all available"),
        pytest.param(REQUIRED, {"replicas": 0}, False, id="no pod"),
        pytest.param(Surge(), {"replicas": 2, **UNSETTLED}, False, id="two pods, and no surge required"),
    ],
)
def test_pod_with_others_beside_it_may_leave_unless_these_are_of_a_surge(
    surge: Surge, facts: Object, *, is_required: bool
) -> None:
    planned = Api({WEB: web(**facts)}).surges().plan(surge, pod())

    assert (planned.is_planned, planned.is_required) == (False, is_required)
    assert f"has {facts['replicas']} replicas" in planned.declined


@pytest.mark.parametrize(
    ("autoscalers", "is_scaled"),
    [
        pytest.param([autoscaler("Deployment", "web")], False, id="its own"),
        pytest.param([autoscaler("Deployment", "api"), autoscaler("Deployment", "web")], False, id="one of two"),
        pytest.param([autoscaler("Deployment", "api")], True, id="that of another one"),
        pytest.param([autoscaler("StatefulSet", "web")], True, id="that of another kind"),
        pytest.param(None, True, id="the cluster has no such kind"),
    ],
)
def test_autoscaler_of_the_workload_blocks_a_surge(autoscalers: list[Object] | None, *, is_scaled: bool) -> None:
    api = Api()
    api.autoscalers = autoscalers

    planned = api.surges().plan(REQUIRED, pod())

    assert planned.is_planned is is_scaled
    told = "" if is_scaled else "HorizontalPodAutoscaler busy sets the replicas of Deployment shop/web"
    assert planned.declined == told


@pytest.mark.parametrize("surge", [None, Surge(), Surge(declined="why")])
def test_job_without_a_planned_surge_looks_at_no_workload_and_takes_nothing_back(surge: Surge | None) -> None:
    api = Api({WEB: web(replicas=2, managers=(BY_JOB,))})

    assert api.surges().look(job(surge), pod()) == UNSEEN
    api.surges().raise_replicas(job(surge))
    api.surges().lower_replicas(job(surge))
    api.surges().take_back(job(surge))
    assert (api.looks, api.patches) == ([], [])


@pytest.mark.parametrize("facts", [{"pod_namespace": "../x"}, {"annotations": {}}], ids=["a path", "a user's job"])
def test_what_somebody_writes_into_a_job_leads_to_no_other_object(facts: Object) -> None:
    api = Api({WEB: web(replicas=2, managers=(BY_JOB,))})
    api.surges().lower_replicas(job(**facts))
    api.surges().raise_replicas(job(replace(PLANNED, name="../../nodes/n1")))
    assert (api.looks, api.patches) == ([], [])


ELSEWHERE = pod(owners=["ReplicaSet/api-1"])


@pytest.mark.parametrize(
    ("objects", "is_surged", "of", "seen"),
    [
        pytest.param({}, False, pod(), Scale(1, is_available=True), id="as it was planned"),
        pytest.param({}, False, None, Scale(1, is_available=True), id="the pod is gone"),
        pytest.param(
            {WEB: None}, False, pod(), Scale(obstacle="Deployment web does not exist any more"), id="it is gone"
        ),
        pytest.param(
            {WEB: web(metadata={"uid": "x"})},
            False,
            pod(),
            Scale(obstacle="Deployment web does not exist any more"),
            id="another one has its name",
        ),
        pytest.param({WEB: web(replicas=2, managers=(BY_JOB,))}, False, pod(), Scale(2, True, True), id="raised"),
        pytest.param(
            {WEB: web(replicas=2, managers=(BY_JOB,), **UNSETTLED)}, True, pod(), Scale(2, True), id="not available yet"
        ),
        pytest.param(
            {WEB: web(replicas=2, managers=(BY_OTHERS,))}, True, pod(), Scale(2, False, True), id="raised by others"
        ),
        pytest.param(
            {WEB: web(replicas=2, managers=(BY_JOB, BY_OTHERS))},
            False,
            pod(),
            Scale(2, False, True, "Deployment shop/web has 2 replicas"),
            id="raised by the job and by others",
        ),
        pytest.param(
            {},
            False,
            ELSEWHERE,
            Scale(1, False, True, "Deployment shop/web is not the workload of pod shop/web-0"),
            id="that of another pod",
        ),
        pytest.param({}, True, ELSEWHERE, Scale(1, False, True), id="that of another pod, scaled before"),
    ],
)
def test_look_tells_what_has_become_of_the_workload(
    objects: dict[str, Object | None], of: Pod | None, seen: Scale, *, is_surged: bool
) -> None:
    api = Api(objects)
    api.objects[f"{APPS}/replicasets/api-1"] = workload("ReplicaSet", "api-1", "x")

    assert api.surges().look(job(is_surged=is_surged), of) == seen


def test_replicas_are_raised_and_lowered_in_the_version_that_was_looked_at() -> None:
    api = Api()
    api.surges().raise_replicas(job())
    api.objects[WEB] = web(replicas=2, managers=(BY_JOB,))
    api.surges().lower_replicas(job())

    metadata = {"uid": "w", "resourceVersion": "7"}
    assert api.patches == [
        (f"{WEB}/scale", {"metadata": metadata, "spec": {"replicas": 2}}, {"fieldManager": BY_JOB}),
        (f"{WEB}/scale", {"metadata": metadata, "spec": {"replicas": 1}}, {"fieldManager": "descheduler"}),
    ]


@pytest.mark.parametrize("found", [None, web(replicas=2), web(spec={"paused": True})], ids=["gone", "two", "paused"])
def test_replicas_of_a_workload_that_has_changed_are_not_raised(found: Object | None) -> None:
    api = Api({WEB: found})
    api.surges().raise_replicas(job())
    assert api.patches == []


def test_replicas_that_somebody_else_has_set_are_not_lowered() -> None:
    api = Api({WEB: web(replicas=2, managers=(BY_JOB,))})
    api.before_patch = [lambda: api.objects.update({WEB: web(replicas=2, managers=(BY_OTHERS,))})]
    api.surges().lower_replicas(job())
    assert len(api.patches) == 1


def test_workload_that_cannot_be_scaled_back_is_named() -> None:
    """It is scaled up for the job, and changes whenever somebody wants to write it."""
    api = Api({WEB: web(replicas=2, managers=(BY_JOB,))})
    api.before_patch = [lambda: None] * 100

    with pytest.raises(ExchangeError, match="Deployment web keeps changing, and could not"):
        api.surges().lower_replicas(job())
