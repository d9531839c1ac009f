"""Pods are placed without the labels that only tell siblings apart, unless something selects by them."""

from __future__ import annotations

from descheduler.placement.shadow.placement_class import PlacementForms
from tests.builders import make_pod, make_snapshot, required_anti_affinity


def test_siblings_of_a_stateful_set_share_their_labels() -> None:
    pods = [make_pod(f"db-{i}", labels={"app": "db", "apps.kubernetes.io/pod-index": str(i)}) for i in range(2)]
    forms = PlacementForms(make_snapshot([], pods))

    first, second = (forms.form_of(pod).labels for pod in pods)

    assert first == {"app": "db"}
    assert first is second


def test_label_that_a_selector_reads_stays() -> None:
    pods = [
        make_pod("db-0", labels={"apps.kubernetes.io/pod-index": "0"}),
        make_pod("guard", affinity=required_anti_affinity({"apps.kubernetes.io/pod-index": "0"})),
    ]
    forms = PlacementForms(make_snapshot([], pods))

    assert forms.form_of(pods[0]) is pods[0]


def test_other_pods_are_their_own_form() -> None:
    pod = make_pod("web", labels={"app": "web"})

    assert PlacementForms(make_snapshot([], [pod])).form_of(pod) is pod
