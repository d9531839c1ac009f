"""Pods that a plugin of Koordinator does not select, and why, as `explain pod` says it."""

from __future__ import annotations

from tests.builders import node_object, pod_object
from tests.explanation.unselected_pods import NODES, RESERVING, TEAM, Question, quota_pod, used
from tests.strategies.decided_worlds import AT_ONCE, LEVELS, LOADS
from tests.worlds.node_metrics import node_metric_object

KOORDINATOR_MISSES = {
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
}
