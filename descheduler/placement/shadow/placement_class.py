"""Placement classes: pods that look for a node and are alike in all that the plugins read."""

from __future__ import annotations

from collections.abc import Iterable

from descheduler.model.pod import Pod, PodSpec
from descheduler.placement.shadow.node_table import Demand

__all__ = ["AnnotationKeys", "PlacementClass", "class_key"]


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


class AnnotationKeys:
    """The annotations that plugins read: `keys`, of which those that end with `/` stand for all keys of a domain."""

    def __init__(self, keys: Iterable[str] = ()) -> None:
        self.keys = frozenset(keys)
        self._domains = tuple(sorted(key for key in self.keys if key.endswith("/")))

    def read_of(self, pod: Pod) -> tuple[tuple[str, str], ...]:
        """Those that `pod` has, in the order of their keys."""
        if not self.keys or not pod.annotations:
            return ()
        return tuple(sorted(each for each in pod.annotations.items() if self._covers(each[0])))

    def _covers(self, key: str) -> bool:
        return key in self.keys or key.startswith(self._domains)


def class_key(pod: Pod, annotations: AnnotationKeys) -> object:
    """What makes two pods of one snapshot the same to every plugin; equal specs and labels are one object there."""
    controller = pod.controller
    return (
        id(pod.spec),
        pod.namespace,
        id(pod.labels),
        None if controller is None else (controller.api_version, controller.kind, controller.name),
        pod.node_name,
        pod.claim_names,
        annotations.read_of(pod),
        # Claims of generic ephemeral volumes carry the pod's name and belong to its uid.
        (pod.name, pod.uid, id(pod.ephemeral_volumes)) if pod.ephemeral_volumes else None,
    )
