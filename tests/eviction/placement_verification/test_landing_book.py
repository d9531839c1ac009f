"""The book of landings: where what comes for evicted pods lands, by each scheduler that was asked."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from descheduler.eviction.placement_verification.landing_book import LandingBook
from descheduler.eviction.placement_verification.scheduling_settings import SchedulingSettings
from descheduler.eviction.placement_verification.together import judge_together
from descheduler.model.groups.workloads import Workload
from descheduler.model.held_room import HeldRooms
from descheduler.model.kube_version import KubeVersion
from descheduler.model.pod import Pod
from descheduler.placement.landings.landing import LandingVerdict
from descheduler.plan.moves import identity_of
from tests.builders import make_node, make_pod, make_snapshot

SETTINGS = SchedulingSettings(version=KubeVersion())
OLDER = SchedulingSettings(version=KubeVersion(1, 34))


def sized(**sizes: str) -> list[Pod]:
    """Pods on node `a`, each of an owner of its own, by their CPUs."""
    return [make_pod(name, owners=[f"ReplicaSet/{name}"], cpu=cpu) for name, cpu in sizes.items()]


def book_of(
    pods: Sequence[Pod],
    *rooms: str,
    scheduling: Sequence[tuple[str, SchedulingSettings | None]] = (("p", SETTINGS),),
) -> LandingBook:
    """The book over pods of a node that is closed, and nodes of these sizes."""
    nodes = [make_node("a", cpu="16", unschedulable=True)]
    nodes += [make_node(f"n{index}", cpu=cpu) for index, cpu in enumerate(rooms)]
    workloads = [Workload("ReplicaSet", "default", pod.name, f"replicaset-{pod.name}", 10) for pod in pods]
    snapshot = make_snapshot(nodes, pods, workloads={each.uid: each for each in workloads})
    return LandingBook(snapshot, scheduling)


@pytest.mark.parametrize(
    ("scheduling", "is_verifying"),
    [
        ((), False),
        ((("p", SETTINGS),), True),
        ((("p", SETTINGS), ("q", None)), False),
        ((("p", SETTINGS), ("q", OLDER)), True),
    ],
)
def test_landings_are_verified_where_every_profile_does(
    scheduling: Sequence[tuple[str, SchedulingSettings | None]], is_verifying: bool
) -> None:
    book = book_of([], "4", scheduling=scheduling)

    assert book.is_verifying is is_verifying
    assert book.scheduling_of("p") == dict(scheduling).get("p")
    assert book.scheduling_of("elsewhere") is None


def test_replacement_lands_on_top_of_what_was_booked_and_gives_its_room_back() -> None:
    one, two = sized(one="3", two="3")
    book = book_of([one, two], "4")

    undo = book.book(one, SETTINGS)
    during = book.consider(two, SETTINGS, only_proven=True).verdict
    landing, arrival, leaving = book.landing_of(one), book.arrival_of(one), list(book.leaving)
    undo()

    assert during is LandingVerdict.NO
    assert landing is not None
    assert (landing.verdict, landing.node) == (LandingVerdict.LANDS, "n0")
    assert arrival is not None
    assert (arrival.node_name, leaving) == ("n0", [(one, SETTINGS)])
    assert (book.landing_of(one), book.arrival_of(one), book.num_leaving) == (None, None, 0)
    assert book.consider(two, SETTINGS, only_proven=True).verdict is LandingVerdict.LANDS


def test_pod_whose_replacement_finds_no_node_has_no_arrival() -> None:
    (pod,) = sized(one="8")
    book = book_of([pod], "4")

    book.book(pod, SETTINGS)

    assert book.arrival_of(pod) is None
    assert list(book.has_to_land()) == []


@pytest.mark.parametrize(
    ("names", "after", "has_room"),
    [
        pytest.param(("one",), 0, True, id="one pod"),
        pytest.param(("two", "three"), 0, True, id="pods that leave together"),
        pytest.param(("three",), 1, True, id="one where another pod has left"),
        pytest.param(("two", "three"), 1, False, id="too many where another pod has left"),
        pytest.param(("one", "two", "three"), 0, False, id="too many"),
    ],
)
def test_bundle_has_room_on_top_of_the_first_moves(names: tuple[str, ...], after: int, has_room: bool) -> None:
    pods = {pod.name: pod for pod in sized(one="2", two="2", three="2")}
    book = book_of(list(pods.values()), "4")
    book.book(pods["one"], SETTINGS)

    assert book.with_room([[pods[name] for name in names]], [0], after) == [has_room]


def test_pod_whose_replacement_returns_to_its_node_has_no_room_elsewhere() -> None:
    pod = make_pod("p", node="a", cpu="1")
    web = Workload("ReplicaSet", "default", "web", "replicaset-web", 10)
    book = LandingBook(make_snapshot([make_node("a")], [pod], workloads={web.uid: web}), [("p", SETTINGS)])

    assert book.with_room([[pod]], [0], 0) == [False]


def test_those_have_to_land_whose_landings_were_verified() -> None:
    one, two = sized(one="1", two="1")
    book = book_of([one, two], "4")

    book.book(one, SETTINGS)
    book.book(two, None)

    assert list(book.has_to_land()) == [one]
    assert not book.holds_room


def test_landing_of_an_unverified_eviction_is_known_where_its_scheduler_is_asked_anyhow() -> None:
    one, two = sized(one="1", two="1")
    book = book_of([one, two], "4")

    book.book(one, None)
    before = book.landing_of(one)
    book.book(two, SETTINGS)

    assert before is None
    landing = book.landing_of(one)
    assert landing is not None
    assert landing.node == "n0"


def test_each_scheduler_has_a_book_of_its_own_of_all_moves() -> None:
    one, two = sized(one="3", two="3")
    book = book_of([one, two], "4", scheduling=(("p", SETTINGS), ("q", OLDER)))

    book.book(one, SETTINGS)

    assert book.consider(two, OLDER, only_proven=True).verdict is LandingVerdict.NO
    assert [settings for settings, _ in book.provers] == [SETTINGS, OLDER]
    book.book(two, OLDER)
    assert [settings for _, settings in book.leaving] == [SETTINGS, OLDER]


@pytest.mark.parametrize(("most", "known"), [(0, 0), (1, 1), (2, 2), (5, 3)])
def test_so_many_landings_are_looked_up_for_the_report(most: int, known: int) -> None:
    pods = sized(one="1", two="1", three="1")
    book = book_of(pods, "4", scheduling=(("p", None),))
    for pod in pods:
        book.book(pod, None)

    book.assess(most)

    assert [book.landing_of(pod) is not None for pod in pods] == [True] * known + [False] * (3 - known)


def test_what_is_known_already_is_not_looked_up_for_the_report() -> None:
    one, two, three = pods = sized(one="1", two="1", three="1")
    book = book_of(pods, "4", scheduling=(("p", OLDER), ("q", None)))
    book.book(one, OLDER)
    known = book.landing_of(one)
    book.book(two, None)
    book.book(three, None)

    book.assess(1)

    assert book.landing_of(one) is known
    assert [book.landing_of(pod) is not None for pod in pods] == [True, True, False]


@pytest.mark.parametrize(
    ("sizes", "rooms", "unproven"),
    [
        pytest.param({"one": "1", "two": "1"}, ("1", "1"), [], id="both land in every order"),
        pytest.param({"one": "3", "two": "1"}, ("1", "3"), ["one"], id="the small one may take the large room"),
        pytest.param({"one": "3", "two": "1"}, ("1", "4"), [], id="there is room for both"),
    ],
)
def test_those_are_unproven_that_find_no_node_in_some_order(
    sizes: dict[str, str], rooms: tuple[str, ...], unproven: list[str]
) -> None:
    pods = sized(**sizes)
    book = book_of(pods, *rooms)
    for pod in pods:
        book.book(pod, SETTINGS)

    with book.without_moves():
        found = book.unproven(pods, pods)

    assert sorted(pod.name for pod in found) == unproven


def test_pods_that_may_take_a_node_are_those_that_fit_there() -> None:
    pods = sized(one="3", two="1", three="5")
    book = book_of(pods, "1", "3")
    for pod in pods[:2]:
        book.book(pod, SETTINGS)

    takers = book.takers_of(("n0", "n1"), pods[:2], most=1)

    assert {node: ([pod.name for pod in first], number) for node, (first, number) in takers.items()} == {
        "n0": (["two"], 1),
        "n1": (["one"], 2),
    }


def test_scheduler_that_is_asked_in_a_trial_is_forgotten_with_it() -> None:
    (pod,) = sized(one="1")
    book = book_of([pod], "4")

    with book.what_if():
        undo = book.book(pod, SETTINGS)
        undo()

    assert list(book.provers) == []
    assert book.landing_of(pod) is None


def test_work_on_landings_is_counted() -> None:
    one, two = sized(one="1", two="1")
    book = book_of([one, two], "4")

    book.consider(one, SETTINGS, only_proven=True)
    once = book.num_judged
    book.consider_together([one, two], SETTINGS)

    assert (once, book.num_judged) == (1, 3)


@pytest.mark.parametrize(
    ("booked", "most", "is_judged"), [(0, 5, False), (1, 1, True), (2, 1, False), (2, 2, True), (1, 0, False)]
)
def test_moves_are_judged_together_up_to_a_number(booked: int, most: int, is_judged: bool) -> None:
    pods = sized(one="1", two="1")
    book = book_of(pods, "4")
    for pod in pods[:booked]:
        book.book(pod, SETTINGS)

    assert (judge_together(book, most) is not None) is is_judged


def test_moves_that_nobody_verifies_are_not_judged_together() -> None:
    (pod,) = sized(one="1")
    book = book_of([pod], "4", scheduling=(("p", None),))
    book.book(pod, None)

    assert judge_together(book, 5) is None


def test_moves_whose_room_is_held_are_not_judged_together() -> None:
    (pod,) = sized(one="1")
    book = book_of([pod], "4", "4")
    book.book(pod, SETTINGS, held=HeldRooms("n1"))

    assert book.holds_room
    assert judge_together(book, 5) is None


@pytest.mark.parametrize(
    ("waves", "verdict"),
    [
        pytest.param({}, LandingVerdict.LANDS_IF, id="at once the small one may take the large room"),
        pytest.param({"one": 1, "two": 2}, LandingVerdict.LANDS, id="in waves the large one has it"),
    ],
)
def test_what_leaves_in_waves_is_judged_wave_by_wave(waves: dict[str, int], verdict: LandingVerdict) -> None:
    pods = sized(one="3", two="1")
    book = book_of(pods, "1", "3")
    for pod in pods:
        book.book(pod, SETTINGS)

    joint = judge_together(book, 5, {identity_of(pod): waves[pod.name] for pod in pods} if waves else {})

    assert joint is not None
    assert (joint.verdict, len(joint.landings)) == (verdict, 2)


def test_landing_of_each_move_is_that_of_its_own_scheduler() -> None:
    pods = sized(one="1", two="1")
    book = book_of(pods, "4", scheduling=(("p", SETTINGS), ("q", OLDER)))
    book.book(pods[0], SETTINGS)
    book.book(pods[1], OLDER)

    joint = judge_together(book, 5)

    assert joint is not None
    assert [landing.node for landing in joint.landings] == ["n0", "n0"]
    assert joint.verdict is LandingVerdict.LANDS
