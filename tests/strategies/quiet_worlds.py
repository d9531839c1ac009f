"""For each plugin clusters in which it selects nothing, and the sentence that says why."""

from __future__ import annotations

from descheduler.cycle.plugins import REGISTRY
from tests.builders import (
    container_status,
    make_node,
    make_pod,
    preferred_node_affinity,
    required_anti_affinity,
    required_node_affinity,
)
from tests.strategies.decided_worlds import AT_ONCE, LEVELS, LOAD, LOADS, PLANNED, World, used
from tests.strategies.node_utilization.worlds import pods_on, small_node

STRATEGIES = {name for name, spec in REGISTRY.items() if spec.extension_points & {"deschedule", "balance"}}
"""The plugins that evict."""

REQUIRED = {"nodeAffinityType": ["requiredDuringSchedulingIgnoredDuringExecution"]}
PREFERRED = {"nodeAffinityType": ["preferredDuringSchedulingIgnoredDuringExecution"]}
RESERVING = [make_node("a", annotations={"node.koordinator.sh/reservation": '{"resources": {"cpu": "1"}}'})]
SPREAD = [
    {
        "maxSkew": 2,
        "topologyKey": "zone",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "web"}},
    }
]
QUIET: dict[str, tuple[World, str]] = {
    "pods are too young": (
        World("PodLifeTime", [make_pod("p", age=10800)], {"maxPodLifeTimeSeconds": 86400}),
        "no pod is old enough: the oldest is default/p, 3 h old (maxPodLifeTimeSeconds: 86400); 1 pod examined",
    ),
    "no pod is in the state": (
        World("PodLifeTime", [make_pod("p")], {"states": ["OOMKilled"]}),
        "no pod is in one of the states (states: OOMKilled); 1 pod examined",
    ),
    "namespaces leave pods out before": (
        World(
            "PodLifeTime",
            [make_pod("p"), make_pod("q", namespace="shop")],
            {"maxPodLifeTimeSeconds": 86400, "namespaces": {"exclude": ["shop"]}},
        ),
        "no pod is old enough: the oldest is default/p, 1 h old (maxPodLifeTimeSeconds: 86400); "
        "2 pods examined, left out 1 by namespaces.exclude",
    ),
    "namespaces leave all pods out": (
        World("PodLifeTime", [make_pod("p")], {"maxPodLifeTimeSeconds": 60, "namespaces": {"include": ["shop"]}}),
        "no pod is in an included namespace (namespaces.include: shop); 1 pod examined",
    ),
    "labels leave all pods out": (
        World(
            "PodLifeTime", [make_pod("p")], {"maxPodLifeTimeSeconds": 60, "labelSelector": {"matchLabels": {"x": "y"}}}
        ),
        "no pod has matching labels (labelSelector); 1 pod examined",
    ),
    "there are no pods": (
        World("PodLifeTime", [], {"maxPodLifeTimeSeconds": 60}),
        "no pod runs on the nodes that the plugin examines",
    ),
    "restarts are too few": (
        World(
            "RemovePodsHavingTooManyRestarts",
            [make_pod("p", containers=[container_status(3)])],
            {"podRestartThreshold": 100},
        ),
        "no pod restarted often enough: the highest is default/p, 3 restarts (podRestartThreshold: 100); "
        "1 pod examined",
    ),
    "no pod has failed": (
        World("RemoveFailedPods", [make_pod("p")]),
        "no pod is in phase Failed; 1 pod examined",
    ),
    "failed pods are too young": (
        World("RemoveFailedPods", [make_pod("p", phase="Failed", age=600), make_pod("q")]),
        "no failed pod is old enough: the oldest is default/p, 10 min old (minPodLifetimeSeconds: 3600); "
        "2 pods examined, left out 1 by status.phase",
    ),
    "no node has a taint": (
        World("RemovePodsViolatingNodeTaints", [make_pod("p")], {"excludedTaints": ["x"]}),
        "no node has a taint of effect NoSchedule (excludedTaints: x)",
    ),
    "all taints are tolerated": (
        World(
            "RemovePodsViolatingNodeTaints",
            [make_pod("p", tolerations=[{"operator": "Exists"}])],
            nodes=[make_node("a", taints=["k:NoSchedule"])],
        ),
        "every pod tolerates the taints of its node; 1 pod examined",
    ),
    "no pod states anti-affinity": (
        World("RemovePodsViolatingInterPodAntiAffinity", [make_pod("p")]),
        "no pod has required anti-affinity; 1 pod examined",
    ),
    "anti-affinity holds": (
        World("RemovePodsViolatingInterPodAntiAffinity", [make_pod("p", affinity=required_anti_affinity({"x": "y"}))]),
        "no pod violates required anti-affinity; 1 pod examined",
    ),
    "no pod states node affinity": (
        World("RemovePodsViolatingNodeAffinity", [make_pod("p")], REQUIRED),
        "no pod has node affinity; 1 pod examined",
    ),
    "required node affinity holds": (
        World(
            "RemovePodsViolatingNodeAffinity", [make_pod("p", affinity=required_node_affinity("zone", "1"))], REQUIRED
        ),
        "no pod violates required node affinity; 1 pod examined",
    ),
    "no node is preferred to the pod's own": (
        World(
            "RemovePodsViolatingNodeAffinity",
            [make_pod("p", affinity=preferred_node_affinity(("zone", "1", 5)))],
            PREFERRED,
        ),
        "no node meets preferred node affinity better than the pods' own; 1 pod examined",
    ),
    "no two replicas share a node": (
        World("RemoveDuplicates", [make_pod("p"), make_pod("q", node="b")]),
        "no node runs 2 evictable pods of one owner with the same images (2 pods examined)",
    ),
    "no node has a reservation": (
        World("RemovePodsViolatingNodeReservation", [make_pod("p", cpu="3")]),
        "no node has a valid annotation node.koordinator.sh/reservation",
    ),
    "requests leave what is reserved free": (
        World("RemovePodsViolatingNodeReservation", [make_pod("p", cpu="3")], nodes=RESERVING),
        "no pod occupies what its node reserves (annotation node.koordinator.sh/reservation); 1 pod examined",
    ),
    "no device has a taint": (
        World("RemovePodsViolatingDeviceTaints", [make_pod("p", cpu="3")]),
        "no device has a taint that counts (effects: NoSchedule)",
    ),
    "there are no quotas": (
        World("RevokePodsOverElasticQuota", [make_pod("p", cpu="3")]),
        "the cluster has no elastic quota",
    ),
    "replicas are spread evenly": (
        World("RemoveDuplicates", [make_pod(f"p{n}", node=node) for n, node in enumerate("aabb")]),
        "no node runs more pods of an owner than an even spread: "
        "the highest is 2 pods of ReplicaSet web on node a (even spread: 2)",
    ),
    "replicas have one node only": (
        World("RemoveDuplicates", [make_pod("p"), make_pod("q")], nodes=[make_node("a")]),
        "2 pods of ReplicaSet web on node a (even spread: 2), and no other node can run them",
    ),
    "no pod states a spread constraint": (
        World("RemovePodsViolatingTopologySpreadConstraint", [make_pod("p")]),
        "no evictable pod has a topology spread constraint (constraints: DoNotSchedule)",
    ),
    "spread constraints hold": (
        World(
            "RemovePodsViolatingTopologySpreadConstraint",
            [make_pod("p", labels={"app": "web"}, spread=SPREAD)],
        ),
        "no topology spread constraint is violated: "
        "the largest skew is 1 pod over zone in namespace default (maxSkew: 2)",
    ),
    "a spread constraint has no selector": (
        World(
            "RemovePodsViolatingTopologySpreadConstraint",
            [make_pod("p", spread=[{key: value for key, value in SPREAD[0].items() if key != "labelSelector"}])],
        ),
        "no topology spread constraint counts a pod: "
        "that over zone in namespace default has no labelSelector, which selects none",
    ),
    "no node is overutilized": (
        World("LowNodeUtilization", pods_on("n1", 5), LOAD, [small_node("n1"), small_node("n2")]),
        "no node is overutilized: the highest is n1 with CPU requests at 50% (targetThresholds.cpu: 70)",
    ),
    "no node is underutilized": (
        World(
            "LowNodeUtilization",
            [*pods_on("n1", 9), *pods_on("n2", 3)],
            LOAD,
            [small_node("n1"), small_node("n2"), small_node("n3", unschedulable=True)],
        ),
        "no schedulable node is underutilized: the lowest is n2 with CPU requests at 30% (thresholds.cpu: 20)",
    ),
    "too few nodes are underutilized": (
        World(
            "LowNodeUtilization", pods_on("n1", 9), {**LOAD, "numberOfNodes": 1}, [small_node("n1"), small_node("n2")]
        ),
        "1 node is underutilized, more than 1 are required (numberOfNodes: 1)",
    ),
    "every node is underutilized": (
        World("LowNodeUtilization", [], LOAD, [small_node("n1"), small_node("n2")]),
        "all 2 nodes are underutilized",
    ),
    "underutilized nodes have no room": (
        World("LowNodeUtilization", pods_on("n1", 9), LOAD, [small_node("n1"), small_node("n2", pods=0)]),
        "1 node is overutilized, but the underutilized nodes have no room for more: pods",
    ),
    "no node is nearly empty": (
        World(
            "HighNodeUtilization",
            [*pods_on("n1", 9), *pods_on("n2", 3)],
            {"thresholds": {"cpu": 20}},
            [small_node("n1"), small_node("n2")],
        ),
        "no node is underutilized: the lowest is n2 with CPU requests at 30% (thresholds.cpu: 20)",
    ),
    "nobody takes the pods of a nearly empty node": (
        World(
            "HighNodeUtilization",
            [*pods_on("n1", 9), *pods_on("n2", 1)],
            {"thresholds": {"cpu": 20}},
            [small_node("n1", unschedulable=True), small_node("n2")],
        ),
        "every node that is not underutilized is cordoned",
    ),
    "no pod of a nearly empty node is worth moving": (
        World(
            "HighNodeUtilization",
            [*pods_on("n1", 9), *pods_on("n2", 1, cpu=None)],
            {"thresholds": {"cpu": 20}, "evictionModes": ["OnlyThresholdingResources"]},
            [small_node("n1"), small_node("n2")],
        ),
        "1 node is underutilized, but no pod there can be moved",
    ),
    "the plugin is paused": (
        World("CustomPriority", [make_pod("p")], {**LEVELS, "paused": True}),
        "the plugin is paused (paused: true)",
    ),
    "requests are even": (
        World("FragmentationAware", [make_pod("p", cpu="1", memory="1Gi")]),
        "no node is imbalanced: the highest is a with 0.0625 (imbalanceThreshold: 0.15)",
    ),
    "no pod makes its node more even": (
        World("FragmentationAware", [make_pod("p", cpu="2")], {"minImprovementThreshold": 0.5}),
        "no pod lowers the imbalance of its node enough (minImprovementThreshold: 0.5); 1 pod examined",
    ),
    "evening out is paused": (
        World("FragmentationAware", [make_pod("p", cpu="2")], {"paused": True}),
        "the plugin is paused (paused: true)",
    ),
    "no node is to be evened out": (
        World("FragmentationAware", [make_pod("p", cpu="2")], {"nodeSelector": {"matchLabels": {"pool": "x"}}}),
        "no node matches nodeSelector",
    ),
    "all nodes are under their targets": (
        World("MigrationPlanner", [make_pod("p", cpu="1")], PLANNED),
        "no node is over its target (cpu 70%)",
    ),
    "only one node is in use": (
        World("MigrationPlanner", [make_pod("p", cpu="1")], {"objectives": [{"consolidateNodes": {}}]}),
        "1 node in use: at least 2 are required",
    ),
    "nothing is pending": (
        World("MigrationPlanner", [make_pod("p", cpu="1")], {"objectives": [{"makeRoom": {}}]}),
        "no pod is pending",
    ),
    "pods are ranked only": (
        World("ScaleDownBinPack", [make_pod("p"), make_pod("q", node="b"), make_pod("d", owners=["DaemonSet/d"])]),
        "2 pods ranked, none is evicted (strategy: CalculateOnly)",
    ),
    "no pod is to be scaled down": (
        World(
            "ScaleDownBinPack",
            [make_pod("p")],
            {"podSelectors": [{"name": "web", "selector": {"matchLabels": {"app": "web"}}}]},
        ),
        "no pod has matching labels (podSelectors); 1 pod examined",
    ),
    "ranking is paused": (
        World("ScaleDownBinPack", [make_pod("p")], {"paused": True}),
        "the plugin is paused (paused: true)",
    ),
    "no node is selected": (
        World("CustomPriority", [make_pod("p")], {**LEVELS, "nodeSelector": {"matchLabels": {"pool": "x"}}}),
        "no node matches nodeSelector",
    ),
    "one level has all nodes": (
        World(
            "CustomPriority", [make_pod("p")], LEVELS, [make_node(name, labels={"zone": "2"}) for name in ("a", "b")]
        ),
        "at least 2 levels of evictionOrder must have nodes, only spot has",
    ),
    "no level has nodes": (
        World("CustomPriority", [make_pod("p")], LEVELS, [make_node("a"), make_node("b")]),
        "at least 2 levels of evictionOrder must have nodes, none has",
    ),
    "expensive nodes are empty": (
        World("CustomPriority", [make_pod("p", node="b")], LEVELS),
        "no pod runs on the nodes that the plugin examines",
    ),
    "no pod of the namespaces is on an expensive node": (
        World("CustomPriority", [make_pod("p")], {**LEVELS, "evictableNamespaces": {"exclude": ["default"]}}),
        "every pod is in an excluded namespace (evictableNamespaces.exclude: default); 1 pod examined",
    ),
    "nobody measures load": (
        World("LowNodeLoad", [make_pod("p")], LOADS),
        "no usage is known: there are no NodeMetrics (slo.koordinator.sh); is koordlet installed?",
    ),
    "all measurements are old": (
        World("LowNodeLoad", [make_pod("p")], LOADS, metrics=[used("a", "3", age=300), used("b", "3", age=180)]),
        "2 nodes are without a current NodeMetric (nodeMetricExpirationSeconds: 180)",
    ),
    "no node is loaded": (
        World("LowNodeLoad", [make_pod("p")], LOADS, metrics=[used("a", "2"), used("b", "1")]),
        "no node is overutilized: the highest is a with CPU usage at 50% (highThresholds.cpu: 70)",
    ),
    "the mean of loads is near": (
        World(
            "LowNodeLoad",
            [make_pod("p")],
            {"lowThresholds": {"cpu": 10}, "highThresholds": {"cpu": 30}, "useDeviationThresholds": True},
            metrics=[used("a", "2"), used("b", "1")],
        ),
        "no node is overutilized: the highest is a with CPU usage at 50% "
        "(highThresholds.cpu: 30 from the average of 37.5%)",
    ),
    "the load is new": (
        World("LowNodeLoad", [make_pod("p")], LOADS, metrics=[used("a", "3"), used("b", "0")]),
        "1 node is overutilized for 1 run; pods are evicted from 6 runs in a row on "
        "(anomalyCondition.consecutiveAbnormalities: 5); earlier runs are unknown here",
    ),
    "all nodes are loaded": (
        World("LowNodeLoad", [make_pod("p")], {**LOADS, **AT_ONCE}, metrics=[used("a", "3"), used("b", "3")]),
        "no node is underutilized",
    ),
    "too few nodes can take load": (
        World(
            "LowNodeLoad",
            [make_pod("p")],
            {**LOADS, **AT_ONCE, "numberOfNodes": 1},
            metrics=[used("a", "3"), used("b", "0")],
        ),
        "1 node is underutilized, more than 1 are required (numberOfNodes: 1)",
    ),
    "other nodes can take prod pods alone": (
        World("LowNodeLoad", [make_pod("p")], {**LOADS, **AT_ONCE}, metrics=[used("a", "3"), used("b", "2")]),
        "1 node is overutilized, but no node is underutilized",
    ),
    "the loaded node has no pods of the namespace": (
        World(
            "LowNodeLoad",
            [make_pod("p")],
            {**LOADS, **AT_ONCE, "evictableNamespaces": {"include": ["shop"]}},
            metrics=[used("a", "3"), used("b", "0")],
        ),
        "1 node is overutilized, but no pod there can be moved",
    ),
    "nobody may relieve nodes": (
        World("LowNodeLoad", [make_pod("p")], {**LOADS, "paused": True}),
        "the plugin is paused (paused: true)",
    ),
    "no pool has nodes": (
        World("LowNodeLoad", [make_pod("p")], {**LOADS, "nodeSelector": {"matchLabels": {"x": "y"}}}),
        "no node matches nodeSelector",
    ),
    "nothing is measured": (World("LoadAware", [make_pod("p")], LOAD), "all 2 nodes are underutilized"),
    "Volcano knows no such average": (
        World("Rescheduling", [make_pod("p")]),
        "all usage is 0: Volcano keeps averages over 10m alone (metricsPeriod: 5m)",
    ),
}
