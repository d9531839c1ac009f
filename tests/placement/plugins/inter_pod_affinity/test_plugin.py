"""Required pod affinity: how it is explained, and which pods bear on each other through it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from descheduler.model.kube_version import KubeVersion
from descheduler.model.objects import Namespace
from descheduler.model.pod import Pod
from descheduler.placement.framework.interactions import GatheredPods, Meetings
from descheduler.placement.plugins.inter_pod_affinity.filter import AffinityTerms
from descheduler.placement.plugins.inter_pod_affinity.plugin import ROW
from tests.builders import make_node, make_pod
from tests.placement.clusters import HOSTNAME, ZONE, make_cluster, make_profile
from tests.placement.plugins.explanations import told

WEB, DB = {"app": "web"}, {"app": "db"}
NODES = [make_node("a", labels={ZONE: "z"}), make_node("b", labels={ZONE: "z"}), make_node("c", labels={ZONE: "y"})]
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def term(labels: Mapping[str, str] = WEB, key: str = ZONE, **facts: Any) -> dict[str, Any]:
    """A term over pods with `labels`, by zone."""
    return {"labelSelector": {"matchLabels": dict(labels)}, "topologyKey": key, **facts}


def near(*terms: dict[str, Any]) -> dict[str, Any]:
    """Required affinity."""
    return {"podAffinity": {_REQUIRED: list(terms)}}


def apart(*terms: dict[str, Any]) -> dict[str, Any]:
    """Required anti-affinity."""
    return {"podAntiAffinity": {_REQUIRED: list(terms)}}


def said(pods: list[Pod], affinity: dict[str, Any] | None, labels: Mapping[str, str] = WEB, **others: Any) -> list[str]:
    """What is told about node a, to which a new pod with `labels` and `affinity` cannot go."""
    cluster = make_cluster(NODES, pods, **others)
    return told(ROW, cluster, make_pod("new", node="", labels=labels, affinity=affinity))


@pytest.mark.parametrize(
    ("pods", "affinity", "sentence"),
    [
        pytest.param(
            [make_pod("x", node="a", labels=WEB), make_pod("other", node="a", labels=DB)],
            apart(term()),
            f"violates required anti-affinity with default/x ({ZONE}=z)",
            id="a pod on the node",
        ),
        pytest.param(
            [make_pod("x", node="b", labels=WEB), make_pod("far", node="c", labels=WEB)],
            apart(term()),
            f"violates required anti-affinity with default/x on b ({ZONE}=z)",
            id="a pod near it",
        ),
        pytest.param(
            [make_pod("x", node="a", labels=WEB), make_pod("y", node="b", labels=WEB)],
            apart(term(key=HOSTNAME)),
            f"violates required anti-affinity with default/x ({HOSTNAME}=a)",
            id="hosts",
        ),
        pytest.param(
            [make_pod("x", node="c", labels=WEB)],
            near(term()),
            f"no pod that matches the required pod affinity in {ZONE}=z",
            id="no company in the zone",
        ),
        pytest.param(
            [make_pod("x", node="b", labels=WEB)],
            near(term(), term(key="rack")),
            "has no label rack, the topologyKey of the required pod affinity",
            id="no key, and company in the zone",
        ),
        pytest.param(
            [make_pod("x", node="b", labels=WEB)],
            near(term(), term(DB)),
            f"no pod that matches the required pod affinity in {ZONE}=z",
            id="no pod that both terms mean, told once",
        ),
    ],
)
def test_explanation_names_whom_the_pod_must_not_meet_or_has_to_be_with(
    pods: list[Pod], affinity: dict[str, Any], sentence: str
) -> None:
    assert said(pods, affinity) == [sentence]


def test_explanation_names_who_keeps_the_pod_away() -> None:
    holders = [
        make_pod("x", node="a", affinity=apart(term())),
        make_pod("y", node="b", affinity=apart(term())),
        make_pod("far", node="c", affinity=apart(term())),
        make_pod("other", node="a", affinity=apart(term(DB))),
        make_pod("host", node="b", affinity=apart(term(key=HOSTNAME))),
        make_pod("friend", node="a", affinity=near(term())),
        make_pod("none", node="a"),
    ]

    assert said(holders, None) == [f"default/x, default/y on b have required anti-affinity against this pod ({ZONE}=z)"]


def test_pod_with_the_same_words_that_means_another_namespace_keeps_nobody_away() -> None:
    holders = [
        make_pod("x", node="a", affinity=apart(term())),
        make_pod("stranger", namespace="other", node="a", affinity=apart(term())),
    ]

    assert said(holders, None) == [f"default/x has required anti-affinity against this pod ({ZONE}=z)"]


def test_holder_that_means_namespaces_by_their_labels_is_named() -> None:
    meaning = apart(term(namespaceSelector={"matchLabels": {"team": "a"}}))
    namespaces = {"default": Namespace("default", {"team": "a"})}
    holder = make_pod("x", namespace="other", node="a", affinity=meaning)

    assert said([holder], None, namespaces=namespaces) == [
        f"other/x has required anti-affinity against this pod ({ZONE}=z)"
    ]


def test_node_without_the_key_meets_anti_affinity() -> None:
    cluster = make_cluster([*NODES, make_node("d")], [make_pod("x", node="a", labels=WEB)])
    pod = make_pod("new", node="", labels=WEB, affinity=apart(term(key=HOSTNAME), term()))

    assert told(ROW, cluster, pod, "b") == [f"violates required anti-affinity with default/x on a ({ZONE}=z)"]


INTERPLAY: Any = ROW.interactions(make_profile())
PLAIN = make_pod("plain", labels=DB)


@pytest.mark.parametrize(
    ("affinity", "is_helped", "is_local", "is_felt_widely"),
    [
        pytest.param(None, False, True, False, id="none"),
        pytest.param({"nodeAffinity": {}}, False, True, False, id="node affinity"),
        pytest.param(near(term()), True, False, False, id="affinity"),
        pytest.param(apart(term()), False, False, True, id="anti-affinity by zone"),
        pytest.param(apart(term(key=HOSTNAME)), False, True, True, id="anti-affinity by host"),
        pytest.param(near(term(key=HOSTNAME)), True, False, False, id="affinity by host"),
    ],
)
def test_affinity_says_how_a_pod_bears_on_others(
    affinity: dict[str, Any] | None, is_helped: bool, is_local: bool, is_felt_widely: bool
) -> None:
    pod = make_pod("p", affinity=affinity)

    assert INTERPLAY.can_be_helped(pod) is is_helped
    assert INTERPLAY.is_local(pod) is is_local
    assert INTERPLAY.is_felt_widely(pod) is is_felt_widely
    assert INTERPLAY.hinders_while_ending(pod, PLAIN) is not is_local
    assert INTERPLAY.hinders_while_ending(PLAIN, pod) is not is_local


@pytest.mark.parametrize(
    ("affinity", "other", "do_interact"),
    [
        pytest.param(near(term()), make_pod("x", labels=WEB), True, id="a pod that is meant"),
        pytest.param(near(term()), PLAIN, False, id="a pod that is not"),
        pytest.param(apart(term(key=HOSTNAME)), make_pod("x", labels=WEB), False, id="one that keeps off the host"),
        pytest.param(near(term()), make_pod("x", labels=WEB, namespace="other"), False, id="another namespace"),
        pytest.param(
            near(term(namespaces=["other"])), make_pod("x", labels=WEB, namespace="other"), True, id="a namespace named"
        ),
        pytest.param(near(term(namespaces=["other"])), make_pod("x", labels=WEB), False, id="its own is not named"),
        pytest.param(
            near(term(namespaceSelector={"matchLabels": {"a": "b"}})),
            make_pod("x", labels=WEB, namespace="third"),
            True,
            id="a namespace that a selector may find",
        ),
    ],
)
def test_pods_interact_where_a_term_of_one_may_mean_the_other(
    affinity: dict[str, Any], other: Pod, do_interact: bool
) -> None:
    pod = make_pod("p", labels=DB, affinity=affinity)

    assert INTERPLAY.interact(pod, other) is do_interact
    assert INTERPLAY.interact(other, pod) is do_interact


def test_what_is_told_of_many_pods_is_what_is_told_of_two() -> None:
    terms = [
        None,
        near(term()),
        apart(term(DB)),
        apart(term(key=HOSTNAME)),
        near(term(namespaces=["other"])),
        apart(term(DB, namespaceSelector={})),
    ]
    pods = [
        make_pod(f"p{index}-{labels['app']}", namespace=namespace, labels=labels, affinity=affinity)
        for index, affinity in enumerate(terms)
        for labels in (WEB, DB)
        for namespace in ("default", "other")
    ]

    meetings = Meetings(len(pods), INTERPLAY.interacting(GatheredPods(pods)))

    for place, pod in enumerate(pods):
        assert set(meetings.on(place).tolist()) == {n for n, other in enumerate(pods) if INTERPLAY.interact(pod, other)}


def test_pods_that_keep_others_off_their_host_close_it_to_those_that_they_mean() -> None:
    pods = [
        make_pod("holder", labels=DB, affinity=apart(term(key=HOSTNAME))),
        make_pod("meant", labels=WEB),
        make_pod("other", labels=DB),
        make_pod("stranger", labels=WEB, namespace="other"),
        make_pod("friend", labels=DB, affinity=near(term(key=HOSTNAME))),
    ]

    closing = Meetings(len(pods), INTERPLAY.closing(GatheredPods(pods)))

    assert [closing.on(place).tolist() for place in range(len(pods))] == [[1], [0], [], [], []]


ABSENT: dict[str, Any] = {"matchExpressions": [{"key": "team", "operator": "DoesNotExist"}]}
NOT_B: dict[str, Any] = {"matchExpressions": [{"key": "team", "operator": "NotIn", "values": ["b"]}]}


@pytest.mark.parametrize(
    ("facts", "version", "hangs", "namespaces"),
    [
        pytest.param({"namespaceSelector": NOT_B}, "1.36", True, None, id="a namespace is left out"),
        pytest.param({"namespaceSelector": NOT_B}, "1.37", False, {"a", "plain"}, id="not since 1.37"),
        pytest.param({"namespaceSelector": NOT_B, "namespaces": ["b"]}, "1.36", False, None, id="none is left out"),
        pytest.param({"namespaceSelector": ABSENT}, "1.36", True, None, id="a label that is to be absent"),
        pytest.param(
            {"namespaceSelector": {"matchLabels": {"team": "a"}}},
            "1.36",
            False,
            {"a"},
            id="a label that is to be there",
        ),
        pytest.param(
            {"namespaceSelector": {"matchLabels": {"team": "a"}}, "namespaces": ["x"]},
            "1.36",
            False,
            {"a", "x"},
            id="both",
        ),
        pytest.param({"namespaceSelector": {}}, "1.36", False, None, id="all namespaces"),
        pytest.param({"namespaces": ["x"]}, "1.36", False, {"x"}, id="namespaces by name"),
        pytest.param({}, "1.36", False, {"default"}, id="its own"),
    ],
)
def test_namespaces_of_a_term_are_those_that_the_release_reads(
    facts: Any, version: str, hangs: bool, namespaces: set[str] | None
) -> None:
    found = {name: Namespace(name, {"team": name} if name != "plain" else {}) for name in ("a", "b", "plain")}
    terms = AffinityTerms(make_cluster(NODES, namespaces=found), KubeVersion.parse(version))
    pod = make_pod("p", affinity=near(term(**facts)))
    assert pod.spec.affinity is not None
    stated = pod.spec.affinity.pod_required

    assert terms.hangs_on_flaw(stated) is hangs
    assert terms.query(pod, stated).namespaces == namespaces


def test_pod_that_several_terms_mean_is_in_the_namespaces_of_all_of_them() -> None:
    terms = AffinityTerms(make_cluster(NODES), KubeVersion())
    pod = make_pod("p", affinity=near(term(namespaces=["a", "b"]), term(namespaces=["a"])))
    assert pod.spec.affinity is not None

    query = terms.query(pod, pod.spec.affinity.pod_required)

    assert [query.covers(namespace, WEB) for namespace in ("a", "b")] == [True, False]
    assert not query.covers("a", DB)
