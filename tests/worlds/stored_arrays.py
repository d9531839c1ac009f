"""The worlds of `arrays` as objects: pods with owners, on nodes and pending, for programs that read a cluster."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from descheduler.optimizer.arrays import PENDING, Ints
from descheduler.optimizer.problem import Problem
from descheduler.optimizer.rules import AtMost
from tests.e2e.kube_api import Object
from tests.e2e.objects import pod
from tests.e2e.stored_workloads import owner_reference, ready_node, replica_set, stored_uid

NAMESPACE = "shop"
_PODS_A_WORKLOAD = 8
_SINCE = "2026-01-01T00:00:00Z"


def objects_of(problem: Problem, workload: Ints | None = None, *, has_owners: bool = False) -> Iterator[Object]:
    """Nodes and pods that request CPU in milli and memory in MiB; a rule keeps the pods of a workload apart by node.

    `workload` is int64[P]; None: eight pods each, in their order. Pods that are not evictable have local storage. The
    pods of a workload differ in size, as after a resize in place, and the ReplicaSets are left out: a replacement is
    then taken to be like its predecessor. With `has_owners` each pod is ready and has a ReplicaSet of its own, whose
    template is like it: MigrationController evicts no other pods.
    """
    for number, (cpu, memory) in enumerate(problem.capacity.tolist()):
        yield ready_node(node_name(number), cpu=f"{cpu}m", memory=f"{memory}Mi", pods=250)
    apart = [rule.group for rule in problem.rules if isinstance(rule, AtMost)]
    for number in range(problem.num_pods):
        owner = number // _PODS_A_WORKLOAD if workload is None else int(workload[number])
        is_apart = any(group[number] >= 0 for group in apart)
        made = _pod(problem, number, f"web-{owner:04}", is_apart=is_apart)
        yield from _owned(made) if has_owners else (made,)


def node_name(number: int) -> str:
    """Of the node at that place of the problem; names are in the order of the numbers."""
    return f"node-{number:05}"


def pod_number(name: str) -> int:
    """The place in the problem of the pod of that name."""
    return int(name.rsplit("-", 1)[1])


def _pod(problem: Problem, number: int, owner: str, *, is_apart: bool) -> Object:
    cpu, memory = problem.need[number].tolist()
    spec: dict[str, Any] = {}
    if is_apart:
        term = {"labelSelector": {"matchLabels": {"app": owner}}, "topologyKey": "kubernetes.io/hostname"}
        spec["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    if not problem.evictable[number]:
        spec["volumes"] = [{"name": "scratch", "emptyDir": {}}]
    if problem.assignment[number] != PENDING:
        spec["nodeName"] = node_name(int(problem.assignment[number]))
    made = pod(f"{owner}-{number}", NAMESPACE, labels={"app": owner}, cpu=f"{cpu}m", memory=f"{memory}Mi", **spec)
    reference = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": owner, "uid": stored_uid("replicaset", owner)}
    made["metadata"] |= {"uid": stored_uid("pod", f"{number}"), "ownerReferences": [{**reference, "controller": True}]}
    is_placed = "nodeName" in spec
    made["status"] = {"phase": "Running", "startTime": _SINCE} if is_placed else {"phase": "Pending"}
    return made


def _owned(made: Object) -> Iterator[Object]:
    """A ReplicaSet with the one pod `made`, and this pod."""
    metadata, spec, status = made["metadata"], dict(made["spec"]), dict(made["status"])
    if spec.pop("nodeName", None) is not None:
        status["conditions"] = [{"type": "Ready", "status": "True", "lastTransitionTime": _SINCE}]
    template = {"metadata": {"labels": metadata["labels"]}, "spec": spec}
    owner = replica_set(metadata["name"], NAMESPACE, replicas=1, template=template)
    yield owner
    yield {**made, "metadata": {**metadata, "ownerReferences": [owner_reference(owner)]}, "status": status}
