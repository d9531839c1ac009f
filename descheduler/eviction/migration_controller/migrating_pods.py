"""Pods on the move: those that a PodMigrationJob names, and those whose eviction this run has booked."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from typing import Literal, TypeVar

from descheduler.eviction.cluster_view import ClusterView
from descheduler.eviction.undo import Undo
from descheduler.model.koordinator.migration_job import MigrationJob
from descheduler.model.pod import Pod
from descheduler.model.text.counted import counted

_Key = tuple[str, str]
_NO_KEYS: frozenset[_Key] = frozenset()
_Element = TypeVar("_Element")
Scope = Literal["cluster", "namespace", "node", "controller"]
"""Where pods on the move are counted: everywhere, or in what they have in common with a pod."""


class _Multiset(Counter[_Element]):
    """Elements that are there once or more."""

    def change(self, element: _Element, number: int) -> None:
        """Adds an element so many times; those that are there no more are forgotten."""
        self[element] += number
        if not self[element]:
            del self[element]


class MigratingPods:
    """Pods on the move by scope, following what is booked on `view`. A pod counts once however many jobs it has.

    The pods of `jobs` count from the start, and what earlier rounds of the run have evicted.
    """

    def __init__(self, view: ClusterView, jobs: Iterable[MigrationJob] = ()) -> None:
        self._view = view
        self._num_followed = 0
        self._uids = _Multiset[str]()
        self._keys = _Multiset[_Key]()
        self._by_namespace: dict[str, _Multiset[_Key]] = defaultdict(_Multiset)
        self._by_node: dict[str, _Multiset[_Key]] = defaultdict(_Multiset)
        self._by_controller: dict[str, _Multiset[_Key]] = defaultdict(_Multiset)
        self._adopt(jobs)
        self._of_jobs = frozenset(self._keys)
        for move in view.prior_moves:
            self.move(move.pod)

    def has(self, pod: Pod) -> bool:
        """Whether `pod`, or one of its name, moves: a StatefulSet's new pod waits for the job of the old one."""
        self._follow()
        return pod.uid in self._uids or (pod.namespace, pod.name) in self._keys

    def others(self, pod: Pod) -> int:
        """How many other pods are on the move."""
        self._follow()
        return _num_others(self._keys, pod)

    def others_in_namespace(self, pod: Pod) -> int:
        """How many other pods of the namespace are on the move."""
        self._follow()
        return _num_others(self._by_namespace.get(pod.namespace, _NO_KEYS), pod)

    def others_on_node(self, pod: Pod) -> int:
        """How many other pods of the node are on the move."""
        self._follow()
        return _num_others(self._by_node.get(pod.node_name, _NO_KEYS), pod)

    def others_of_controller(self, pod: Pod, controller_uid: str) -> frozenset[_Key]:
        """Namespace and name of the other pods of that controller, a single ReplicaSet say, that are on the move."""
        self._follow()
        keys = self._by_controller.get(controller_uid)
        return frozenset(keys.keys() - {(pod.namespace, pod.name)}) if keys else _NO_KEYS

    def text_of_others(self, pod: Pod, scope: Scope) -> str:
        """Such as `2 other pods are evicted before it`: those of the scope of `pod` that move, by what moves them."""
        self._follow()
        controller_uid = "" if pod.controller is None else pod.controller.uid
        in_scope: dict[Scope, AbstractSet[_Key] | _Multiset[_Key]] = {
            "cluster": self._keys,
            "namespace": self._by_namespace.get(pod.namespace, _NO_KEYS),
            "node": self._by_node.get(pod.node_name, _NO_KEYS),
            "controller": self._by_controller.get(controller_uid, _NO_KEYS),
        }
        return self.text_of(set(in_scope[scope]) - {(pod.namespace, pod.name)})

    def text_of(self, others: AbstractSet[_Key]) -> str:
        """The same of these pods, by namespace and name; empty for none."""
        num_of_jobs = len(others & self._of_jobs)
        by_cause = (num_of_jobs, "being migrated"), (len(others) - num_of_jobs, "evicted before it")
        found = (
            f"{counted(number, 'other pod')} {'is' if number == 1 else 'are'} {text}"
            for number, text in by_cause
            if number
        )
        return " and ".join(found)

    def num_of_controller(self, controller_uid: str) -> int:
        """How many pods of that controller are on the move."""
        self._follow()
        return len(self._by_controller.get(controller_uid, _NO_KEYS))

    def move(self, pod: Pod) -> Undo:
        """Takes in that `pod` is on the move."""
        self._change(pod, 1)
        return lambda: self._change(pod, -1)

    def _adopt(self, jobs: Iterable[MigrationJob]) -> None:
        for job in jobs:
            if job.pod_uid:
                self._uids.change(job.pod_uid, 1)
            if job.pod_name:
                self._change_key(job.pod_namespace, job.pod_name, 1)
        if not self._uids and not self._keys:
            return
        for pod in self._view.snapshot.pods:
            if pod.uid in self._uids or (pod.namespace, pod.name) in self._keys:
                self._change_scopes(pod, 1)

    def _follow(self) -> None:
        changes = self._view.changes
        while self._num_followed < len(changes):
            change = changes[self._num_followed]
            if not change.is_arrival:
                self._change(change.pod, -change.number)
            self._num_followed += 1

    def _change(self, pod: Pod, number: int) -> None:
        self._uids.change(pod.uid, number)
        self._change_scopes(pod, number)

    def _change_scopes(self, pod: Pod, number: int) -> None:
        key = self._change_key(pod.namespace, pod.name, number)
        if pod.node_name:
            self._by_node[pod.node_name].change(key, number)
        if pod.controller is not None:
            self._by_controller[pod.controller.uid].change(key, number)

    def _change_key(self, namespace: str, name: str, number: int) -> _Key:
        key = namespace, name
        self._keys.change(key, number)
        self._by_namespace[namespace].change(key, number)
        return key


def _num_others(keys: AbstractSet[_Key] | _Multiset[_Key], pod: Pod) -> int:
    return len(keys) - ((pod.namespace, pod.name) in keys)
