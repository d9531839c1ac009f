"""`requireGain`: no pod is evicted whose replacement its plugin would select again for the same cause."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from descheduler.cycle.plugins import REGISTRY
from descheduler.plan.decisions import Decisions
from descheduler.policy.load import load_policy
from descheduler.policy.types import PolicyKind
from descheduler.simulation.simulating import SimulationOptions, Start, simulate
from tests.builders import (
    NOW,
    Object,
    container_status,
    node_object,
    pod_object,
    preferred_node_affinity,
    required_anti_affinity,
)
from tests.eviction.placement_verification.gain_runs import evicted, message, run
from tests.eviction.placement_verification.gains import verifying
from tests.placement.workloads import cluster_of
from tests.simulation.loops import FIVE_MINUTES

SELECTED_AGAIN = "SelectedAgain"
WEB = {"app": "web"}
APART_BY_RACK = required_anti_affinity(WEB, key="example.com/rack")


def codes(decisions: Decisions) -> dict[str, str]:
    return {refusal.pod.name: refusal.verdict.code for refusal in decisions.refusals}


def preferring(tier: str, **facts: Any) -> Object:
    """A pod that prefers nodes of a tier."""
    return pod_object("web", affinity=preferred_node_affinity(("tier", tier, 100)), **facts)


def spread_over_zones(when_unsatisfiable: str) -> Object:
    """A topology spread constraint over zones."""
    return {
        "maxSkew": 1,
        "topologyKey": "zone",
        "whenUnsatisfiable": when_unsatisfiable,
        "labelSelector": {"matchLabels": WEB},
    }


def tiers(*, cpu_of_best: str = "1") -> list[Object]:
    """Two equal nodes, and a preferred one of this size."""
    return [node_object("a"), node_object("b"), node_object("best", cpu=cpu_of_best, labels={"tier": "best"})]


PREFERRED = verifying(
    "RemovePodsViolatingNodeAffinity", nodeAffinityType=["preferredDuringSchedulingIgnoredDuringExecution"]
)
SOFT_TAINTS = verifying("RemovePodsViolatingNodeTaints", includePreferNoSchedule=True)


def packing(**verification: object) -> Object:
    return verifying("HighNodeUtilization", thresholds={"cpu": 40}, verification=verification)


def underutilized(*, cpu_left: str = "100m") -> list[Object]:
    """Two nodes of which little is requested, and a full one that has so much left."""
    full = pod_object("full", node="c", cpu=f"{4000 - int(cpu_left.removesuffix('m'))}m", owners=["ReplicaSet/full"])
    nodes = [node_object(name) for name in "abc"]
    return [*nodes, full, pod_object("one", cpu="500m"), pod_object("two", node="b", cpu="600m", owners=["Job/two"])]


class TestSelectedAgain:
    """What each plugin would select again, and what is a gain to it."""

    def test_pods_do_not_go_from_one_underutilized_node_to_another(self) -> None:
        decisions = run(packing(), *underutilized())

        assert evicted(decisions) == []
        assert codes(decisions)["one"] in (SELECTED_AGAIN, "ReturnsToSource")

    def test_pods_go_where_an_underutilized_node_is_none_any_more(self) -> None:
        nodes = [node_object("a", cpu="2"), node_object("b", cpu="2"), node_object("c", cpu="1")]
        small, large = pod_object("small", cpu="200m"), pod_object("large", node="b", cpu="700m")
        policy = verifying("HighNodeUtilization", thresholds={"cpu": 40})
        full = pod_object("full", node="c", cpu="900m", owners=["ReplicaSet/full"])
        closed = replace_taints(nodes[0], "closed:NoSchedule")

        decisions = run(policy, closed, *nodes[1:], small, large, full)

        assert evicted(decisions) == ["small"]

    def test_preferred_node_that_is_full_is_no_gain(self) -> None:
        filler = pod_object("filler", node="best", cpu="900m", owners=["ReplicaSet/filler"])

        decisions = run(PREFERRED, *tiers(), preferring("best", cpu="500m"), filler)

        assert codes(decisions) == {"web": SELECTED_AGAIN}
        assert message(decisions) == (
            "the replacement pod can be scheduled onto a and would be selected again there (requireGain: true):"
            " preferred node affinity has weight 0 on node a, 100 on another node"
        )

    def test_preferred_node_with_room_is_a_gain(self) -> None:
        assert evicted(run(PREFERRED, *tiers(), preferring("best", cpu="500m"))) == ["web"]

    def test_one_of_several_equal_nodes_is_enough_to_refuse(self) -> None:
        """Both nodes have the same score, and one of them is as underutilized as the one that the pod leaves."""
        nodes = [node_object("a", labels={"old": "yes"}), *(node_object(name) for name in "bc")]
        soft = node_object("c", taints=["soft:PreferNoSchedule"])

        decisions = run(SOFT_TAINTS, replace_taints(nodes[0], "soft:PreferNoSchedule"), soft, pod_object("web"))

        assert codes(decisions) == {"web": SELECTED_AGAIN}

    @pytest.mark.parametrize(
        ("source", "others", "expected"),
        [
            pytest.param("soft:PreferNoSchedule", ["soft:PreferNoSchedule"], [], id="the same taint everywhere"),
            pytest.param("soft:PreferNoSchedule", ["other:PreferNoSchedule"], [], id="another such taint everywhere"),
            pytest.param("soft:PreferNoSchedule", [], ["web"], id="a node without taints"),
            pytest.param("hard:NoSchedule", ["soft:PreferNoSchedule"], ["web"], id="NoSchedule is worse"),
        ],
    )
    def test_taints(self, source: str, others: Sequence[str], expected: list[str]) -> None:
        nodes = [node_object("a", taints=[source]), node_object("b", taints=others)]

        assert evicted(run(SOFT_TAINTS, *nodes, pod_object("web"))) == expected

    @pytest.mark.parametrize(
        ("cpu", "expected"),
        [pytest.param("1800m", [], id="the node gets overutilized"), pytest.param("1", ["web"], id="it does not")],
    )
    def test_node_that_gets_overutilized_is_no_gain(self, cpu: str, expected: list[str]) -> None:
        nodes = [node_object("a"), node_object("b", cpu="2500m"), node_object("empty", cpu="500m")]
        pods = [pod_object("web", cpu=cpu), pod_object("stays", cpu="1500m", owners=["DaemonSet/stays"])]
        policy = verifying(
            "LowNodeUtilization", thresholds={"cpu": 30, "pods": 50}, targetThresholds={"cpu": 60, "pods": 100}
        )

        assert evicted(run(policy, *nodes, *pods)) == expected

    def test_pod_that_stays_in_the_fullest_zone_is_no_gain(self) -> None:
        """The other zone has no room, which the plugin does not ask about."""
        zones = {"a": "one", "b": "one", "c": "two"}
        nodes = [node_object(n, cpu="100m" if n == "c" else "4", labels={"zone": zones[n]}) for n in zones]
        pods = [
            pod_object(f"web-{number}", node=node, cpu="500m", labels=WEB, spread=[spread_over_zones("ScheduleAnyway")])
            for number, node in enumerate("aabb")
        ]
        policy = verifying(
            "RemovePodsViolatingTopologySpreadConstraint",
            constraints=["ScheduleAnyway"],
            topologyBalanceNodeFit=False,
            verification={"onReturnToSource": "allow"},
        )

        decisions = run(policy, *nodes, *pods)

        assert evicted(decisions) == []
        assert set(codes(decisions).values()) == {SELECTED_AGAIN}
        assert (
            "one has 4 more pods than the emptiest zone (topologyKey: zone, maxSkew: 1, labelSelector:"
            in decisions.refusals[0].verdict.message
        )

    def test_spread_that_gets_better_with_each_pod_is_a_gain(self) -> None:
        nodes = [node_object(name, labels={"zone": name}) for name in "ab"]
        spread = [spread_over_zones("DoNotSchedule")]
        pods = [pod_object(f"web-{number}", labels=WEB, spread=spread) for number in range(6)]

        decisions = run(verifying("RemovePodsViolatingTopologySpreadConstraint"), *nodes, *pods)

        assert len(evicted(decisions)) == 3
        assert codes(decisions) == {}

    def test_duplicates_that_come_to_a_node_with_as_many_are_no_gain(self) -> None:
        """Node c is open to the replicas by its taints alone, and has no room."""
        nodes = [node_object("a"), node_object("b"), node_object("c", cpu="100m")]
        pods = [pod_object(f"web-{number}", node=node, cpu="500m") for number, node in enumerate("aaabbb")]

        decisions = run(verifying("RemoveDuplicates"), *nodes, *pods)

        assert evicted(decisions) == []
        assert set(codes(decisions).values()) <= {SELECTED_AGAIN, "ReturnsToSource"}

    def test_anti_affinity_that_only_the_plugin_sees_is_no_gain(self) -> None:
        """No node has the topology label: the scheduler lets the pods share nodes, and the plugin does not."""
        pods = [
            pod_object(f"web-{number}", node=node, labels=WEB, affinity=APART_BY_RACK)
            for number, node in enumerate("aab")
        ]

        decisions = run(verifying("RemovePodsViolatingInterPodAntiAffinity"), node_object("a"), node_object("b"), *pods)

        assert evicted(decisions) == []
        assert "violates required anti-affinity with pod default/web-" in decisions.refusals[0].verdict.message

    @pytest.mark.parametrize(
        ("plugin", "args", "facts"),
        [
            pytest.param("PodLifeTime", {"maxPodLifeTimeSeconds": 60}, {}, id="it is young"),
            pytest.param("PodLifeTime", {"states": ["Running"]}, {}, id="a new one is wanted each time"),
            pytest.param(
                "RemovePodsHavingTooManyRestarts",
                {"podRestartThreshold": 3},
                {"containers": [container_status(restarts=5)]},
                id="it has not restarted",
            ),
        ],
    )
    def test_new_pod_is_not_selected_for_the_past_of_the_old_one(
        self, plugin: str, args: Object, facts: Mapping[str, Any]
    ) -> None:
        decisions = run(verifying(plugin, **args), node_object("a"), node_object("b"), pod_object("web", **facts))

        assert evicted(decisions) == ["web"]

    def test_node_that_the_plugin_is_not_given_is_a_gain(self) -> None:
        policy = {**SOFT_TAINTS, "nodeSelector": "kubernetes.io/hostname!=c"}
        nodes = [node_object(name, taints=["soft:PreferNoSchedule"]) for name in "abc"]
        fillers = [pod_object(f"filler-{name}", node=name, cpu="3500m") for name in "ab"]
        tolerant = [
            {**filler, "spec": {**filler["spec"], "tolerations": [{"operator": "Exists"}]}} for filler in fillers
        ]

        assert evicted(run(policy, *nodes, *tolerant, pod_object("web", cpu="200m"))) == ["web"]


class TestSwitch:
    """What `requireGain` and the other arguments make of it."""

    def test_it_can_be_disabled(self) -> None:
        filler = pod_object("filler", node="best", cpu="900m", owners=["ReplicaSet/filler"])
        policy = verifying(
            "RemovePodsViolatingNodeAffinity",
            nodeAffinityType=["preferredDuringSchedulingIgnoredDuringExecution"],
            verification={"requireGain": False},
        )

        assert evicted(run(policy, *tiers(), preferring("best", cpu="500m"), filler)) == ["web"]

    @pytest.mark.parametrize("on_return", ["refuse", "refuseBalance", "allow"])
    def test_what_is_said_of_returns_does_not_allow_it(self, on_return: str) -> None:
        decisions = run(packing(onReturnToSource=on_return), *underutilized())

        assert evicted(decisions) == []

    def test_pod_that_does_not_come_again_gains_its_node_something(self) -> None:
        finished = pod_object("done", phase="Succeeded")

        assert evicted(run(verifying("PodLifeTime", states=["Succeeded"]), finished)) == ["done"]

    @pytest.mark.parametrize(
        ("first", "expected"),
        [
            pytest.param("350m", ["first", "second"], id="the first brings the node above the threshold"),
            pytest.param("250m", [], id="neither of them does alone"),
        ],
    )
    def test_moves_that_were_granted_before_count(self, first: str, expected: list[str]) -> None:
        closed, other = node_object("a", taints=["closed:NoSchedule"]), node_object("c", cpu="10")
        nodes = [closed, node_object("b", cpu="1", labels={"pool": "web"}), other]
        web = {"pool": "web"}
        pods = [
            pod_object("first", cpu=first, priority=1, node_selector=web),
            pod_object("second", cpu="200m", priority=2, node_selector=web),
        ]
        full = pod_object("full", node="c", cpu="5", owners=["ReplicaSet/full"])
        there = pod_object("there", node="b", cpu="100m", owners=["DaemonSet/there"])

        assert evicted(run(packing(), *nodes, *pods, full, there)) == expected

    @pytest.mark.parametrize("kind", ["DeschedulerPolicy", "DeschedulerConfiguration"])
    def test_policy_that_went_on_for_ever_converges(self, kind: PolicyKind) -> None:
        policy = verifying("RemovePodsViolatingNodeTaints", kind=kind, includePreferNoSchedule=True)
        nodes = [node_object(name, taints=["soft:PreferNoSchedule"]) for name in "abc"]
        start = Start(load_policy(policy, REGISTRY), cluster_of(*nodes, pod_object("web"), pod_object("app", node="b")))

        (found,) = simulate([start], now=NOW, options=SimulationOptions(4, FIVE_MINUTES)).policies

        assert found.sentence == "nothing is evicted, 0 pods pending"


def replace_taints(node: Object, taint: str) -> Object:
    """The node with this taint, `key:Effect`."""
    key, _, effect = taint.partition(":")
    return {**node, "spec": {**node["spec"], "taints": [{"key": key, "effect": effect}]}}
