"""Quotas decide whether a replacement is created at all, and when."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from descheduler.placement.landings.landing import LandingVerdict
from descheduler.placement.prover import LandingProver
from descheduler.placement.replacements.replacement import ReplacementMaker
from tests.builders import Object, pod_object
from tests.placement.workloads import cluster_of, pod_named, workload_object


def quota(*, hard: str, used: str, of: str = "requests.cpu", scopes: Sequence[str] = ()) -> Object:
    """A quota, of CPU unless it is told of what."""
    return {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "team", "namespace": "default"},
        "spec": {"scopes": list(scopes)},
        "status": {"hard": {of: hard}, "used": {of: used}},
    }


def limit_range(**limits: object) -> Object:
    """A LimitRange of one item, by default about containers."""
    metadata = {"name": "bounds", "namespace": "default"}
    spec = {"limits": [{"type": "Container", **limits}]}
    return {"apiVersion": "v1", "kind": "LimitRange", "metadata": metadata, "spec": spec}


def barred(*objects: Object, template: Object | None = None, **facts: Any) -> str:
    """Why no replacement of a pod of a ReplicaSet with `template` is created; the pod itself has `facts`."""
    pod = pod_object("victim", **facts)
    snapshot = cluster_of(pod, workload_object("ReplicaSet/web", template=template or pod), *objects)
    return ReplacementMaker(snapshot).replacement_of(pod_named(snapshot, "victim")).barred


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


EXCEEDED = "ResourceQuota team is exceeded by the replacement pod, even without this pod"


@pytest.mark.parametrize("prefix", ["", "requests."])
@pytest.mark.parametrize("resource", ["ephemeral-storage", "hugepages-2Mi"])
def test_quota_counts_what_it_names_with_or_without_a_prefix(resource: str, prefix: str) -> None:
    larger = pod_object("t", requests={resource: "4Mi"})
    full = quota(hard="2Mi", used="2Mi", of=f"{prefix}{resource}")

    assert barred(full, template=larger, requests={resource: "2Mi"}) == EXCEEDED


def test_quota_counts_the_limits_of_init_containers() -> None:
    template = pod_object("t", spec={"initContainers": [{"name": "i", "image": "i", "resources": {"limits": BIG}}]})

    assert barred(quota(hard="1", used="1", of="limits.cpu"), template=template, limits={"cpu": "1"}) == EXCEEDED


BIG = {"cpu": "2"}
TERM = {"topologyKey": "zone", "labelSelector": {}}


@pytest.mark.parametrize(
    ("term", "expected"),
    [
        pytest.param({"namespaces": ["other"]}, EXCEEDED, id="names a namespace"),
        pytest.param({"namespaceSelector": {}}, EXCEEDED, id="selects namespaces"),
        pytest.param({}, "", id="is about its own namespace"),
    ],
)
def test_quota_on_affinity_across_namespaces_covers_pods_that_have_some(term: Object, expected: str) -> None:
    preferred = [{"weight": 1, "podAffinityTerm": {**TERM, **term}}]
    affinity = {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred}}
    full = quota(hard="0", used="1", of="pods", scopes=["CrossNamespacePodAffinity"])

    assert barred(full, affinity=affinity) == expected


RATIO = "LimitRange bounds does not admit the replacement pod: the limit of cpu is too far above its request "
RATIO += "(maxLimitRequestRatio)"


@pytest.mark.parametrize("kind", ["Container", "Pod"])
@pytest.mark.parametrize(
    ("resources", "expected"),
    [
        pytest.param({"cpu": "1", "limits": {"cpu": "1500m"}}, "", id="at the ratio"),
        pytest.param({"cpu": "1", "limits": {"cpu": "1501m"}}, RATIO, id="above the ratio"),
        pytest.param({"cpu": "1"}, RATIO, id="without a limit"),
    ],
)
def test_limit_range_bounds_limits_by_requests(kind: str, resources: dict[str, Any], expected: str) -> None:
    assert barred(limit_range(type=kind, maxLimitRequestRatio={"cpu": "1.5"}), **resources) == expected


BELOW, ABOVE = (
    f"LimitRange bounds does not admit the replacement pod: cpu is {which}"
    for which in ("below the minimum", "above the maximum")
)


@pytest.mark.parametrize("kind", ["Container", "Pod"])
@pytest.mark.parametrize(
    ("resources", "expected"),
    [
        pytest.param({"cpu": "1", "limits": {"cpu": "2"}}, "", id="both bounds"),
        pytest.param({"cpu": "2", "limits": {"cpu": "2"}}, "", id="a request at the maximum"),
        pytest.param({"cpu": "999m", "limits": {"cpu": "2"}}, BELOW, id="a request below the minimum"),
        pytest.param({"limits": {"cpu": "500m"}}, BELOW, id="a limit below the minimum"),
        pytest.param({}, BELOW, id="no request"),
        pytest.param({"cpu": "1", "limits": {"cpu": "2001m"}}, ABOVE, id="a limit above the maximum"),
        pytest.param({"cpu": "2"}, ABOVE, id="no limit"),
    ],
)
def test_limit_range_bounds_requests_from_below_and_limits_from_above(
    kind: str, resources: dict[str, Any], expected: str
) -> None:
    assert barred(limit_range(type=kind, min={"cpu": "1"}, max={"cpu": "2"}), **resources) == expected


def test_limit_range_on_containers_looks_at_each_and_one_on_pods_at_all() -> None:
    two: dict[str, Any] = {"images": ["app:1", "mesh:1"], "cpu": "1", "limits": {"cpu": "1"}}

    assert barred(limit_range(min={"cpu": "1"}), **two) == BELOW
    assert barred(limit_range(type="Pod", min={"cpu": "1"}), **two) == ""


@pytest.mark.parametrize("of", ["requests.cpu", "cpu", "limits.cpu"])
def test_quota_admits_no_container_without_what_it_counts(of: str) -> None:
    which = "limits" if of == "limits.cpu" else "requests"
    room = quota(hard="9", used="0", of=of)

    assert barred(room) == f"ResourceQuota team admits no container without cpu {which}"
    assert barred(room, cpu="1", limits={"cpu": "1"}) == ""
    assert barred(room, images=["app:1", "mesh:1"], cpu="1", limits={"cpu": "1"}) != ""


def test_quota_on_other_things_demands_nothing_of_containers() -> None:
    assert barred(quota(hard="9", used="0", of="pods")) == ""
    assert barred(quota(hard="9Gi", used="0", of="requests.ephemeral-storage")) == ""


def test_pod_that_states_its_requests_as_a_whole_needs_none_of_its_containers() -> None:
    assert barred(quota(hard="9", used="0"), spec={"resources": {"requests": {"cpu": "1"}}}) == ""


@pytest.mark.parametrize(
    ("used", "cpu", "expected"),
    [
        pytest.param("1", "1", "", id="as much as the predecessor gives back"),
        pytest.param("1", "1001m", EXCEEDED, id="more than that"),
        pytest.param("500m", "1500m", "", id="what is left beside it"),
    ],
)
def test_quota_has_room_for_what_the_predecessor_gives_back_and_what_is_left(
    used: str, cpu: str, expected: str
) -> None:
    assert barred(quota(hard="1", used=used), template=pod_object("t", cpu=cpu), cpu="1") == expected


@pytest.mark.parametrize(
    ("classes", "named", "expected"),
    [
        pytest.param(["high"], "high", "", id="it exists"),
        pytest.param(
            ["high"], "gone", "PriorityClass gone of the replacement pod does not exist", id="it does not exist"
        ),
        pytest.param(["high"], "", "", id="none is named"),
        pytest.param([], "gone", "", id="classes were not read"),
    ],
)
def test_priority_class_of_the_template_has_to_exist(classes: list[str], named: str, expected: str) -> None:
    objects: list[Object] = [
        {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}, "value": 1}
        for name in classes
    ]

    assert barred(*objects, template=pod_object("t", spec={"priorityClassName": named})) == expected


@pytest.mark.parametrize(("hard", "notes"), [("2", [True, True]), ("3", [False, True]), ("4", [False, False])])
def test_replacements_that_come_together_share_what_is_left_of_a_quota(hard: str, notes: list[bool]) -> None:
    pods = [pod_object(name) for name in ("first", "second")]
    room = quota(hard=hard, used="2", of="pods")
    snapshot = cluster_of(*pods, workload_object("ReplicaSet/web", replicas=2), room)
    first, second = (pod_named(snapshot, name) for name in ("first", "second"))
    maker = ReplacementMaker(snapshot)

    made = [maker.replacement_of(first), maker.replacement_of(second, gone=[first])]

    assert [any("has no room" in note for note in each.notes) for each in made] == notes
