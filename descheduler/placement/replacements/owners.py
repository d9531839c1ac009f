"""The owners of the pods of one snapshot: what each of them does once a pod of its own is evicted."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from msgspec.structs import replace

from descheduler.cluster.kind import kind_key
from descheduler.cluster.snapshot import Snapshot
from descheduler.model.groups.workloads import Workload
from descheduler.model.pod import Owner, Pod
from descheduler.placement.replacements.answer import (
    BARE,
    ORDINARY_ENDING,
    Ending,
    Members,
    OwnerAnswer,
    Returns,
    Situation,
    not_created,
    ordinal_of,
)
from descheduler.placement.replacements.controllers.stateful_set import wants_ordinal
from descheduler.placement.replacements.controllers.table import CONTROLLERS, Controller

_BY_NAME = {key.partition(".")[0]: key for key in reversed(tuple(CONTROLLERS))}
"""For owner references that do not state their `apiVersion`."""
_UNREACHABLE = "node.kubernetes.io/unreachable"
_LOST = Ending(exit_code=None, stops=False)
"""The ending of a pod whose kubelet does not answer: its object stays until the node is back, or is deleted."""


def why_unmovable(victim: Pod) -> str:
    """Why evicting `victim` moves nothing, or an empty string."""
    if _is_static(victim):
        return "it is a static pod, which the kubelet of its node runs"
    if victim.is_terminating:
        return "it is already being deleted"
    return "" if victim.node_name else "it is not scheduled yet"


class Owners:
    """Asks the controllers of one snapshot. `now` is None where its time is unknown."""

    def __init__(self, snapshot: Snapshot, now: datetime | None = None) -> None:
        self._snapshot = snapshot
        self._now = snapshot.taken_at if now is None else now
        self._members: dict[str, Members] = {}

    def workload_of(self, victim: Pod) -> Workload | None:
        """The controller of `victim`, None when there is none or it was not read."""
        owner = victim.controller
        return None if owner is None else self._snapshot.workloads.get(owner.uid)

    def may_end(self, victim: Pod) -> bool:
        """Whether the controller of `victim` is of a kind that an eviction can end."""
        controller = None if victim.controller is None else _controller(victim.controller)
        return controller is not None and controller.may_end

    def answer(
        self,
        victim: Pod,
        gone: Sequence[Pod] = (),
        ending: Ending | None = None,
        mates: Sequence[Pod] = (),
    ) -> OwnerAnswer:
        """What comes for `victim`, when the pods of its controller that are `gone` were evicted before it.

        Its `ending` follows from its node unless it is given. `mates` leave with it as one bundle, all or none.
        """
        owner = victim.controller
        if _is_static(victim):
            return not_created("the kubelet of its node runs the static pod, whatever becomes of its mirror pod")
        if victim.is_terminating:
            return not_created("the pod is already being deleted")
        namespace = self._snapshot.namespaces.get(victim.namespace)
        if namespace is not None and namespace.is_terminating:
            return not_created(f"namespace {victim.namespace} is being deleted, so that no pod can be created in it")
        if owner is None:
            return self._orphan(victim)
        ending = ending or self._ending_of(victim)
        answer = self._owned(victim, owner, gone, ending, mates)
        return answer if ending.stops or answer.is_early else _once_gone(answer, victim, owner)

    def _owned(
        self, victim: Pod, owner: Owner, gone: Sequence[Pod], ending: Ending, mates: Sequence[Pod]
    ) -> OwnerAnswer:
        controller, workload = _controller(owner), self._snapshot.workloads.get(owner.uid)
        if controller is None:
            return self._unknown(owner)
        if workload is None:
            return self._unread(victim, owner, controller)
        if workload.is_deleting:
            return not_created(f"{owner.kind} {owner.name} is being deleted")
        return controller.answer(self._situation(victim, workload, gone, ending, mates))

    def _ending_of(self, victim: Pod) -> Ending:
        node = self._snapshot.nodes_by_name.get(victim.node_name)
        is_lost = node is not None and any(taint.key == _UNREACHABLE for taint in node.taints)
        return _LOST if is_lost else ORDINARY_ENDING

    def _situation(
        self,
        victim: Pod,
        workload: Workload,
        gone: Sequence[Pod] = (),
        ending: Ending = ORDINARY_ENDING,
        mates: Sequence[Pod] = (),
    ) -> Situation:
        members = self._members.get(workload.uid)
        if members is None:
            pods = self._snapshot.pods_by_controller.get(workload.uid, ())
            members = self._members[workload.uid] = Members(workload, pods, self._now)
        return Situation(victim, members, gone, self._snapshot, ending, mates)

    def _unread(self, victim: Pod, owner: Owner, controller: Controller) -> OwnerAnswer:
        """The owner is not in the snapshot: it is gone, or objects of its kind were not read."""
        if _key(owner) in self._snapshot.kinds:
            return not_created(f"{owner.kind} {owner.name} does not exist, so that its pods are deleted")
        if controller.knows_by_pod:
            workload = Workload(owner.kind, victim.namespace, owner.name, owner.uid, replicas=0)
            return controller.answer(self._situation(victim, workload))
        if controller.doubts_unread:
            return self._unknown(owner)
        if victim.is_terminal:
            return not_created("the pod has finished; no replacement pod is created")
        return OwnerAnswer(Returns.AT_ONCE, is_early=True)

    def _unknown(self, owner: Owner) -> OwnerAnswer:
        group = owner.api_version.rpartition("/")[0]
        kind = f"{owner.kind} ({group})" if group else owner.kind
        doubt = f"it is unknown whether an owner of kind {kind} creates an evicted pod again"
        return OwnerAnswer(Returns.AT_ONCE, is_early=True, doubt=doubt)

    def _orphan(self, victim: Pod) -> OwnerAnswer:
        """A pod without a controller, unless it has the name of a pod that a StatefulSet lacks for that."""
        ordinal, name = ordinal_of(victim), victim.name.rpartition("-")[0]
        workload = self._snapshot.workloads_by_name.get(("StatefulSet", victim.namespace, name))
        if workload is None or ordinal is None or workload.is_deleting:
            return BARE
        if not wants_ordinal(self._situation(victim, workload), ordinal):
            return BARE
        return OwnerAnswer(Returns.LATER, notes=(f"StatefulSet {name} creates its own pod of this name",))


def _once_gone(answer: OwnerAnswer, victim: Pod, owner: Owner) -> OwnerAnswer:
    """`answer` of an owner that creates nothing while the object of `victim` exists, which stays."""
    if not answer.is_created:
        return answer
    wait = f"{owner.kind} {owner.name} waits until pod {victim.name} is gone: node {victim.node_name} is unreachable"
    return replace(answer, conditions=(*answer.conditions, wait))


def _is_static(victim: Pod) -> bool:
    owner = victim.controller
    return victim.is_mirror or victim.is_static or (owner is not None and owner.kind == "Node")


def _key(owner: Owner) -> str:
    return kind_key(owner.kind, owner.api_version) if owner.api_version else _BY_NAME.get(owner.kind, owner.kind)


def _controller(owner: Owner) -> Controller | None:
    return CONTROLLERS.get(_key(owner))
