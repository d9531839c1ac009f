"""Why plugins do not select a pod, in the words that an operator reads."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

from tests.builders import Object, make_node, make_pod, preferred_node_affinity, required_anti_affinity
from tests.strategies.asked import Asked

FINISHED = "the pod has finished"
PAUSED = "the plugin is paused (paused: true)"
ELSEWHERE = {"nodeSelector": {"matchLabels": {"pool": "x"}}}
EXCLUDED = "namespace kube-system is excluded ({}.exclude)"
WITHOUT_SYSTEM = {"exclude": ["kube-system"]}


def level(name: str) -> Object:
    return {"name": name, "nodeSelector": {"matchLabels": {"tier": name}}}


class TestCustomPriority:
    """Nodes of three levels, and one of none."""

    nodes: ClassVar = [
        make_node(name, labels={"tier": name, "pool": "x"}) for name in ("gold", "silver", "bronze", "tin")
    ]
    order: ClassVar = {"evictionOrder": [level("gold"), level("silver"), level("bronze")]}

    @pytest.mark.parametrize(
        ("facts", "why"),
        [
            pytest.param({"node": "gold"}, "", id="a pod that leaves"),
            pytest.param({"node": "silver"}, "", id="a pod of a level between"),
            pytest.param({"node": "gold", "phase": "Succeeded"}, FINISHED, id="a pod that has finished"),
            pytest.param({"node": "tin"}, "node tin matches no level of evictionOrder", id="a node of no level"),
            pytest.param(
                {"node": "bronze"},
                "node bronze is in bronze, the last level of evictionOrder with nodes",
                id="a node of the last level",
            ),
            pytest.param(
                {"node": "gold", "namespace": "kube-system"},
                EXCLUDED.format("evictableNamespaces"),
                id="an excluded namespace",
            ),
            pytest.param({"node": "other"}, "node other does not match nodeSelector", id="a node that is not selected"),
        ],
    )
    def test_pod(self, facts: dict[str, Any], why: str) -> None:
        pod = make_pod("p", **facts)
        args = {**self.order, **ELSEWHERE, "evictableNamespaces": WITHOUT_SYSTEM}

        asked = Asked("CustomPriority", [*self.nodes, make_node("other")], [pod], args=args)

        assert asked.why_not(pod) == why
        assert asked.evicted == ([] if why else ["p"])

    @pytest.mark.parametrize(
        ("names", "args", "why"),
        [
            pytest.param(["gold", "silver"], {"paused": True}, PAUSED, id="paused"),
            pytest.param(["gold", "silver"], ELSEWHERE, "no node matches nodeSelector", id="no node"),
            pytest.param(
                ["gold", "tin"], {}, "at least 2 levels of evictionOrder must have nodes, only gold has", id="one level"
            ),
            pytest.param(
                ["tin", "iron"], {}, "at least 2 levels of evictionOrder must have nodes, none has", id="no level"
            ),
        ],
    )
    def test_plugin_that_looks_at_no_pod(self, names: list[str], args: Object, why: str) -> None:
        nodes = [make_node(name, labels={"tier": name}) for name in names]
        pod = make_pod("p", node=names[0])

        asked = Asked("CustomPriority", nodes, [pod], args={**self.order, **args})

        assert asked.why_not(pod) == why
        assert asked.decisions.facts["p", "CustomPriority"].why_nothing == why


class TestFragmentationAware:
    """Node a has requests of 7/8 of its CPU and of 1/4 of its memory; the best pod to leave requests CPU alone."""

    nodes: ClassVar = [make_node(name, cpu="4", memory="4Gi", labels={"pool": "x"}) for name in "ab"]
    pods: ClassVar = {
        pod.name: pod
        for pod in (
            make_pod("big", cpu="2"),
            make_pod("small", cpu="500m"),
            make_pod("even", cpu="1", memory="512Mi"),
            make_pod("wide", memory="512Mi"),
            make_pod("done", cpu="2", phase="Succeeded"),
            make_pod("there", node="b", cpu="1", memory="1Gi"),
            make_pod("other", node="c", cpu="4"),
        )
    }

    @pytest.mark.parametrize(
        ("name", "why"),
        [
            ("big", ""),
            ("small", "pod default/big lowers the imbalance of node a more"),
            ("even", "pod default/big lowers the imbalance of node a more"),
            ("wide", "imbalance of node a rises by 0.0625 without the pod (minImprovementThreshold: 0.0625)"),
            ("done", FINISHED),
            ("there", "node b is balanced: 0 (imbalanceThreshold: 0.15)"),
            ("other", "node c does not match nodeSelector"),
        ],
    )
    def test_pod(self, name: str, why: str) -> None:
        args = {**ELSEWHERE, "minImprovementThreshold": 0.03125}
        if name == "wide":
            args["minImprovementThreshold"] = 0.0625

        asked = Asked("FragmentationAware", [*self.nodes, make_node("c")], self.pods.values(), args=args)

        assert asked.why_not(self.pods[name]) == why
        assert asked.evicted == ["big"]

    def test_pod_that_leaves_its_node_as_uneven_as_it_was(self) -> None:
        pods = [make_pod("big", cpu="2"), make_pod("both", cpu="1", memory="1Gi")]

        asked = Asked("FragmentationAware", self.nodes, pods)

        assert asked.why_not(pods[1]) == (
            "imbalance of node a falls by 0 without the pod (minImprovementThreshold: 0.02)"
        )

    def test_node_at_the_threshold_is_balanced(self) -> None:
        pods = [make_pod("big", cpu="2")]

        asked = Asked("FragmentationAware", self.nodes, pods, args={"imbalanceThreshold": 0.25})

        assert asked.why_not(pods[0]) == "node a is balanced: 0.25 (imbalanceThreshold: 0.25)"
        assert asked.decisions.facts["p", "FragmentationAware"].why_nothing == (
            "no node is imbalanced: the highest is a with 0.25 (imbalanceThreshold: 0.25)"
        )

    def test_plugin_that_is_paused(self) -> None:
        asked = Asked("FragmentationAware", self.nodes, self.pods.values(), args={"paused": True})

        assert asked.why_not(self.pods["big"]) == PAUSED
        assert asked.decisions.facts["p", "FragmentationAware"].why_nothing == PAUSED


class TestRules:
    """Plugins that look at pods and nodes as they are."""

    nodes: ClassVar = [
        make_node("a", taints=["gone:NoSchedule"], labels={"zone": "1"}),
        make_node("b", labels={"zone": "2"}),
    ]

    @pytest.mark.parametrize(
        ("facts", "args", "why"),
        [
            pytest.param({}, {}, "", id="a pod that leaves"),
            pytest.param({"phase": "Failed"}, {}, FINISHED, id="a pod that has finished"),
            pytest.param({"node": "b"}, {}, "node b has no taint of effect NoSchedule", id="a node without taints"),
            pytest.param(
                {"tolerations": [{"key": "gone", "operator": "Exists"}]},
                {},
                "tolerates the taints of node a",
                id="a pod that tolerates them",
            ),
            pytest.param(
                {"namespace": "kube-system"},
                {"namespaces": WITHOUT_SYSTEM},
                EXCLUDED.format("namespaces"),
                id="an excluded namespace",
            ),
            pytest.param(
                {},
                {"excludedTaints": ["gone"], "includePreferNoSchedule": True},
                "node a has no taint of effect NoSchedule or PreferNoSchedule (excludedTaints: gone)",
                id="an excluded taint",
            ),
            pytest.param(
                {},
                {"includedTaints": []},
                "node a has no taint of effect NoSchedule (includedTaints: none)",
                id="no included taint",
            ),
        ],
    )
    def test_node_taints(self, facts: dict[str, Any], args: Object, why: str) -> None:
        pod = make_pod("p", **facts)

        assert Asked("RemovePodsViolatingNodeTaints", self.nodes, [pod], args=args).why_not(pod) == why

    @pytest.mark.parametrize(
        ("facts", "why"),
        [
            pytest.param({"affinity": required_anti_affinity({"app": "x"})}, "", id="a pod that leaves"),
            pytest.param({}, "has no required anti-affinity", id="a pod without it"),
            pytest.param(
                {"affinity": required_anti_affinity({"app": "x"}), "phase": "Failed"}, FINISHED, id="it has finished"
            ),
            pytest.param(
                {"affinity": required_anti_affinity({"app": "y"})},
                "no other pod violates its required anti-affinity on node a",
                id="nobody violates it",
            ),
            pytest.param(
                {"affinity": required_anti_affinity({"app": "x"}), "namespace": "kube-system"},
                EXCLUDED.format("namespaces"),
                id="an excluded namespace",
            ),
        ],
    )
    def test_anti_affinity(self, facts: dict[str, Any], why: str) -> None:
        pod, partner = make_pod("p", **facts), make_pod("x", labels={"app": "x"})

        asked = Asked(
            "RemovePodsViolatingInterPodAntiAffinity",
            self.nodes,
            [pod, partner],
            args={"namespaces": WITHOUT_SYSTEM},
            processed=[self.nodes[0]],
        )

        assert asked.evicted == ([] if why else ["p"])
        assert asked.why_not(pod) == why

    @pytest.mark.parametrize(
        ("facts", "why"),
        [
            pytest.param({}, "has no node affinity", id="a pod without it"),
            pytest.param(
                {"affinity": preferred_node_affinity(("zone", "2", 5)), "phase": "Failed"},
                FINISHED,
                id="it has finished",
            ),
            pytest.param({"affinity": preferred_node_affinity(("zone", "2", 5))}, "", id="another node is better"),
            pytest.param(
                {"affinity": preferred_node_affinity(("zone", "1", 5))},
                "node a violates no required node affinity; "
                "no node meets its preferred node affinity better than node a",
                id="its node is the best",
            ),
        ],
    )
    def test_node_affinity(self, facts: dict[str, Any], why: str) -> None:
        pod = make_pod("p", **facts)
        types = [f"{each}DuringSchedulingIgnoredDuringExecution" for each in ("required", "preferred")]

        asked = Asked("RemovePodsViolatingNodeAffinity", self.nodes, [pod], args={"nodeAffinityType": types})

        assert asked.why_not(pod) == why


class TestRemoveDuplicates:
    """Three pods of an owner on node n1, one on n2."""

    nodes: ClassVar = [make_node(name) for name in ("n1", "n2", "n3")]
    pods: ClassVar = [make_pod(f"p{number}", node="n2" if number == 3 else "n1") for number in range(4)]

    @pytest.mark.parametrize(
        ("facts", "why"),
        [
            pytest.param({}, "4 pods of ReplicaSet web on node n1 (even spread: 2)", id="one of several"),
            pytest.param(
                {"node": "n3"},
                "no other evictable pod of ReplicaSet web with the same images on node n3",
                id="the only one of its node",
            ),
            pytest.param(
                {"namespace": "shop"},
                "no other evictable pod of ReplicaSet web with the same images on node n1",
                id="the only one of its namespace",
            ),
            pytest.param(
                {"owners": ["ReplicaSet/api", "Patron/web"]},
                "no other evictable pod of Patron web or ReplicaSet api with the same images on node n1",
                id="the only one of its owners",
            ),
            pytest.param({"owners": ()}, "has no owner", id="a bare pod"),
            pytest.param({"owners": ["Job/x"]}, "owned by Job (excludeOwnerKinds: Job)", id="an excluded owner"),
            pytest.param({"phase": "Failed"}, FINISHED, id="it has finished"),
        ],
    )
    def test_pod(self, facts: dict[str, Any], why: str) -> None:
        pod = make_pod("p", **{"node": "n1", **facts})

        asked = Asked("RemoveDuplicates", self.nodes, [*self.pods, pod], args={"excludeOwnerKinds": ["Job"]})

        assert asked.why_not(pod) == why
