"""What pods and nodes show of objects of other kinds. Where nothing shows, a dump can lack the kind without effect."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import Enum, auto
from itertools import chain

from descheduler.model.groups.gangs import COSCHEDULING_LABEL, OTHER_GANG_ANNOTATIONS
from descheduler.model.koordinator.batch_resources import BATCH_NAMES, MID_NAMES
from descheduler.model.node import Node
from descheduler.model.pod import Pod, PodSpec

__all__ = ["TRACES_OF_SCHEDULERS", "Trace", "find_traces"]

_KOORDINATOR_KEYS = ("koordinator.sh", "scheduling.sigs.k8s.io", *BATCH_NAMES.values(), *MID_NAMES.values())
_VOLCANO_KEYS = ("volcano.sh", *OTHER_GANG_ANNOTATIONS)


class Trace(Enum):
    """Something of a pod or a node that objects of another kind belong to."""

    KOORDINATOR = auto()
    """A scheduler, or a label, annotation or resource of Koordinator."""
    VOLCANO = auto()
    """The same of Volcano."""
    COSCHEDULING = auto()
    """A pod of a gang of scheduler-plugins."""
    SCHEDULING_GROUP = auto()
    """A pod with `spec.schedulingGroup`."""
    CLAIMED_VOLUME = auto()
    """A pod with the claim of a volume."""
    VOLUME = auto()
    """A pod with a volume that a driver attaches, claimed or not."""
    DEVICE_CLAIM = auto()
    """A pod with a resource claim, or that requests what no node allocates, as a device class may stand for."""
    REPLICA_SET = auto()
    """A pod of one, and so on for the other controllers."""
    STATEFUL_SET = auto()
    REPLICATION_CONTROLLER = auto()
    JOB = auto()
    CLONE_SET = auto()


TRACES_OF_SCHEDULERS = frozenset({Trace.KOORDINATOR, Trace.VOLCANO, Trace.COSCHEDULING})
"""What a file that configures a scheduler can bring in for pods that show nothing of it."""
_OWNERS: Mapping[str, Trace] = {
    "ReplicaSet": Trace.REPLICA_SET,
    "StatefulSet": Trace.STATEFUL_SET,
    "ReplicationController": Trace.REPLICATION_CONTROLLER,
    "Job": Trace.JOB,
    "CloneSet": Trace.CLONE_SET,
}


def find_traces(pods: Iterable[Pod], nodes: Iterable[Node]) -> frozenset[Trace]:
    """Everything that shows in `pods` and `nodes`. What equal pods share is looked at once."""
    pods, nodes = tuple(pods), tuple(nodes)
    specs = tuple({id(pod.spec): pod.spec for pod in pods}.values())
    owners = {owner.kind for pod in pods for owner in pod.owners}
    return frozenset(
        chain(
            (trace for kind, trace in _OWNERS.items() if kind in owners),
            _of_schedulers(pods, nodes, specs),
            _of_volumes(pods, specs),
            (Trace.DEVICE_CLAIM for _ in range(1) if _claims_devices(specs, nodes)),
        )
    )


def _of_schedulers(pods: tuple[Pod, ...], nodes: tuple[Node, ...], specs: tuple[PodSpec, ...]) -> Iterator[Trace]:
    schedulers = {spec.scheduler_name for spec in specs}
    labels = chain((pod.labels for pod in pods), (node.labels for node in nodes))
    annotations = chain((pod.annotations for pod in pods), (node.annotations for node in nodes))
    blocks = {id(block): block for block in chain(labels, annotations)}
    resources = chain((spec.requests for spec in specs), (node.allocatable for node in nodes))
    keys = {key for block in chain(blocks.values(), resources) for key in block}
    if any(sign in key for key in keys for sign in _KOORDINATOR_KEYS) or any("koord" in name for name in schedulers):
        yield Trace.KOORDINATOR
    if any(sign in key for key in keys for sign in _VOLCANO_KEYS) or any("volcano" in name for name in schedulers):
        yield Trace.VOLCANO
    if COSCHEDULING_LABEL in keys:
        yield Trace.COSCHEDULING
    if any(spec.has_scheduling_group for spec in specs):
        yield Trace.SCHEDULING_GROUP


def _of_volumes(pods: tuple[Pod, ...], specs: tuple[PodSpec, ...]) -> Iterator[Trace]:
    if any(pod.claim_names or pod.ephemeral_volumes for pod in pods):
        yield from (Trace.CLAIMED_VOLUME, Trace.VOLUME)
    elif any(spec.inline_disks for spec in specs):
        yield Trace.VOLUME


def _claims_devices(specs: tuple[PodSpec, ...], nodes: tuple[Node, ...]) -> bool:
    allocated = {name for node in nodes for name in node.allocatable}
    return any(
        spec.has_resource_claims
        or spec.resource_claims
        or any("/" in name for name in spec.requests.keys() - allocated)
        for spec in specs
    )
