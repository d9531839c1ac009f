"""Why each plugin does not select a pod, as `explain pod` says it."""

from __future__ import annotations

import pytest

from descheduler.explanation.watched_run import PluginMiss
from tests.builders import container_status, node_object, pod_object, required_anti_affinity, required_node_affinity
from tests.explanation.koordinator_misses import KOORDINATOR_MISSES
from tests.explanation.unselected_pods import LOAD, NODES, SPREAD, Question, old
from tests.strategies.decided_worlds import PLANNED
from tests.strategies.quiet_worlds import STRATEGIES

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
    "node that is under its target": (
        Question("MigrationPlanner", pod_object("p", cpu="1"), PLANNED),
        "node a is not over its target (cpu 70%)",
    ),
    "metrics that are missing": (
        Question(
            "LowNodeUtilization", pod_object("p"), {**LOAD, "metricsUtilization": {"source": "KubernetesMetrics"}}
        ),
        "failed: metrics client not initialized: add KubernetesMetrics to metricsProviders",
    ),
    **KOORDINATOR_MISSES,
}


@pytest.mark.parametrize(("question", "message"), [pytest.param(*case, id=name) for name, case in MISSES.items()])
def test_a_plugin_says_why_it_does_not_select_a_pod(question: Question, message: str) -> None:
    assert question.miss() == (PluginMiss(profile="main", plugin=question.plugin, message=message),)


def test_every_plugin_that_evicts_has_such_a_line() -> None:
    assert {question.plugin for question, _ in MISSES.values()} == STRATEGIES
