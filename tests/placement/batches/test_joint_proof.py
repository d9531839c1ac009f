"""Verdicts on whole batches: every order, some order, another assignment, or a proof that there is none."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from descheduler.placement.landings.landing import LandingVerdict
from descheduler.placement.prover import LandingProver
from tests.builders import make_node, make_pod, make_snapshot, node_object, pod_object
from tests.placement.batches.proofs import cordoned, prove, victim
from tests.placement.batches.small_batches import ZONE, make_instance, snapshot_of, victims_of
from tests.placement.workloads import cluster_of, workload_object

LANDS, LANDS_IF, LIKELY, NO, UNKNOWN = (
    LandingVerdict.LANDS,
    LandingVerdict.LANDS_IF,
    LandingVerdict.LIKELY,
    LandingVerdict.NO,
    LandingVerdict.UNKNOWN,
)


def test_two_slots_take_no_three_pods_although_each_fits_alone() -> None:
    nodes = [make_node("x", pods="1"), make_node("y", pods="1"), cordoned()]
    pods = [victim(name) for name in ("one", "two", "three")]
    prover = LandingProver(snapshot := make_snapshot(nodes, pods))

    alone = [prover.consider(pod).verdict for pod in snapshot.pods]
    together = prover.prove(snapshot.pods)

    assert alone == [LANDS, LANDS, LANDS]
    assert together.verdict is NO
    assert together.certificate == "3 replacement pods request 3 pods, and the eligible nodes have 2 free"
    assert not together.is_proven


def test_batch_that_lands_in_one_order_only_lands_if() -> None:
    nodes = [make_node("x", cpu="4"), make_node("y", cpu="2"), cordoned(cpu="10")]

    joint = prove(nodes, [victim("p1", cpu="2"), victim("p2", cpu="4")])

    assert joint.verdict is LANDS_IF
    assert [landing.node for landing in joint.landings] == ["y", "x"]
    assert joint.conditions == (
        "it can be scheduled only if the replacement pods are created in another order than the evictions",
    )


def test_batch_that_lands_in_the_order_of_evictions_but_not_in_all_lands_if() -> None:
    nodes = [make_node("x", cpu="4"), make_node("y", cpu="2"), cordoned(cpu="10")]

    joint = prove(nodes, [victim("p1", cpu="2"), victim("p2", cpu="4")], "p2", "p1")

    assert joint.verdict is LANDS_IF
    assert joint.conditions == ("in some orders or tie-breaks of the replacement pods, no node is left for it",)


def test_higher_priority_comes_first_in_every_order() -> None:
    nodes = [make_node("x", cpu="4"), make_node("y", cpu="2"), cordoned(cpu="10")]

    joint = prove(nodes, [victim("p1", cpu="2"), victim("p2", cpu="4", priority=10)])

    assert joint.verdict is LANDS


@pytest.mark.parametrize(
    ("priority", "verdict", "conditions"),
    [
        pytest.param(9, NO, (), id="a higher priority"),
        pytest.param(
            0, LANDS_IF, ("pending pod default/waiting may be scheduled there first",), id="the same priority"
        ),
    ],
)
def test_pending_pod_that_fits_only_the_hole_left_by_the_victim(
    priority: int, verdict: LandingVerdict, conditions: tuple[str, ...]
) -> None:
    nodes = [make_node("c", cpu="2")]
    waiting = make_pod("waiting", node="", cpu="2", priority=priority, owners=["ReplicaSet/waiting"])

    joint = prove(nodes, [victim("p1", cpu="2"), waiting], "p1")

    assert (joint.verdict, joint.conditions) == (verdict, conditions)


@pytest.mark.parametrize("nominated", ["", "b"], ids=["pending", "nominated"])
def test_batch_does_not_have_the_room_that_a_pending_pod_of_higher_priority_takes_at_once(nominated: str) -> None:
    nodes = [make_node("b", cpu="2"), cordoned(cpu="4")]
    waiting = make_pod("waiting", node="", cpu="2", priority=9, owners=["ReplicaSet/waiting"])
    waiting = msgspec.structs.replace(waiting, nominated_node_name=nominated)

    joint = prove(nodes, [victim("p1", cpu="2"), waiting], "p1")

    assert joint.verdict is NO


def test_batch_lands_if_a_pending_pod_of_higher_priority_takes_its_other_room() -> None:
    nodes = [make_node("large", cpu="4"), make_node("small", cpu="2"), cordoned(cpu="4")]
    waiting = make_pod("waiting", node="", cpu="2", priority=9, owners=["ReplicaSet/waiting"])

    joint = prove(nodes, [victim("p1", cpu="4"), waiting], "p1")

    assert joint.verdict is LANDS_IF
    assert joint.conditions == ("pending pod default/waiting may be scheduled there first",)


@pytest.mark.long
@given(seed=st.integers(0, 10**6))
def test_proofs_and_bookings_leave_the_state_that_was_there(seed: int) -> None:
    instance = make_instance(seed)
    snapshot = snapshot_of(instance)
    victims = victims_of(instance, snapshot)
    prover = LandingProver(snapshot)
    prover.prove(victims)
    before = prover.cluster.digest()

    prover.prove(victims)
    for pod in victims:
        prover.consider(pod)

    assert prover.cluster.digest() == before


def test_proof_leaves_the_book_as_it_is() -> None:
    nodes = [make_node("x", pods="2"), make_node("y", pods="1"), cordoned()]
    snapshot = make_snapshot(nodes, [victim("p1"), victim("p2"), victim("p3"), victim("p4")])
    p1, p2, p3, p4 = snapshot.pods
    prover = LandingProver(snapshot)
    for pod in (p1, p2, p3, p4):
        prover.book(pod)
    before = prover.cluster.digest()

    joint = prover.prove([p1])

    assert joint.verdict is LANDS
    assert prover.cluster.digest() == before


def test_batch_needs_the_room_of_its_own_victims_when_cold() -> None:
    nodes = [make_node("x", cpu="2"), make_node("y", cpu="2")]
    pods = [
        make_pod("p1", node="x", cpu="2", owners=["ReplicaSet/p1"]),
        make_pod("p2", node="y", cpu="2", owners=["ReplicaSet/p2"]),
    ]

    joint = prove(nodes, pods)

    assert (joint.cold, joint.verdict) == (NO, LANDS)


def test_first_pod_of_a_group_opens_the_way_for_the_others() -> None:
    """The pod with affinity comes first, fails, and is tried again once its company is there."""
    term = {"labelSelector": {"matchLabels": {"app": "db"}}, "topologyKey": ZONE}
    affinity = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    nodes = [make_node("x", labels={ZONE: "a"}), cordoned(labels={ZONE: "b"})]

    joint = prove(nodes, [victim("client", affinity=affinity), victim("db", labels={"app": "db"})], "client", "db")

    assert joint.verdict is LANDS
    assert [landing.node for landing in joint.landings] == ["x", "x"]


def test_assignment_that_the_scheduler_would_not_choose_lands_if() -> None:
    """Both prefer the large node, which only one of them needs, and neither order is better than the other."""
    prefers = {
        "nodeAffinity": {
            "preferredDuringSchedulingIgnoredDuringExecution": [
                {
                    "weight": 100,
                    "preference": {"matchExpressions": [{"key": "size", "operator": "In", "values": ["large"]}]},
                }
            ]
        }
    }
    nodes = [make_node("x", cpu="3", labels={"size": "large"}), make_node("y", cpu="2"), cordoned(cpu="10")]
    pods = [
        victim("p1", cpu="2", affinity=prefers),
        victim("p2", cpu="3", priority=-5),
    ]

    joint = prove(nodes, pods)

    assert joint.verdict is LANDS_IF
    assert [landing.node for landing in joint.landings] == ["y", "x"]
    assert joint.conditions == ("it can be scheduled only if other replacement pods go to nodes of lower score",)


def test_member_of_a_large_batch_is_moved_out_of_the_way() -> None:
    """Twenty small pods fill the large node, which the last one needs; all the small ones may go elsewhere."""
    prefers = {
        "nodeAffinity": {
            "preferredDuringSchedulingIgnoredDuringExecution": [
                {"weight": 100, "preference": {"matchExpressions": [{"key": "gpu", "operator": "Exists"}]}}
            ]
        }
    }
    nodes = [
        make_node("x", cpu="20", labels={"gpu": "yes"}),
        make_node("y", cpu="20"),
        cordoned(cpu="100"),
    ]
    small = [victim(f"s{index:02}", cpu="1", affinity=prefers, priority=10) for index in range(20)]
    picky = victim("z", cpu="2", node_selector={"gpu": "yes"})

    joint = prove(nodes, [*small, picky])

    assert joint.verdict is LANDS_IF
    assert joint.landings[-1].node == "x"
    assert joint.conditions == ("it can be scheduled only if other replacement pods go to nodes of lower score",)


def test_large_batch_that_fails_in_the_reverse_order_lands_if() -> None:
    """Too many to try every order: those that are tried find the one in which the picky pod comes last."""
    nodes = [make_node("x", cpu="4"), make_node("y", cpu="2"), cordoned(cpu="10")]
    idle = [victim(f"idle{index}") for index in range(8)]
    pods = [*idle, victim("large", cpu="4"), victim("small", cpu="2")]

    joint = prove(nodes, pods, "large", "small", *(pod.name for pod in idle))

    assert joint.verdict is LANDS_IF
    assert [landing.victim.name for landing in joint.landings if landing.conditions] == ["large"]


def test_batch_lands_whatever_part_of_a_large_cluster_the_scheduler_looks_at() -> None:
    constraint = {
        "maxSkew": 1,
        "topologyKey": "kubernetes.io/hostname",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "web"}},
    }
    constraints = [constraint, constraint | {"maxSkew": 2}]
    nodes = [make_node(f"n{index:03}") for index in range(120)]
    pods = [make_pod(f"p{index}", node="n000", labels={"app": "web"}, spread=constraints) for index in range(9)]

    joint = prove(nodes, pods)

    assert joint.verdict is LANDS
    assert joint.num_orders == 6
    assert all(landing.is_sampled for landing in joint.landings)
    assert len({landing.node for landing in joint.landings}) == 9


def test_loose_batch_is_played_once() -> None:
    joint = prove([make_node(name) for name in "wxyz"], [make_pod(f"p{index}", node="w") for index in range(3)])

    assert (joint.verdict, joint.num_orders) == (LANDS, 1)


def test_unmovable_victim_makes_the_batch_a_no() -> None:
    joint = prove([make_node("c")], [make_pod("static", node="c", owners=["Node/c"])])

    assert joint.verdict is NO
    assert joint.landings[0].message == "it is a static pod, which the kubelet of its node runs"


def test_batch_with_a_likely_member_is_likely_and_judges_the_others() -> None:
    nodes = [make_node("x"), cordoned()]

    joint = prove(nodes, [victim("p1"), victim("p2", scheduler="volcano")])

    assert joint.verdict is LIKELY
    assert [landing.verdict for landing in joint.landings] == [LANDS, LIKELY]


def test_likely_members_that_no_order_lands_together_are_a_no() -> None:
    nodes = [make_node("x", cpu="3"), cordoned()]

    joint = prove(nodes, [victim(name, cpu="2", scheduler="volcano") for name in ("p1", "p2")])

    assert joint.verdict is NO


def test_likely_member_that_depends_on_the_order_stays_likely() -> None:
    """Under no condition is it more than likely."""
    nodes = [make_node("x", cpu="2"), make_node("y", cpu="3"), cordoned()]

    joint = prove(nodes, [victim("p1", cpu="2", scheduler="volcano"), victim("p2", cpu="3")])

    assert joint.landings[0].verdict is LIKELY


def test_pods_beyond_the_replicas_are_likely_to_come_back() -> None:
    """Which of them the owner deletes by itself is not known."""
    snapshot = cluster_of(
        *(pod_object(name, cpu="3") for name in ("p1", "p2")),
        workload_object("ReplicaSet/web", replicas=1, template=pod_object("t", cpu="3")),
        nodes=["a", "b"],
    )

    joint = LandingProver(snapshot).prove(snapshot.pods)

    assert joint.landings[0].cause == "the owner has more pods than replicas, and can delete others instead"
    assert joint.verdict is LIKELY


def test_size_that_admission_may_set_again_is_a_condition_where_it_has_no_room() -> None:
    live = pod_object("p1", cpu="9", annotations={"vpaUpdates": "cpu request"})
    snapshot = cluster_of(live, workload_object("ReplicaSet/web", template=pod_object("t", cpu="1")))

    joint = LandingProver(snapshot).prove(snapshot.pods)

    assert joint.verdict is LANDS_IF
    assert joint.conditions == (
        "the replacement pod keeps the requests of its template (VerticalPodAutoscaler changed them for this pod)",
    )


def test_pod_that_another_one_helps_to_a_node_is_tried_though_one_like_it_was_in_vain() -> None:
    """The first one of them waits for the pod that both want to be near."""
    term = {"labelSelector": {"matchLabels": {"app": "db"}}, "topologyKey": "kubernetes.io/hostname"}
    near: dict[str, object] = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    pods = [make_pod(name, node="c", affinity=near) for name in ("before", "after")]

    joint = prove([make_node("x"), cordoned()], [*pods, victim("db", labels={"app": "db"})], "before", "db", "after")

    assert (joint.verdict, joint.conditions) == (LANDS, ())


@pytest.mark.parametrize(
    ("live", "template", "room", "verdict", "conditions"),
    [
        pytest.param("2", "1", "3", LANDS, (), id="room for either size"),
        pytest.param(
            "2",
            "1",
            "2",
            LANDS_IF,
            ("the other replacement pods keep the requests of their templates",),
            id="room for that of the template",
        ),
        pytest.param(
            "1",
            "2",
            "2",
            LANDS_IF,
            ("the other replacement pods get the requests that their pods have now",),
            id="room for that of the pod",
        ),
        pytest.param("2", "1", "1", NO, (), id="room for none beside another pod"),
    ],
)
def test_landing_hangs_on_the_size_that_admission_may_give_to_another_pod_again(
    live: str, template: str, room: str, verdict: LandingVerdict, conditions: tuple[str, ...]
) -> None:
    resized = pod_object("p1", node="c", cpu=live, annotations={"vpaUpdates": "cpu request"})
    owner = workload_object("ReplicaSet/web", replicas=1, template=pod_object("t", cpu=template))
    plain = pod_object("p2", node="c", owners=["ReplicaSet/p2"], cpu="1")
    own = workload_object("ReplicaSet/p2", template=pod_object("t", cpu="1"))
    cordon = node_object("c", unschedulable=True, cpu="64")
    snapshot = cluster_of(resized, owner, plain, own, node_object("x", cpu=room), cordon)

    joint = LandingProver(snapshot).prove(snapshot.pods)

    assert joint.verdict is verdict
    assert (joint.landings[1].verdict, joint.landings[1].conditions) == (verdict, conditions)


def test_order_is_unproven_where_the_sizes_that_admission_may_set_again_have_no_room() -> None:
    """The node takes all three as their templates say, and two where two of them keep what they request now."""
    resized = {"vpaUpdates": "cpu request"}
    live = [pod_object(name, node="c", cpu="2", annotations=resized) for name in ("p1", "p2")]
    template = workload_object("ReplicaSet/web", replicas=2, template=pod_object("t", cpu="1"))
    alone = pod_object("p3", node="c", owners=["ReplicaSet/p3"], cpu="1")
    own = workload_object("ReplicaSet/p3", template=pod_object("t", cpu="1"))

    def unproven(cpu: str) -> bool:
        cordon = node_object("c", unschedulable=True, cpu="64")
        snapshot = cluster_of(*live, template, alone, own, node_object("x", cpu=cpu), cordon)
        return bool(LandingProver(snapshot).unproven(snapshot.pods, snapshot.pods))

    assert [unproven(cpu) for cpu in ("2", "3", "4", "5")] == [True, True, True, False]


def test_victim_of_an_undecided_member_keeps_its_room() -> None:
    """Its replacement takes as much somewhere, and nobody knows where."""
    nodes = [make_node("x", cpu="2"), make_node("c", cpu="2")]
    near_nobody = {"labelSelector": {"matchLabels": {"app": "none"}}, "topologyKey": "kubernetes.io/hostname"}
    affinity = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [near_nobody]}}
    pods = [
        make_pod("p1", node="x", cpu="2", owners=["ReplicaSet/p1"], scheduler="volcano", affinity=affinity),
        make_pod("p2", node="c", cpu="2", owners=["ReplicaSet/p2"], node_selector={"kubernetes.io/hostname": "x"}),
    ]

    joint = prove(nodes, pods)

    assert [landing.verdict for landing in joint.landings] == [UNKNOWN, NO]
    assert not joint.is_proven
