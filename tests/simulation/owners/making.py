"""What random clusters with owners are made of: nodes, pod templates, pods, and the references between them."""

from __future__ import annotations

from random import Random
from typing import Any

from tests.builders import Object, container_status, node_object, pod_object

GROUPS = {"Job": "batch/v1", "ReplicationController": "v1", "CloneSet": "apps.kruise.io/v1alpha1"}
NODES: dict[str, dict[str, Any]] = {
    "a": {},
    "b": {"labels": {"disk": "ssd"}},
    "c": {},
    "tainted": {"taints": ["maintenance:NoSchedule"]},
    "leaving": {"taints": ["soon:PreferNoSchedule"]},
    "closed": {"unschedulable": True, "taints": ["node.kubernetes.io/unschedulable:NoSchedule"]},
    "full": {"taints": ["node.kubernetes.io/disk-pressure:NoSchedule"]},
    "lost": {"ready": False, "taints": ["node.kubernetes.io/unreachable:NoSchedule"]},
}
"""Nodes by name. Each of those that pods may go to has room for all of them."""
NodeFacts = dict[str, Any]
_RUNS_PODS = tuple(name for name in NODES if name != "lost")
_TOO_LARGE, _NOWHERE = "600", {"disk": "none"}
_CPU = "500"


class Maker:
    """Makes objects with random facts. `objects` are those that there are so far."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.objects: list[Object] = [node_object(name, cpu=_CPU, **facts) for name, facts in NODES.items()]
        self.num_namespaces = 0

    def chance(self, share: float) -> bool:
        """True in so many of all cases."""
        return self.random.random() < share

    def namespace(self, **metadata: Any) -> str:
        """A namespace of its own for each owner, so that quotas and budgets concern nobody else."""
        self.num_namespaces += 1
        name = f"n{self.num_namespaces}"
        self.objects.append({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, **metadata}})
        return name

    def template(self, cpu: str = "100m", **spec: Any) -> Object:
        """A pod template, now and then with something in it that keeps its pods from all nodes."""
        container: Object = {"name": "c0", "image": "app:1", "resources": {"requests": {"cpu": cpu}}}
        return {"metadata": {"labels": {"app": "x"}}, "spec": {"containers": [container], **spec}}

    def edited(self) -> Object:
        """A template that was edited after pods had been made from an older one."""
        kinds = (
            {"cpu": "200m"},
            {"cpu": _TOO_LARGE},
            {"nodeSelector": _NOWHERE},
            {"nodeSelector": {"disk": "ssd"}},
        )
        return self.template(**self.random.choice(kinds))

    def runs(self, template: Object) -> bool:
        """Whether some node takes pods of this template."""
        spec = template["spec"]
        is_small = spec["containers"][0]["resources"]["requests"]["cpu"] != _TOO_LARGE
        return bool(is_small and spec.get("nodeSelector") != _NOWHERE)

    def member(self, workload: Object, name: str, template: Object, **facts: Any) -> Object:
        """Adds a pod of a workload by this template, pending where no node takes it."""
        if self.runs(template):
            return self.pod(workload, name, template, **facts)
        made = self.pod(workload, name, template, **{**facts, "phase": "Pending", "ready": False, "node": "a"})
        made["spec"]["nodeName"] = ""
        return made

    def workload(self, kind: str, namespace: str, template: Object, spec: Object, **parts: Object) -> Object:
        """Adds a workload, `x` of its namespace unless `parts` have other metadata."""
        metadata = {"name": "x", "namespace": namespace, "uid": f"{kind}-{namespace}".lower()}
        made = {
            "apiVersion": GROUPS.get(kind, "apps/v1"),
            "kind": kind,
            "metadata": {**metadata, **parts.pop("metadata", {})},
            "spec": {**spec, "template": template},
            **parts,
        }
        self.objects.append(made)
        return made

    def pod(
        self, workload: Object | None, name: str, template: Object, *, labels: Object | None = None, **facts: Any
    ) -> Object:
        """Adds a running pod of a workload, which is selected for eviction or not."""
        node = facts.pop("node", None) or self.random.choice(_RUNS_PODS)
        restarts = 200 if self.chance(0.4) else 0
        made = pod_object(
            name,
            namespace=facts.pop("namespace", "") if workload is None else workload["metadata"]["namespace"],
            node=node,
            labels={**template["metadata"]["labels"], **(labels or {})},
            owners=() if workload is None else [reference_to(workload)],
            containers=[container_status(restarts)],
            **facts,
        )
        spec = {key: value for key, value in template["spec"].items() if key != "nodeName"}
        made["spec"] = {**made["spec"], **spec}
        self.objects.append(made)
        return made


def reference_to(workload: Object) -> Object:
    """The reference of a pod to its controller."""
    metadata = workload["metadata"]
    return {
        "apiVersion": workload["apiVersion"],
        "kind": workload["kind"],
        "name": metadata["name"],
        "uid": metadata["uid"],
        "controller": True,
    }
