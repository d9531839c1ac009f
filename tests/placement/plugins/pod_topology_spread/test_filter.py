"""Hard topology spread constraints: what counts, what makes a domain, and which nodes are left."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from descheduler.model.kube_version import KubeVersion
from descheduler.model.node import Node
from descheduler.model.objects import Service
from descheduler.model.pod import Pod
from descheduler.model.selection.affinity import TopologySpreadConstraint
from descheduler.placement.framework.obstacle import Code, Obstacle
from descheduler.placement.plugins.pod_topology_spread.constraints import PodTopologySpreadArgs
from descheduler.placement.plugins.pod_topology_spread.plugin import PodTopologySpread
from descheduler.placement.shadow.shadow_cluster import Cycle
from tests.builders import make_node, make_pod, required_node_affinity
from tests.placement.clusters import HOSTNAME, ZONE, make_cluster, make_profile, obstacles, passing

WEB = {"app": "web"}
TOO_MANY = Obstacle("PodTopologySpread", Code.UNSCHEDULABLE, ("node(s) didn't match pod topology spread constraints",))
NO_KEY = Obstacle(
    "PodTopologySpread",
    Code.UNRESOLVABLE,
    ("node(s) didn't match pod topology spread constraints (missing required label)",),
)


def _constraint(key: str = ZONE, *, labels: Mapping[str, str] | None = WEB, **facts: Any) -> dict[str, Any]:
    selector = None if labels is None else {"matchLabels": dict(labels)}
    return {
        "maxSkew": 1,
        "topologyKey": key,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": selector,
        **facts,
    }


def _web(name: str, node: str, **facts: Any) -> Pod:
    return make_pod(name, node=node, labels=WEB, **facts)


def _webs(**counts: int) -> list[Pod]:
    return [_web(f"{node}-{number}", node) for node, count in counts.items() for number in range(count)]


def _candidate(*constraints: dict[str, Any], labels: Mapping[str, str] = WEB, **facts: Any) -> Pod:
    return make_pod("new", node="", labels=labels, spread=constraints, **facts)


def _zone(name: str, **facts: Any) -> Node:
    """A node that is a zone of its own."""
    return make_node(name, labels={ZONE: name}, **facts)


@pytest.mark.parametrize(
    ("counts", "constraint", "expected"),
    [
        pytest.param({"a": 3, "b": 2, "c": 0}, {}, ["c"], id="only the emptiest zone is left"),
        pytest.param({"a": 1, "b": 1}, {"minDomains": 3}, [], id="too few zones make the least count 0"),
        pytest.param({"a": 0, "b": 0}, {"minDomains": 3}, ["a", "b"], id="empty zones take a pod though they are few"),
        pytest.param({"a": 1, "b": 1}, {"minDomains": 2}, ["a", "b"], id="enough zones keep their own least count"),
        pytest.param({"a": 5, "b": 4}, {"maxSkew": 2}, ["a", "b"], id="a skew within the limit is allowed"),
    ],
)
def test_zone_that_would_be_ahead_by_more_than_the_skew_is_left_out(
    counts: dict[str, int], constraint: dict[str, Any], expected: list[str]
) -> None:
    cluster = make_cluster([_zone(name) for name in counts], _webs(**counts))

    left = passing(PodTopologySpread, cluster, _candidate(_constraint(**constraint)))

    assert left == expected


@pytest.mark.parametrize(
    ("policy", "expected"),
    [
        pytest.param("Ignore", ["c"], id="an emptied zone behind a taint still sets the least count"),
        pytest.param("Honor", ["b", "c"], id="a zone behind an intolerable taint is no domain when taints are honored"),
    ],
)
def test_cordoned_zone_counts_unless_taints_are_honored(policy: str, expected: list[str]) -> None:
    cordoned = _zone("c", unschedulable=True, taints=["node.kubernetes.io/unschedulable:NoSchedule"])
    cluster = make_cluster([_zone("a"), _zone("b"), cordoned], _webs(a=3, b=2))

    left = passing(PodTopologySpread, cluster, _candidate(_constraint(nodeTaintsPolicy=policy)))

    assert left == expected


def test_tolerations_that_compare_cover_nothing_while_their_gate_is_off() -> None:
    nodes = [_zone("a"), _zone("b"), _zone("c", taints=["level=5:NoSchedule"])]
    tolerations = [{"key": "level", "operator": "Gt", "value": "3"}]
    pod = _candidate(_constraint(nodeTaintsPolicy="Honor"), tolerations=tolerations)
    version = KubeVersion().with_gates({"TaintTolerationComparisonOperators": True})

    by_default = passing(PodTopologySpread, make_cluster(nodes, _webs(a=3, b=2)), pod)
    with_gate = passing(PodTopologySpread, make_cluster(nodes, _webs(a=3, b=2), version=version), pod)

    assert (by_default, with_gate) == (["b", "c"], ["c"])


def test_terminating_pod_is_not_counted() -> None:
    victim = _web("victim", "a", deleted=10)
    cluster = make_cluster([_zone("a"), _zone("b")], [*_webs(a=1, b=2), victim])

    left = passing(PodTopologySpread, cluster, _candidate(_constraint()))

    assert left == ["a"]


def test_booked_eviction_is_not_counted_either() -> None:
    pods = _webs(a=2, b=2)
    cluster = make_cluster([_zone("a"), _zone("b")], pods)
    before = passing(PodTopologySpread, cluster, _candidate(_constraint()))

    cluster.terminate(pods[0])

    assert (before, passing(PodTopologySpread, cluster, _candidate(_constraint()))) == (["a", "b"], ["a"])


def test_placed_pod_is_counted() -> None:
    cluster = make_cluster([_zone("a"), _zone("b")])
    pod = _candidate(_constraint())

    cluster.add(pod, cluster.table.index["b"])

    assert passing(PodTopologySpread, cluster, pod) == ["a"]


def test_pod_that_its_own_selector_misses_adds_nothing_to_the_skew() -> None:
    cluster = make_cluster([_zone("a"), _zone("b")], _webs(a=5, b=4))

    left = passing(PodTopologySpread, cluster, _candidate(_constraint(), labels={"app": "other"}))

    assert left == ["a", "b"]


def test_pods_of_another_namespace_do_not_count() -> None:
    foreign = _web("foreign", "a", namespace="shop")
    cluster = make_cluster([_zone("a"), _zone("b")], [foreign])

    left = passing(PodTopologySpread, cluster, _candidate(_constraint()))

    assert left == ["a", "b"]


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        pytest.param(None, ["a", "b"], id="no selector counts no pod, the new one included"),
        pytest.param({}, ["a", "b"], id="an empty selector counts no pod but the new one"),
    ],
)
def test_selector_without_conditions_counts_no_placed_pod(selector: dict[str, Any] | None, expected: list[str]) -> None:
    cluster = make_cluster([_zone("a"), _zone("b")], _webs(a=7))

    left = passing(PodTopologySpread, cluster, _candidate(_constraint(labelSelector=selector)))

    assert left == expected


def test_empty_selector_still_matches_the_new_pod_itself() -> None:
    cluster = make_cluster([_zone("a")])
    constraint = _constraint(labelSelector={}, maxSkew=0)

    left = passing(PodTopologySpread, cluster, _candidate(constraint))

    assert left == []


def test_match_label_keys_count_pods_with_the_new_pods_value() -> None:
    old = make_pod("old", node="a", labels={**WEB, "ver": "1"})
    cluster = make_cluster([_zone("a"), _zone("b")], [old])
    constraint = _constraint(matchLabelKeys=["ver", "absent"])

    of_old = passing(PodTopologySpread, cluster, _candidate(constraint, labels={**WEB, "ver": "1"}))
    of_new = passing(PodTopologySpread, cluster, _candidate(constraint, labels={**WEB, "ver": "2"}))

    assert (of_old, of_new) == (["b"], ["a", "b"])


def test_match_label_keys_count_for_nothing_where_the_gate_is_off() -> None:
    version = KubeVersion().with_gates({"MatchLabelKeysInPodTopologySpread": False})
    old = make_pod("old", node="a", labels={**WEB, "ver": "1"})
    cluster = make_cluster([_zone("a"), _zone("b")], [old], version=version)
    candidate = _candidate(_constraint(matchLabelKeys=["ver"]), labels={**WEB, "ver": "2"})

    assert passing(PodTopologySpread, cluster, candidate) == ["b"]


def test_zone_outside_the_pods_node_affinity_sets_no_least_count() -> None:
    cluster = make_cluster([_zone("a"), _zone("b"), _zone("c")], _webs(a=2, b=1))
    affinity = required_node_affinity(ZONE, "a", "b")

    honored = passing(PodTopologySpread, cluster, _candidate(_constraint(), affinity=affinity))
    ignored = passing(
        PodTopologySpread, cluster, _candidate(_constraint(nodeAffinityPolicy="Ignore"), affinity=affinity)
    )

    assert (honored, ignored) == (["b", "c"], ["c"])


def test_node_without_the_key_is_refused_for_good() -> None:
    cluster = make_cluster([_zone("a"), make_node("bare")], _webs(a=4))

    against = obstacles(PodTopologySpread, cluster, _candidate(_constraint()))

    assert against == {"bare": NO_KEY}


def test_only_nodes_with_the_keys_of_all_constraints_count() -> None:
    rackless = make_node("c", labels={ZONE: "c"})
    racked = [make_node(name, labels={ZONE: name, "rack": name}) for name in ("a", "b")]
    cluster = make_cluster([*racked, rackless], _webs(a=1, b=1, c=0))
    constraints = _constraint(), _constraint("rack", maxSkew=5)

    against = obstacles(PodTopologySpread, cluster, _candidate(*constraints))

    assert against == {"c": NO_KEY}


def test_reason_is_that_of_the_first_constraint_that_fails() -> None:
    racked = make_node("b", labels={ZONE: "b", "rack": "b"})
    rackless = [make_node("a", labels={ZONE: "a"}), make_node("c", labels={ZONE: "b"})]
    cluster = make_cluster([racked, *rackless], _webs(b=1))
    constraints = _constraint(minDomains=2), _constraint("rack", maxSkew=5)

    against = obstacles(PodTopologySpread, cluster, _candidate(*constraints))

    assert against == {"a": NO_KEY, "b": TOO_MANY, "c": TOO_MANY}


def test_nodes_of_one_zone_share_their_count() -> None:
    nodes = [make_node(name, labels={ZONE: zone}) for name, zone in (("a", "x"), ("b", "x"), ("c", "y"))]
    cluster = make_cluster(nodes, _webs(a=1))

    against = obstacles(PodTopologySpread, cluster, _candidate(_constraint()))

    assert against == {"a": TOO_MANY, "b": TOO_MANY}


def test_soft_constraints_refuse_no_node() -> None:
    cluster = make_cluster([_zone("a"), _zone("b")], _webs(a=5))

    left = passing(PodTopologySpread, cluster, _candidate(_constraint(whenUnsatisfiable="ScheduleAnyway")))

    assert left == ["a", "b"]


def test_unreadable_selector_refuses_the_pod_everywhere() -> None:
    cluster = make_cluster([_zone("a")])
    broken = {"matchExpressions": [{"key": "app", "operator": "Near"}]}

    against = obstacles(PodTopologySpread, cluster, _candidate(_constraint(labelSelector=broken)))

    assert against["*"].code is Code.UNRESOLVABLE


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        pytest.param({}, ["b"], id="a pod without constraints takes the profile's"),
        pytest.param({"spread": [_constraint(HOSTNAME, maxSkew=9)]}, ["a", "b"], id="a pod with one keeps its own"),
    ],
)
def test_hard_default_constraint_holds_for_pods_behind_a_service(facts: dict[str, Any], expected: list[str]) -> None:
    cluster = make_cluster([_zone("a"), _zone("b")], _webs(a=1), services=(Service("default", "web", WEB),))
    default = TopologySpreadConstraint(1, ZONE, "DoNotSchedule")
    profile = make_profile(PodTopologySpreadArgs((default,), is_system_defaulted=False))
    pod = make_pod("new", node="", labels=WEB, **facts)

    against = obstacles(PodTopologySpread, cluster, pod, profile)

    assert [name for name in ("a", "b") if name not in against] == expected


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        pytest.param(WEB, ["a", "b"], id="pods of its own kind may be moved"),
        pytest.param({"app": "other"}, ["b"], id="a constraint on others holds as they are"),
    ],
)
def test_nodes_with_the_key_may_open_where_pods_spread_among_themselves(
    labels: Mapping[str, str], expected: list[str]
) -> None:
    cluster = make_cluster([_zone("a"), _zone("b"), make_node("nowhere")], _webs(a=3, b=1))
    cycle = Cycle(cluster.placement_class(_candidate(_constraint(), labels=labels)), cluster)

    is_open = PodTopologySpread(cluster, make_profile()).may_open(cycle)

    assert [node.name for node, opens in zip(cluster.table.nodes, is_open, strict=True) if opens] == expected
