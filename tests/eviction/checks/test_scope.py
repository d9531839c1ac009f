"""Which pods are in scope, and what becomes of the others."""

from __future__ import annotations

from typing import Any

import pytest

from descheduler.cycle.deciding.decide import decide
from descheduler.cycle.deciding.round import RunSetting
from descheduler.cycle.plugins import REGISTRY
from descheduler.eviction.checks.scope import EVERYWHERE, Scope, ScopeCheck
from descheduler.model.selection.labels import parse_selector
from descheduler.plan.bundles import Bundle, Candidate
from descheduler.plan.decisions import Decisions
from descheduler.policy.load import load_policy
from tests.builders import NOW, make_node, make_pod, make_snapshot
from tests.report.decided_cycles import pod_life_time_policy

SHOP = frozenset({"shop"})
WEB = parse_selector("app=web")


@pytest.mark.parametrize(
    ("scope", "expected"),
    [
        pytest.param(EVERYWHERE, ["blog/db", "shop/db", "shop/web"], id="without limits every pod is"),
        pytest.param(Scope(SHOP), ["shop/db", "shop/web"], id="a namespace leaves the others out"),
        pytest.param(Scope(selector=WEB, labels="app=web"), ["shop/web"], id="labels leave other pods out"),
        pytest.param(Scope(frozenset({"blog"}), WEB, "app=web"), [], id="both have to agree"),
    ],
)
def test_only_pods_in_scope_move(scope: Scope, expected: list[str]) -> None:
    pods = [
        make_pod("db", namespace="blog", labels={"app": "db"}),
        make_pod("db", namespace="shop", labels={"app": "db"}),
        make_pod("web", namespace="shop", labels={"app": "web"}),
    ]

    decisions = decide(
        load_policy(pod_life_time_policy(), REGISTRY),
        make_snapshot([make_node("a"), make_node("b")], pods),
        now=NOW,
        setting=RunSetting(scope=scope),
    )

    assert sorted(booked.pod.key for booked in decisions.moves) == expected


def decide_old(*pods: str, scope: Scope, **limits: Any) -> Decisions:
    snapshot = make_snapshot([make_node("a"), make_node("b")], [make_pod(name, namespace=name) for name in pods])
    return decide(
        load_policy(pod_life_time_policy(**limits), REGISTRY), snapshot, now=NOW, setting=RunSetting(scope=scope)
    )


def test_pod_out_of_scope_is_kept_with_its_reason() -> None:
    decisions = decide_old("blog", "shop", scope=Scope(SHOP))

    (refusal,) = decisions.refusals
    assert refusal.pod.namespace == "blog"
    assert not refusal.is_attempt
    assert refusal.verdict.message == "the run is limited to pods of namespace shop"


def test_pods_out_of_scope_use_up_no_limit() -> None:
    decisions = decide_old("blog", "shop", scope=Scope(SHOP), maxNoOfPodsToEvictTotal=1)

    assert [booked.pod.namespace for booked in decisions.moves] == ["shop"]


def test_pods_out_of_scope_still_count_as_replicas() -> None:
    """Three replicas on a node of two lose one; the selector decides which pods may, not how many are too many."""
    owner_labels = [{"track": "stable"}, {"track": "stable"}, {"track": "canary"}]
    pods = [make_pod(f"web-{i}", node="a", labels=labels) for i, labels in enumerate(owner_labels)]
    profile = {
        "name": "p",
        "pluginConfig": [{"name": "RemoveDuplicates"}],
        "plugins": {"balance": {"enabled": ["RemoveDuplicates"]}},
    }
    document = {"apiVersion": "descheduler/v1alpha2", "kind": "DeschedulerPolicy", "profiles": [profile]}
    scope = Scope(selector=parse_selector("track=canary"), labels="track=canary")

    decisions = decide(
        load_policy(document, REGISTRY),
        make_snapshot([make_node("a"), make_node("b")], pods),
        now=NOW,
        setting=RunSetting(scope=scope),
    )

    assert [booked.pod.name for booked in decisions.moves] == ["web-2"]


def test_scope_that_holds_no_pod_is_said() -> None:
    scope = Scope(frozenset({"shp", "web"}), WEB, "app=web")

    decisions = decide_old("shop", scope=scope)

    assert decisions.notes == (
        "the run is limited to pods of namespaces shp, web with labels app=web, and the cluster has none",
    )


@pytest.mark.parametrize("pods", [pytest.param(["shop", "blog"], id="one of them"), pytest.param([], id="no pods")])
def test_nothing_is_said_of_a_scope_with_pods_nor_of_a_cluster_without(pods: list[str]) -> None:
    assert decide_old(*pods, scope=Scope(SHOP)).notes == ()


@pytest.mark.parametrize(
    ("scope", "namespace", "app", "is_accepted"),
    [
        (EVERYWHERE, "shop", "web", True),
        (Scope(SHOP), "shop", "db", True),
        (Scope(SHOP), "blog", "web", False),
        (Scope(selector=WEB), "blog", "web", True),
        (Scope(selector=WEB), "shop", "db", False),
        (Scope(SHOP, WEB), "shop", "web", True),
        (Scope(SHOP, WEB), "blog", "web", False),
        (Scope(SHOP, WEB), "shop", "db", False),
    ],
)
def test_pod_is_in_scope_by_namespace_and_labels(scope: Scope, namespace: str, app: str, is_accepted: bool) -> None:
    pod = make_pod("p", namespace=namespace, labels={"app": app})

    verdict = ScopeCheck(scope).verdict(Bundle("p", "q", (Candidate(pod),)))

    assert verdict.is_accepted is is_accepted
    assert bool(scope.note_on(make_snapshot(pods=[pod]))) is not is_accepted
    assert (
        scope.note_on(make_snapshot())
        == scope.note_on(make_snapshot(pods=[pod, make_pod("q", namespace="shop", labels={"app": "web"})]))
        == ()
    )
