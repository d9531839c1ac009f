"""Which domains a constraint has, how many pods are in each, and in which order their pods leave."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.strategies.remove_pods_violating_topology_spread_constraint.constraints import (
    PodConstraint,
    distinct_constraints,
    states_constraint,
)
from descheduler.strategies.remove_pods_violating_topology_spread_constraint.domains import (
    DomainFinder,
    LabelIndex,
    SpreadDomains,
    leaving_order,
)
from tests.builders import Object, make_node, make_pod, required_node_affinity

WEB = {"app": "web"}
NODES = [make_node(f"n{zone}", labels={"zone": f"z{zone}"}) for zone in range(3)]


def spread(when: str = "DoNotSchedule", **members: Any) -> Object:
    selected = {"labelSelector": {"matchLabels": WEB}}
    return {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": when, **selected, **members}


def web(name: str, node: str = "n0", **facts: Any) -> Pod:
    return make_pod(name, node=node, **{"labels": WEB, "spread": [spread()], **facts})


def constraint_of(pod: Pod) -> PodConstraint:
    (found,) = distinct_constraints([pod], ["DoNotSchedule"])
    return found


def domains(numbers: Sequence[int], nodes: Sequence[Node] = NODES, **facts: Any) -> SpreadDomains:
    """So many pods in the zones of the nodes."""
    pods = [
        web(f"p{zone}-{each}", f"n{zone}", **facts) for zone, number in enumerate(numbers) for each in range(number)
    ]
    return DomainFinder(nodes).find(constraint_of(web("x", **facts)), LabelIndex(pods))


@pytest.mark.parametrize(
    ("numbers", "smallest", "skew"),
    [
        pytest.param([3, 1, 2], 1, 2, id="all zones have pods"),
        pytest.param([3, 0, 2], 0, 3, id="one zone is empty"),
        pytest.param([0, 0, 0], 0, 0, id="all zones are empty"),
        pytest.param([2, 2, 2], 2, 0, id="all zones are alike"),
    ],
)
def test_skew_is_between_the_fullest_and_the_emptiest_domain(numbers: list[int], smallest: int, skew: int) -> None:
    found = domains(numbers)

    assert (found.smallest, found.skew) == (smallest, skew)
    assert found.sizes == {f"z{zone}": number for zone, number in enumerate(numbers) if number}
    assert found.num_empty == numbers.count(0)


@pytest.mark.parametrize(
    ("ideal", "names"), [(1.0, ["n1"]), (1.5, ["n1", "n2"]), (2.0, ["n1", "n2"]), (2.5, ["n0", "n1", "n2"])]
)
def test_nodes_of_domains_below_the_average(ideal: float, names: list[str]) -> None:
    assert [node.name for node in domains([2, 0, 1]).nodes_below(ideal)] == names


def test_domains_are_ranked_from_the_smallest_on_and_ties_as_the_listing_comes_to_them() -> None:
    found = domains([2, 1, 1])

    assert [found.values[each] for each in found.ranked()] == ["z1", "z2", "z0"]


def test_topology_that_no_node_has_makes_no_domain() -> None:
    constraint = constraint_of(web("x", spread=[spread(topologyKey="rack")]))

    found = DomainFinder(NODES).find(constraint, LabelIndex([web("p")]))

    assert (found.skew, found.num_empty, len(found.places)) == (0, 0, 0)


def test_pods_that_terminate_or_are_on_nodes_without_the_label_do_not_count() -> None:
    pods = [web("ends", deleted=5), web("bare", "other"), web("there"), make_pod("db", node="n0", labels={"app": "db"})]

    found = DomainFinder([*NODES, make_node("other")]).find(constraint_of(web("x")), LabelIndex(pods))

    assert found.sizes == {"z0": 1}


def test_nodes_that_do_not_qualify_make_a_domain_where_pods_are() -> None:
    of_z1 = {"zone": "z1"}

    assert domains([1, 0, 0], node_selector=of_z1).num_empty == 1
    assert domains([1, 2, 0], node_selector=of_z1).sizes == {"z0": 1, "z1": 2}


@pytest.mark.parametrize(("policy", "num_empty"), [("Honor", 1), ("Ignore", 2)])
def test_taints_count_where_the_policy_honours_them(policy: str, num_empty: int) -> None:
    nodes = [*NODES[:2], make_node("n2", labels={"zone": "z2"}, taints=["a=b:NoSchedule"])]

    assert domains([1], nodes, spread=[spread(nodeTaintsPolicy=policy)]).num_empty == num_empty


def test_pods_leave_from_the_end_those_that_are_bound_last() -> None:
    pods = [
        make_pod("none"),
        make_pod("low", priority=1),
        make_pod("high", priority=5),
        make_pod("bound", node_selector={"zone": "z0"}),
        make_pod("affine", affinity=required_node_affinity("zone", "z0")),
    ]

    def staying(*, highest_first: bool) -> list[str]:
        ranks = leaving_order(pods, highest_first=highest_first).tolist()
        return [pod.name for _, pod in sorted(zip(ranks, pods, strict=True), key=lambda pair: pair[0])]

    assert staying(highest_first=True) == ["bound", "affine", "none", "low", "high"]
    assert staying(highest_first=False) == ["bound", "affine", "high", "low", "none"]


def test_each_distinct_constraint_is_found_once() -> None:
    soft, broken = spread("ScheduleAnyway"), spread(labelSelector={"matchLabels": {"app": "not valid!"}})
    pods = [web("a"), web("b"), web("c", spread=[soft, spread(maxSkew=2)]), web("d", spread=[broken]), make_pod("e")]

    assert [each.max_skew for each in distinct_constraints(pods, ["DoNotSchedule"])] == [1, 2]
    assert len(distinct_constraints(pods, ["DoNotSchedule", "ScheduleAnyway"])) == 2
    assert [states_constraint(pod, ["ScheduleAnyway"]) for pod in pods] == [False, False, True, False, False]


def test_keys_of_labels_narrow_the_selector_to_the_values_of_the_pod() -> None:
    keys = spread(matchLabelKeys=["revision", "missing"])
    found = constraint_of(web("a", labels={**WEB, "revision": "1"}, spread=[keys]))

    assert found.selector.matches({**WEB, "revision": "1"})
    assert not found.selector.matches({**WEB, "revision": "2"})
