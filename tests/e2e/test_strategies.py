"""Every strategy, end to end: evicted, made again by its controller, bound by the real scheduler, running."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.e2e.cluster import Cluster
from tests.e2e.kube_api import Object, wait_until
from tests.e2e.objects import BEHAVIOUR, RUNS_FOR, ZONE, daemon_set, deployment, job, node, stateful_set
from tests.e2e.program import Program, Report, koordinator_policy, policy

STAYS = {RUNS_FOR: "1h"}
"""Keeps the pods of a job running."""

HOSTNAME = "kubernetes.io/hostname"
ON_SSD = {
    "nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [{"matchExpressions": [{"key": "disk", "operator": "In", "values": ["ssd"]}]}]
        }
    }
}
AWAY_FROM_NOISE = {
    "podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {"labelSelector": {"matchLabels": {"noise": "loud"}}, "topologyKey": HOSTNAME}
        ]
    }
}
PREFERS_MAIN = {
    "nodeAffinity": {
        "preferredDuringSchedulingIgnoredDuringExecution": [
            {
                "weight": 100,
                "preference": {"matchExpressions": [{"key": "tier", "operator": "In", "values": ["main"]}]},
            }
        ]
    }
}


def test_pods_of_every_workload_leave_a_node_whose_taint_they_do_not_tolerate(
    cluster: Cluster, program: Program
) -> None:
    cluster.add_nodes(node("a"))
    cluster.run(deployment("web", cluster.namespace, replicas=2))
    cluster.run(stateful_set("store", cluster.namespace, replicas=2))
    run_daemon_set(cluster, "agent", on=1)
    cluster.add_nodes(node("b"))
    cluster.wait_ready("agent", 2)
    taint(cluster, "a")

    report = program.run(policy("RemovePodsViolatingNodeTaints"))

    assert report.evicted_apps() == {"web": 2, "store": 2}
    assert set(report.refusals().values()) == {"DaemonSet"}
    assert nodes_of_replaced(cluster, report, web=2, store=2) == {"b": 4}
    cluster.wait_ready("agent", 2)


def test_pods_past_their_life_time_are_made_anew_by_all_four_controllers(cluster: Cluster, program: Program) -> None:
    cluster.add_nodes(node("a"), node("b"))
    cluster.run(deployment("web", cluster.namespace, replicas=2))
    cluster.run(stateful_set("store", cluster.namespace, replicas=2))
    run_daemon_set(cluster, "agent", on=2)
    run_job(cluster, "batch", pods=1)

    report = program.run(
        policy(
            "PodLifeTime",
            {"maxPodLifeTimeSeconds": 3600},
            evictor={"podProtections": {"defaultDisabled": ["DaemonSetPods"]}},
        ),
        in_two_hours(),
    )

    assert report.exit_code == 0
    assert report.evicted_apps() == {"web": 2, "store": 2, "agent": 2, "batch": 1}
    assert nodes_of_replaced(cluster, report, web=2, store=2, agent=2, batch=1).total() == 7


def test_stateful_pods_leave_a_node_that_their_affinity_no_longer_allows(cluster: Cluster, program: Program) -> None:
    cluster.add_nodes(node("a", labels={"disk": "ssd"}))
    cluster.run(stateful_set("store", cluster.namespace, replicas=2, affinity=ON_SSD))
    cluster.add_nodes(node("b", labels={"disk": "ssd"}))
    cluster.api.patch(node("a"), {"metadata": {"labels": {"disk": "hdd"}}})

    report = program.run(
        policy(
            "RemovePodsViolatingNodeAffinity",
            {"nodeAffinityType": ["requiredDuringSchedulingIgnoredDuringExecution"]},
        )
    )

    assert report.evicted_apps() == {"store": 2}
    assert nodes_of_replaced(cluster, report, store=2) == {"b": 2}


def test_pod_that_shuns_its_neighbour_moves_to_another_node(cluster: Cluster, program: Program) -> None:
    cluster.add_nodes(node("a"))
    cluster.run(deployment("quiet", cluster.namespace, affinity=AWAY_FROM_NOISE))
    (neighbour,) = cluster.run(stateful_set("band", cluster.namespace))
    cluster.add_nodes(node("b"))
    cluster.api.patch(neighbour, {"metadata": {"labels": {"noise": "loud"}}})

    report = program.run(policy("RemovePodsViolatingInterPodAntiAffinity"))

    assert report.evicted_apps() == {"quiet": 1}
    assert nodes_of_replaced(cluster, report, quiet=1) == {"b": 1}


def test_replicas_that_share_a_node_are_spread_over_the_nodes(cluster: Cluster, program: Program) -> None:
    cluster.add_nodes(node("a"))
    cluster.run(deployment("web", cluster.namespace, replicas=4))
    cluster.add_nodes(node("b"))

    report = program.run(policy("RemoveDuplicates", point="balance"))

    assert report.evicted_apps() == {"web": 2}
    assert nodes_of_replaced(cluster, report, web=4) == {"a": 2, "b": 2}


def test_pods_are_spread_over_zones_again_when_a_zone_is_added(cluster: Cluster, program: Program) -> None:
    spread = {
        "maxSkew": 1,
        "topologyKey": ZONE,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "web"}},
    }
    cluster.add_nodes(node("a", zone="east"))
    cluster.run(deployment("web", cluster.namespace, replicas=4, topologySpreadConstraints=[spread]))
    cluster.add_nodes(node("b", zone="west"))

    report = program.run(policy("RemovePodsViolatingTopologySpreadConstraint", point="balance"))

    assert report.evicted_apps() == {"web": 2}
    assert nodes_of_replaced(cluster, report, web=4) == {"a": 2, "b": 2}


def test_full_node_gives_pods_to_an_empty_one(cluster: Cluster, program: Program) -> None:
    cluster.add_nodes(node("a"))
    cluster.run(stateful_set("store", cluster.namespace, replicas=4, cpu="900m"))
    cluster.add_nodes(node("b"))

    report = program.run(
        policy(
            "LowNodeUtilization",
            {"thresholds": {"cpu": 20}, "targetThresholds": {"cpu": 50}},
            point="balance",
        )
    )

    assert report.evicted_apps() == {"store": 2}
    assert nodes_of_replaced(cluster, report, store=4) == {"a": 2, "b": 2}


def test_hardly_used_node_is_emptied(cluster: Cluster, program: Program) -> None:
    """The scheduler's default profile prefers empty nodes, so the pods themselves say where they would rather be."""
    cluster.add_nodes(node("a"))
    cluster.run(deployment("web", cluster.namespace, replicas=2, affinity=PREFERS_MAIN))
    cluster.add_nodes(node("b", labels={"tier": "main"}))
    cluster.run(deployment("base", cluster.namespace, cpu="2", affinity=PREFERS_MAIN))

    report = program.run(policy("HighNodeUtilization", {"thresholds": {"cpu": 30}}, point="balance"))

    assert report.evicted_apps() == {"web": 2}
    assert nodes_of_replaced(cluster, report, web=2, base=1) == {"b": 3}


def test_pod_that_keeps_restarting_is_made_anew(cluster: Cluster, program: Program) -> None:
    cluster.add_nodes(node("a"), node("b"))
    cluster.run(deployment("flaky", cluster.namespace, annotations={BEHAVIOUR: "restarts", RUNS_FOR: "500ms"}))
    cluster.run(deployment("steady", cluster.namespace))
    wait_until("the pod has restarted often", lambda: restarts(cluster, "flaky") >= 3)

    report = program.run(policy("RemovePodsHavingTooManyRestarts", {"podRestartThreshold": 3}))

    assert report.evicted_apps() == {"flaky": 1}
    assert nodes_of_replaced(cluster, report, flaky=1).total() == 1


def test_failed_pods_are_cleared_away_while_their_replacements_run(cluster: Cluster, program: Program) -> None:
    cluster.add_nodes(node("a"), node("b"))
    first, _ = cluster.run(deployment("web", cluster.namespace, replicas=2))
    cluster.create(job("batch", cluster.namespace, annotations={BEHAVIOUR: "fails", RUNS_FOR: "0s"}))
    cluster.api.patch(first, {"status": {"phase": "Failed", "reason": "Evicted"}}, subresource="status")
    wait_until("the job's pod has failed", lambda: failed(cluster, "batch"))

    report = program.run(policy("RemoveFailedPods", {"reasons": ["Evicted", "Error"]}), in_two_hours())

    assert report.evicted_apps() == {"web": 1, "batch": 1}
    assert nodes_of_replaced(cluster, report, web=2).total() == 2


def test_koordinator_configuration_evicts_one_replica_at_a_time(cluster: Cluster, program: Program) -> None:
    """Its MigrationController lets so many pods of a workload go at once, whatever a strategy wants."""
    cluster.add_nodes(node("a"))
    cluster.run(deployment("web", cluster.namespace, replicas=4))
    cluster.add_nodes(node("b"))
    taint(cluster, "a")
    limits = {"defaultJobMode": "EvictDirectly", "maxMigratingPerWorkload": 1, "maxUnavailablePerWorkload": 2}

    report = program.run(koordinator_policy("RemovePodsViolatingNodeTaints", limits))

    assert report.evicted_apps() == {"web": 1}
    assert nodes_of_replaced(cluster, report, web=4) == {"a": 3, "b": 1}


def nodes_of_replaced(cluster: Cluster, report: Report, **replicas: int) -> Counter[str]:
    """Node → number of pods of these workloads, once each is ready again and none of the evicted is left."""
    evicted = {uid for _, uid in report.pods("evicted")}
    pods = [pod for app, count in replicas.items() for pod in cluster.wait_ready(app, count)]
    assert not evicted & {pod["metadata"]["uid"] for pod in pods}
    return Counter(pod["spec"]["nodeName"] for pod in pods)


def run_daemon_set(cluster: Cluster, name: str, *, on: int) -> None:
    """A daemon set on all nodes, of which there are so many."""
    cluster.create(daemon_set(name, cluster.namespace))
    cluster.wait_ready(name, on)


def run_job(cluster: Cluster, name: str, *, pods: int) -> None:
    """A job whose pods do not end by themselves."""
    cluster.create(job(name, cluster.namespace, completions=pods, parallelism=pods, annotations=STAYS))
    cluster.wait_ready(name, pods)


def taint(cluster: Cluster, name: str) -> None:
    """Lets no further pod on the node."""
    change: dict[str, Any] = {"spec": {"taints": [{"key": "closed", "value": "yes", "effect": "NoSchedule"}]}}
    cluster.api.patch(node(name), change)


def restarts(cluster: Cluster, app: str) -> int:
    """How often the containers of `app` have restarted together."""
    return sum(c["restartCount"] for pod in cluster.pods(app) for c in pod["status"].get("containerStatuses", []))


def failed(cluster: Cluster, app: str) -> list[Object]:
    """The pods of `app` that failed."""
    return [pod for pod in cluster.pods(app) if pod["status"]["phase"] == "Failed"]


def in_two_hours() -> str:
    """A flag that has the run take place in two hours, when every pod of today is old."""
    return f"--now={(datetime.now(UTC) + timedelta(hours=2)).isoformat(timespec='seconds')}"
