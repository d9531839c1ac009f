"""Which pods belong together when they do not say so: the selector of default topology spread constraints.

Mirrors `DefaultSelector` of `k8s.io/kubernetes/pkg/scheduler/framework/plugins/helper/spread.go` (1.36).
"""

from __future__ import annotations

from collections.abc import Iterator

from descheduler.cluster.snapshot import Snapshot
from descheduler.model.objects import Service
from descheduler.model.pod import Pod
from descheduler.model.selection.labels import EVERYTHING, LabelSelector, Requirement

__all__ = ["DefaultSelectors"]

_REPLICATION_CONTROLLER = ("v1", "ReplicationController")
_SELECTING_OWNERS = (_REPLICATION_CONTROLLER, ("apps/v1", "ReplicaSet"), ("apps/v1", "StatefulSet"))


class DefaultSelectors:
    """Selectors made from the Services and the owners of a snapshot."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._services: dict[tuple[str, str, str], list[Service]] = {}
        for service in snapshot.services:
            for key, value in sorted(service.selector.items())[:1]:
                self._services.setdefault((service.namespace, key, value), []).append(service)

    def selector(self, pod: Pod) -> LabelSelector:
        """What the Services that select `pod` and its controlling owner select together; everything if there is none.

        The owner's selector counts whether it selects `pod` or not. It overrules those of Services where the owner is
        a ReplicationController; with any other, pods must meet both.
        """
        labels = {key: value for service in self._services_of(pod) for key, value in service.selector.items()}
        kind, owned = self._selected_by_owner(pod)
        if kind == _REPLICATION_CONTROLLER:
            labels.update((requirement.key, next(iter(requirement.values))) for requirement in owned)
            owned = ()
        wanted = (*(Requirement(key, "In", frozenset((value,))) for key, value in labels.items()), *owned)
        return EVERYTHING.with_requirements(tuple(dict.fromkeys(wanted)))

    def _services_of(self, pod: Pod) -> Iterator[Service]:
        for key, value in pod.labels.items():
            for service in self._services.get((pod.namespace, key, value), ()):
                if service.selector.items() <= pod.labels.items():
                    yield service

    def _selected_by_owner(self, pod: Pod) -> tuple[tuple[str, str], tuple[Requirement, ...]]:
        owner = pod.controller
        kind = ("", "") if owner is None else (owner.api_version, owner.kind)
        if owner is None or kind not in _SELECTING_OWNERS:
            return kind, ()
        workload = self._snapshot.workloads_by_name.get((owner.kind, pod.namespace, owner.name))
        return kind, () if workload is None else workload.selector.requirements
