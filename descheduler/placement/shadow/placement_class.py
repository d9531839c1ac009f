"""Placement classes: pods that look for a node and are alike in all that the plugins read."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence

from descheduler.model.annotations import AnnotationKeys
from descheduler.model.pod import Pod, PodSpec
from descheduler.placement.shadow.node_table import Demand

__all__ = ["Mark", "PlacementClass", "class_key"]

Mark = Callable[[Pod], Hashable]
"""What some rule that names single pods or their owners makes of a pod: the same for most of them."""


class PlacementClass:
    """A placement class. `pod` stands for all its members; plugins keep what they find out about it by identity.

    A pod that names a node asks for that node alone (`spec.nodeName` before it is bound).
    """

    __slots__ = ("__weakref__", "demand", "pod")

    def __init__(self, pod: Pod, demand: Demand) -> None:
        self.pod = pod
        self.demand = demand

    @property
    def spec(self) -> PodSpec:
        """The pod's spec, shared with its replicas."""
        return self.pod.spec


def _read_of(pod: Pod, keys: AnnotationKeys) -> tuple[tuple[str, str], ...]:
    """The annotations of `pod` with these keys, in the order of the keys."""
    if not keys.keys or not pod.annotations:
        return ()
    return tuple(sorted(each for each in pod.annotations.items() if each[0] in keys))


def class_key(pod: Pod, annotations: AnnotationKeys, marks: Sequence[Mark] = ()) -> object:
    """What makes two pods of one snapshot the same to every plugin; equal specs and labels are one object there.

    Pods of which one of `marks` says different things are not the same.
    """
    controller = pod.controller
    return (
        id(pod.spec),
        pod.namespace,
        id(pod.labels),
        None if controller is None else (controller.api_version, controller.kind, controller.name),
        pod.node_name,
        pod.claim_names,
        _read_of(pod, annotations),
        # Claims of generic ephemeral volumes carry the pod's name and belong to its uid.
        (pod.name, pod.uid, id(pod.ephemeral_volumes)) if pod.ephemeral_volumes else None,
        tuple([mark(pod) for mark in marks]) if marks else None,
    )
