"""Why each plugin does not select a pod, as `explain pod` says it."""

from __future__ import annotations

import pytest

from descheduler.explanation.watching.watched_run import PluginMiss
from tests.builders import (
    container_status,
    node_object,
    pod_object,
    required_anti_affinity,
    required_node_affinity,
)
from tests.explanation.watching.unselected_pods import (
    LOAD,
    NODES,
    RESERVING,
    SPREAD,
    TEAM,
    Question,
    old,
    quota_pod,
    used,
)
from tests.strategies.quiet_worlds import AT_ONCE, LEVELS, LOADS, PLANNED, STRATEGIES
from tests.worlds.node_metrics import node_metric_object

MISSES = {
    "age": (old(age=10800), "3 h old (maxPodLifeTimeSeconds: 86400)"),
    "state": (
        Question("PodLifeTime", pod_object("p"), {"states": ["Failed", "OOMKilled"]}),
        "phase Running (states: Failed, OOMKilled)",
    ),
    "owner": (
        Question("PodLifeTime", pod_object("p"), {"states": ["Running"], "ownerKinds": {"include": ["Job"]}}),
        "owned by ReplicaSet (ownerKinds.include: Job)",
    ),
    "condition": (
        Question("PodLifeTime", pod_object("p"), {"conditions": [{"type": "Ready", "status": "False"}]}),
        "no condition of the pod is one of the policy (conditions)",
    ),
    "exit code": (
        Question("PodLifeTime", pod_object("p"), {"exitCodes": [137]}),
        "no container exited with such a code (exitCodes: 137)",
    ),
    "excluded namespace": (
        Question("PodLifeTime", pod_object("p"), {"maxPodLifeTimeSeconds": 60, "namespaces": {"exclude": ["default"]}}),
        "namespace default is excluded (namespaces.exclude)",
    ),
    "namespace that is not included": (
        Question("PodLifeTime", pod_object("p"), {"maxPodLifeTimeSeconds": 60, "namespaces": {"include": ["shop"]}}),
        "namespace default is not included (namespaces.include)",
    ),
    "labels": (
        Question(
            "PodLifeTime",
            pod_object("p"),
            {"maxPodLifeTimeSeconds": 60, "labelSelector": {"matchLabels": {"app": "shop"}}},
        ),
        "labels do not match (labelSelector)",
    ),
    "pending": (old(node="", phase="Pending"), "the pod is not scheduled onto a node"),
    "node that is not ready": (
        Question(
            "PodLifeTime",
            pod_object("p", node="c"),
            {"maxPodLifeTimeSeconds": 60},
            [*NODES, node_object("c", ready=False)],
        ),
        "node c is not ready",
    ),
    "node that the policy does not select": (
        Question(
            "PodLifeTime",
            pod_object("p", node="c"),
            {"maxPodLifeTimeSeconds": 60},
            [*NODES, node_object("c")],
            policy={"nodeSelector": "zone"},
        ),
        "node c does not match nodeSelector",
    ),
    "restarts": (
        Question(
            "RemovePodsHavingTooManyRestarts",
            pod_object("p", containers=[container_status(3)]),
            {"podRestartThreshold": 100},
        ),
        "3 restarts (podRestartThreshold: 100)",
    ),
    "state of one that restarted": (
        Question(
            "RemovePodsHavingTooManyRestarts",
            pod_object("p", containers=[container_status(300)]),
            {"podRestartThreshold": 100, "states": ["CrashLoopBackOff"]},
        ),
        "phase Running (states: CrashLoopBackOff)",
    ),
    "phase": (Question("RemoveFailedPods", pod_object("p")), "phase Running, not Failed"),
    "age of one that failed": (
        Question("RemoveFailedPods", pod_object("p", phase="Failed", age=600)),
        "10 min old (minPodLifetimeSeconds: 3600)",
    ),
    "reason of one that failed": (
        Question("RemoveFailedPods", pod_object("p", phase="Failed", reason="Evicted"), {"reasons": ["NodeLost"]}),
        "failed for Evicted (reasons: NodeLost)",
    ),
    "exit code of one that failed": (
        Question("RemoveFailedPods", pod_object("p", phase="Failed"), {"exitCodes": [1]}),
        "no container has exited (exitCodes: 1)",
    ),
    "owner of one that failed": (
        Question("RemoveFailedPods", pod_object("p", phase="Failed"), {"excludeOwnerKinds": ["ReplicaSet"]}),
        "owned by ReplicaSet (excludeOwnerKinds: ReplicaSet)",
    ),
    "no taint of a device": (
        Question("RemovePodsViolatingDeviceTaints", pod_object("p"), {"drivers": ["gpu.example.com"]}),
        "no device has a taint that counts (effects: NoSchedule; drivers: gpu.example.com)",
    ),
    "no taint": (
        Question("RemovePodsViolatingNodeTaints", pod_object("p")),
        "node a has no taint of effect NoSchedule",
    ),
    "tolerated taint": (
        Question(
            "RemovePodsViolatingNodeTaints",
            pod_object("p", tolerations=[{"operator": "Exists"}]),
            nodes=[node_object("a", taints=["k:NoSchedule"]), node_object("b")],
        ),
        "tolerates the taints of node a",
    ),
    "finished": (
        Question("RemoveDuplicates", pod_object("p", phase="Succeeded")),
        "the pod has finished",
    ),
    "no anti-affinity": (
        Question("RemovePodsViolatingInterPodAntiAffinity", pod_object("p")),
        "has no required anti-affinity",
    ),
    "no node affinity": (
        Question(
            "RemovePodsViolatingNodeAffinity",
            pod_object("p"),
            {"nodeAffinityType": ["requiredDuringSchedulingIgnoredDuringExecution"]},
        ),
        "has no node affinity",
    ),
    "node affinity of both kinds": (
        Question(
            "RemovePodsViolatingNodeAffinity",
            pod_object("p", affinity=required_node_affinity("zone", "1")),
            {
                "nodeAffinityType": [
                    "requiredDuringSchedulingIgnoredDuringExecution",
                    "preferredDuringSchedulingIgnoredDuringExecution",
                ]
            },
        ),
        "node a violates no required node affinity; no node meets its preferred node affinity better than node a",
    ),
    "only replica": (
        Question("RemoveDuplicates", pod_object("p")),
        "no other evictable pod of ReplicaSet web with the same images on node a",
    ),
    "even replicas": (
        Question("RemoveDuplicates", pod_object("p"), others=[pod_object(f"q{n}", node=n) for n in ("a", "b")]),
        "2 pods of ReplicaSet web on node a (even spread: 2)",
    ),
    "no spread constraint": (
        Question("RemovePodsViolatingTopologySpreadConstraint", pod_object("p")),
        "no evictable pod in namespace default has a topology spread constraint (constraints: DoNotSchedule)",
    ),
    "spread constraint that holds": (
        Question("RemovePodsViolatingTopologySpreadConstraint", pod_object("p", labels={"app": "web"}, spread=SPREAD)),
        "the largest skew is 1 pod over zone in namespace default (maxSkew: 2)",
    ),
    "spread constraint of other pods": (
        Question(
            "RemovePodsViolatingTopologySpreadConstraint",
            pod_object("p", labels={"app": "db"}),
            others=[pod_object("q", labels={"app": "web"}, spread=SPREAD)],
        ),
        "no topology spread constraint in namespace default selects the pod (constraints: DoNotSchedule)",
    ),
    "node that is not overutilized": (
        Question("LowNodeUtilization", pod_object("p", cpu="1600m"), LOAD),
        "node a is not overutilized: CPU requests at 40% (targetThresholds.cpu: 70)",
    ),
    "overutilized node without destinations": (
        Question("LowNodeUtilization", pod_object("p", cpu="3"), LOAD, others=[pod_object("q", node="b", cpu="1")]),
        "no node is underutilized: the lowest is b with CPU requests at 25% (thresholds.cpu: 20)",
    ),
    "overutilized node and full destinations": (
        Question("LowNodeUtilization", pod_object("p", cpu="3"), LOAD, [node_object("a"), node_object("b", pods="0")]),
        "node a is overutilized, but the underutilized nodes have no room left: pods",
    ),
    "node that no metrics are known of": (
        Question("LoadAware", pod_object("p"), LOAD),
        "node a is not overutilized: CPU usage at 0% (targetThresholds.cpu: 70)",
    ),
    "node outside nodeSelector": (
        Question("LoadAware", pod_object("p"), {**LOAD, "nodeSelector": "pool=web"}),
        "no node matches nodeSelector",
    ),
    "averages that Volcano does not keep": (
        Question("Rescheduling", pod_object("p")),
        "all usage is 0: Volcano keeps averages over 10m alone (metricsPeriod: 5m)",
    ),
    "node that is not underutilized": (
        Question("HighNodeUtilization", pod_object("p", cpu="1600m"), {"thresholds": {"cpu": 20}}),
        "node a is not underutilized: CPU requests at 40% (thresholds.cpu: 20)",
    ),
    "nothing worth moving": (
        Question(
            "HighNodeUtilization",
            pod_object("p"),
            {"thresholds": {"cpu": 20}, "evictionModes": ["OnlyThresholdingResources"]},
            others=[pod_object("q", node="b", cpu="3")],
        ),
        "requests no resource of thresholds (evictionModes: OnlyThresholdingResources)",
    ),
    "conflict that another eviction beyond the limit ends": (
        Question(
            "RemovePodsViolatingInterPodAntiAffinity",
            pod_object("p", labels={"app": "web"}, affinity=required_anti_affinity({"app": "web"}), priority=9),
            others=[pod_object("q", labels={"app": "web"}, affinity=required_anti_affinity({"app": "web"}))],
            policy={"maxNoOfPodsToEvictTotal": 0},
        ),
        "a limit stopped the plugin before it came to the pod; without it, evicting other pods is enough",
    ),
    "a node without a reservation": (
        Question("RemovePodsViolatingNodeReservation", pod_object("p")),
        "node a does not have a valid annotation node.koordinator.sh/reservation",
    ),
    "a node whose reservation is free": (
        Question("RemovePodsViolatingNodeReservation", pod_object("p", cpu="2"), nodes=RESERVING),
        "requests on node a do not exceed allocatable minus reserved, and the pod is not pinned to reserved CPUs 0-1",
    ),
    "a pod that requests nothing that is reserved": (
        Question(
            "RemovePodsViolatingNodeReservation",
            pod_object("p", memory="1Gi"),
            nodes=RESERVING,
            others=[pod_object("q", cpu="3")],
        ),
        "requests nothing that node a is short of: cpu 1",
    ),
    "a pod whose node is relieved of others": (
        Question(
            "RemovePodsViolatingNodeReservation",
            pod_object("p", cpu="1", priority=5),
            {"consecutiveObservations": 1},
            nodes=RESERVING,
            others=[pod_object("q", cpu="2", priority=1)],
        ),
        "evicting other pods is enough for node a",
    ),
    "a pod whose node has to be seen in more runs": (
        Question(
            "RemovePodsViolatingNodeReservation",
            pod_object("p", cpu="1", priority=5),
            nodes=RESERVING,
            others=[pod_object("q", cpu="2", priority=1)],
        ),
        "the violation on node a is seen for the first time, 2 runs in a row are required "
        "(consecutiveObservations: 2); earlier runs are unknown here",
    ),
    "a pod that is terminating where a node reserves": (
        Question("RemovePodsViolatingNodeReservation", pod_object("p", deleted=5), nodes=RESERVING),
        "the pod is terminating",
    ),
    "a pod of a quota within its limit": (
        Question("RevokePodsOverElasticQuota", quota_pod("p", cpu="2"), others=[TEAM]),
        "elastic quota team is not over its runtime quota (delayEvictTime: 2m0s)",
    ),
    "a pod whose quota is relieved of others": (
        Question(
            "RevokePodsOverElasticQuota", quota_pod("p", cpu="3", priority=5), others=[TEAM, quota_pod("q", cpu="2")]
        ),
        "revoking other pods is enough for elastic quota team",
    ),
    "a pod that its quota may not take back": (
        Question(
            "RevokePodsOverElasticQuota",
            quota_pod("p", cpu="3", preemptible="false"),
            others=[TEAM, quota_pod("q", cpu="2")],
        ),
        "label quota.scheduling.koordinator.sh/preemptible is false",
    ),
    "a pod that is terminating in a quota": (
        Question("RevokePodsOverElasticQuota", quota_pod("p", cpu="3", deleted=5), others=[TEAM]),
        "the pod is terminating",
    ),
    "node of no level": (
        Question("CustomPriority", pod_object("p", node="c"), LEVELS, [*NODES, node_object("c")]),
        "node c matches no level of evictionOrder",
    ),
    "node of the last level": (
        Question("CustomPriority", pod_object("p", node="b"), LEVELS),
        "node b is in spot, the last level of evictionOrder with nodes",
    ),
    "node that a plugin does not select": (
        Question(
            "CustomPriority",
            pod_object("p", node="c"),
            {**LEVELS, "nodeSelector": {"matchExpressions": [{"key": "zone", "operator": "Exists"}]}},
            [*NODES, node_object("c")],
        ),
        "node c does not match nodeSelector",
    ),
    "labels of no pod selector": (
        Question(
            "CustomPriority",
            pod_object("p"),
            {**LEVELS, "podSelectors": [{"name": "web", "selector": {"matchLabels": {"app": "web"}}}]},
        ),
        "labels match no selector (podSelectors)",
    ),
    "paused plugin": (
        Question("CustomPriority", pod_object("p"), {**LEVELS, "paused": True}),
        "the plugin is paused (paused: true)",
    ),
    "node that is balanced": (
        Question("FragmentationAware", pod_object("p", cpu="1", memory="1Gi")),
        "node a is balanced: 0.0625 (imbalanceThreshold: 0.15)",
    ),
    "pod that does not make its node more even": (
        Question("FragmentationAware", pod_object("p"), others=[pod_object("q", cpu="2")]),
        "imbalance of node a falls by 0 without the pod (minImprovementThreshold: 0.02)",
    ),
    "pod that makes its node less even": (
        Question("FragmentationAware", pod_object("p", memory="1Gi"), others=[pod_object("q", cpu="2")]),
        "imbalance of node a rises by 0.0625 without the pod (minImprovementThreshold: 0.02)",
    ),
    "pod that is not the best": (
        Question("FragmentationAware", pod_object("p", cpu="1"), others=[pod_object("q", cpu="2")]),
        "pod default/q lowers the imbalance of node a more",
    ),
    "node that is under its target": (
        Question("MigrationPlanner", pod_object("p", cpu="1"), PLANNED),
        "node a is not over its target (cpu 70%)",
    ),
    "ranked": (
        Question("ScaleDownBinPack", pod_object("p"), others=[pod_object("q", node="b", cpu="1")]),
        "number 1 of 2 pods to scale down (strategy: CalculateOnly)",
    ),
    "not ranked": (
        Question("ScaleDownBinPack", pod_object("p", owners=["DaemonSet/d"])),
        "not ranked: the filter plugins refuse the pod (strategy: CalculateOnly)",
    ),
    "load that is not measured": (
        Question("LowNodeLoad", pod_object("p"), LOADS, others=[used("b", "1")]),
        "node a has no NodeMetric with usage",
    ),
    "load that was measured long ago": (
        Question("LowNodeLoad", pod_object("p"), LOADS, others=[used("a", "1", age=3600), used("b", "1")]),
        "the NodeMetric of node a is 3,600 s old (nodeMetricExpirationSeconds: 180)",
    ),
    "node with little load": (
        Question("LowNodeLoad", pod_object("p"), LOADS, others=[used("a", "1"), used("b", "1")]),
        "node a is not overutilized: CPU usage at 25% (highThresholds.cpu: 70)",
    ),
    "node whose load is new": (
        Question("LowNodeLoad", pod_object("p"), LOADS, others=[used("a", "3"), used("b", "0")]),
        "node a is overutilized for 1 run; pods are evicted from 6 runs in a row on "
        "(anomalyCondition.consecutiveAbnormalities: 5); earlier runs are unknown here",
    ),
    "node that too few could relieve": (
        Question(
            "LowNodeLoad",
            pod_object("p"),
            {**LOADS, **AT_ONCE, "numberOfNodes": 1},
            others=[used("a", "3"), used("b", "0")],
        ),
        "1 node is underutilized, more than 1 are required (numberOfNodes: 1)",
    ),
    "node that nobody can relieve": (
        Question("LowNodeLoad", pod_object("p"), {**LOADS, **AT_ONCE}, others=[used("a", "3"), used("b", "2")]),
        "node a is overutilized, but no node is underutilized",
    ),
    "pod that is not prod on a node with too much prod load": (
        Question(
            "LowNodeLoad",
            pod_object("p", labels={"koordinator.sh/priority-class": "koord-batch"}),
            {**LOADS, **AT_ONCE, "prodLowThresholds": {"cpu": 10}, "prodHighThresholds": {"cpu": 40}},
            others=[
                pod_object("q", cpu="1"),
                node_metric_object("a", {"default/p": {"cpu": "0"}, "default/q": {"cpu": "2"}}),
                used("b", "0"),
            ],
        ),
        "node a is overutilized by prod pods alone, and the pod is not one of them",
    ),
    "pod of another namespace on a loaded node": (
        Question(
            "LowNodeLoad",
            pod_object("p"),
            {**LOADS, **AT_ONCE, "evictableNamespaces": {"exclude": ["default"]}},
            others=[used("a", "3"), used("b", "0")],
        ),
        "namespace default is excluded (evictableNamespaces.exclude)",
    ),
    "pod that need not leave a loaded node": (
        Question(
            "LowNodeLoad",
            pod_object("p"),
            {**LOADS, **AT_ONCE, "nodeFit": False},
            others=[
                pod_object("q"),
                node_metric_object("a", {"default/p": {"cpu": "2"}, "default/q": {"cpu": "1"}}),
                used("b", "0"),
            ],
        ),
        "other pods of node a are selected",
    ),
    "metrics that are missing": (
        Question(
            "LowNodeUtilization", pod_object("p"), {**LOAD, "metricsUtilization": {"source": "KubernetesMetrics"}}
        ),
        "failed: metrics client not initialized: add KubernetesMetrics to metricsProviders",
    ),
}


@pytest.mark.parametrize(("question", "message"), [pytest.param(*case, id=name) for name, case in MISSES.items()])
def test_a_plugin_says_why_it_does_not_select_a_pod(question: Question, message: str) -> None:
    assert question.miss() == (PluginMiss(profile="main", plugin=question.plugin, message=message),)


def test_every_plugin_that_evicts_has_such_a_line() -> None:
    assert {question.plugin for question, _ in MISSES.values()} == STRATEGIES
