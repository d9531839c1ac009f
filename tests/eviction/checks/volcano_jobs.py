"""Jobs of Volcano on a node that is to be cleared, and a run that clears it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from descheduler import evaluate
from descheduler.evaluation import Evaluation
from tests.builders import NOW, Object, node_object, owner, pod_object

NODES = [node_object("drained", taints=["old:NoSchedule"]), node_object("room", cpu="8")]


def task(name: str, role: str = "", **facts: Any) -> Object:
    """A pod of the gang `train`."""
    annotations = {"scheduling.k8s.io/group-name": "train", **facts.pop("annotations", {})}
    roles = {"volcano.sh/task-spec": role} if role else {}
    known: dict[str, Any] = {
        "node": "drained",
        "scheduler": "volcano",
        "owners": [owner("Job/train", group="batch.volcano.sh/v1alpha1")],
    }
    return pod_object(name, annotations={**annotations, **roles}, **{**known, **facts})


def pod_group(
    minimum: int = 1, *, annotations: Mapping[str, str] | None = None, phase: str = "Running", **spec: Any
) -> Object:
    """The PodGroup of the gang."""
    return {
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "PodGroup",
        "metadata": {"name": "train", "namespace": "default", "annotations": dict(annotations or {})},
        "spec": {"minMember": minimum, **spec},
        "status": {"phase": phase},
    }


def queue(name: str = "default", state: str = "Open") -> Object:
    """A Queue."""
    metadata = {"name": name}
    return {
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "Queue",
        "metadata": metadata,
        "status": {"state": state},
    }


def volcano_job(
    policies: Sequence[Object] = (), tasks: Sequence[Object] = (), status: Object | None = None, **spec: Any
) -> Object:
    """The Job that owns the pods of the gang."""
    return {
        "apiVersion": "batch.volcano.sh/v1alpha1",
        "kind": "Job",
        "metadata": {"name": "train", "namespace": "default", "uid": "job-train"},
        "spec": {"policies": list(policies), "tasks": list(tasks), **spec},
        "status": status or {},
    }


def clear(objects: Sequence[Object], *, verifies: bool = True, **verification: str) -> Evaluation:
    """A run that clears the drained node and allows unknown landings."""
    args = {"onUnknown": "allow", **verification}
    proof: Object = {"preevictionfilter": {"enabled": ["PlacementVerification"]}} if verifies else {}
    profile = {
        "name": "p",
        "pluginConfig": [
            {"name": "DefaultEvictor", "args": {}},
            {"name": "RemovePodsViolatingNodeTaints"},
            *([{"name": "PlacementVerification", "args": args}] if verifies else []),
        ],
        "plugins": {"deschedule": {"enabled": ["RemovePodsViolatingNodeTaints"]}, **proof},
    }
    policy = {"apiVersion": "descheduler/v1alpha2", "kind": "DeschedulerPolicy", "profiles": [profile]}
    return evaluate(policy, [*NODES, *objects], now=NOW)


def evicted(result: Evaluation) -> list[str]:
    """Names of the pods that go."""
    return [each.name for each in result.evictions]


def refusals(result: Evaluation) -> list[tuple[str, str]]:
    """Names and codes of those that stay."""
    return [(each.name, each.code) for each in result.refusals]
