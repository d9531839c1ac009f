"""Whether plugins would select the replacement of a pod again, for the cause for which they select the pod."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest
from msgspec.structs import replace

from descheduler.placement.plugins.elastic_quota.quota_usage import ELASTIC_QUOTA_KIND
from descheduler.strategies.framework import selects_again_of
from tests.builders import (
    Object,
    make_node,
    make_pod,
    make_view,
    preferred_node_affinity,
    required_anti_affinity,
    required_node_affinity,
)
from tests.placement.plugins.elastic_quota.quotas import make_quota, quota_pod
from tests.strategies.asked import Asked

WEB = {"matchLabels": {"app": "web"}}


def level(name: str) -> Object:
    return {"name": name, "nodeSelector": {"matchLabels": {"tier": name}}}


@pytest.mark.parametrize(
    ("node", "labels", "why"),
    [
        pytest.param("g", {}, "level gold of evictionOrder", id="a node of an earlier level"),
        pytest.param("s2", {}, "level silver of evictionOrder", id="another node of its level"),
        pytest.param("b", {}, "", id="a node of the last level is a gain"),
        pytest.param("x", {}, "", id="a node of no level"),
        pytest.param("s2", {"app": "db"}, "", id="labels that the plugin does not look at"),
    ],
)
def test_custom_priority(node: str, labels: dict[str, str], why: str) -> None:
    tiers = {"g": "gold", "s": "silver", "s2": "silver", "b": "bronze", "x": "none"}
    nodes = [make_node(name, labels={"tier": tier}) for name, tier in tiers.items()]
    pod = make_pod("p", node="s", labels={"app": "web"})
    args = {
        "evictionOrder": [level("gold"), level("silver"), level("bronze")],
        "podSelectors": [{"selector": WEB}],
    }

    asked = Asked("CustomPriority", nodes, [pod], args=args)

    assert asked.selects_again(pod, node, labels=labels or pod.labels) == why


def test_custom_priority_selects_nothing_for_a_pod_of_no_level() -> None:
    nodes = [make_node(name, labels={"tier": name}) for name in ("gold", "silver", "none")]
    pod = make_pod("p", node="none")

    asked = Asked("CustomPriority", nodes, [pod], args={"evictionOrder": [level("gold"), level("silver")]})

    assert asked.selects_again(pod, "gold") == ""


@pytest.mark.parametrize(
    ("node", "args", "facts", "why"),
    [
        pytest.param("b", {}, {}, "imbalance of node b: 0.25 (imbalanceThreshold: 0.15)", id="an empty node"),
        pytest.param("b", {"imbalanceThreshold": 0.25}, {}, "", id="a node at the threshold"),
        pytest.param("b", {"minImprovementThreshold": 0.25}, {}, "", id="a node that it improves too little"),
        pytest.param("c", {}, {}, "", id="a node that it makes even"),
        pytest.param("d", {}, {}, "", id="a node that is not selected"),
        pytest.param("b", {}, {"namespace": "kube-system"}, "", id="a namespace that the plugin does not look at"),
    ],
)
def test_fragmentation_aware(node: str, args: Object, facts: dict[str, Any], why: str) -> None:
    nodes = [make_node(name, cpu="4", memory="4Gi", labels={"pool": "x"}) for name in "abc"]
    pod = make_pod("p", cpu="2")
    settings = {
        "nodeSelector": {"matchLabels": {"pool": "x"}},
        "evictableNamespaces": {"exclude": ["kube-system"]},
        **args,
    }

    asked = Asked(
        "FragmentationAware", [*nodes, make_node("d")], [pod, make_pod("wide", node="c", memory="2Gi")], args=settings
    )

    assert asked.selects_again(pod, node, **facts) == why


class TestRemoveDuplicates:
    """Three pods of an owner on node n1, one on n2: an even spread is two."""

    nodes: ClassVar = [make_node(name) for name in ("n1", "n2", "n3")]
    pods: ClassVar = [make_pod(f"p{number}", node="n2" if number == 3 else "n1") for number in range(4)]
    OF_N1 = "3 pods of ReplicaSet web on node n1 (even spread: 2)"

    @pytest.mark.parametrize(
        ("node", "facts", "why"),
        [
            pytest.param("n1", {}, OF_N1, id="the same node as before"),
            pytest.param("n2", {}, "", id="a node that it fills up to an even spread"),
            pytest.param("n3", {}, "", id="an empty node"),
            pytest.param("n1", {"spec": make_pod("x", images=["app:2"]).spec}, "", id="a pod of another image"),
            pytest.param("n1", {"namespace": "kube-system"}, "", id="a namespace that the plugin does not look at"),
        ],
    )
    def test_replacement(self, node: str, facts: dict[str, Any], why: str) -> None:
        asked = Asked("RemoveDuplicates", self.nodes, self.pods, args={"namespaces": {"exclude": ["kube-system"]}})

        assert asked.evicted == ["p2"]
        assert asked.selects_again(self.pods[2], node, **facts) == why

    def test_pods_that_may_not_leave_and_pods_of_others_do_not_count(self) -> None:
        others = [
            make_pod("young", node="n2", started=60),
            make_pod("api", node="n2", owners=["ReplicaSet/api"]),
            make_pod("system", node="n2", namespace="kube-system"),
        ]
        pods = [*self.pods, *others]

        asked = Asked("RemoveDuplicates", self.nodes, pods, evictor={"minPodAge": "5m"})

        assert asked.selects_again(self.pods[2], "n2") == ""

    def test_plugin_that_found_no_duplicates_selects_nothing(self) -> None:
        asked = Asked("RemoveDuplicates", self.nodes, self.pods[2:])

        assert asked.selects_again(self.pods[2], "n2") == ""


@pytest.mark.parametrize(
    ("node", "facts", "why"),
    [
        pytest.param("a", {}, "violates required anti-affinity with pod default/x on node a", id="beside its partner"),
        pytest.param("b", {}, "", id="a node without partners"),
        pytest.param("a", {"namespace": "kube-system"}, "", id="a namespace that the plugin does not look at"),
    ],
)
def test_anti_affinity(node: str, facts: dict[str, Any], why: str) -> None:
    pod, partner = make_pod("p", affinity=required_anti_affinity({"app": "x"})), make_pod("x", labels={"app": "x"})

    asked = Asked(
        "RemovePodsViolatingInterPodAntiAffinity",
        [make_node("a"), make_node("b")],
        [pod, partner],
        args={"namespaces": {"exclude": ["kube-system"]}},
    )

    assert asked.selects_again(pod, node, **facts) == why


@pytest.mark.parametrize(
    ("kind", "node", "facts", "why"),
    [
        pytest.param(
            "required",
            "a",
            {},
            "node a does not match its nodeSelector and required node affinity",
            id="required, and the same node as before",
        ),
        pytest.param("required", "b", {}, "", id="required, and a node that matches"),
        pytest.param(
            "preferred",
            "a",
            {},
            "preferred node affinity has weight 0 on node a, 5 on another node",
            id="preferred, and the same node as before",
        ),
        pytest.param("preferred", "b", {}, "", id="preferred, and the best node"),
        pytest.param("preferred", "a", {"namespace": "kube-system"}, "", id="a namespace that is not looked at"),
    ],
)
def test_node_affinity(kind: str, node: str, facts: dict[str, Any], why: str) -> None:
    nodes = [make_node(name, labels={"zone": name}) for name in "ab"]
    affinity = {"required": required_node_affinity("zone", "b"), "preferred": preferred_node_affinity(("zone", "b", 5))}
    pod = make_pod("p", affinity=affinity[kind])
    args = {
        "nodeAffinityType": [f"{kind}DuringSchedulingIgnoredDuringExecution"],
        "namespaces": {"exclude": ["kube-system"]},
    }

    asked = Asked("RemovePodsViolatingNodeAffinity", nodes, [pod], args=args)

    assert asked.selects_again(pod, node, **facts) == why


HARD, SOFT = "does not tolerate taint k:NoSchedule of node {}", "does not tolerate taint k:PreferNoSchedule of node {}"


@pytest.mark.parametrize(
    ("source", "node", "why"),
    [
        pytest.param("hard", "hard2", HARD.format("hard2"), id="a node with the same taint"),
        pytest.param("hard", "soft", "", id="a node that would rather not take it is better"),
        pytest.param("soft", "soft2", SOFT.format("soft2"), id="a node that is no better"),
        pytest.param("soft", "hard", HARD.format("hard"), id="a node that is worse"),
        pytest.param("hard", "free", "", id="a node without taints"),
        pytest.param("hard", "other", "", id="a node whose taint it tolerates"),
    ],
)
def test_node_taints(source: str, node: str, why: str) -> None:
    taints = {
        "hard": "k:NoSchedule",
        "hard2": "k:NoSchedule",
        "soft": "k:PreferNoSchedule",
        "soft2": "k:PreferNoSchedule",
    }
    nodes = [make_node(name, taints=[taint]) for name, taint in {**taints, "other": "o:NoSchedule"}.items()]
    pod = make_pod("p", node=source, tolerations=[{"key": "o", "operator": "Exists"}])

    asked = Asked(
        "RemovePodsViolatingNodeTaints", [*nodes, make_node("free")], [pod], args={"includePreferNoSchedule": True}
    )

    assert asked.selects_again(pod, node) == why


POD = quota_pod("p", "team")


class TestElasticQuota:
    """A quota of 4 CPUs whose pods use 6."""

    nodes: ClassVar = [make_node("a", cpu="10"), make_node("b", cpu="10")]
    pods: ClassVar = [quota_pod(f"p{number}", "team", cpu="2", started=9000 - number) for number in range(3)]
    WHY = "elastic quota team uses more than its runtime quota: 6 CPU (runtime: 4)"

    def asked(self, *others: Any) -> Asked:
        quotas = (make_quota("team", most={"cpu": "4"}), make_quota("large", most={"cpu": "10"}))
        return Asked(
            "RevokePodsOverElasticQuota", self.nodes, [*self.pods, *others], objects={ELASTIC_QUOTA_KIND: quotas}
        )

    def test_replacement_is_of_the_same_quota(self) -> None:
        kept = {**POD.labels, "quota.scheduling.koordinator.sh/preemptible": "false"}

        assert self.asked().selects_again(self.pods[2], "b") == self.WHY
        assert self.asked().selects_again(self.pods[2], "b", labels=kept) == ""
        assert self.asked().selects_again(self.pods[2], "b", labels=quota_pod("x", "large").labels) == ""

    @pytest.mark.parametrize(
        ("pod", "why"),
        [
            pytest.param(pods[2], "revoking other pods is enough for elastic quota team", id="it leaves"),
            pytest.param(
                replace(POD, labels={**POD.labels, "quota.scheduling.koordinator.sh/preemptible": "false"}),
                "label quota.scheduling.koordinator.sh/preemptible is false",
                id="nobody may revoke it",
            ),
            pytest.param(
                quota_pod("of-large", "large"),
                "elastic quota large is not over its runtime quota (delayEvictTime: 2m0s)",
                id="its quota has room",
            ),
            pytest.param(quota_pod("done", "team", phase="Failed"), "the pod has finished", id="it has finished"),
            pytest.param(quota_pod("ends", "team", deleted=5), "the pod is terminating", id="it is terminating"),
        ],
    )
    def test_why_not(self, pod: Any, why: str) -> None:
        others = [] if pod in self.pods else [pod]

        assert self.asked(*others).why_not(pod) == why


class TestScaleDownBinPack:
    """Pods of `web` on three nodes; others request 1 CPU on b and 2 on c."""

    nodes: ClassVar = [make_node(name, labels={"pool": "x"}) for name in "abc"]
    webs: ClassVar = [make_pod(f"web-{name}", node=name, cpu="1", labels={"app": "web"}) for name in "abc"]
    others: ClassVar = [make_pod("one", node="b", cpu="1"), make_pod("two", node="c", cpu="2")]
    WHY = "pods of node {} go no later than those of node {}"

    def asked(self, *more: Any, **args: Any) -> Asked:
        settings = {"strategy": "EvictDirectly", "maxPodsToEvict": 9, "podSelectors": [{"selector": WEB}], **args}
        return Asked(
            "ScaleDownBinPack", [*self.nodes, make_node("d")], [*self.webs, *self.others, *more], args=settings
        )

    @pytest.mark.parametrize(
        ("source", "node", "why"),
        [
            pytest.param("c", "c", WHY.format("c", "c"), id="the same node as before"),
            pytest.param("c", "b", WHY.format("b", "c"), id="a node that goes earlier"),
            pytest.param("b", "c", "", id="a node that goes later is a gain"),
            pytest.param("a", "a", WHY.format("a", "a"), id="a node without others"),
            pytest.param("c", "d", "", id="a node that is not selected"),
        ],
    )
    def test_replacement(self, source: str, node: str, why: str) -> None:
        pod = next(pod for pod in self.webs if pod.node_name == source)
        asked = self.asked(nodeSelector={"matchLabels": {"pool": "x"}})

        assert asked.selects_again(pod, node) == why

    def test_pod_that_the_plugin_does_not_look_at(self) -> None:
        assert self.asked().selects_again(self.webs[2], "b", labels={"app": "db"}) == ""

    def test_pods_that_the_filters_refuse_burden_the_node_like_others(self) -> None:
        """Without the static pod node a is burdened with nothing; with it, with 3 CPUs for each that may go."""
        static = make_pod("s", cpu="6", labels={"app": "web"}, annotations={"kubernetes.io/config.source": "file"})

        assert self.asked().selects_again(self.webs[2], "a") == self.WHY.format("a", "c")
        assert self.asked(static).selects_again(self.webs[2], "a") == ""

    def test_node_that_pods_left_has_no_place_to_compare_with(self) -> None:
        moved = replace(self.webs[2], node_name="d")
        asked = self.asked(nodeSelector={"matchLabels": {"pool": "x"}})

        assert asked.selects_again(moved, "a") == ""


def test_plugin_that_says_nothing_selects_a_replacement_on_the_same_node_alone() -> None:
    pod = make_pod("p")
    ask, view = selects_again_of(object()), make_view([make_node("a"), make_node("b")], [pod])

    assert ask(pod, replace(pod, node_name="b"), view) == ""
    assert ask(pod, pod, view) == (
        "it is the node of the pod itself, and the plugin has no method selects_again that says otherwise"
    )
