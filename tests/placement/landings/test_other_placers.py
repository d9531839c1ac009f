"""Pods that Kueue or KAI place: nobody can tell where, and the answer says what to do."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.placement.landings.landing import LandingVerdict
from descheduler.placement.prover import LandingProver
from tests.builders import make_node, make_pod, make_snapshot

KUEUE = "Kueue places the pod by topology (topology-aware scheduling), which is not modelled"
KAI = "the KAI scheduler places the pod, which is not modelled"
NODES = [make_node("a", unschedulable=True), make_node("b"), make_node("c")]


@pytest.mark.parametrize(
    ("facts", "cause"),
    [
        pytest.param({"annotations": {"kueue.x-k8s.io/podset-required-topology": "rack"}}, KUEUE, id="required"),
        pytest.param({"annotations": {"kueue.x-k8s.io/podset-preferred-topology": "rack"}}, KUEUE, id="preferred"),
        pytest.param({"annotations": {"kueue.x-k8s.io/podset-unconstrained-topology": "true"}}, KUEUE, id="any"),
        pytest.param({"annotations": {"kueue.x-k8s.io/podset-slice-required-topology": "rack"}}, KUEUE, id="slice"),
        pytest.param({"spec": {"schedulingGates": [{"name": "kueue.x-k8s.io/topology"}]}}, KUEUE, id="gate"),
        pytest.param({"labels": {"kueue.x-k8s.io/tas": "true"}}, KUEUE, id="label"),
        pytest.param({"scheduler": "kai-scheduler"}, KAI, id="KAI's scheduler"),
        pytest.param({"scheduler": "gpu", "annotations": {"kai.scheduler/topology": "x"}}, KAI, id="KAI's annotation"),
    ],
)
@pytest.mark.parametrize("cpu", [pytest.param("1", id="that fits"), pytest.param("64", id="that is too large")])
def test_pod_of_another_placer_is_unknown_with_the_way_out(facts: dict[str, Any], cause: str, cpu: str) -> None:
    pod = make_pod("web", cpu=cpu, **facts)

    landing = LandingProver(make_snapshot(NODES, [pod])).book(pod)

    assert (landing.verdict, landing.cause) == (LandingVerdict.UNKNOWN, cause)
    assert landing.message == (
        f"{cause}; to leave such pods out, use labelSelector of DefaultEvictor; to evict them all the same, set"
        " onUnknown: allow of PlacementVerification"
    )


@pytest.mark.parametrize(
    "facts",
    [
        pytest.param({}, id="no annotation"),
        pytest.param({"annotations": {"kueue.x-k8s.io/workload": "w"}}, id="Kueue without topology"),
        pytest.param({"annotations": {"kai.scheduler/topology": "x"}}, id="KAI's annotation under kube-scheduler"),
    ],
)
def test_other_pods_land(facts: dict[str, Any]) -> None:
    pod = make_pod("web", **facts)

    landing = LandingProver(make_snapshot(NODES, [pod])).book(pod)

    assert landing.verdict is LandingVerdict.LANDS
