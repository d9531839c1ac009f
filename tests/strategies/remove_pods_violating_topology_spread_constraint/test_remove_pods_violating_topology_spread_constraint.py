"""RemovePodsViolatingTopologySpreadConstraint: which pods leave a topology domain that is too full."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.report.formats.render import render
from descheduler.report.plan.making import make_plan
from descheduler.strategies.remove_pods_violating_topology_spread_constraint.domains import SpreadDomains
from tests.builders import Object, make_node, make_pod, required_node_affinity
from tests.strategies.runs import evicted, refused, run_plugin

PLUGIN = "RemovePodsViolatingTopologySpreadConstraint"


def zones(count: int, **facts: Any) -> list[Node]:
    """One node a zone: n0 in zone z0 and so on."""
    return [make_node(f"n{i}", labels={"zone": f"z{i}"}, **facts) for i in range(count)]


def constraint(**members: Any) -> Object:
    return {
        "maxSkew": 1,
        "topologyKey": "zone",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "web"}},
        **members,
    }


def spread_pods(sizes: Sequence[int], *, members: Mapping[str, Any] | None = None, **facts: Any) -> list[Pod]:
    """Pods that state the constraint, so many in zone z0, z1 and so on, named after zone and number."""
    own = {"labels": {"app": "web"}, "spread": [constraint(**(members or {}))], **facts}
    return [make_pod(f"z{zone}-{i}", node=f"n{zone}", **own) for zone, size in enumerate(sizes) for i in range(size)]


@pytest.mark.parametrize(
    ("sizes", "max_skew", "expected"),
    [
        pytest.param([3, 1], 1, 1, id="three and one"),
        pytest.param([5, 2], 1, 1, id="five and two"),
        pytest.param([4, 0], 1, 2, id="four and none"),
        pytest.param([0, 1, 100], 1, 66, id="one zone holds nearly all"),
        pytest.param([0, 1, 3, 5], 1, 3, id="a staircase"),
        pytest.param([2, 6], 2, 1, id="a larger skew is allowed"),
        pytest.param([8, 7, 0], 1, 5, id="two zones feed the third"),
        pytest.param([2, 1], 1, 0, id="the allowed skew stays"),
    ],
)
def test_fewest_pods_leave_that_end_the_skew(sizes: Sequence[int], max_skew: int, expected: int) -> None:
    pods = spread_pods(sizes, members={"maxSkew": max_skew})

    decisions = run_plugin(PLUGIN, zones(len(sizes)), pods)

    assert len(evicted(decisions)) == expected


def test_negative_skew_over_a_topology_that_no_node_has_moves_nothing() -> None:
    pods = spread_pods([1, 1], members={"maxSkew": -1, "topologyKey": "rack"})

    assert evicted(run_plugin(PLUGIN, zones(2), pods)) == []


def test_terminating_pods_count_no_longer() -> None:
    going = [make_pod(f"going-{i}", node="n0", labels={"app": "web"}, deleted=1) for i in range(2)]
    pods = [*spread_pods([2, 2]), *going]

    decisions = run_plugin(PLUGIN, zones(2), pods)

    assert evicted(decisions) == []


@pytest.mark.parametrize(
    ("revisions", "expected"),
    [
        pytest.param(("1", "2"), 0, id="each revision has one pod"),
        pytest.param(("1", "1"), 1, id="one revision has both"),
    ],
)
def test_match_label_keys_count_each_value_on_its_own(revisions: Sequence[str], expected: int) -> None:
    pods = [
        make_pod(
            f"p{i}", node="n0", labels={"app": "web", "revision": r}, spread=[constraint(matchLabelKeys=["revision"])]
        )
        for i, r in enumerate(revisions)
    ]

    decisions = run_plugin(PLUGIN, zones(2), pods)

    assert len(evicted(decisions)) == expected


@pytest.mark.parametrize(
    ("taint", "args", "expected"),
    [
        pytest.param("a=b:NoSchedule", {}, [], id="the pod would not fit there"),
        pytest.param("a=b:PreferNoSchedule", {}, ["z0-1"], id="a preference keeps nobody off"),
        pytest.param("a=b:NoSchedule", {"topologyBalanceNodeFit": False}, ["z0-1"], id="nobody asks whether it fits"),
    ],
)
def test_empty_zone_with_a_taint(taint: str, args: Object, expected: list[str]) -> None:
    nodes = [*zones(1), make_node("n1", labels={"zone": "z1"}, taints=[taint])]

    decisions = run_plugin(PLUGIN, nodes, spread_pods([2, 0]), args=args)

    assert evicted(decisions) == expected


def test_pod_that_fits_nowhere_else_is_reported() -> None:
    nodes = [*zones(1), make_node("n1", labels={"zone": "z1"}, pods="0")]

    decisions = run_plugin(PLUGIN, nodes, spread_pods([2, 0]))

    assert refused(decisions) == {"z0-1": "NoNodeFits"}
    assert decisions.refusals[0].verdict.message == (
        "the pod fits on no node in a less full domain of zone (topologyBalanceNodeFit: true)"
    )


def test_plan_names_the_pod_that_fits_nowhere_else_and_the_argument_that_asks() -> None:
    nodes = [*zones(1), make_node("n1", labels={"zone": "z1"}, pods="0")]
    decisions = run_plugin(PLUGIN, nodes, spread_pods([2, 0]), evictor={"nodeFit": False})

    table = "\n".join(render(make_plan(decisions), "table"))

    assert "z0-1" in table
    assert "the pod fits on no node in a less full domain of zone (topologyBalanceNodeFit: true)" in table


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        pytest.param("Honor", [], id="a tainted node is no domain when taints are honoured"),
        pytest.param("Ignore", ["z0-1"], id="it is one when they are ignored"),
    ],
)
def test_node_taints_policy(policy: str, expected: list[str]) -> None:
    nodes = [*zones(1), make_node("n1", labels={"zone": "z1"}, taints=["a=b:NoSchedule"])]
    pods = spread_pods([2, 0], members={"nodeTaintsPolicy": policy})

    decisions = run_plugin(PLUGIN, nodes, pods, args={"topologyBalanceNodeFit": False})

    assert evicted(decisions) == expected


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        pytest.param("Honor", [], id="a node the pods cannot use is no domain when affinity is honoured"),
        pytest.param("Ignore", ["z0-1"], id="it is one when affinity is ignored"),
        pytest.param("", ["z0-1"], id="an empty policy is not the absent one, which honours it"),
        pytest.param(None, [], id="no policy"),
    ],
)
def test_node_affinity_policy(policy: str | None, expected: list[str]) -> None:
    pods = spread_pods([2, 0], members={"nodeAffinityPolicy": policy}, affinity=required_node_affinity("zone", "z0"))

    decisions = run_plugin(PLUGIN, zones(2), pods, args={"topologyBalanceNodeFit": False})

    assert evicted(decisions) == expected


@pytest.mark.parametrize(
    ("compatibility", "expected"),
    [
        pytest.param("upstream", {"p5", "p9"}, id="upstream takes the highest"),
        pytest.param("fixed", {"p1", "p3"}, id="fixed takes the lowest"),
    ],
)
def test_priority_decides_who_leaves(compatibility: Any, expected: set[str]) -> None:
    facts: Mapping[str, Any] = {"node": "n0", "labels": {"app": "web"}, "spread": [constraint()]}
    pods = [make_pod(f"p{priority}", priority=priority, **facts) for priority in (1, 3, 5, 9)]

    decisions = run_plugin(PLUGIN, zones(2), pods, compatibility=compatibility)

    assert set(evicted(decisions)) == expected


def test_pod_bound_to_its_zone_stays_and_its_neighbour_leaves() -> None:
    nodes = zones(3, allocatable={"cpu": "4"})
    members = {"nodeAffinityPolicy": "Ignore"}
    free = spread_pods([1, 0, 0], members=members, affinity=required_node_affinity("zone", "z0", "z1", "z2"))
    bound = make_pod(
        "bound", node="n0", labels={"app": "web"}, spread=[constraint(**members)], node_selector={"zone": "z0"}
    )
    middle = make_pod("middle", node="n1", labels={"app": "web"}, spread=[constraint(**members)])

    decisions = run_plugin(PLUGIN, nodes, [*free, bound, middle])

    assert evicted(decisions) == ["z0-0"]


def test_protected_pods_count_nowhere() -> None:
    pods = [*spread_pods([1, 0]), make_pod("system", node="n0", labels={"app": "web"}, priority=2_000_000_000)]

    decisions = run_plugin(PLUGIN, zones(2), pods)

    assert evicted(decisions) == []


@pytest.mark.parametrize(
    ("members", "args", "expected"),
    [
        pytest.param({"whenUnsatisfiable": "ScheduleAnyway"}, {}, 0, id="soft constraints are passed over by default"),
        pytest.param(
            {"whenUnsatisfiable": "ScheduleAnyway"}, {"constraints": ["ScheduleAnyway"]}, 1, id="unless asked for"
        ),
        pytest.param({"labelSelector": None}, {}, 0, id="no selector selects nothing"),
        pytest.param({"labelSelector": {}}, {}, 1, id="an empty selector selects everything"),
        pytest.param({"labelSelector": {"matchLabels": {"app": "not valid!"}}}, {}, 0, id="a malformed one is skipped"),
        pytest.param({"topologyKey": "rack"}, {}, 0, id="nodes without the label make no domain"),
    ],
)
def test_which_constraints_count(members: Mapping[str, Any], args: Object, expected: int) -> None:
    decisions = run_plugin(PLUGIN, zones(2), spread_pods([2, 0], members=members), args=args)

    assert len(evicted(decisions)) == expected


def test_pods_without_the_constraint_count_where_the_selector_matches() -> None:
    pods = [*spread_pods([1, 0]), make_pod("other", node="n0", labels={"app": "web"})]

    decisions = run_plugin(PLUGIN, zones(2), pods)

    assert len(evicted(decisions)) == 1


def test_pod_marked_twice_is_evicted_once() -> None:
    pods = spread_pods([2, 0], spread=[constraint(), constraint(topologyKey="kubernetes.io/hostname")])

    decisions = run_plugin(PLUGIN, zones(2), pods)

    assert evicted(decisions) == ["z0-1"]


def test_node_limit_skips_the_node_and_total_limit_ends_the_plugin() -> None:
    pods = spread_pods([6, 6, 0])

    by_node = run_plugin(PLUGIN, zones(3), pods, policy={"maxNoOfPodsToEvictPerNode": 1})
    in_total = run_plugin(PLUGIN, zones(3), pods, policy={"maxNoOfPodsToEvictTotal": 1})

    assert [booked.pod.node_name for booked in by_node.moves] == ["n1", "n0"]
    assert len(evicted(in_total)) == 1


def test_reason_names_the_domain_the_workload_and_the_constraint() -> None:
    decisions = run_plugin(PLUGIN, zones(2), spread_pods([2, 0]))

    (booked,) = decisions.moves
    assert booked.reason == (
        "z0 has 2 more pods of ReplicaSet web than the emptiest zone"
        " (topologyKey: zone, maxSkew: 1, labelSelector: app in (web))"
    )


def test_reason_counts_further_owners_of_the_pods_that_the_constraint_counts() -> None:
    pods = [*spread_pods([2, 0]), make_pod("other", node="n0", labels={"app": "web"}, owners=["ReplicaSet/api"])]

    decisions = run_plugin(PLUGIN, zones(2), pods)

    (booked,) = decisions.moves
    assert booked.reason.startswith("z0 has 3 more pods of ReplicaSet ")
    assert " and 1 other owner than the emptiest zone" in booked.reason


def test_reason_shows_the_start_of_a_long_selector() -> None:
    values = [f"value-{number:04}" for number in range(500)]
    members = {"labelSelector": {"matchExpressions": [{"key": "app", "operator": "In", "values": ["web", *values]}]}}

    decisions = run_plugin(PLUGIN, zones(2), spread_pods([2, 0], members=members))

    (booked,) = decisions.moves
    assert len(booked.reason) < 400


def test_constraints_that_count_the_same_pods_are_balanced_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tenant may state thousands of selectors that differ in words alone."""
    asked: list[SpreadDomains] = []
    ranked = SpreadDomains.ranked

    def counted(self: SpreadDomains) -> NDArray[np.intp]:
        asked.append(self)
        return ranked(self)

    monkeypatch.setattr(SpreadDomains, "ranked", counted)
    others = [
        {"matchExpressions": [{"key": "app", "operator": "NotIn", "values": [f"other-{number}"]}]}
        for number in range(20)
    ]
    pods = spread_pods([4, 0], spread=[constraint(labelSelector=selector) for selector in others])

    leaving = evicted(run_plugin(PLUGIN, nodes=zones(2), pods=pods))

    assert (len(leaving), len(asked)) == (2, 1)
