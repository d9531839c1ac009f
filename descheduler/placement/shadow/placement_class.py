"""Placement classes: pods that look for a node and are alike in all that the plugins read.

A pod is placed in a form with the claims that are made for it and the tolerations that its scheduler honours, and
without the labels that tell it from its siblings and that no selector reads. Pods of a StatefulSet or an Indexed Job
carry their number as a label. With it each is a placement class of its own, and all that is kept about a class is kept
for every pod.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from functools import cached_property

import msgspec

from descheduler.cluster.snapshot import Snapshot
from descheduler.model.annotations import AnnotationKeys
from descheduler.model.kube_version import KubeVersion
from descheduler.model.pod import Pod, PodSpec, coming_claims
from descheduler.model.selection.labels import LabelSelector
from descheduler.model.selection.taints import Toleration
from descheduler.placement.shadow.node_table import Demand

_GATE = "TaintTolerationComparisonOperators"


def honoured_tolerations(tolerations: tuple[Toleration, ...], version: KubeVersion) -> tuple[Toleration, ...]:
    """`tolerations` without those that never tolerate, since their `Gt` or `Lt` is behind a gate that is off."""
    if version.gate(_GATE):
        return tolerations
    kept = tuple(toleration for toleration in tolerations if toleration.operator not in ("Gt", "Lt"))
    return tolerations if len(kept) == len(tolerations) else kept


PER_POD_LABELS = frozenset(
    {
        "statefulset.kubernetes.io/pod-name",
        "apps.kubernetes.io/pod-index",
        "batch.kubernetes.io/job-completion-index",
    }
)
"""What tells the pods of one StatefulSet or Indexed Job from each other; the pod that comes back has the same."""


class PlacementForms:
    """Forms of the pods of one snapshot, and of their replacements."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._labels: dict[int, tuple[Mapping[str, str], Mapping[str, str]]] = {}
        self._trimmed: dict[frozenset[tuple[str, str]], Mapping[str, str]] = {}

    def form_of(self, pod: Pod) -> Pod:
        """The pod that stands for `pod` among the plugins; mostly the same one."""
        labels = self._labels_of(pod.labels)
        form = pod if labels is pod.labels else msgspec.structs.replace(pod, labels=labels)
        return form if pod.node_name or not pod.spec.resource_claims else _with_coming_claims(form)

    def _labels_of(self, labels: Mapping[str, str]) -> Mapping[str, str]:
        known = self._labels.get(id(labels))
        if known is None:
            kept = labels
            if not PER_POD_LABELS.isdisjoint(labels) and not self._unread.isdisjoint(labels):
                kept = {key: value for key, value in labels.items() if key not in self._unread}
                kept = self._trimmed.setdefault(frozenset(kept.items()), kept)
            known = self._labels[id(labels)] = (labels, kept)
        return known[1]

    @cached_property
    def _unread(self) -> frozenset[str]:
        return PER_POD_LABELS.difference(self._read_keys())

    def _read_keys(self) -> Iterator[str]:
        """The label keys of pods that something in the snapshot selects by."""
        snapshot = self._snapshot
        workloads = snapshot.workloads.values()
        templates = (workload.template.spec for workload in workloads if workload.template is not None)
        specs = {id(spec): spec for spec in (*(pod.spec for pod in snapshot.pods), *templates)}
        for spec in specs.values():
            yield from _keys_of_spec(spec)
        for workload in workloads:
            yield from _keys(workload.selector)
        for service in snapshot.services:
            yield from service.selector
        for reservation in snapshot.reservations:
            for owner in reservation.owners:
                yield from () if owner.selector is None else _keys(owner.selector)


def _with_coming_claims(pod: Pod) -> Pod:
    """`pod` as it is in a moment: kube-controller-manager makes the claims of a new pod before it is scheduled."""
    claims = {**coming_claims(pod.name, pod.spec), **pod.generated_claims}
    return pod if claims == pod.generated_claims else msgspec.structs.replace(pod, generated_claims=claims)


def _keys_of_spec(spec: PodSpec) -> Iterator[str]:
    for constraint in spec.topology_spread:
        yield from _keys(constraint.selector)
        yield from constraint.match_label_keys
    affinity = spec.affinity
    if affinity is not None:
        weighted = (*affinity.pod_preferred, *affinity.anti_preferred)
        for term in (*affinity.pod_required, *affinity.anti_required, *(each.term for each in weighted)):
            yield from _keys(term.selector)
            yield from term.match_label_keys
            yield from term.mismatch_label_keys


def _keys(selector: LabelSelector) -> Iterator[str]:
    return (requirement.key for requirement in selector.requirements)


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
