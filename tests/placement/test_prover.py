"""Where one replacement lands on top of everything that is booked, by both clocks."""

from __future__ import annotations

import pytest

from descheduler.model.kube_version import KubeVersion
from descheduler.placement.landings.landing import LandingVerdict
from descheduler.placement.prover import LandingProver
from tests.builders import (
    make_node,
    make_pod,
    make_snapshot,
    node_object,
    pod_object,
    preferred_node_affinity,
    required_anti_affinity,
)
from tests.placement.clusters import ZONE
from tests.placement.considered import LANDS, LANDS_IF, NO, consider
from tests.placement.workloads import cluster_of, pod_named, workload_object


def test_replacement_lands_on_the_emptier_of_two_nodes() -> None:
    snapshot = make_snapshot(
        [make_node("a"), make_node("b"), make_node("c")],
        [make_pod("victim", node="a", cpu="1"), make_pod("other", node="b", cpu="2")],
    )

    landing = consider(snapshot)

    assert (landing.verdict, landing.cold) == (LANDS, LANDS)
    assert (landing.node, landing.ties, landing.returns_to_source) == ("a", ("a", "c"), False)
    assert landing.margin is not None
    assert landing.margin > 0


def test_refusal_names_every_reason_with_its_number_of_nodes() -> None:
    snapshot = make_snapshot(
        [
            make_node("a", unschedulable=True),
            make_node("b", cpu="500m"),
            make_node("c", cpu="500m", taints=["pool=gpu:NoSchedule"]),
        ],
        [make_pod("victim", node="a", cpu="1")],
    )

    landing = consider(snapshot)

    assert landing.verdict is NO
    assert dict(landing.obstacles) == {
        "Insufficient cpu": 2,
        "node(s) had untolerated taint(s)": 1,
        "node(s) were unschedulable": 1,
    }
    assert landing.message == (
        "0/3 nodes are available for the replacement pod: 2 insufficient cpu, 1 untolerated taint, 1 unschedulable"
    )


def test_consider_leaves_no_trace() -> None:
    snapshot = make_snapshot([make_node("a"), make_node("b")], [make_pod("victim", cpu="1")])
    prover = LandingProver(snapshot)
    prover.consider(snapshot.pods[0])
    before = prover.cluster.digest()

    prover.consider(snapshot.pods[0])

    assert prover.cluster.digest() == before


def test_one_free_slot_takes_one_replacement_only() -> None:
    snapshot = make_snapshot(
        [make_node("a", unschedulable=True), make_node("b", pods="1")], [make_pod("one"), make_pod("two")]
    )
    prover = LandingProver(snapshot)

    landings = [prover.book(pod) for pod in snapshot.pods]

    assert [landing.verdict for landing in landings] == [LANDS, NO]


def test_room_of_a_booked_victim_is_free() -> None:
    snapshot = make_snapshot(
        [make_node("a", cpu="2"), make_node("b", cpu="4"), make_node("c", cpu="1", unschedulable=True)],
        [
            make_pod("big", node="a", cpu="2", owners=["ReplicaSet/big"]),
            make_pod(
                "small", node="c", cpu="1", owners=["ReplicaSet/small"], node_selector={"kubernetes.io/hostname": "a"}
            ),
        ],
    )
    prover = LandingProver(snapshot)
    small = pod_named(snapshot, "small")

    before = prover.consider(small)
    prover.book(pod_named(snapshot, "big"))
    after = prover.consider(small)

    assert (before.verdict, after.verdict, after.node) == (NO, LANDS, "a")


def test_pod_that_was_booked_cannot_be_evicted_again() -> None:
    snapshot = make_snapshot([make_node("a")], [make_pod("victim")])
    prover = LandingProver(snapshot)
    prover.book(snapshot.pods[0])
    digest = prover.cluster.digest()

    landing = prover.book(snapshot.pods[0])

    assert (landing.verdict, landing.message) == (NO, "it is already evicted")
    assert prover.cluster.digest() == digest


def test_anti_affinity_of_three_replicas_on_three_nodes_lands_on_the_source_once_the_victim_is_gone() -> None:
    """No node while it ends, exactly the one that it leaves afterwards: it lands, to no use."""
    affinity = required_anti_affinity({"app": "web"})
    names = ("a", "b", "c")
    pods = [make_pod(f"web-{n}", node=n, labels={"app": "web"}, affinity=affinity) for n in names]
    snapshot = make_snapshot([make_node(n) for n in names], pods)

    landing = consider(snapshot, "web-b")

    assert (landing.cold, landing.verdict) == (NO, LANDS)
    assert (landing.node, landing.ties, landing.returns_to_source) == ("b", ("b",), True)


def test_pod_of_a_stateful_set_is_only_judged_settled() -> None:
    snapshot = cluster_of(
        pod_object("db-0", cpu="3", owners=["StatefulSet/db"]),
        workload_object("StatefulSet/db", template=pod_object("t", cpu="3")),
        nodes=["a"],
    )

    landing = consider(snapshot, "db-0")

    assert (landing.cold, landing.verdict) == (LANDS, LANDS)


def test_pod_of_a_replica_set_waits_for_the_room_of_its_victim() -> None:
    snapshot = make_snapshot([make_node("a")], [make_pod("victim", cpu="3")])

    landing = consider(snapshot)

    assert (landing.cold, landing.verdict) == (NO, LANDS)


def test_replacement_waits_for_a_victim_that_keeps_it_out_of_the_whole_zone() -> None:
    """The template no longer says so, but the victim does as long as it is there."""
    app, repelling = {"app": "web"}, required_anti_affinity({"app": "web"}, key=ZONE)
    template = pod_object("t", labels=app, affinity=preferred_node_affinity((ZONE, "east", 1)))
    snapshot = cluster_of(
        pod_object("web-1", node="a", labels=app, affinity=repelling, owners=["ReplicaSet/web"]),
        workload_object("ReplicaSet/web", template=template),
        *(node_object(name, labels={ZONE: "east"}) for name in ("a", "b")),
    )

    landing = consider(snapshot, "web-1")

    assert (landing.cold, landing.verdict) == (NO, LANDS)
    assert landing.ties == ("a", "b")


def test_template_decides_and_not_the_running_pod() -> None:
    snapshot = cluster_of(
        pod_object("victim", cpu="1"),
        workload_object("ReplicaSet/web", template=pod_object("t", cpu="5")),
    )

    assert consider(snapshot).verdict is NO


def test_gated_template_never_lands() -> None:
    template = pod_object("t", spec={"schedulingGates": [{"name": "quota"}]})

    landing = consider(cluster_of(pod_object("victim"), workload_object("ReplicaSet/web", template=template)))

    assert (landing.verdict, landing.message) == (
        NO,
        "the scheduler rejects the replacement pod: waiting for scheduling gates: [quota]",
    )


@pytest.mark.parametrize(
    ("facts", "verdict"),
    [
        pytest.param({"owners": []}, LANDS, id="bare pod leaves nothing to land"),
        pytest.param({"owners": ["Node/a"]}, NO, id="static pod does not move"),
    ],
)
def test_pod_without_replacement(facts: dict[str, object], verdict: LandingVerdict) -> None:
    landing = consider(make_snapshot([make_node("a")], [make_pod("victim", **facts)]))

    assert (landing.verdict, landing.node, landing.replacement.pod) == (verdict, None, None)


def test_unmovable_pod_stays_where_it_is_when_booked() -> None:
    snapshot = make_snapshot([make_node("a")], [make_pod("static", cpu="1", owners=["Node/a"])])
    prover = LandingProver(snapshot)
    before = prover.cluster.digest()

    prover.book(snapshot.pods[0])

    assert prover.cluster.digest() == before


def test_pods_on_nodes_that_were_not_read_are_flagged() -> None:
    snapshot = make_snapshot([make_node("a")], [make_pod("ghost", node="gone")])

    prover = LandingProver(snapshot)

    assert prover.warnings == ("1 pod is on nodes that are not in the snapshot; only its claims are counted",)


def test_victim_on_a_node_that_was_not_read_lands_elsewhere() -> None:
    landing = consider(make_snapshot([make_node("a")], [make_pod("victim", node="gone")]))

    assert (landing.verdict, landing.node) == (LANDS, "a")


def test_volume_that_another_pod_keeps_attached_makes_a_condition() -> None:
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data", "namespace": "default", "annotations": {"pv.kubernetes.io/bind-completed": "yes"}},
        "spec": {"volumeName": "pv", "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
        "status": {"phase": "Bound"},
    }
    volume = {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": "pv"},
        "spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"]},
    }
    snapshot = cluster_of(
        node_object("a", unschedulable=True),
        node_object("b"),
        pod_object("victim", claims=["data"]),
        pod_object("keeper", claims=["data"], owners=["ReplicaSet/other"]),
        claim,
        volume,
    )

    landing = consider(snapshot)

    assert (landing.verdict, landing.node) == (LANDS_IF, "b")
    assert landing.conditions == ("volume of claim default/data is attached to one node at a time and is in use on a",)


def test_label_that_some_selector_reads_keeps_siblings_apart() -> None:
    affinity = required_anti_affinity({"apps.kubernetes.io/pod-index": "0"})
    pods = [
        make_pod("db-0", labels={"apps.kubernetes.io/pod-index": "0"}, owners=["StatefulSet/db"]),
        make_pod("guard", node="b", affinity=affinity, owners=["ReplicaSet/guard"]),
    ]
    snapshot = make_snapshot([make_node("a", unschedulable=True), make_node("b")], pods)

    assert consider(snapshot, "db-0").verdict is NO


def test_scheduler_of_an_older_release_is_assumed_where_the_version_says_so() -> None:
    snapshot = make_snapshot([make_node("a")], [make_pod("victim")])

    prover = LandingProver(snapshot, version=KubeVersion(1, 33))

    assert prover.consider(snapshot.pods[0]).verdict is LANDS


def test_booking_what_was_asked_about_is_the_same_as_booking_it_at_once() -> None:
    nodes = [make_node("a", cpu="3"), make_node("b", cpu="1"), make_node("c", cpu="1")]
    victims = [make_pod(f"web-{index}", node="a", cpu="600m", labels={"app": "web"}) for index in range(4)]
    waiting = make_pod("waiting", node="", cpu="900m", priority=5)
    asked, blind = (LandingProver(make_snapshot(nodes, [*victims, waiting])) for _ in range(2))

    answers = []
    for victim in victims:
        asked.consider(victim)
        answers.append((asked.book(victim), blind.book(victim)))

    assert all(one.verdict is other.verdict and one.node == other.node for one, other in answers)
    assert asked.cluster.digest() == blind.cluster.digest()
