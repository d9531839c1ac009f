"""Affinity, spreading and selectors as the API states them."""

from __future__ import annotations

import json

import pytest

from descheduler.cluster.decoding.affinity_blocks import (
    decode_affinity,
    decode_node_affinity,
    decode_nullable_selector,
    decode_selector,
    decode_topology_spread,
)
from descheduler.model.selection.affinity import (
    Affinity,
    NodeSelectorTerm,
    PodAffinityTerm,
    PreferredNodeTerm,
    TopologySpreadConstraint,
    WeightedPodAffinityTerm,
)
from descheduler.model.selection.labels import EVERYTHING, NOTHING, LabelSelector, Requirement
from tests.builders import Object

REQUIRED, PREFERRED = (f"{verb}DuringSchedulingIgnoredDuringExecution" for verb in ("required", "preferred"))
LABELS = {"matchLabels": {"a": "b"}}
SELECTED = LabelSelector((Requirement("a", "In", frozenset({"b"})),))
ODD = {"matchExpressions": [{"key": "a", "operator": "Odd"}]}
EXPRESSION = {"key": "zone", "operator": "In", "values": ["x"]}
ZONE = Requirement("zone", "In", frozenset({"x"}))


def block(value: object) -> bytes:
    return json.dumps(value).encode()


def affinity(**parts: object) -> Affinity:
    found = decode_affinity(block(parts))
    assert found is not None
    return found


def spread(**fields: object) -> TopologySpreadConstraint:
    return decode_topology_spread(block([fields]))[0]


def test_affinity_that_says_nothing_is_empty() -> None:
    assert decode_affinity(b"null") is None
    assert affinity() == Affinity(has_node_affinity=False)
    assert affinity(podAffinity={}, podAntiAffinity={}) == Affinity(has_node_affinity=False)
    assert affinity(nodeAffinity={}) == Affinity(has_node_affinity=True)


def test_affinity_for_nodes_is_required_or_preferred() -> None:
    term = {
        "matchExpressions": [EXPRESSION],
        "matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n"]}],
    }
    node = {
        REQUIRED: {"nodeSelectorTerms": [term, {}]},
        PREFERRED: [{"weight": 5, "preference": {"matchExpressions": [EXPRESSION]}}, {}],
    }

    found = affinity(nodeAffinity=node)

    assert found.node_required == (
        NodeSelectorTerm((ZONE,), (Requirement("metadata.name", "In", frozenset({"n"})),)),
        NodeSelectorTerm(),
    )
    assert found.node_preferred == (
        PreferredNodeTerm(5, NodeSelectorTerm((ZONE,))),
        PreferredNodeTerm(0, NodeSelectorTerm()),
    )
    assert affinity(nodeAffinity={REQUIRED: {}}).node_required == ()


@pytest.mark.parametrize(("kind", "name"), [("podAffinity", "pod"), ("podAntiAffinity", "anti")])
def test_affinity_for_pods_is_required_or_preferred(kind: str, name: str) -> None:
    term = {
        "topologyKey": "zone",
        "labelSelector": LABELS,
        "namespaces": ["n"],
        "namespaceSelector": {},
        "matchLabelKeys": ["k"],
        "mismatchLabelKeys": ["l"],
    }
    whole = PodAffinityTerm("zone", SELECTED, frozenset({"n"}), EVERYTHING, ("k",), ("l",))
    empty = PodAffinityTerm("", NOTHING)

    found = affinity(**{kind: {REQUIRED: [term, {}], PREFERRED: [{"weight": 5, "podAffinityTerm": term}, {}]}})

    assert getattr(found, f"{name}_required") == (whole, empty)
    assert getattr(found, f"{name}_preferred") == (WeightedPodAffinityTerm(5, whole), WeightedPodAffinityTerm(0, empty))


@pytest.mark.parametrize("field", ["labelSelector", "namespaceSelector"])
def test_invalid_selector_of_pods_is_told(field: str) -> None:
    (term,) = affinity(podAffinity={REQUIRED: [{field: ODD}]}).pod_required

    assert "Odd" in term.error


@pytest.mark.parametrize(
    ("term", "faults"),
    [
        ({"matchExpressions": [EXPRESSION, {"key": "a", "operator": "Odd"}]}, ["matchExpressions[1].operator"]),
        ({"matchExpressions": [{"key": "a"}]}, ["matchExpressions[0].operator"]),
        ({"matchFields": [{"key": "metadata.name", "operator": "Exists"}]}, ["matchFields[0].operator"]),
        (
            {"matchExpressions": [{"key": "a", "operator": "Odd"}], "matchFields": [{"operator": "Odd"}]},
            ["matchExpressions[0].operator", "matchFields[0].operator"],
        ),
    ],
)
def test_faults_of_a_term_for_nodes_are_told(term: Object, faults: list[str]) -> None:
    (found,) = decode_node_affinity(block({"nodeSelectorTerms": [term]})) or ()

    assert [line.partition(":")[0] for line in found.error.splitlines()] == faults
    assert found.expressions == ((ZONE,) if EXPRESSION in term.get("matchExpressions", ()) else ())


def test_node_selector_that_is_absent_differs_from_one_without_terms() -> None:
    assert decode_node_affinity(b"null") is None
    assert decode_node_affinity(b"{}") == ()


def test_spreading_is_read_with_its_defaults() -> None:
    assert spread() == TopologySpreadConstraint(0, "", "", NOTHING, (), "Honor", "Ignore", None)
    assert spread(
        maxSkew=2,
        topologyKey="zone",
        whenUnsatisfiable="DoNotSchedule",
        labelSelector=LABELS,
        matchLabelKeys=["k"],
        nodeAffinityPolicy="Ignore",
        nodeTaintsPolicy="Honor",
        minDomains=3,
    ) == TopologySpreadConstraint(2, "zone", "DoNotSchedule", SELECTED, ("k",), "Ignore", "Honor", 3)
    assert "Odd" in spread(labelSelector=ODD).error
    assert decode_topology_spread(b"null") == ()


def test_selector_that_is_null_is_what_its_field_says() -> None:
    assert decode_selector(b"null") == (NOTHING, "")
    assert decode_selector(block(LABELS)) == (SELECTED, "")
    assert decode_nullable_selector(b"null", EVERYTHING) == EVERYTHING
    assert decode_nullable_selector(block(LABELS), EVERYTHING) == SELECTED
    assert decode_nullable_selector(block(ODD), EVERYTHING) == NOTHING


@pytest.mark.parametrize(
    "expression", [{"key": "a", "operator": "Odd"}, {"operator": "In", "values": ["x"]}, {"key": "a"}]
)
def test_invalid_selector_selects_nothing_and_says_why(expression: Object) -> None:
    selector, fault = decode_selector(block({"matchLabels": {"c": "d"}, "matchExpressions": [expression]}))

    assert selector == NOTHING
    assert fault
