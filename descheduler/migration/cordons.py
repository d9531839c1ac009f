"""Cordons nodes before the first eviction, and uncordons those that are not drained when the run ends.

One patch sets `spec.unschedulable` and an annotation that names the policy, so that a run that is ended at any point
leaves cordons that the next run knows. The API server keeps who has set the field (`metadata.managedFields`): a node
that was cordoned by someone else, or cordoned again by someone else, stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial
from typing import Any

import msgspec

from descheduler.cluster.snapshot import Snapshot
from descheduler.kube.errors import may_have_acted
from descheduler.kube.objects import ObjectCalls, is_object_name
from descheduler.migration.dispatch.surroundings import Surroundings
from descheduler.migration.managed_fields import ManagedFields, managers_of
from descheduler.migration.pods import decode_pod, pods_path, read_pod
from descheduler.model.node import CORDON_ANNOTATION
from descheduler.model.text.counted import counted, first_names
from descheduler.plan.outcome import Outcome
from descheduler.plan.planned import PlannedEviction
from descheduler.transport.errors import ExchangeError

CORDONING_MANAGER = "descheduler-cordon-"
"""Beginning of the names in which nodes are cordoned; the Lease of the policy follows, as `NAME.NAMESPACE`."""
_MOST_TRIES, _WAIT_SECONDS = 5, 1.0
_MOST_SECONDS = 120.0
"""So long replacements are waited for before nodes are uncordoned that these could take."""
_MOST_NAMED = 10
_UNSCHEDULABLE = "spec", "unschedulable"


class _Metadata(msgspec.Struct, rename="camel"):
    uid: str
    resource_version: str
    annotations: dict[str, str] | None = None
    managed_fields: list[ManagedFields] | None = None


class _Spec(msgspec.Struct):
    unschedulable: bool | None = None


class _Node(msgspec.Struct):
    """A node as it is now; what is read here may be null."""

    metadata: _Metadata
    spec: _Spec | None = None

    @property
    def is_cordoned(self) -> bool:
        """Whether it is unschedulable."""
        return self.spec is not None and bool(self.spec.unschedulable)

    def is_cordoned_by(self, owner: str) -> bool:
        """Whether runs of `owner` have cordoned it, and no one else since."""
        marked = (self.metadata.annotations or {}).get(CORDON_ANNOTATION) == owner
        set_by = managers_of(_UNSCHEDULABLE, self.metadata.managed_fields)
        return self.is_cordoned and marked and set_by == [f"{CORDONING_MANAGER}{owner}"]

    def patch(self, mark: str | None) -> dict[str, Any]:
        """The merge patch that cordons it with `mark`, or uncordons it without one."""
        metadata = {"uid": self.metadata.uid, "resourceVersion": self.metadata.resource_version}
        annotations = {CORDON_ANNOTATION: mark}
        return {"metadata": {**metadata, "annotations": annotations}, "spec": {"unschedulable": bool(mark) or None}}


_decode = msgspec.json.Decoder(_Node).decode


class Cordons:
    """The nodes that a run of the policy `owner` cordons: `wanted`, beside what earlier runs have left.

    `snapshot` is what the run decided on. Nothing is sent while what is `around` forbids it.
    """

    def __init__(
        self, objects: ObjectCalls, owner: str, wanted: Collection[str], snapshot: Snapshot, around: Surroundings
    ) -> None:
        self._objects = objects
        self._owner = owner
        self._wanted = sorted(wanted)
        self._snapshot = snapshot
        self._around = around
        self._cordoned: dict[str, None] = {}

    def begin(self) -> None:
        """Cordons what is wanted. Raises ExchangeError where a node cannot be cordoned; what was done is undone."""
        self._around.in_time("cordoned nodes", self._begin, give_up=self._objects.give_up)

    def _begin(self) -> None:
        try:
            for name in self._wanted:
                if name in self._cordoned or self._around.halted() is not None or self._around.why_not_call():
                    continue
                if self._change(name, self._cordoning):
                    self._cordoned[name] = None
        except ExchangeError as error:
            _, faults = self._give_up(self._cordoned)
            self._cordoned.clear()
            why = "; ".join((f"node {name} cannot be cordoned, so no pod is evicted from it: {error}", *faults))
            raise ExchangeError(why) from error

    def end(self, outcomes: Collection[Outcome]) -> Sequence[str]:
        """Uncordons the nodes of this run and of earlier ones that still have pods; what was done, a sentence each."""
        end = partial(self._end, outcomes)
        try:
            return self._around.in_time("uncordoned nodes", end, give_up=self._objects.give_up)
        except ExchangeError as error:
            return [f"some nodes may still be cordoned (cordon: true): {error}; the next run uncordons them"]

    def _end(self, outcomes: Collection[Outcome]) -> Sequence[str]:
        gone = {(o.eviction.namespace, o.eviction.name) for o in outcomes if o.kind.uses_limits}
        left_by_others = [
            node.name
            for node in self._snapshot.nodes
            if node.unschedulable and node.annotations.get(CORDON_ANNOTATION) == self._owner
        ]
        notes = [_note("cordoned", self._cordoned)] if self._cordoned else []
        in_use = [name for name in sorted({*left_by_others, *self._cordoned}) if self._is_in_use(name, gone)]
        if in_use and not self._are_replaced([o.eviction for o in outcomes if o.kind.uses_limits]):
            why = "replacement pods are not scheduled yet"
            return [*notes, f"{_note('did not uncordon', in_use)}, because {why}; the next run does"]
        given_up, faults = self._give_up(in_use)
        notes += [f"{_note('uncordoned', given_up)}, which could not be drained"] if given_up else []
        return [*notes, *faults]

    def _are_replaced(self, evictions: Sequence[PlannedEviction]) -> bool:
        """Whether the pods that were evicted are gone, and those that came in their place have nodes, within a time.

        Before that the scheduler would take the nodes that are uncordoned for them.
        """
        leaving, ends_at = list(evictions), self._around.clock() + _MOST_SECONDS
        workloads = {eviction.controller_uid for eviction in evictions}
        try:
            while self._around.halted() is None and self._around.clock() < ends_at:
                leaving = [eviction for eviction in leaving if self._is_there(eviction)]
                if not leaving:
                    self._around.sleep(_WAIT_SECONDS)
                    if not any(self._has_pending(each, workloads) for each in {e.namespace for e in evictions}):
                        return True
                self._around.sleep(_WAIT_SECONDS)
        except ExchangeError:
            return False
        return not evictions

    def _is_there(self, eviction: PlannedEviction) -> bool:
        pod = read_pod(self._objects, eviction.namespace, eviction.name)
        return pod is not None and pod.uid == eviction.uid

    def _has_pending(self, namespace: str, workloads: Collection[str]) -> bool:
        """Whether a pod of these workloads waits for a node."""
        found = self._objects.list_readable(pods_path(namespace), decode_pod, field_selector="spec.nodeName=")
        owned = (pod.controller.uid for pod in found if pod.controller is not None and not pod.is_terminal)
        return any(uid in workloads for uid in owned)

    def _is_in_use(self, node: str, gone: Collection[tuple[str, str]]) -> bool:
        pods = self._snapshot.pods_by_node.get(node, ())
        staying = (pod for pod in pods if not pod.is_terminal and (pod.namespace, pod.name) not in gone)
        return any(pod.keeps_node_in_use for pod in staying)

    def _give_up(self, names: Iterable[str]) -> tuple[Sequence[str], Sequence[str]]:
        """The nodes that are uncordoned now, and what went wrong with others, a sentence each."""
        done, faults = list[str](), list[str]()
        for name in names:
            try:
                if why := self._around.why_not_call():
                    raise ExchangeError(why)
                if self._change(name, self._uncordoning):
                    done.append(name)
            except ExchangeError as error:
                faults.append(f"node {name} stays cordoned until the next run: {error}")
        return done, faults

    def _cordoning(self, node: _Node) -> dict[str, Any] | None:
        return None if node.is_cordoned else node.patch(self._owner)

    def _uncordoning(self, node: _Node) -> dict[str, Any] | None:
        return node.patch(None) if node.is_cordoned_by(self._owner) else None

    def _change(self, name: str, patch_of: Callable[[_Node], dict[str, Any] | None]) -> bool:
        """Whether the node was changed by the patch for it as it is now; not where there is nothing to change."""
        path, was_tried = f"/api/v1/nodes/{name}", False
        query = {"fieldManager": f"{CORDONING_MANAGER}{self._owner}"}
        for _ in range(_MOST_TRIES if is_object_name(name) else 0):
            node = self._objects.read(path, _decode)
            patch = None if node is None else patch_of(node)
            if patch is None:
                return was_tried
            try:
                if self._objects.patch(path, patch, partial(bytes), query=query) is not None:
                    return True
            except ExchangeError as error:
                if not may_have_acted(error):
                    raise
                was_tried = True
                self._around.sleep(_WAIT_SECONDS)
        raise ExchangeError(f"it was changed by others {_MOST_TRIES} times, or no answer was clear")


def _note(done: str, names: Collection[str]) -> str:
    return f"{done} {counted(len(names), 'node')} (cordon: true): {first_names(sorted(names), _MOST_NAMED)}"
