"""`requireGain` with plugins of other packages, and with what several plugins may do to a pod."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from descheduler.cycle.plugins import REGISTRY
from descheduler.eviction.cluster_view import ClusterView
from descheduler.eviction.strategy_handle import StrategyHandle
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.plan.decisions import Decisions
from descheduler.policy.plugin import Registry
from tests.builders import Object, node_object, pod_object
from tests.eviction.placement_verification.gain_runs import evicted, message, run
from tests.eviction.placement_verification.gains import verifying


class SaysNothing:
    """A plugin of another package that evicts every pod of node a."""

    def __init__(self, _: msgspec.Struct, handle: StrategyHandle) -> None:
        self._handle = handle

    def deschedule(self, nodes: Sequence[Node]) -> None:
        for pod in self._handle.view.pods_on("a"):
            self._handle.evictor.request(pod, "because")


class SaysNo(SaysNothing):
    """The same, which never selects a replacement."""

    def selects_again(self, pod: Pod, arrival: Pod, after: ClusterView) -> str:
        return "" if not after.pods_on("a") and arrival.node_name in after.nodes else "not gone"


class Fails(SaysNothing):
    """The same, whose answer is wrong."""

    def selects_again(self, pod: Pod, arrival: Pod, after: ClusterView) -> str:
        raise LookupError(pod.name)


class TestOtherPackages:
    """Plugins that are not of this program."""

    @pytest.mark.parametrize(
        ("factory", "nodes", "expected"),
        [
            pytest.param(SaysNothing, ["a"], [], id="the same node again is no gain"),
            pytest.param(SaysNothing, ["a", "b"], ["web"], id="another node is a gain"),
            pytest.param(SaysNo, ["a"], ["web"], id="its word counts"),
            pytest.param(Fails, ["b"], [], id="without an answer nothing is evicted"),
        ],
    )
    def test_what_they_say(self, factory: type[SaysNothing], nodes: Sequence[str], expected: list[str]) -> None:
        """Node b is there in any case; where it takes no pods, the replacement comes back to a."""
        foreign = replace(REGISTRY["PodLifeTime"], name="Foreign", factory=factory)
        registry: Registry = {**REGISTRY, "Foreign": foreign}
        policy = verifying("PodLifeTime", states=["Running"])
        document = json_with(policy, "PodLifeTime", "Foreign")
        is_open = "b" in nodes
        objects = [
            node_object("a", unschedulable=is_open),
            node_object("b", unschedulable=not is_open),
            pod_object("web"),
        ]

        decisions = run(document, *objects, registry=registry)

        assert evicted(decisions) == expected
        assert [failure.plugin for failure in decisions.failures] == (["Foreign"] if factory is Fails else [])


class NotOnB(SaysNothing):
    """A plugin that would select pod `web` again on node b, and nothing else."""

    def selects_again(self, pod: Pod, arrival: Pod, after: ClusterView) -> str:
        del after
        return "on b" if (pod.name, arrival.node_name) == ("web", "b") else ""


class NotAlone(SaysNothing):
    """A plugin that would select pod `web` again on a node without other pods."""

    def selects_again(self, pod: Pod, arrival: Pod, after: ClusterView) -> str:
        is_alone = not after.pods_on(arrival.node_name)
        return "alone" if pod.name == "web" and is_alone else ""


class TestWhatOthersMayDo:
    """Pods of node a, which is cordoned, leave for two nodes of equal score in the order of their names."""

    def run(self, factory: type[SaysNothing], *objects: Object, **facts: Any) -> Decisions:
        """What becomes of pod `web` and the others on node a."""
        foreign = replace(REGISTRY["PodLifeTime"], name="Foreign", factory=factory)
        document = json_with(verifying("PodLifeTime", states=["Running"]), "PodLifeTime", "Foreign")
        nodes = [node_object("a", unschedulable=True), node_object("b"), node_object("c")]
        web = pod_object("web", **{"cpu": "500m", **facts})

        return run(document, *nodes, *objects, web, registry={**REGISTRY, "Foreign": foreign})

    def test_earlier_pod_may_get_another_node_of_equal_score(self) -> None:
        """It is predicted on b, and then c is the best node of the next one."""
        decisions = self.run(NotOnB, pod_object("first", cpu="500m", owners=["ReplicaSet/first"]))

        assert evicted(decisions) == ["first"]
        assert message(decisions) == (
            "the replacement pod can be scheduled onto b and would be selected again there (requireGain: true): on b"
        )

    def test_later_pod_may_be_scheduled_before_an_earlier_one(self) -> None:
        """Only b has room for the first one beside what is there; without it b is the best node of the next one."""
        there = pod_object("there", node="c", cpu="1", owners=["DaemonSet/there"])
        first = pod_object("first", cpu="3500m", owners=["ReplicaSet/first"])

        assert evicted(self.run(NotOnB, there, first)) == ["first"]

    def test_pending_pod_may_get_another_node_of_equal_score(self) -> None:
        pending = pod_object("pending", node="", phase="Pending", cpu="500m", owners=["ReplicaSet/pending"])

        assert evicted(self.run(NotOnB, pending)) == []

    @pytest.mark.parametrize(
        ("facts", "expected"),
        [
            pytest.param({}, [], id="where the first one goes is a tie"),
            pytest.param({"node_selector": {"kubernetes.io/hostname": "b"}}, ["web"], id="it can go nowhere else"),
        ],
    )
    def test_pending_pod_that_makes_the_gain_may_go_elsewhere(self, facts: Object, expected: list[str]) -> None:
        only_b = {"kubernetes.io/hostname": "b"}
        pending = pod_object("x", node="", phase="Pending", cpu="500m", owners=["ReplicaSet/pending"], **facts)

        assert evicted(self.run(NotAlone, pending, node_selector=only_b)) == expected

    def test_earlier_pod_that_makes_the_gain_may_go_elsewhere(self) -> None:
        only_b = {"kubernetes.io/hostname": "b"}
        first = pod_object("first", cpu="500m", owners=["ReplicaSet/first"])

        assert evicted(self.run(NotAlone, first, node_selector=only_b)) == ["first"]

    def test_earlier_pods_that_cannot_change_it_are_no_obstacle(self) -> None:
        """Whichever nodes the other two get, node c is full for the next one."""
        full = pod_object("full", node="b", cpu="3500m", owners=["DaemonSet/full"])
        others = [pod_object(name, cpu="300m", owners=[f"ReplicaSet/{name}"]) for name in ("one", "two")]

        assert evicted(self.run(NotOnB, full, *others, cpu="1")) == ["one", "two", "web"]


def json_with(policy: Object, name: str, other: str) -> Object:
    """The policy with another plugin in place of the named one."""
    found: Object = msgspec.json.decode(msgspec.json.encode(policy).replace(name.encode(), other.encode()))
    return found
