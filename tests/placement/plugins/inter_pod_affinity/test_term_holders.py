"""Terms of placed pods are found by the classes that they match, through every move."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from descheduler.model.objects import Namespace
from descheduler.placement.plugins.inter_pod_affinity.term_holders import TermHolders, TermKind
from tests.builders import make_node, make_pod, required_anti_affinity
from tests.placement.clusters import make_cluster

NODES = [make_node(name) for name in ("a", "b")]
NAMESPACES = {name: Namespace(name, {"env": name}) for name in ("n", "m")}

_expressions = st.fixed_dictionaries(
    {"key": st.sampled_from(["k", "l"]), "operator": st.sampled_from(["In", "NotIn"]), "values": st.just(["x", "y"])}
) | st.fixed_dictionaries({"key": st.just("k"), "operator": st.sampled_from(["Exists", "DoesNotExist"])})
_terms = st.fixed_dictionaries(
    {
        "topologyKey": st.just("zone"),
        "labelSelector": st.none() | st.fixed_dictionaries({"matchExpressions": st.lists(_expressions, max_size=2)}),
    },
    optional={
        "namespaces": st.lists(st.sampled_from(["n", "m"]), max_size=2),
        "namespaceSelector": st.sampled_from([{}, {"matchLabels": {"env": "n"}}]),
    },
)
_labels = st.dictionaries(st.sampled_from(["k", "l"]), st.sampled_from(["x", "y", "z"]))


@pytest.mark.long
@given(st.lists(_terms, max_size=5), _labels, st.sampled_from(["n", "m", "other"]))
def test_matching_terms_are_those_that_match_when_all_are_asked(
    terms: list[dict[str, Any]], labels: dict[str, str], namespace: str
) -> None:
    required = [{"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}} for term in terms]
    pods = [make_pod(f"p{index}", namespace="n", affinity=affinity) for index, affinity in enumerate(required)]
    cluster = make_cluster(NODES, pods, namespaces=NAMESPACES)
    holders = cluster.follow(TermHolders)
    incoming = cluster.placement_class(make_pod("new", node="", namespace=namespace, labels=labels))
    known = NAMESPACES.get(namespace)

    found = holders.matching(incoming).repelling

    matching = [term for term in holders if term.matches(incoming.pod, known.labels if known else {})]
    assert sorted(map(id, found)) == sorted(map(id, matching))


def test_term_that_comes_later_is_found_by_a_class_that_asked_before() -> None:
    cluster = make_cluster(NODES)
    holders = cluster.follow(TermHolders)
    incoming = cluster.placement_class(make_pod("new", node="", labels={"app": "web"}))
    before = holders.matching(incoming).repelling

    cluster.add(make_pod("holder", affinity=required_anti_affinity({"app": "web"})), 1)

    (term,) = holders.matching(incoming).repelling
    assert (before, term.nodes().tolist(), term.kind) == ((), [1], TermKind.REQUIRED_ANTI)


def test_replicas_hold_one_term_together() -> None:
    affinity = required_anti_affinity({"app": "web"})
    pods = [make_pod(f"web-{node}-{number}", node=node, affinity=affinity) for node in "ab" for number in range(2)]
    cluster = make_cluster(NODES, pods)
    incoming = cluster.placement_class(make_pod("new", node="", labels={"app": "web"}))

    cluster.remove(pods[0])

    (term,) = cluster.follow(TermHolders).matching(incoming).repelling
    assert term.holders == {0: 1, 1: 2}


def test_holder_on_an_unknown_node_holds_nothing() -> None:
    pods = [make_pod("holder", node="gone", affinity=required_anti_affinity({"app": "web"}))]
    cluster = make_cluster(NODES, pods)
    incoming = cluster.placement_class(make_pod("new", node="", labels={"app": "web"}))

    assert cluster.follow(TermHolders).matching(incoming).repelling == ()


def test_terms_of_one_spec_are_one_until_another_pod_has_one_of_them() -> None:
    def anti(*apps: str) -> dict[str, Any]:
        terms = [{"topologyKey": "zone", "labelSelector": _without(app)} for app in apps]
        return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}

    cluster = make_cluster(NODES, [make_pod("many", node="a", affinity=anti("x", "y", "z"))])
    holders = cluster.follow(TermHolders)
    incoming = cluster.placement_class(make_pod("new", node="", labels={"app": "web"}))
    before = [term.holders for term in holders.matching(incoming).repelling]

    cluster.add(make_pod("other", node="", affinity=anti("y")), 1)

    after = [term.holders for term in holders.matching(incoming).repelling]
    assert (before, after) == ([{0: 1}], [{0: 1}, {0: 1, 1: 1}])


def _without(app: str) -> dict[str, Any]:
    return {"matchExpressions": [{"key": "app", "operator": "NotIn", "values": [app]}]}
