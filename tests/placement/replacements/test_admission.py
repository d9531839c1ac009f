"""Quotas decide whether a replacement is created at all, and when."""

from __future__ import annotations

from descheduler.placement.landings.landing import LandingVerdict
from descheduler.placement.prover import LandingProver
from descheduler.placement.replacements.replacement import ReplacementMaker
from tests.builders import Object, pod_object
from tests.placement.workloads import cluster_of, pod_named, workload_object


def quota(*, hard: str, used: str) -> Object:
    """A quota of CPU."""
    return {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "team", "namespace": "default"},
        "status": {"hard": {"requests.cpu": hard}, "used": {"requests.cpu": used}},
    }


def test_quota_that_the_victim_fills_has_room_again_when_it_is_gone() -> None:
    snapshot = cluster_of(
        pod_object("victim", cpu="200m"), workload_object("ReplicaSet/web"), quota(hard="1", used="1")
    )

    made = ReplacementMaker(snapshot).replacement_of(pod_named(snapshot, "victim"))

    assert made.barred == ""
    assert made.notes[-1] == "ResourceQuota team has no room for the replacement pod until this pod is gone"


def test_quota_that_was_lowered_below_what_is_used_bars_every_replacement() -> None:
    snapshot = cluster_of(
        pod_object("victim", cpu="200m"), workload_object("ReplicaSet/web"), quota(hard="1", used="2")
    )

    made = ReplacementMaker(snapshot).replacement_of(pod_named(snapshot, "victim"))

    assert made.barred == "ResourceQuota team is exceeded by the replacement pod, even without this pod"
    assert made.notes == ()


def test_barred_replacement_does_not_land() -> None:
    """It asks for more than its predecessor gives back."""
    snapshot = cluster_of(
        pod_object("victim", cpu="200m"),
        workload_object("ReplicaSet/web", template=pod_object("t", cpu="400m")),
        quota(hard="1", used="900m"),
    )

    landing = LandingProver(snapshot).consider(pod_named(snapshot, "victim"))

    assert (landing.verdict, landing.message) == (
        LandingVerdict.NO,
        "ResourceQuota team is exceeded by the replacement pod, even without this pod",
    )
