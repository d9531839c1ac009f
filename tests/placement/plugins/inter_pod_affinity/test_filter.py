"""Required inter-pod affinity and anti-affinity, in both directions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from descheduler.model.kube_version import KubeVersion
from descheduler.model.objects import Namespace
from descheduler.model.pod import Pod
from descheduler.placement.framework.obstacle import Code, Obstacle
from descheduler.placement.plugins.inter_pod_affinity.filter import InterPodAffinity
from descheduler.placement.shadow.shadow_cluster import Cycle
from tests.builders import make_node, make_pod
from tests.placement.clusters import HOSTNAME, ZONE, make_cluster, make_profile, obstacles, passing

WEB = {"app": "web"}
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def _term(labels: Mapping[str, str], key: str = ZONE, **facts: Any) -> dict[str, Any]:
    return {"labelSelector": {"matchLabels": dict(labels)}, "topologyKey": key, **facts}


def _near(*terms: dict[str, Any]) -> dict[str, Any]:
    return {"podAffinity": {REQUIRED: list(terms)}}


def _apart(*terms: dict[str, Any]) -> dict[str, Any]:
    return {"podAntiAffinity": {REQUIRED: list(terms)}}


def _candidate(affinity: dict[str, Any] | None, labels: Mapping[str, str] = WEB, **facts: Any) -> Pod:
    return make_pod("new", node="", labels=labels, affinity=affinity, **facts)


ZONES = [make_node("a", labels={ZONE: "a"}), make_node("b", labels={ZONE: "b"}), make_node("bare")]


def test_first_pod_of_its_kind_may_go_where_the_key_is() -> None:
    cluster = make_cluster(ZONES)

    left = passing(InterPodAffinity, cluster, _candidate(_near(_term(WEB))))

    assert left == ["a", "b"]


def test_second_pod_of_its_kind_joins_the_first() -> None:
    cluster = make_cluster(ZONES)
    pod = _candidate(_near(_term(WEB)))

    cluster.add(pod, cluster.table.index["b"])

    assert passing(InterPodAffinity, cluster, pod) == ["b"]


def test_pod_that_is_not_of_its_own_kind_is_never_the_first() -> None:
    cluster = make_cluster(ZONES)

    left = passing(InterPodAffinity, cluster, _candidate(_near(_term({"app": "db"}))))

    assert left == []


def test_matching_pod_outside_every_topology_leaves_the_first_pod_rule_in_force() -> None:
    cluster = make_cluster(ZONES, [make_pod("lonely", node="bare", labels=WEB)])

    left = passing(InterPodAffinity, cluster, _candidate(_near(_term(WEB))))

    assert left == ["a", "b"]


def test_company_is_one_pod_that_matches_all_terms() -> None:
    pods = [make_pod("e1", node="a", labels=WEB), make_pod("e2", node="a", labels={"tier": "db"})]
    terms = _near(_term(WEB), _term({"tier": "db"}))
    cluster = make_cluster(ZONES, pods)

    by_half = passing(InterPodAffinity, cluster, _candidate(terms))
    by_all = passing(InterPodAffinity, cluster, _candidate(terms, labels={**WEB, "tier": "db"}))

    assert (by_half, by_all) == ([], ["a", "b"])


def test_company_must_share_every_topology() -> None:
    nodes = [
        make_node("a1", labels={ZONE: "a", "rack": "1"}),
        make_node("a2", labels={ZONE: "a", "rack": "2"}),
        make_node("b1", labels={ZONE: "b", "rack": "1"}),
    ]
    cluster = make_cluster(nodes, [make_pod("web", node="a1", labels=WEB)])

    left = passing(InterPodAffinity, cluster, _candidate(_near(_term(WEB), _term(WEB, "rack"))))

    assert left == ["a1"]


def test_anti_affinity_blocks_the_whole_domain_but_not_nodes_without_the_key() -> None:
    nodes = [*ZONES, make_node("a2", labels={ZONE: "a"})]
    cluster = make_cluster(nodes, [make_pod("web", node="a", labels=WEB)])

    left = passing(InterPodAffinity, cluster, _candidate(_apart(_term(WEB))))

    assert left == ["b", "bare"]


def test_anti_affinity_terms_work_one_by_one() -> None:
    pods = [make_pod("web", node="a", labels=WEB), make_pod("db", node="b", labels={"app": "db"})]
    cluster = make_cluster(ZONES, pods)

    left = passing(InterPodAffinity, cluster, _candidate(_apart(_term(WEB), _term({"app": "db"}))))

    assert left == ["bare"]


def test_anti_affinity_of_a_placed_pod_blocks_its_whole_zone() -> None:
    holder = make_pod("holder", node="a", labels={"app": "db"}, affinity=_apart(_term(WEB)))
    cluster = make_cluster([*ZONES, make_node("a2", labels={ZONE: "a"})], [holder])

    left = passing(InterPodAffinity, cluster, _candidate(None))

    assert left == ["b", "bare"]


def test_affinity_of_a_placed_pod_blocks_nothing() -> None:
    holder = make_pod("holder", node="a", labels={"app": "db"}, affinity=_near(_term(WEB)))
    cluster = make_cluster(ZONES, [holder])

    left = passing(InterPodAffinity, cluster, _candidate(None))

    assert left == ["a", "b", "bare"]


def test_evicted_replica_blocks_its_node_until_it_is_gone() -> None:
    nodes = [make_node(name) for name in ("a", "b", "c")]
    affinity = _apart(_term(WEB, HOSTNAME))
    pods = [make_pod(f"web-{node.name}", node=node.name, labels=WEB, affinity=affinity) for node in nodes]
    cluster = make_cluster(nodes, pods)
    replacement = _candidate(affinity)
    trial = cluster.what_if()

    cluster.terminate(pods[1])
    cold = passing(InterPodAffinity, cluster, replacement)
    trial.take_back()
    cluster.remove(pods[1])
    settled = passing(InterPodAffinity, cluster, replacement)

    assert (cold, settled) == ([], ["b"])


def test_terminating_pod_still_attracts() -> None:
    cluster = make_cluster(ZONES, [make_pod("leaving", node="b", labels=WEB, deleted=5)])

    left = passing(InterPodAffinity, cluster, _candidate(_near(_term(WEB))))

    assert left == ["b"]


def test_each_node_reports_the_first_of_its_reasons() -> None:
    pods = [
        make_pod("web", node="a", labels=WEB),
        make_pod("holder", node="b", labels={"app": "db"}, affinity=_apart(_term(WEB))),
        make_pod("friend", node="a", labels={"app": "friend"}),
        make_pod("friend-too", node="b", labels={"app": "friend"}),
    ]
    cluster = make_cluster(ZONES, pods)
    affinity = {**_apart(_term(WEB)), **_near(_term({"app": "friend"}))}

    against = obstacles(InterPodAffinity, cluster, _candidate(affinity))

    assert against == {
        "a": _obstacle(Code.UNSCHEDULABLE, "node(s) didn't match pod anti-affinity rules"),
        "b": _obstacle(Code.UNSCHEDULABLE, "node(s) didn't satisfy existing pods anti-affinity rules"),
        "bare": _obstacle(Code.UNRESOLVABLE, "node(s) didn't match pod affinity rules"),
    }


def test_unreadable_term_refuses_the_pod_everywhere() -> None:
    broken = {"topologyKey": ZONE, "labelSelector": {"matchExpressions": [{"key": "app", "operator": "Near"}]}}

    against = obstacles(InterPodAffinity, make_cluster(ZONES), _candidate(_apart(broken)))

    assert against["*"].code is Code.UNRESOLVABLE


def test_unreadable_term_of_a_placed_pod_disarms_its_list() -> None:
    broken = {"topologyKey": ZONE, "labelSelector": {"matchExpressions": [{"key": "app", "operator": "Near"}]}}
    cluster = make_cluster(ZONES, [make_pod("holder", node="a", affinity=_apart(_term(WEB), broken))])

    left = passing(InterPodAffinity, cluster, _candidate(None))

    assert left == ["a", "b", "bare"]


NAMESPACES = {
    name: Namespace(name, labels)
    for name, labels in (("shop", {"env": "prod"}), ("lab", {"env": "test"}), ("blank", {}))
}
PROD = {"matchLabels": {"env": "prod"}}
NOT_TEST = {"matchExpressions": [{"key": "env", "operator": "NotIn", "values": ["test"]}]}


@pytest.mark.parametrize(
    ("scope", "expected"),
    [
        pytest.param({}, {"default"}, id="without anything a term means the namespace of its own pod"),
        pytest.param({"namespaces": ["shop"]}, {"shop"}, id="a list means just these"),
        pytest.param({"namespaceSelector": {}}, {"default", "shop", "lab"}, id="an empty selector means all"),
        pytest.param({"namespaceSelector": PROD}, {"shop"}, id="a selector means those it matches"),
        pytest.param(
            {"namespaceSelector": PROD, "namespaces": ["lab"]}, {"shop", "lab"}, id="a list and a selector add up"
        ),
    ],
)
@pytest.mark.parametrize("is_incoming", [True, False], ids=["of the incoming pod", "of a placed pod"])
def test_term_means_pods_of_its_namespaces(scope: dict[str, Any], expected: set[str], *, is_incoming: bool) -> None:
    affinity = _apart(_term(WEB, **scope))
    repelled = set()

    for namespace in ("default", "shop", "lab"):
        holder = {"affinity": affinity, "namespace": "default"}
        target = {"labels": WEB, "namespace": namespace}
        placed, new = (target, holder) if is_incoming else (holder, target)
        cluster = make_cluster(ZONES, [make_pod("placed", node="a", **placed)], namespaces=NAMESPACES)
        if "a" not in passing(InterPodAffinity, cluster, make_pod("new", node="", **new)):
            repelled.add(namespace)

    assert repelled == expected


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        pytest.param(KubeVersion(1, 37), ["a", "b", "bare"], id="the documented ones from 1.37 on"),
        pytest.param(KubeVersion(1, 36), ["b", "bare"], id="every namespace from 1.34 to 1.36"),
        pytest.param(KubeVersion(1, 33), ["a", "b", "bare"], id="the documented ones before"),
    ],
)
def test_negative_namespace_selector_of_the_incoming_pod_means(version: KubeVersion, expected: list[str]) -> None:
    cluster = make_cluster(
        ZONES, [make_pod("web", node="a", namespace="lab", labels=WEB)], namespaces=NAMESPACES, version=version
    )

    left = passing(InterPodAffinity, cluster, _candidate(_apart(_term(WEB, namespaceSelector=NOT_TEST))))

    assert left == expected


def test_answer_that_hangs_on_the_flawed_selector_says_so() -> None:
    cluster = make_cluster(ZONES, namespaces=NAMESPACES, version=KubeVersion(1, 36))
    cycle = Cycle(cluster.placement_class(_candidate(_apart(_term(WEB, namespaceSelector=NOT_TEST)))), cluster)

    InterPodAffinity(cluster, make_profile()).pre_filter(cycle)

    assert "kubernetes/kubernetes issue 141526" in cycle.notes[0]


@pytest.mark.parametrize(
    ("namespace", "expected"),
    [
        pytest.param("lab", ["a", "b", "bare"], id="a namespace that the selector leaves out is left alone"),
        pytest.param("blank", ["b", "bare"], id="a namespace without the label is meant"),
        pytest.param("unknown", ["b", "bare"], id="a namespace without an object has no labels, and is meant"),
    ],
)
def test_negative_namespace_selector_of_a_placed_pod_means_what_is_documented(
    namespace: str, expected: list[str]
) -> None:
    holder = make_pod("holder", node="a", affinity=_apart(_term(WEB, namespaceSelector=NOT_TEST)))
    cluster = make_cluster(ZONES, [holder], namespaces=NAMESPACES)

    left = passing(InterPodAffinity, cluster, _candidate(None, namespace=namespace))

    assert left == expected


def _obstacle(code: Code, reason: str) -> Obstacle:
    return Obstacle("InterPodAffinity", code, (reason,))
