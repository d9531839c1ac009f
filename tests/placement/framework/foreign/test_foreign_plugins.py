"""Plugins of others take part like the program's own: verdicts hold with them, and what they keep is given back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import permutations

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from descheduler.documents.problems import PolicyError
from descheduler.explanation.scheduling.analysis import analyse
from descheduler.model.pod import Pod
from descheduler.placement.framework.attempt import place
from descheduler.placement.framework.scheduler import Scheduler
from descheduler.placement.landings.landing import LandingVerdict
from descheduler.placement.shadow.shadow_cluster import Cycle, Placed, ShadowCluster
from tests.builders import make_node, make_pod, make_snapshot
from tests.placement.framework.foreign import last_node
from tests.placement.framework.foreign.gang_at_permit import GANG, MIN_AVAILABLE
from tests.placement.framework.foreign.named_devices import ALLOCATED, DEVICES, WANTED, DeviceLedger
from tests.placement.framework.foreign.team_quota import TEAM, QuotaLedger
from tests.placement.framework.foreign.worlds import TABLE, configured, prover_of

LANDS, LANDS_IF, NO = LandingVerdict.LANDS, LandingVerdict.LANDS_IF, LandingVerdict.NO
NODES = [
    make_node("a", labels={DEVICES: "d0.d1"}),
    make_node("b", labels={DEVICES: "d0.d1.d2"}),
    make_node("c", unschedulable=True),
]


def annotated(pod: Pod, *, has: str = "", wants: int = 0) -> Pod:
    """`pod` with the devices that its annotations name, and with as many as they say that it wants."""
    annotations = {ALLOCATED: has, WANTED: str(wants)}
    return msgspec.structs.replace(pod, annotations={key: value for key, value in annotations.items() if value})


def victim(
    name: str, labels: Mapping[str, str] | None = None, *, node: str = "c", has: str = "", wants: int = 0
) -> Pod:
    """A pod of an owner of its own on a node that takes none back."""
    pod = make_pod(name, node=node, labels=labels or {}, owners=[f"ReplicaSet/{name}"])
    return annotated(pod, has=has, wants=wants)


def verdict_on(*pods: Pod, others: Sequence[Pod] = ()) -> LandingVerdict:
    """The verdict on a batch of `pods`."""
    return prover_of(NODES, [*pods, *others]).prove(pods).verdict


def test_quota_takes_the_pods_of_a_team_as_far_as_its_share_and_the_pool_reach() -> None:
    red = [victim(f"red-{index}", {TEAM: "red"}) for index in range(3)]

    assert (verdict_on(*red[:2]), verdict_on(*red)) == (LANDS, NO)


def test_arguments_of_a_plugin_are_those_of_its_profile() -> None:
    red = [victim(f"red-{index}", {TEAM: "red"}) for index in range(4)]
    generous = configured(args={"TeamQuota": {"own": 2}})

    verdicts = [prover_of(NODES, red, generous).prove(red[:number]).verdict for number in (3, 4)]

    assert verdicts == [LANDS, NO]


def test_bad_argument_of_a_plugin_is_told_with_its_place() -> None:
    with pytest.raises(PolicyError, match=r"profiles\[0\]\.pluginConfig\[0\]\.args\.own: -1 is below 0"):
        configured(args={"TeamQuota": {"own": -1}})


def test_teams_share_the_pool() -> None:
    pods = [victim(f"{team}-{index}", {TEAM: team}) for team in ("red", "blue") for index in range(2)]

    assert (verdict_on(*pods[:3]), verdict_on(*pods)) == (LANDS, NO)


def test_replacement_lands_if_the_pending_pod_of_its_team_does_not_use_up_the_quota_first() -> None:
    waiting = [
        make_pod(f"waiting-{index}", node="", labels={TEAM: "red"}, owners=["ReplicaSet/waiting"]) for index in range(2)
    ]
    red = victim("red", {TEAM: "red"})
    prover = prover_of(NODES, [red, *waiting])

    landing, joint = prover.consider(red), prover.prove([red])

    assert (landing.verdict, joint.verdict, joint.certificate) == (LANDS_IF, LANDS_IF, "")
    assert landing.conditions == ("pending pod default/waiting-0 may be scheduled there first",)


def test_quota_of_booked_replacements_counts_for_those_that_follow() -> None:
    red = [victim(f"red-{index}", {TEAM: "red"}) for index in range(3)]
    prover = prover_of(NODES, red)

    landings = [prover.book(pod) for pod in red]

    assert [landing.verdict for landing in landings] == [LANDS, LANDS, NO]
    assert landings[-1].obstacles["quota of team red is used up"] == 3


def test_devices_that_annotations_name_are_taken_until_their_pods_leave() -> None:
    holder = victim("holder", node="b", has="d0.d2")
    wants_two = victim("wants-two", wants=2)
    wants_three = victim("wants-three", wants=3)
    prover = prover_of(NODES, [holder, wants_two, wants_three])

    before = prover.consider(wants_three), prover.consider(wants_two)
    prover.book(holder)
    after = prover.consider(wants_three)

    assert [(landing.verdict, landing.node) for landing in before] == [(NO, None), (LANDS, "a")]
    assert (after.verdict, after.node) == (LANDS, "b")


def test_landing_names_the_devices_that_the_replacement_gets() -> None:
    holder = victim("holder", node="b", has="d0")
    pods = [victim("first", wants=1), victim("second", wants=2), victim("third")]
    prover = prover_of(NODES, [holder, *pods])

    landings = [prover.book(pod) for pod in pods]

    assert [(landing.node, [each.name for each in landing.allocations]) for landing in landings] == [
        ("a", ["d0"]),
        ("b", ["d1", "d2"]),
        ("a", []),
    ]


def test_devices_of_a_batch_that_fit_one_by_one_only_do_not_land_together() -> None:
    greedy = [victim(f"greedy-{index}", wants=2) for index in range(3)]

    assert [verdict_on(pod) for pod in greedy] == [LANDS, LANDS, LANDS]
    assert (verdict_on(*greedy[:2]), verdict_on(*greedy)) == (LANDS, NO)


def test_replicas_that_differ_in_an_annotation_that_a_plugin_reads_are_judged_each_for_itself() -> None:
    replica = victim("replica", wants=1)
    modest, greedy = (annotated(msgspec.structs.replace(replica, name=f"r-{n}", uid=f"r-{n}"), wants=n) for n in (1, 4))
    prover = prover_of(NODES, [modest, greedy])

    landings = [prover.consider(pod).verdict for pod in (modest, greedy)]

    assert landings == [LANDS, NO]
    assert prover.prove([modest, greedy]).verdict is NO


def test_annotations_that_no_plugin_reads_make_no_class() -> None:
    pod = make_pod("pod", node="")
    pods = [annotated(pod, wants=number) for number in (1, 2)]
    plain, telling = ShadowCluster(make_snapshot()), ShadowCluster(make_snapshot(), reads_annotations=["example.com/"])

    assert len({plain.placement_class(pod) for pod in pods}) == 1
    assert len({telling.placement_class(pod) for pod in (*pods, *pods)}) == 2


def test_scheduler_refuses_a_cluster_that_does_not_tell_its_pods_apart() -> None:
    cluster = ShadowCluster(make_snapshot(NODES))

    with pytest.raises(ValueError, match=r"does not tell pods apart by example\.com/devices"):
        Scheduler(cluster, configured().profiles[0], plugins=TABLE)


def test_obstacle_of_a_plugin_is_put_into_words_and_explained_by_its_row() -> None:
    greedy = victim("greedy", wants=4)
    prover = prover_of(NODES, [greedy])

    landing = prover.consider(greedy)
    analysis = analyse(prover.cluster, configured(), msgspec.structs.replace(greedy, node_name=""), plugins=TABLE)

    assert landing.message == "0/3 nodes are available for the replacement pod: 3 too few free devices, 1 unschedulable"
    assert [(miss.node, each.details) for miss in analysis.misses for each in miss.obstacles] == [
        ("a", ("the pod asks for 4 devices; free: d0, d1",)),
        ("b", ("the pod asks for 4 devices; free: d0, d1, d2",)),
    ]


def test_scheduler_of_another_kind_places_the_pods_that_name_it() -> None:
    facts = {"node": "a", "cpu": "1", "scheduler": last_node.NAME}
    first, second = (make_pod(name, owners=[f"ReplicaSet/{name}"], **facts) for name in ("first", "second"))
    idle = make_pod("idle", owners=["ReplicaSet/idle"], **{**facts, "cpu": None})
    nodes = [make_node(name, cpu="1") for name in ("a", "b", "c")]
    prover = prover_of(nodes, [first, second, idle])

    landings = [prover.book(pod) for pod in (first, second)]

    assert [landing.node for landing in landings] == ["c", "b"]
    assert prover.consider(idle).cause == "it asks for nothing"
    assert prover_of(nodes, [first, second]).prove([first, second]).verdict is LANDS


def test_gang_that_is_complete_without_the_victim_is_bound_at_once() -> None:
    labels = {GANG: "ring", MIN_AVAILABLE: "2"}
    ring = [victim(f"ring-{index}", labels) for index in range(2)]

    landing = prover_of(NODES, ring).consider(ring[0])

    assert (landing.verdict, landing.conditions) == (LANDS, ())


def test_gang_that_lacks_pods_holds_the_replacement_back() -> None:
    ring = victim("ring", {GANG: "ring", MIN_AVAILABLE: "3"})

    landing = prover_of(NODES, [ring]).consider(ring)

    assert (landing.verdict, landing.conditions) == (LANDS_IF, ("gang ring waits for 2 more of its pods",))


@pytest.mark.parametrize(
    ("point", "verdict"),
    [
        pytest.param("multiPoint", NO, id="enabled at all its points the quota is used up"),
        pytest.param("filter", LANDS, id="where nothing is charged it is never used up"),
        pytest.param("reserve", LANDS, id="where nothing is filtered charging it refuses nobody"),
    ],
)
def test_quota_takes_part_where_it_is_enabled_only(point: str, verdict: LandingVerdict) -> None:
    red = [victim(f"red-{index}", {TEAM: "red"}) for index in range(3)]
    prover = prover_of(NODES, red, configured(point, ["TeamQuota"]))

    assert prover.prove(red).verdict is verdict


def test_profiles_of_two_schedulers_charge_one_quota() -> None:
    cluster = ShadowCluster(make_snapshot(NODES), reads_annotations=[WANTED])
    profile = configured().profiles[0]
    first, second = (Scheduler(cluster, profile, plugins=TABLE) for _ in range(2))
    red = make_pod("red", node="", labels={TEAM: "red"})

    attempts = [place(scheduler.evaluate(red)) for scheduler in (first, second, first)]

    assert [attempt.placement is not None for attempt in attempts] == [True, True, False]


_PODS = [
    annotated(make_pod("red", node="", labels={TEAM: "red"}), wants=1),
    annotated(make_pod("blue", node="", labels={TEAM: "blue"}), wants=2),
    make_pod("plain", node="", labels={GANG: "ring", MIN_AVAILABLE: "2"}),
]


@settings(deadline=None, max_examples=80)
@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 1)), max_size=6),
    st.lists(st.tuples(st.integers(0, 9), st.booleans()), max_size=8),
)
def test_what_is_taken_and_given_back_in_any_order_leaves_no_trace(
    first: list[tuple[int, int]], steps: list[tuple[int, bool]]
) -> None:
    cluster = ShadowCluster(make_snapshot(NODES), reads_annotations=[WANTED])
    ledgers = (cluster.ledger(QuotaLedger), cluster.ledger(DeviceLedger))
    empty = cluster.digest()
    standing = [_place(cluster, _PODS[which], node, ledgers) for which, node in first]
    before, rest = cluster.digest(), list(standing)

    with cluster.what_if():
        for number, is_leaving in steps:
            if is_leaving and rest:
                cluster.take_off(rest.pop(number % len(rest)))
            else:
                rest.append(_place(cluster, _PODS[number % 3], number % 2, ledgers))
    again = cluster.digest()
    for placed in sorted(standing, key=lambda each: (each.node, each.pod.name)):
        cluster.take_off(placed)

    assert again == before
    assert cluster.digest() == empty


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_digest_is_the_same_whatever_order_pods_leave_in(order: tuple[int, ...]) -> None:
    cluster = ShadowCluster(make_snapshot(NODES), reads_annotations=[WANTED])
    ledgers = (cluster.ledger(QuotaLedger), cluster.ledger(DeviceLedger))
    empty = cluster.digest()
    standing = [_place(cluster, _PODS[0], node, ledgers) for node in (0, 1, 1)]

    for number in order:
        cluster.take_off(standing[number])

    assert cluster.digest() == empty


def _place(cluster: ShadowCluster, pod: Pod, node: int, ledgers: tuple[QuotaLedger, DeviceLedger]) -> Placed:
    return cluster.place(Cycle(cluster.placement_class(pod), cluster), node, ledgers)
