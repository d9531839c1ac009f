"""Preferred node affinity of the pod and of the profile."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.model.pod import Pod
from descheduler.model.selection.affinity import Affinity, NodeSelectorTerm, PreferredNodeTerm
from descheduler.model.selection.labels import make_requirement
from descheduler.placement.framework.extension_points import ScoreError
from descheduler.placement.plugins.node_affinity import NodeAffinityArgs, NodeAffinityScore
from descheduler.placement.shadow.shadow_cluster import ShadowCluster
from tests.builders import make_node, make_pod, preferred_node_affinity
from tests.placement.clusters import make_cluster, make_profile, scores


def _cluster() -> ShadowCluster:
    """Node `ab` has the labels a and b, the others one or none of them."""
    return make_cluster(
        [make_node(name, labels={key: "yes" for key in name if key in "ab"}) for name in ("a", "ab", "x")]
    )


def _candidate(*entries: dict[str, Any]) -> Pod:
    terms = {"preferredDuringSchedulingIgnoredDuringExecution": list(entries)}
    return make_pod("new", node="", affinity={"nodeAffinity": terms})


def _entry(weight: int, *expressions: tuple[str, str, list[str]]) -> dict[str, Any]:
    parts = [{"key": key, "operator": operator, "values": values} for key, operator, values in expressions]
    return {"weight": weight, "preference": {"matchExpressions": parts}}


def test_weights_of_the_matching_terms_add_up_and_are_put_in_proportion() -> None:
    pod = make_pod("new", node="", affinity=preferred_node_affinity(("a", "yes", 10), ("b", "yes", 30)))

    assert scores(NodeAffinityScore, _cluster(), pod) == ([10, 40, 0], [25, 100, 0])


def test_proportions_are_those_among_the_nodes_that_are_left() -> None:
    pod = make_pod("new", node="", affinity=preferred_node_affinity(("a", "yes", 10), ("b", "yes", 30)))

    assert scores(NodeAffinityScore, _cluster(), pod, among=["a", "x"]) == ([10, 0], [100, 0])


def test_term_may_ask_for_a_name() -> None:
    field = {"key": "metadata.name", "operator": "In", "values": ["x"]}
    pod = _candidate({"weight": 5, "preference": {"matchFields": [field]}})

    assert scores(NodeAffinityScore, _cluster(), pod) == ([0, 0, 5], [0, 0, 100])


def test_empty_terms_and_terms_of_no_weight_count_nothing() -> None:
    pod = _candidate({"weight": 50, "preference": {}}, _entry(0, ("a", "Gt", ["abc"])), _entry(10, ("a", "Exists", [])))

    assert scores(NodeAffinityScore, _cluster(), pod) == ([10, 10, 0], [100, 100, 0])


def test_preferences_of_the_profile_are_added() -> None:
    added = PreferredNodeTerm(20, NodeSelectorTerm((make_requirement("b", "Exists", []),)))
    profile = make_profile(NodeAffinityArgs(Affinity(node_preferred=(added,))))
    pod = make_pod("new", node="", affinity=preferred_node_affinity(("a", "yes", 5)))

    assert scores(NodeAffinityScore, _cluster(), pod, profile=profile) == ([5, 25, 0], [20, 100, 0])
    assert scores(NodeAffinityScore, _cluster(), make_pod("other", node=""), profile=profile) == (
        [0, 20, 0],
        [0, 100, 0],
    )


def test_pod_without_preferences_is_not_scored() -> None:
    assert scores(NodeAffinityScore, _cluster(), make_pod("new", node="")) is None


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        pytest.param(
            [_entry(1, ("a", "Exists", [])), _entry(1, ("b", "Exists", []), ("a", "Gt", ["abc"]))],
            '[1].matchExpressions[1].values[0]: Invalid value: "abc":'
            " for 'Gt', 'Lt' operators, the value must be an integer",
            id="one fault stands alone",
        ),
        pytest.param(
            [_entry(1, ("a", "Gt", ["x"])), _entry(1, ("b", "Lt", ["y"]))],
            '[[0].matchExpressions[0].values[0]: Invalid value: "x":'
            " for 'Gt', 'Lt' operators, the value must be an integer,"
            ' [1].matchExpressions[0].values[0]: Invalid value: "y":'
            " for 'Gt', 'Lt' operators, the value must be an integer]",
            id="several make a list",
        ),
    ],
)
def test_preference_that_cannot_be_parsed_fails_the_score(entries: list[dict[str, Any]], message: str) -> None:
    with pytest.raises(ScoreError) as error:
        scores(NodeAffinityScore, _cluster(), _candidate(*entries))

    assert str(error.value) == f'running PreScore plugin "NodeAffinity": {message}'
