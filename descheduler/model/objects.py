"""Small objects that decide about pods: namespaces, priorities, limits of namespaces, services, measured usage."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from descheduler.model.requests import ResourceList
from descheduler.model.selection.taints import Toleration


class Namespace(msgspec.Struct, frozen=True):
    """A namespace and its labels. In one that is terminating no pod can be created."""

    name: str
    labels: Mapping[str, str]
    is_terminating: bool = False


class PriorityClass(msgspec.Struct, frozen=True):
    """A named pod priority."""

    name: str
    value: int
    preemption_policy: str = ""
    is_global_default: bool = False


class Service(msgspec.Struct, frozen=True):
    """A Service and the labels of the pods behind it; an empty selector selects none."""

    namespace: str
    name: str
    selector: Mapping[str, str] = {}


class AdmittedRange(msgspec.Struct, frozen=True):
    """What a container, or a pod, has to have to be admitted: no less than `least` and no more than `most`.

    Its limits are at most `ratio` times its requests, in nano units as the others.
    """

    least: ResourceList = {}
    most: ResourceList = {}
    ratio: ResourceList = {}


UNBOUNDED = AdmittedRange()


class LimitRange(msgspec.Struct, frozen=True):
    """What containers of a namespace ask for, and are limited to, where they do not say so themselves.

    A pod that is not within `of_pods`, or has a container that is not within `of_containers`, is not admitted.
    """

    namespace: str
    name: str
    default_requests: ResourceList = {}
    default_limits: ResourceList = {}
    of_containers: AdmittedRange = UNBOUNDED
    of_pods: AdmittedRange = UNBOUNDED


class RuntimeClass(msgspec.Struct, frozen=True):
    """A way to run containers, with what it costs per pod and the nodes that offer it."""

    name: str
    overhead: ResourceList = {}
    node_selector: Mapping[str, str] = {}
    tolerations: tuple[Toleration, ...] = ()


class NodeUsage(msgspec.Struct, frozen=True):
    """What metrics-server last measured on a node, in nano units."""

    name: str
    usage: ResourceList


class PodUsage(msgspec.Struct, frozen=True):
    """What metrics-server last measured of a pod's containers, in nano units, in container order."""

    namespace: str
    name: str
    containers: tuple[ResourceList, ...]
