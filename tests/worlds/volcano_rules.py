"""Jobs of one pod, each of which a rule of Volcano keeps on its node, whatever room there is elsewhere.

Their pods request nothing, so that no queue has more or less for them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from tests.builders import Object, ago, owner, pod_object

CLOSED_QUEUE = "archive"
_GROUP, _JOBS = "scheduling.volcano.sh/v1beta1", "batch.volcano.sh/v1alpha1"
_OPEN_QUEUE = "spot"


class _Rule(NamedTuple):
    """What is stated of the pod and of its PodGroup by which the pod stays, for the reason `code`."""

    code: str
    pod: Mapping[str, str] = {}
    group: Mapping[str, str] = {}
    queue: str = _OPEN_QUEUE
    phase: str = "Running"
    policy: str = ""
    """What the Job of Volcano does when the pod is evicted; empty for a pod of a ReplicaSet."""


RULES: Mapping[str, _Rule] = {
    "license": _Rule("NotPreemptable", pod={"volcano.sh/preemptable": "false"}),
    "warmup": _Rule("TaskCooldown", pod={"volcano.sh/cooldown-time": "2h"}),
    "halted": _Rule("PodGroupPhase", phase="Unknown"),
    "archive": _Rule("QueueNotOpen", queue=CLOSED_QUEUE),
    "mpi": _Rule("JobLifecycle", policy="RestartJob"),
    "etcd": _Rule("JobDisruptionBudget", group={"volcano.sh/jdb-min-available": "1"}),
}
"""By the name of the job."""


def rule_objects(namespace: str, node: str) -> Iterator[Object]:
    """The objects of all these jobs, whose pods are on `node`."""
    for name, rule in RULES.items():
        yield {
            "apiVersion": _GROUP,
            "kind": "PodGroup",
            "metadata": {"name": name, "namespace": namespace, "annotations": dict(rule.group)},
            "spec": {"minMember": 0 if rule.group else 1, "queue": rule.queue},
            "status": {"phase": rule.phase},
        }
        yield _pod(name, rule, namespace, node)
        yield _volcano_job(name, rule, namespace) if rule.policy else _replica_set(name, rule, namespace)


def _facts(name: str, rule: _Rule, namespace: str) -> dict[str, Any]:
    return {
        "namespace": namespace,
        "labels": {"app": name},
        "annotations": {"scheduling.k8s.io/group-name": name, **rule.pod},
        "scheduler": "volcano",
    }


def _pod(name: str, rule: _Rule, namespace: str, node: str) -> Object:
    own = owner(f"Job/{name}", group=_JOBS) if rule.policy else owner(f"ReplicaSet/{name}")
    scheduled = {"type": "PodScheduled", "status": "True", "lastTransitionTime": ago(3600)}
    return pod_object(f"{name}-0", node=node, owners=[own], conditions=[scheduled], **_facts(name, rule, namespace))


def _metadata(name: str, namespace: str, kind: str) -> Object:
    return {"name": name, "namespace": namespace, "uid": f"{kind}-{name}", "generation": 1}


def _template(name: str, rule: _Rule, namespace: str) -> Object:
    pod = pod_object(name, **_facts(name, rule, namespace))
    metadata = {key: pod["metadata"][key] for key in ("labels", "annotations")}
    return {"metadata": metadata, "spec": {key: value for key, value in pod["spec"].items() if key != "nodeName"}}


def _replica_set(name: str, rule: _Rule, namespace: str) -> Object:
    template, selector = _template(name, rule, namespace), {"matchLabels": {"app": name}}
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": _metadata(name, namespace, "replicaset"),
        "spec": {"replicas": 1, "selector": selector, "template": template},
        "status": {"replicas": 1, "readyReplicas": 1},
    }


def _volcano_job(name: str, rule: _Rule, namespace: str) -> Object:
    task = {"name": "worker", "replicas": 1, "template": _template(name, rule, namespace)}
    policies = [{"event": "PodEvicted", "action": rule.policy}]
    return {
        "apiVersion": _JOBS,
        "kind": "Job",
        "metadata": _metadata(name, namespace, "job"),
        "spec": {"minAvailable": 1, "queue": rule.queue, "policies": policies, "tasks": [task]},
        "status": {"state": {"phase": "Running"}},
    }
