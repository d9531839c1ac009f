"""What a node is short of beside its reservation, which pods occupy that, and how many of them are enough."""

from __future__ import annotations

import json
from typing import Any

import pytest

from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.strategies.remove_pods_violating_node_reservation.remove_pods_violating_node_reservation import (
    RemovePodsViolatingNodeReservationArgs,
    default_args,
    held_by_reservations,
    validate_args,
)
from descheduler.strategies.remove_pods_violating_node_reservation.reserving_node import (
    ClosedCpus,
    ReservedShortage,
    ReservingNode,
    enough_of,
)
from tests.builders import make_node, make_pod
from tests.model.koordinator.test_reservation_owners import reservation
from tests.strategies.asked import Asked
from tests.strategies.remove_pods_violating_node_reservation.test_remove_pods_violating_node_reservation import (
    AT_ONCE,
    PLUGIN,
    annotation,
    pinned,
)
from tests.worlds.node_topologies import make_topology

CORE = 10**9
NODE = make_node("a", cpu="4", memory="1000", annotations=annotation(cpu="1", memory="100"))
"""A node that leaves 3 CPUs and 900 bytes to pods."""


def pods(*cpus: str, **facts: Any) -> list[Pod]:
    return [make_pod(f"p{number}", cpu=cpu, **facts) for number, cpu in enumerate(cpus)]


@pytest.mark.parametrize(
    ("cpus", "amounts"),
    [
        pytest.param(("1", "2"), {}, id="as much as is left"),
        pytest.param(("1", "2001m"), {"cpu": CORE // 1000}, id="a little more than is left"),
        pytest.param(("4",), {"cpu": CORE}, id="all of the node"),
    ],
)
def test_node_is_short_of_what_pods_request_above_the_rest(cpus: tuple[str, ...], amounts: dict[str, int]) -> None:
    assert ReservedShortage(NODE, pods(*cpus)).amounts == amounts


def test_shortage_may_keep_to_some_resources_and_counts_what_others_hold() -> None:
    wide = [make_pod("p", cpu="4", memory="950")]

    assert ReservedShortage(NODE, wide, ["memory"]).amounts == {"memory": 50 * CORE}
    assert ReservedShortage(NODE, wide).text == "cpu 1, memory 50"
    assert ReservedShortage(NODE, pods("2"), others={"cpu": 2 * CORE}).amounts == {"cpu": CORE}
    assert ReservedShortage(make_node("b"), wide).amounts == {}


@pytest.mark.parametrize(
    ("stuck", "others", "reducible"),
    [
        pytest.param("3", 0, True, id="pods that stay request as much as is left"),
        pytest.param("3001m", 0, False, id="pods that stay request more than is left"),
        pytest.param("2", CORE, True, id="with what others hold they request as much as is left"),
        pytest.param("2", CORE + 1, False, id="with what others hold they request more"),
    ],
)
def test_shortage_can_be_ended_where_pods_that_stay_leave_room(stuck: str, others: int, reducible: bool) -> None:
    staying = make_pod("stuck", cpu=stuck)
    shortage = ReservedShortage(NODE, [staying, *pods("2")], others={"cpu": others})

    assert bool(shortage.reducible([staying])) is reducible


def test_pod_covers_no_more_than_is_short_of_the_dominant_resource() -> None:
    shortage = ReservedShortage(NODE, [make_pod("x", cpu="4", memory="2000")])
    cover = shortage.cover(shortage.amounts)

    assert [cover(make_pod("y", memory=memory)) // CORE for memory in ("200", "5000")] == [200, 1100]


@pytest.mark.parametrize(
    ("cpus", "short", "expected"),
    [
        pytest.param(("1", "1", "1"), 2, ["p0", "p1"], id="the first ones that are enough"),
        pytest.param(("1", "2", "1"), 2, ["p1"], id="those that are not needed after all are spared"),
        pytest.param(("1", "1"), 3, ["p0", "p1"], id="all of them, where they are too few"),
        pytest.param(("1", "3", "2"), 3, ["p1"], id="one that is enough alone"),
        pytest.param(("1",), 0, [], id="nothing is short"),
    ],
)
def test_as_many_pods_leave_as_are_enough(cpus: tuple[str, ...], short: int, expected: list[str]) -> None:
    assert [pod.name for pod in enough_of(pods(*cpus), {"cpu": short * CORE})] == expected


def test_pods_without_a_request_of_what_is_still_short_are_passed_over() -> None:
    found = enough_of([*pods("3"), make_pod("none"), make_pod("wide", memory="5")], {"cpu": CORE, "memory": 5 * CORE})

    assert [pod.name for pod in found] == ["p0", "wide"]


def reserving(node: Node, *present: Pod, owners: frozenset[int] = frozenset(), **topology: Any) -> ReservingNode:
    closed = ClosedCpus.of(node, make_topology("a", **topology) if topology else None)
    return ReservingNode("a", ReservedShortage(node, present), closed, owners)


def test_pod_that_is_pinned_to_reserved_cpus_occupies_them() -> None:
    node = make_node("a", annotations=annotation(cpus="0-1", policy="ReservedCPUsOnly"))
    on, off = pinned("on", "1-2"), pinned("off", "2-3")
    found = reserving(node, on, off)

    assert [found.is_occupied_by(pod) for pod in (on, off)] == [True, False]
    assert found.reason(on) == "pinned to CPU 1 of node a (reservedCPUs: 0-1)"
    assert found.reason(pinned("both", "0-3")) == "pinned to CPUs 0-1 of node a (reservedCPUs: 0-1)"
    assert found.miss(off) == (
        "requests on node a do not exceed allocatable minus reserved, and the pod is not pinned to reserved CPUs 0-1"
    )


def test_pod_that_uses_a_reservation_frees_nothing() -> None:
    owner, other = make_pod("owner", cpu="2"), make_pod("other", cpu="2")
    found = reserving(NODE, owner, other, owners=frozenset({id(owner)}))

    assert [found.is_occupied_by(pod) for pod in (owner, other)] == [False, True]
    assert found.miss(owner) == "uses a Reservation, which keeps the resources of the pod reserved on node a"
    assert found.miss(make_pod("wide", memory="1")) == "requests nothing that node a is short of: cpu 1"


def test_node_that_is_not_short_says_so() -> None:
    assert reserving(NODE).miss(make_pod("p")) == "requests on node a do not exceed allocatable minus reserved"


OWNED = {"scheduling.koordinator.sh/reservation-allocated": json.dumps({"name": "r", "uid": "r"})}


@pytest.mark.parametrize(
    ("facts", "owners", "held"),
    [
        pytest.param({}, ("1",), 4, id="what it reserves, where owners request less"),
        pytest.param({}, ("3", "3"), 6, id="what owners request, where that is more"),
        pytest.param({}, (), 4, id="what it reserves, without owners"),
        pytest.param({"allocate_once": True}, ("1",), 0, id="one for a single pod that has come"),
        pytest.param({"allocate_once": True}, (), 4, id="one for a single pod that is to come"),
        pytest.param({"node_name": "b"}, (), 0, id="one of another node"),
        pytest.param({"phase": "Failed"}, (), 0, id="one that has failed"),
    ],
)
def test_reservation_holds_room_on_its_node(facts: dict[str, Any], owners: tuple[str, ...], held: int) -> None:
    stated = {"phase": "Available", "node_name": "a", "allocate_once": False, "allocatable": {"cpu": 4 * CORE}, **facts}
    using, other = pods(*owners, annotations=OWNED), make_pod("other", cpu="9")

    found = held_by_reservations("a", [*using, other], [reservation(**stated)])

    assert found.amounts.get("cpu", 0) == held * CORE
    assert found.owners == (frozenset(map(id, using)) if held else frozenset())


def test_room_of_several_reservations_adds_up() -> None:
    both = [
        reservation(uid=uid, phase="Available", node_name="a", allocatable={"cpu": CORE}, allocate_once=False)
        for uid in ("r", "s")
    ]

    assert held_by_reservations("a", [], both).amounts == {"cpu": 2 * CORE}


class TestWhyNot:
    """What is said of a pod that is not selected."""

    @pytest.mark.parametrize(
        ("facts", "args", "why"),
        [
            pytest.param(
                {"node": "b"},
                AT_ONCE,
                "node b does not have a valid annotation node.koordinator.sh/reservation",
                id="a node without a reservation",
            ),
            pytest.param({"phase": "Failed"}, AT_ONCE, "the pod has finished", id="it has finished"),
            pytest.param({"deleted": 5}, AT_ONCE, "the pod is terminating", id="it is terminating"),
            pytest.param(
                {"cpu": None, "memory": "1"},
                AT_ONCE,
                "requests nothing that node a is short of: cpu 1",
                id="it occupies nothing",
            ),
            pytest.param(
                {"namespace": "kube-system"},
                AT_ONCE,
                "namespace kube-system is excluded (namespaces.exclude)",
                id="an excluded namespace",
            ),
            pytest.param(
                {"priority": 9999}, AT_ONCE, "evicting other pods is enough for node a", id="others are enough"
            ),
            pytest.param(
                {},
                {},
                "the violation on node a is seen for the first time, 2 runs in a row are required"
                " (consecutiveObservations: 2); earlier runs are unknown here",
                id="it takes more runs",
            ),
        ],
    )
    def test_pod(self, facts: dict[str, Any], args: dict[str, Any], why: str) -> None:
        pod = make_pod("p", **{"cpu": "1m", **facts})
        others = [make_pod("x", cpu="4", priority=5)]

        asked = Asked(
            PLUGIN, [NODE, make_node("b")], [pod, *others], args={"namespaces": {"exclude": ["kube-system"]}, **args}
        )

        assert asked.why_not(pod) == why

    @pytest.mark.parametrize(
        ("node", "facts", "why"),
        [
            pytest.param(
                "a",
                {},
                "requests on node a exceed allocatable minus reserved by cpu 1"
                " (annotation node.koordinator.sh/reservation)",
                id="the same node as before",
            ),
            pytest.param("b", {}, "", id="a node without a reservation"),
            pytest.param("a", {"namespace": "kube-system"}, "", id="a namespace that the plugin does not look at"),
            pytest.param("c", {}, "", id="a node whose reservation leaves room"),
        ],
    )
    def test_replacement(self, node: str, facts: dict[str, Any], why: str) -> None:
        pod = make_pod("p", cpu="4")
        nodes = [NODE, make_node("b"), make_node("c", cpu="8", annotations=annotation(cpu="1"))]

        asked = Asked(PLUGIN, nodes, [pod], args={"namespaces": {"exclude": ["kube-system"]}, **AT_ONCE})

        assert asked.selects_again(pod, node, **facts) == why


@pytest.mark.parametrize(
    ("age", "message"),
    [
        pytest.param(0, "0 is below 1", id="no time"),
        pytest.param(10 * 365 * 24 * 3600, "", id="ten years"),
        pytest.param(10 * 365 * 24 * 3600 + 1, "315360001 is above 315360000 (10 years)", id="more than ten years"),
    ],
)
def test_age_of_a_reservation_has_bounds(age: int, message: str) -> None:
    problems = validate_args(RemovePodsViolatingNodeReservationArgs(min_reservation_age_seconds=age))

    assert [problem.message for problem in problems] == ([message] if message else [])


@pytest.mark.parametrize(
    ("facts", "fields"),
    [
        pytest.param(
            {"violations": ("ReservedCPUs",), "resources": ("cpu",), "consecutive_observations": 0},
            ["resources", "consecutiveObservations"],
            id="resources that nothing reads, and no observation",
        ),
        pytest.param({"violations": ("Amount",), "resources": ("cpu",)}, [], id="resources"),
        pytest.param({"resources": ("cpu",)}, [], id="resources of all violations"),
        pytest.param({"consecutive_observations": 2, "min_reservation_age_seconds": 1}, [], id="the least age"),
        pytest.param(
            {"consecutive_observations": 1, "min_reservation_age_seconds": 5},
            ["minReservationAgeSeconds"],
            id="an age without effect",
        ),
    ],
)
def test_problems_of_arguments(facts: dict[str, Any], fields: list[str]) -> None:
    problems = validate_args(RemovePodsViolatingNodeReservationArgs(**facts))

    assert [".".join(map(str, problem.path)) for problem in problems] == fields


@pytest.mark.parametrize(
    ("facts", "observations"),
    [
        pytest.param({}, 2, id="two by default"),
        pytest.param({"consecutive_observations": 3}, 3, id="as many as stated"),
        pytest.param({"min_reservation_age_seconds": 5}, None, id="no number beside an age"),
    ],
)
def test_runs_that_have_to_see_a_violation(facts: dict[str, Any], observations: int | None) -> None:
    args = RemovePodsViolatingNodeReservationArgs(**facts)

    assert default_args(args).consecutive_observations == observations
