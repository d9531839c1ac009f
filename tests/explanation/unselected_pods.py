"""Pods that a plugin does not select, and the clusters that they are in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from descheduler.explanation.watched_run import PluginMiss
from tests.builders import Object, node_object, pod_object
from tests.explanation.questions import pod_explanation, policy_of
from tests.strategies.runs import policy_with
from tests.worlds.node_metrics import node_metric_object

NODES = [node_object("a", labels={"zone": "1"}), node_object("b", labels={"zone": "2"})]
SPREAD = [
    {
        "maxSkew": 2,
        "topologyKey": "zone",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "web"}},
    }
]
LOAD = {"thresholds": {"cpu": 20}, "targetThresholds": {"cpu": 70}}


@dataclass(frozen=True)
class Question:
    """A pod `p` that a plugin does not select, in a cluster of `nodes` and `others`."""

    plugin: str
    pod: Object
    args: Object = field(default_factory=dict)
    nodes: Sequence[Object] = tuple(NODES)
    others: Sequence[Object] = ()
    policy: Mapping[str, Any] = field(default_factory=dict)

    def miss(self) -> tuple[PluginMiss, ...]:
        """What the plugin says."""
        document = policy_with(self.plugin, args=self.args, profile="main")
        objects = [*self.nodes, self.pod, *self.others]
        decision = pod_explanation("p", objects, policy_of({**document, **self.policy})).decision
        assert decision is not None
        assert decision.outcome == "unwanted"
        return decision.not_selected


def old(**facts: Any) -> Question:
    """A pod that is looked at for its age."""
    return Question("PodLifeTime", pod_object("p", **facts), {"maxPodLifeTimeSeconds": 86400})


def used(node: str, cpu: str, **facts: Any) -> Object:
    """A NodeMetric whose system uses so much of the 4 cores."""
    return node_metric_object(node, system={"cpu": cpu}, **facts)


RESERVATION = {"node.koordinator.sh/reservation": '{"resources": {"cpu": "1"}, "reservedCPUs": "0-1"}'}
RESERVING = [node_object("a", annotations=RESERVATION), *NODES[1:]]
QUOTA_DOMAIN = "quota.scheduling.koordinator.sh"
TEAM: Object = {
    "apiVersion": "scheduling.sigs.k8s.io/v1alpha1",
    "kind": "ElasticQuota",
    "metadata": {"name": "team", "namespace": "default"},
    "spec": {"max": {"cpu": "4"}},
}


def quota_pod(name: str, *, preemptible: str = "true", **facts: Any) -> Object:
    """A pod of the quota of TEAM."""
    return pod_object(
        name, labels={f"{QUOTA_DOMAIN}/name": "team", f"{QUOTA_DOMAIN}/preemptible": preemptible}, **facts
    )
