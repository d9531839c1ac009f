"""Pods on the move: those that a live PodMigrationJob names, and those whose eviction this run has booked."""

from __future__ import annotations

from descheduler.eviction.cluster_view import ClusterView
from descheduler.model.pod import Pod

__all__ = ["MigratingPods"]

_LIVE_PHASES = ("", "Pending", "Running")
"""A job that nobody has looked at yet has no phase."""

_Keys = set[tuple[str, str]]
_NO_KEYS: frozenset[tuple[str, str]] = frozenset()


class MigratingPods:
    """Pods on the move by scope, following what is booked on `view`. A pod counts once however many jobs it has.

    What earlier rounds of the run have evicted counts from the start.
    """

    def __init__(self, view: ClusterView) -> None:
        self._view = view
        self._num_followed = 0
        self._uids: set[str] = set()
        self._keys: _Keys = set()
        self._by_namespace: dict[str, _Keys] = {}
        self._by_node: dict[str, _Keys] = {}
        self._by_controller: dict[str, _Keys] = {}
        self._adopt_jobs()
        for move in view.prior_moves:
            self._uids.add(move.pod.uid)
            self._add(move.pod)

    def has(self, pod: Pod) -> bool:
        """Whether `pod`, or one of its name, moves: a StatefulSet's new pod waits for the job of the old one."""
        self._follow()
        return pod.uid in self._uids or (pod.namespace, pod.name) in self._keys

    def others(self, pod: Pod) -> int:
        """How many other pods are on the move."""
        return self._count(self._keys, pod)

    def others_in_namespace(self, pod: Pod) -> int:
        """How many other pods of the namespace are on the move."""
        return self._count(self._by_namespace.get(pod.namespace, set()), pod)

    def others_on_node(self, pod: Pod) -> int:
        """How many other pods of the node are on the move."""
        return self._count(self._by_node.get(pod.node_name, set()), pod)

    def others_of_controller(self, pod: Pod, controller_uid: str) -> frozenset[tuple[str, str]]:
        """Namespace and name of the other pods of that controller, a single ReplicaSet say, that are on the move."""
        self._follow()
        keys = self._by_controller.get(controller_uid)
        return frozenset(keys - {(pod.namespace, pod.name)}) if keys else _NO_KEYS

    def _count(self, keys: _Keys, pod: Pod) -> int:
        self._follow()
        return len(keys) - ((pod.namespace, pod.name) in keys)

    def _adopt_jobs(self) -> None:
        jobs = [job for job in self._view.snapshot.migration_jobs if job.phase in _LIVE_PHASES]
        if not jobs:
            return
        self._uids.update(job.pod_uid for job in jobs if job.pod_uid)
        for job in jobs:
            if job.pod_name:
                self._add_key(job.pod_namespace, job.pod_name)
        for pod in self._view.snapshot.pods:
            if pod.uid in self._uids or (pod.namespace, pod.name) in self._keys:
                self._add(pod)

    def _follow(self) -> None:
        for pod in self._view.booked[self._num_followed :]:
            self._uids.add(pod.uid)
            self._add(pod)
        self._num_followed = len(self._view.booked)

    def _add(self, pod: Pod) -> None:
        key = self._add_key(pod.namespace, pod.name)
        if pod.node_name:
            self._by_node.setdefault(pod.node_name, set()).add(key)
        if pod.controller is not None:
            self._by_controller.setdefault(pod.controller.uid, set()).add(key)

    def _add_key(self, namespace: str, name: str) -> tuple[str, str]:
        key = namespace, name
        self._keys.add(key)
        self._by_namespace.setdefault(namespace, set()).add(key)
        return key
