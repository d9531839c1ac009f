"""Words for what happens in a scenario before the programs run.

Nodes are made all at once, as that is what takes time. Those that shall take no pods at first are `closed`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from tests.e2e.cluster import Cluster
from tests.e2e.kube_api import Object, is_ready, wait_until
from tests.e2e.objects import deployment, node, stateful_set

HOSTNAME = "kubernetes.io/hostname"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
LEAVES = {"leaves": "yes"}
"""Labels of pods that a policy over all running pods is after."""

_CLOSED = "node.kubernetes.io/unschedulable"


def closed(made: Object) -> Object:
    """The node, cordoned from the start."""
    made["spec"]["unschedulable"] = True
    return made


def switch(cluster: Cluster, *, close: str = "", opens: Sequence[str] = ("b",)) -> None:
    """Cordons one node, if any, and uncordons others; returns when nothing keeps pods off these."""
    if close:
        cluster.api.patch(node(close), {"spec": {"unschedulable": True}})
    for name in opens:
        cluster.api.patch(node(name), {"spec": {"unschedulable": False}})
    for name in opens:
        wait_until(f"node {name} is open", partial(_is_open, cluster, name))


def taint(cluster: Cluster, name: str) -> None:
    """Closes the node to pods that do not tolerate that it is closed, such as those that run there."""
    cluster.api.patch(node(name), {"spec": {"taints": [{"key": "closed", "value": "yes", "effect": "NoSchedule"}]}})


def run(cluster: Cluster, *objects: Object) -> None:
    """Creates pods and workloads and returns when all pods are ready. A pod with a `nodeName` passes the scheduler."""
    for obj in objects:
        cluster.create(obj)
    for obj in objects:
        wait_until(f"{obj['kind']} {obj['metadata']['name']} runs", partial(_runs, cluster, obj))


def leaving_rover(cluster: Cluster, **template: Any) -> Object:
    """A small pod that the policy is after and that any open node takes: who is careful can still evict it."""
    return deployment("rover", cluster.namespace, labels=LEAVES, **template)


def prefers(name: str) -> Object:
    """The affinity of a pod that would rather be on this node than on any other."""
    here = {"matchExpressions": [{"key": HOSTNAME, "operator": "In", "values": [name]}]}
    return {"nodeAffinity": {PREFERRED: [{"weight": 100, "preference": here}]}}


def update(cluster: Cluster, name: str, **template: Any) -> None:
    """Gives a stateful set another pod template, which only pods created from now on follow."""
    changed = stateful_set(name, cluster.namespace, **template)
    by_hand = {"type": "OnDelete", "rollingUpdate": None}
    change = {"updateStrategy": by_hand, "template": changed["spec"]["template"]}
    generation = cluster.api.patch(changed, {"spec": change})["metadata"]["generation"]
    wait_until(
        f"the controller has seen the new template of {name}",
        lambda: cluster.api.get(changed)["status"].get("observedGeneration") == generation,
    )


def _is_open(cluster: Cluster, name: str) -> bool:
    return all(each["key"] != _CLOSED for each in cluster.api.get(node(name))["spec"].get("taints", []))


def _runs(cluster: Cluster, obj: Object) -> bool:
    meta, num_wanted = obj["metadata"], obj["spec"].get("replicas", 1)
    pods = cluster.api.pods(meta["namespace"], labelSelector=f"app={meta['labels']['app']}")
    return bool(sum(map(is_ready, pods)) == num_wanted)
