"""`addedAffinity`: what it adds, and how it is shown and explained."""

from __future__ import annotations

import pytest

from descheduler.placement.plugins.node_affinity import ROW, NodeAffinityArgs
from tests.builders import make_node, make_pod
from tests.placement.clusters import make_cluster, make_profile, scores
from tests.placement.configuration.kube_scheduler.builders import args_with, problems, with_args
from tests.placement.plugins.explanations import told

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def added(affinity: str) -> NodeAffinityArgs:
    """The arguments with this `addedAffinity`, in flow style."""
    return args_with("NodeAffinity", f"{{addedAffinity: {affinity}}}").of(NodeAffinityArgs)


def required(*terms: str) -> str:
    """An affinity of required terms."""
    return f"{{{_REQUIRED}: {{nodeSelectorTerms: [{', '.join(terms)}]}}}}"


def test_added_affinity_is_explained_beside_that_of_the_pod() -> None:
    args = added(required("{matchExpressions: [{key: disk, operator: In, values: [ssd]}]}"))
    pod = make_pod("new", node="", node_selector={"zone": "z"})

    found = told(ROW, make_cluster([make_node("a", labels={"disk": "hdd"})]), pod, profile=make_profile(args))

    assert found == [
        "nodeSelector requires zone=z, the node has no such label",
        "addedAffinity of the scheduler requires disk in (ssd), the node has hdd",
    ]


def test_node_that_meets_the_added_affinity_is_told_what_the_pod_requires_alone() -> None:
    args = added(required("{matchExpressions: [{key: disk, operator: In, values: [ssd]}]}"))
    pod = make_pod("new", node="", node_selector={"zone": "z"})

    found = told(ROW, make_cluster([make_node("a", labels={"disk": "ssd"})]), pod, profile=make_profile(args))

    assert found == ["nodeSelector requires zone=z, the node has no such label"]


def test_added_preferences_without_required_terms_close_no_node() -> None:
    args = added(f"{{{_PREFERRED}: [{{weight: 5, preference: {{matchExpressions: [{{key: x, operator: Exists}}]}}}}]}}")
    cluster = make_cluster([make_node("a"), make_node("b", labels={"x": ""})])
    pod = make_pod("new", node="", node_selector={"zone": "z"})
    assert ROW.score is not None

    assert len(told(ROW, cluster, pod, profile=make_profile(args))) == 1
    assert scores(ROW.score, cluster, make_pod("p", node=""), profile=make_profile(args)) == ([0, 5], [0, 100])


@pytest.mark.parametrize(
    ("preference", "scored"),
    [
        pytest.param("{weight: 1, preference: {matchExpressions: [{key: x, operator: Exists}]}}", True, id="the least"),
        pytest.param("{weight: 0, preference: {matchExpressions: [{key: x, operator: Exists}]}}", False, id="weight 0"),
        pytest.param("{weight: 5, preference: {}}", False, id="an empty preference"),
    ],
)
def test_added_preferences_without_effect_are_left_out(preference: str, scored: bool) -> None:
    affinity = added(f"{{{_PREFERRED}: [{preference}]}}").added_affinity

    assert affinity is not None
    assert bool(affinity.node_preferred) is scored


@pytest.mark.parametrize(
    ("operator", "values", "problem"),
    [
        pytest.param("In", "[a]", "", id="one name"),
        pytest.param("NotIn", "[a]", "", id="all but one name"),
        pytest.param("In", "[]", "needs exactly one value, not 0", id="no name"),
        pytest.param("Exists", "[]", "'Exists' is not one of In, NotIn", id="an operator for labels"),
    ],
)
def test_added_fields_are_checked(operator: str, values: str, problem: str) -> None:
    term = f"{{matchFields: [{{key: metadata.name, operator: {operator}, values: {values}}}]}}"

    found = problems(with_args("NodeAffinity", f"{{addedAffinity: {required(term)}}}"))

    assert [problem in each for each in found] == ([True] if problem else [])


def test_added_affinity_is_shown_where_there_is_any() -> None:
    args = ROW.args
    assert args is not None

    assert args.shown(NodeAffinityArgs()) == {"addedAffinity": False}
    assert args.shown(added("{}")) == {"addedAffinity": True}
