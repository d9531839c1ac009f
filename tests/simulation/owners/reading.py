"""From the objects of a dump to the live cluster with its controllers."""

from __future__ import annotations

from datetime import datetime
from random import Random
from typing import Any

from tests.builders import NOW
from tests.simulation.owners.admission import Rules
from tests.simulation.owners.jobs import Jobs, failures_in_a_row
from tests.simulation.owners.live import Controller, Live, LiveNode, LivePod, milli
from tests.simulation.owners.sets import DaemonSets, ReplicaSets, StatefulSets

Object = dict[str, Any]

_READY_FOR_LONG = 3600.0


def live_cluster(objects: list[Object], random: Random) -> Live:
    """The cluster of these objects."""
    nodes = [live_node(each) for each in objects if each["kind"] == "Node"]
    pods = [_pod(each) for each in objects if each["kind"] == "Pod"]
    live = Live({node.name: node for node in nodes}, pods, random)
    live.admits = Rules(objects).admit
    live.controllers = [made for each in objects if (made := _controller(each, objects)) is not None]
    return live


def live_node(item: Object) -> LiveNode:
    """One node."""
    spec, status = item["spec"], item["status"]
    cpu = milli({"spec": {"containers": [{"resources": {"requests": status["allocatable"]}}]}})
    is_lost = any(each["type"] == "Ready" and each["status"] != "True" for each in status["conditions"])
    name = item["metadata"]["name"]
    return LiveNode(name, cpu, item["metadata"]["labels"], spec["taints"], bool(spec.get("unschedulable")), is_lost)


def _pod(item: Object) -> LivePod:
    metadata, status = item["metadata"], item["status"]
    references = [each["uid"] for each in metadata.get("ownerReferences", ()) if each.get("controller")]
    deleted = metadata.get("deletionTimestamp")
    return LivePod(
        metadata["name"],
        metadata["namespace"],
        references[0] if references else "",
        {"metadata": metadata, "spec": item["spec"]},
        metadata.get("labels", {}),
        metadata.get("annotations", {}),
        item["spec"].get("nodeName", ""),
        status["phase"],
        _ready_at(status),
        None if deleted is None else _seconds(deleted),
    )


def _ready_at(status: Object) -> float | None:
    """When it got ready; for a time that is not told, long ago."""
    ready = [each for each in status["conditions"] if each["type"] == "Ready"]
    if not all(each["status"] == "True" for each in ready):
        return None
    since = [_seconds(each["lastTransitionTime"]) for each in ready if "lastTransitionTime" in each]
    return max(since, default=-_READY_FOR_LONG)


def _seconds(text: str) -> float:
    return (datetime.fromisoformat(text) - NOW).total_seconds()


def _controller(item: Object, objects: list[Object]) -> Controller | None:
    match item["kind"]:
        case "ReplicaSet" | "ReplicationController" | "CloneSet":
            return ReplicaSets(item)
        case "DaemonSet":
            return DaemonSets(item)
        case "StatefulSet":
            return StatefulSets(item, _revisions(item, objects))
        case "Job":
            return Jobs(item, failures_in_a_row(item, [each for each in objects if each["kind"] == "Pod"]))
    return None


def _revisions(item: Object, objects: list[Object]) -> dict[str, Object]:
    namespace = item["metadata"]["namespace"]
    return {
        each["metadata"]["name"]: each["data"]["spec"]["template"]
        for each in objects
        if each["kind"] == "ControllerRevision" and each["metadata"]["namespace"] == namespace
    }
