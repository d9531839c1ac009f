"""How many replacements a topology spread lets into the domains that may take them, as a proof that others are left."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.placement.landings.landing import JointVerdict
from tests.builders import make_node, make_pod, required_anti_affinity
from tests.placement.batches.proofs import prove
from tests.placement.batches.small_batches import ZONE

APP = {"app": "web"}


def spread(skew: int = 1, *, selector: Mapping[str, str] = APP, key: str = ZONE, **more: Any) -> dict[str, Any]:
    labels = {"matchLabels": dict(selector)}
    return {"maxSkew": skew, "topologyKey": key, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": labels, **more}


def in_zones(*, closed: str = "east", taken: str = "west", **more: Any) -> list[Node]:
    """A node that takes all pods in one zone, a full one in another, and the cordoned one that all of them leave."""
    return [
        make_node("x", labels={ZONE: taken}),
        make_node("full", pods="0", labels={ZONE: closed}),
        make_node("c", unschedulable=True, labels={ZONE: taken}, **more),
    ]


def leaving(number: int, *constraints: Mapping[str, Any], **facts: Any) -> list[Pod]:
    """So many pods of one ReplicaSet with these constraints, on the cordoned node."""
    stated = [dict(each) for each in constraints]
    return [make_pod(f"p{n}", node="c", spread=stated, **{"labels": APP, **facts}) for n in range(number)]


def certificate(joint: JointVerdict) -> str:
    """What the proof says of the spread, empty for any other."""
    return joint.certificate if joint.certificate.startswith("topology spread") else ""


def allows(most: int, number: int) -> str:
    pods = f"{number} replacement pods like that of default/p0"
    return f"topology spread over {ZONE} allows {most} of {pods} in the eligible domains"


@pytest.mark.parametrize(
    ("skew", "number", "expected"),
    [
        pytest.param(1, 1, "", id="one that the skew allows"),
        pytest.param(1, 2, allows(1, 2), id="one more"),
        pytest.param(2, 2, "", id="two of a larger skew"),
        pytest.param(2, 3, allows(2, 3), id="three of it"),
    ],
)
def test_a_domain_that_takes_none_bounds_the_others(skew: int, number: int, expected: str) -> None:
    assert certificate(prove(in_zones(), leaving(number, spread(skew)))) == expected


def test_pods_that_stay_in_the_closed_domain_raise_the_bound() -> None:
    """Two more may come, as its count is two; one that stays in the open domain takes one of these places."""
    there = [make_pod(f"there{n}", node="full", labels=APP) for n in range(2)]
    here = make_pod("here", node="x", labels=APP)
    names = ["p0", "p1", "p2", "p3"]

    assert certificate(prove(in_zones(), [*leaving(4, spread()), *there], *names)) == allows(3, 4)
    assert certificate(prove(in_zones(), [*leaving(3, spread()), *there], *names[:3])) == ""
    assert certificate(prove(in_zones(), [*leaving(3, spread()), *there, here], *names[:3])) == allows(2, 3)


def test_one_pod_may_be_one_too_many() -> None:
    here = make_pod("here", node="x", labels=APP)

    expected = (
        f"topology spread over {ZONE} allows 0 of 1 replacement pod like that of default/p0 in the eligible domains"
    )
    assert certificate(prove(in_zones(), [*leaving(1, spread()), here], "p0")) == expected


def test_too_few_domains_count_as_one_without_pods() -> None:
    """With `minDomains` above their number, whatever the domains hold."""
    there = [make_pod(f"there{n}", node="full", labels=APP) for n in range(2)]
    pods = [*leaving(2, spread(minDomains=3)), *there]

    assert certificate(prove(in_zones(), pods, "p0", "p1")) == allows(1, 2)
    assert certificate(prove(in_zones(), [*leaving(2, spread(minDomains=2)), *there], "p0", "p1")) == ""


def test_domains_that_all_take_the_pods_bound_nothing() -> None:
    nodes = [*in_zones(), make_node("y", labels={ZONE: "east"})]

    assert certificate(prove(nodes, leaving(3, spread()))) == ""


def test_constraint_that_does_not_count_the_pods_bounds_nothing() -> None:
    assert certificate(prove(in_zones(), leaving(3, spread(selector={"app": "other"})))) == ""


def test_replacements_of_another_kind_that_count_too_leave_it_open() -> None:
    """They may raise the count of the closed domain, as far as this proof goes."""
    other = make_pod("other", node="c", labels=APP, cpu="1", owners=["ReplicaSet/other"])
    stranger = make_pod("other", node="c", labels={"app": "x"}, cpu="1", owners=["ReplicaSet/other"])

    assert certificate(prove(in_zones(), [*leaving(2, spread()), other])) == ""
    assert certificate(prove(in_zones(), [*leaving(2, spread()), stranger])) == allows(1, 2)


def test_second_constraint_is_looked_at_too() -> None:
    wide, tight = spread(5), spread(1)

    assert certificate(prove(in_zones(), leaving(2, wide, tight))) == allows(1, 2)


@pytest.mark.parametrize(
    ("cpu", "memory", "expected"),
    [
        pytest.param("1", "1Gi", "", id="all that there is"),
        pytest.param(
            "1001m", "1Gi", "2 replacement pods request 2001m cpu, and the eligible nodes have 2 free", id="cpu"
        ),
        pytest.param(
            "1",
            "1025Mi",
            "2 replacement pods request 2148532224 memory, and the eligible nodes have 2147483648 free",
            id="memory",
        ),
    ],
)
def test_batch_that_requests_more_than_is_free_in_all_cannot_land(cpu: str, memory: str, expected: str) -> None:
    """Of two kinds, so that no kind alone is too many."""
    nodes = [make_node("x", cpu="2", memory="2Gi"), make_node("c", unschedulable=True)]
    pods = [
        make_pod(name, node="c", cpu=c, memory=m, owners=[f"ReplicaSet/{name}"])
        for name, c, m in (("p", "1", "1Gi"), ("q", cpu, memory))
    ]

    assert prove(nodes, pods).certificate == expected


def test_kind_that_has_just_enough_room_is_not_the_cause() -> None:
    """The node takes both of them, and not the third one beside them."""
    nodes = [make_node("x", cpu="4"), make_node("c", unschedulable=True)]
    third = make_pod("third", node="c", cpu="1", owners=["ReplicaSet/third"])

    found = prove(nodes, [*leaving(2, cpu="2"), third]).certificate

    assert found == "3 replacement pods request 5 cpu, and the eligible nodes have 4 free"


@pytest.mark.parametrize(
    "constraint",
    [
        pytest.param(spread(2), id="it allows just as many"),
        pytest.param(spread(selector={"app": "other"}), id="it does not count them"),
    ],
)
def test_spread_that_allows_all_of_a_kind_is_not_the_cause(constraint: dict[str, Any]) -> None:
    """There is one node, and they keep apart."""
    found = prove(in_zones(), leaving(2, constraint, affinity=required_anti_affinity(APP))).certificate

    assert found == "no assignment of all replacement pods to nodes exists (all orders and nodes were tried)"


def test_spread_of_two_kinds_that_count_each_other_is_not_the_cause() -> None:
    other = make_pod("other", node="c", labels=APP, cpu="1", owners=["ReplicaSet/other"])
    found = prove(in_zones(), [*leaving(2, spread()), other]).certificate

    assert found == "no assignment of all replacement pods to nodes exists (all orders and nodes were tried)"


@pytest.mark.parametrize(("places", "expected"), [("2", ""), ("1", "have room for 1")])
def test_places_for_pods_are_counted(places: str, expected: str) -> None:
    nodes = [make_node("x", pods=places), make_node("c", unschedulable=True)]

    assert prove(nodes, leaving(2)).certificate.endswith(expected)
    assert bool(prove(nodes, leaving(2)).certificate) is bool(expected)
