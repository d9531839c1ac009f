"""Pods that wait are asked about again only where a pod that leaves may open a node to them."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.model.pod import Pod
from descheduler.placement.framework.evaluation import PodEvaluation
from descheduler.placement.framework.scheduler import Scheduler
from descheduler.placement.prover import LandingProver
from descheduler.placement.shadow.shadow_cluster import Company
from tests.builders import Object, node_object, pod_object, required_anti_affinity
from tests.placement.clusters import HOSTNAME, ZONE
from tests.placement.plugins.reservation.worlds import koord_pod, nodes, prover_of, reservation_object
from tests.placement.workloads import cluster_of, pod_named

WAITS = {"app": "waits"}
FULL = [node_object("a", cpu="4", pods="3"), node_object("b", cpu="1")]


def leaving(**facts: Any) -> list[Object]:
    """The pod that leaves node a, which is full with it and another one."""
    return [
        pod_object("leaving", owners=["ReplicaSet/leaving"], **{"node": "a", "cpu": "2", **facts}),
        pod_object("stays", node="a", cpu="2", owners=["ReplicaSet/stays"]),
    ]


def waiting(**facts: Any) -> Object:
    """The pod that waits."""
    stated = {"cpu": "2", "labels": WAITS, **facts}
    return pod_object("waits", node="", phase="Pending", owners=["ReplicaSet/waits"], **stated)


@pytest.mark.parametrize(
    ("objects", "is_asked"),
    [
        pytest.param([*FULL, *leaving(), waiting()], True, id="just enough is free"),
        pytest.param([*FULL, *leaving(), waiting(cpu="2001m")], False, id="too little is free"),
        pytest.param([*FULL, *leaving(), waiting(memory="9999Gi")], False, id="too little of something else"),
        pytest.param([*FULL, *leaving(), waiting(node_selector={HOSTNAME: "b"})], False, id="it may not go there"),
        pytest.param(
            [node_object("a", cpu="9", pods="2"), *leaving(), waiting()], True, id="just one more pod has a seat"
        ),
        pytest.param([node_object("a", cpu="9", pods="1"), *leaving(), waiting()], False, id="no pod has a seat"),
        pytest.param(
            [*FULL, *leaving(node="b", affinity=required_anti_affinity(WAITS)), waiting(cpu="3")],
            True,
            id="the one that leaves keeps others off nodes",
        ),
        pytest.param(
            [*FULL, *leaving(), waiting(cpu="3", affinity=required_anti_affinity({"app": "x"}, key=ZONE))],
            True,
            id="it looks at pods of other nodes",
        ),
    ],
)
def test_pod_that_waits_is_asked_about_again_where_it_may_gain(
    objects: list[Object], is_asked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    prover = LandingProver(cluster_of(*objects))

    assert (WAITS["app"] in asked_for(prover, monkeypatch)) is is_asked


def reserved(cpu: str, *, uses: str = "", waits: str) -> list[Object]:
    """A node of 4 CPU with a Reservation and the pod that leaves, which may use it; the pod that waits may not."""
    owned: Any = {"owners": ["ReplicaSet/pods"]}
    return [
        *nodes(a="4"),
        reservation_object("r", node="a", cpu=cpu),
        koord_pod("leaving", uses=uses, node="a", requests={"cpu": "2"}, **owned),
        koord_pod("waits", app=WAITS["app"], requests={"cpu": waits}, **owned),
    ]


@pytest.mark.parametrize(
    ("objects", "is_asked"),
    [
        pytest.param(reserved("2", waits="2"), True, id="just enough is free beside it"),
        pytest.param(reserved("2", waits="3"), False, id="too little is free beside it"),
        pytest.param(reserved("4", uses="r", waits="3"), True, id="the pod that leaves has used it"),
    ],
)
def test_pod_that_waits_beside_a_reservation_is_asked_about_again_where_it_may_gain(
    objects: list[Object], is_asked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (WAITS["app"] in asked_for(prover_of(*objects), monkeypatch)) is is_asked


def asked_for(prover: LandingProver, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The apps of the pods that are asked about for the pod that leaves, once those that wait were tried in vain."""
    assert [pod.name for pod in prover.still_pending()] == ["waits"]
    asked, evaluate = [], Scheduler.evaluate

    def noted(self: Scheduler, pod: Pod, company: Company | None = None) -> PodEvaluation:
        asked.append(pod.labels.get("app", ""))
        return evaluate(self, pod, company)

    with monkeypatch.context() as patched:
        patched.setattr(Scheduler, "evaluate", noted)
        prover.consider(pod_named(prover.cluster.snapshot, "leaving"))
    return asked
