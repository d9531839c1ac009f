"""Node selector, required node affinity, and what a profile adds to them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from descheduler.model.pod import Pod
from descheduler.model.selection.affinity import Affinity, NodeSelectorTerm
from descheduler.model.selection.labels import make_requirement
from descheduler.placement.framework.extension_points import SKIP, PreFilterResult
from descheduler.placement.framework.obstacle import Code, Obstacle
from descheduler.placement.plugins.node_affinity import NodeAffinity, NodeAffinityArgs
from descheduler.placement.shadow.shadow_cluster import Cycle
from tests.builders import make_node, make_pod
from tests.placement.clusters import make_cluster, make_profile, obstacles, passing

OWN = Obstacle("NodeAffinity", Code.UNRESOLVABLE, ("node(s) didn't match Pod's node affinity/selector",))
ADDED = Obstacle("NodeAffinity", Code.UNRESOLVABLE, ("node(s) didn't match scheduler-enforced node affinity",))
IN_ZONE_A = {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}]}


def _expression(key: str, operator: str, *values: str) -> dict[str, Any]:
    return {"matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]}


def _named(*names: str, operator: str = "In") -> dict[str, Any]:
    return {"matchFields": [{"key": "metadata.name", "operator": operator, "values": [name]} for name in names]}


def _candidate(*terms: dict[str, Any], node_selector: dict[str, str] | None = None) -> Pod:
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": list(terms)}}
    return make_pod("new", node="", affinity={"nodeAffinity": required}, node_selector=node_selector)


def _pre_filter(pod: Pod) -> PreFilterResult:
    cluster = make_cluster([make_node("a"), make_node("b"), make_node("c")])
    return NodeAffinity(cluster, make_profile()).pre_filter(Cycle(cluster.placement_class(pod), cluster))


def _narrowed(pod: Pod) -> list[bool] | None:
    nodes = _pre_filter(pod).nodes
    return None if nodes is None else np.asarray(nodes).tolist()


@pytest.mark.parametrize(
    ("terms", "matches"),
    [
        pytest.param([_expression("disk", "NotIn", "ssd")], True, id="NotIn holds without the label"),
        pytest.param([_expression("disk", "DoesNotExist")], True, id="DoesNotExist holds without the label"),
        pytest.param([_expression("zone", "Exists")], True, id="Exists holds with the label"),
        pytest.param([_expression("n", "Gt", "9")], True, id="Gt compares as numbers"),
        pytest.param([_expression("n", "Gt", "10")], False, id="Gt is strict"),
        pytest.param([_expression("disk", "Lt", "5")], False, id="Lt never holds without the label"),
        pytest.param([_expression("zone", "Gt", "1")], False, id="Gt never holds for a value that is no number"),
        pytest.param([], False, id="no terms match no node"),
        pytest.param([{}], False, id="an empty term matches no node"),
        pytest.param([{}, IN_ZONE_A], True, id="an empty term does not spoil another"),
        pytest.param([_expression("n", "Gt", "abc"), IN_ZONE_A], True, id="neither does one that cannot be parsed"),
        pytest.param([_expression("n", "Gt", "abc")], False, id="a term that cannot be parsed matches no node"),
        pytest.param([IN_ZONE_A | _named("other")], False, id="fields and expressions have to hold together"),
        pytest.param([_named("other", operator="NotIn")], True, id="a name may be excluded"),
    ],
)
def test_required_affinity_matches_a_node(terms: list[dict[str, Any]], matches: bool) -> None:
    cluster = make_cluster([make_node("node", labels={"zone": "a", "n": "10"})])

    assert passing(NodeAffinity, cluster, _candidate(*terms)) == (["node"] if matches else [])


def test_node_selector_and_affinity_have_to_hold_together() -> None:
    nodes = [
        make_node(f"{zone}-{disk}", labels={"zone": zone, "disk": disk}) for zone in "ab" for disk in ("hdd", "ssd")
    ]
    cluster = make_cluster(nodes)

    against = obstacles(NodeAffinity, cluster, _candidate(IN_ZONE_A, node_selector={"disk": "ssd"}))

    assert against == {"a-hdd": OWN, "b-hdd": OWN, "b-ssd": OWN}


@pytest.mark.parametrize(
    ("terms", "left"),
    [
        pytest.param([_named("a")], [True, False, False], id="a single name"),
        pytest.param([_named("a"), _named("c")], [True, False, True], id="the names of all terms"),
        pytest.param([_named("gone")], [False, False, False], id="a name that no node has"),
        pytest.param([_named("a") | IN_ZONE_A], [True, False, False], id="a name beside expressions"),
        pytest.param(
            [_named("a") | _expression("n", "Gt", "abc")], [True, False, False], id="a term that cannot be parsed"
        ),
        pytest.param([_named("a", "b"), _named("b")], [False, True, False], id="a conflict within one of the terms"),
        pytest.param([_named("a"), IN_ZONE_A], None, id="a term without a name leaves all"),
        pytest.param([_named("a"), {}], None, id="so does an empty one"),
        pytest.param([_named("a", operator="NotIn")], None, id="excluding a name leaves all"),
    ],
)
def test_names_narrow_the_nodes_before_any_is_looked_at(terms: list[dict[str, Any]], left: list[bool] | None) -> None:
    assert _narrowed(_candidate(*terms)) == left


def test_conflicting_names_refuse_the_pod_everywhere() -> None:
    result = _pre_filter(_candidate(_named("a", "b")))

    assert result.obstacle == Obstacle("NodeAffinity", Code.UNRESOLVABLE, ("pod affinity terms conflict",))


def test_pod_without_wishes_is_left_out() -> None:
    assert _pre_filter(make_pod("new", node="")) == SKIP


def test_affinity_of_the_profile_holds_for_every_pod_and_is_named_first() -> None:
    added = Affinity(node_required=(NodeSelectorTerm((make_requirement("pool", "In", ["batch"]),)),))
    profile = make_profile(NodeAffinityArgs(added))
    cluster = make_cluster([make_node("a", labels={"pool": "batch"}), make_node("b")])

    assert obstacles(NodeAffinity, cluster, make_pod("new", node=""), profile) == {"b": ADDED}
    assert obstacles(NodeAffinity, cluster, _candidate(IN_ZONE_A), profile) == {"a": OWN, "b": ADDED}
