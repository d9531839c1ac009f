"""Scores of inter-pod affinity: what both sides prefer, weighed and normalised."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from descheduler.model.kube_version import KubeVersion
from descheduler.model.objects import Namespace
from descheduler.model.pod import Pod
from descheduler.placement.plugins.inter_pod_affinity.plugin import InterPodAffinityArgs, InterPodAffinityScore
from tests.builders import make_node, make_pod
from tests.placement.clusters import ZONE, make_cluster, make_profile, scores

WEB = {"app": "web"}
DB = {"app": "db"}
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
NODES = [make_node(name, labels={ZONE: name}) for name in ("a", "b", "c")]


def _term(labels: Mapping[str, str], key: str = ZONE, **facts: Any) -> dict[str, Any]:
    return {"labelSelector": {"matchLabels": dict(labels)}, "topologyKey": key, **facts}


def _weighted(weight: int, labels: Mapping[str, str], **facts: Any) -> dict[str, Any]:
    return {"weight": weight, "podAffinityTerm": _term(labels, **facts)}


def _candidate(affinity: dict[str, Any] | None = None, **facts: Any) -> Pod:
    return make_pod("new", **{"node": "", "labels": WEB, "affinity": affinity, **facts})


def test_preferences_of_the_incoming_pod_add_up_by_domain() -> None:
    pods = [make_pod("w", node="a", labels=WEB), *(make_pod(f"d{i}", node="c", labels=DB) for i in range(2))]
    affinity = {
        "podAffinity": {PREFERRED: [_weighted(2, DB)]},
        "podAntiAffinity": {PREFERRED: [_weighted(1, WEB)]},
    }

    answer = scores(InterPodAffinityScore, make_cluster(NODES, pods), _candidate(affinity))

    assert answer == ([-1, 0, 4], [0, 20, 100])


def test_preferences_of_placed_pods_count_for_the_pods_that_they_match() -> None:
    fond = {"podAffinity": {PREFERRED: [_weighted(4, WEB)]}}
    averse = {"podAntiAffinity": {PREFERRED: [_weighted(1, WEB)]}}
    pods = [make_pod("averse", node="a", affinity=averse), make_pod("fond", node="c", affinity=fond)]
    cluster = make_cluster(NODES, pods)

    matched = scores(InterPodAffinityScore, cluster, _candidate())
    unmatched = scores(InterPodAffinityScore, cluster, _candidate(labels=DB))

    assert (matched, unmatched) == (([-1, 0, 4], [0, 20, 100]), None)


def test_required_affinity_of_placed_pods_counts_with_the_hard_weight() -> None:
    holder = make_pod("holder", node="b", affinity={"podAffinity": {REQUIRED: [_term(WEB)]}})
    cluster = make_cluster(NODES, [holder])
    heavy = make_profile(InterPodAffinityArgs(hard_pod_affinity_weight=7))
    off = make_profile(InterPodAffinityArgs(hard_pod_affinity_weight=0))

    by_default = scores(InterPodAffinityScore, cluster, _candidate())
    weighed = scores(InterPodAffinityScore, cluster, _candidate(), profile=heavy)
    switched_off = scores(InterPodAffinityScore, cluster, _candidate(), profile=off)

    assert by_default == ([0, 1, 0], [0, 100, 0])
    assert weighed == ([0, 7, 0], [0, 100, 0])
    assert switched_off is None


def test_required_anti_affinity_does_not_score() -> None:
    holder = make_pod("holder", node="b", affinity={"podAntiAffinity": {REQUIRED: [_term(DB)]}})

    answer = scores(InterPodAffinityScore, make_cluster(NODES, [holder]), _candidate(labels=DB))

    assert answer is None


def test_equal_nodes_all_score_nothing() -> None:
    pods = [make_pod(f"w{node.name}", node=node.name, labels=WEB) for node in NODES]
    affinity = {"podAffinity": {PREFERRED: [_weighted(5, WEB)]}}

    answer = scores(InterPodAffinityScore, make_cluster(NODES, pods), _candidate(affinity))

    assert answer == ([5, 5, 5], [0, 0, 0])


def test_node_without_the_key_gets_nothing_from_a_term() -> None:
    nodes = [*NODES[:1], make_node("bare")]
    pods = [make_pod("near", node="a", labels=WEB), make_pod("there", node="bare", labels=WEB)]
    affinity = {"podAffinity": {PREFERRED: [_weighted(5, WEB)]}}

    answer = scores(InterPodAffinityScore, make_cluster(nodes, pods), _candidate(affinity))

    assert answer == ([5, 0], [100, 0])


def test_terminating_pods_count() -> None:
    leaving = make_pod("leaving", node="a", labels=WEB, deleted=5)
    affinity = {"podAffinity": {PREFERRED: [_weighted(5, WEB)]}}

    answer = scores(InterPodAffinityScore, make_cluster(NODES, [leaving]), _candidate(affinity))

    assert answer == ([5, 0, 0], [100, 0, 0])


def test_profile_may_ignore_placed_pods_for_a_pod_without_preferences_of_its_own() -> None:
    pods = [make_pod("fond", node="c", affinity={"podAffinity": {PREFERRED: [_weighted(4, WEB)]}})]
    cluster = make_cluster(NODES, pods)
    profile = make_profile(InterPodAffinityArgs(ignore_preferred_terms_of_existing_pods=True))
    own = {"podAffinity": {PREFERRED: [_weighted(1, DB)]}}

    indifferent = scores(InterPodAffinityScore, cluster, _candidate(), profile=profile)
    choosy = scores(InterPodAffinityScore, cluster, _candidate(own), profile=profile)

    assert (indifferent, choosy) == (None, ([0, 0, 4], [0, 0, 100]))


def test_negative_namespace_selector_of_the_incoming_pod_means_every_namespace_before_1_37() -> None:
    namespaces = {"lab": Namespace("lab", {"env": "test"})}
    selector = {"matchExpressions": [{"key": "env", "operator": "DoesNotExist"}]}
    affinity = {"podAffinity": {PREFERRED: [_weighted(5, WEB, namespaceSelector=selector)]}}
    placed = [make_pod("w", node="a", namespace="lab", labels=WEB)]
    flawed = make_cluster(NODES, placed, namespaces=namespaces, version=KubeVersion(1, 36))
    mended = make_cluster(NODES, placed, namespaces=namespaces)

    assert scores(InterPodAffinityScore, flawed, _candidate(affinity)) == ([5, 0, 0], [100, 0, 0])
    assert scores(InterPodAffinityScore, mended, _candidate(affinity)) == ([0, 0, 0], [0, 0, 0])
