"""What has changed about the pods and nodes of a plan's moves since it was made, and the refusal that says so."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from descheduler.cluster.snapshot import Snapshot
from descheduler.cycle.options import PlanToApply
from descheduler.model.pod import Pod
from descheduler.model.text.counted import counted, first_names
from descheduler.report.document import PodReference
from descheduler.report.plan.document import PlanMove
from descheduler.report.plan.file import MoveBasis, NodeFootprint, basis_of, labels_of

_MOST_NAMED = 3
"""Pending pods that are named of each move."""


def changes_of(plan: PlanToApply, snapshot: Snapshot, kept_cordoned: Collection[str] = ()) -> Iterator[tuple[str, str]]:
    """The UID of each pod whose move is not what it was, and the sentence that says why.

    The nodes that are `kept_cordoned` by the run itself are cordoned when it evicts, whoever cordons them.
    """
    moves, bases = plan.file.plan.moves, {basis.uid: basis for basis in plan.file.bases}
    by_uid = {pod.uid: pod for pod in snapshot.pods}
    moved, held = {each.pod.uid for each in moves}, {room.pod.uid for each in moves for room in each.room_for}
    for move in moves:
        pod, basis = by_uid.get(move.pod.uid), bases[move.pod.uid]
        name = f"pod {move.pod.namespace}/{move.pod.name}"
        causes = list(_changed(pod, move, basis, snapshot, kept_cordoned)) if pod is not None else ["is gone"]
        causes += _misnamed(move, basis, by_uid)
        if pod is not None and plan.reselects and labels_of(pod) != basis.labels:
            causes.append("has other labels")
        causes += _in_vain(_served(move, basis, moved, held), by_uid)
        if causes:
            yield move.pod.uid, f"{name}: {', '.join(causes)}"


def _changed(
    pod: Pod, move: PlanMove, old: MoveBasis, snapshot: Snapshot, kept_cordoned: Collection[str]
) -> Iterator[str]:
    if pod.deleted_at is not None:
        yield "is being deleted"
    if pod.node_name != move.from_node:
        yield f"is on node {pod.node_name or 'none'}, was on {move.from_node or 'none'}"
        return
    new = basis_of(pod, snapshot, old)
    if new.workload != old.workload:
        yield "has another controller"
    if new.requests != old.requests:
        yield "has other requests"
    yield from _changed_node(old.source, new.source, kept_cordoned)
    yield from _changed_node(old.target, new.target, kept_cordoned)


def _misnamed(move: PlanMove, basis: MoveBasis, by_uid: Mapping[str, Pod]) -> Iterator[str]:
    """Where the UID is that of another pod than the name: whoever looked through the file has seen the name alone.

    No pod ever changes its name, so the file was changed.
    """
    served = {room.pod.uid: room.pod for room in move.room_for} | {pod.uid: pod for pod in basis.serves}
    for reference in (move.pod, *served.values()):
        pod = by_uid.get(reference.uid)
        if pod is None or (pod.namespace, pod.name) == (reference.namespace, reference.name):
            continue
        whose = (
            "" if reference is move.pod else f"pod {reference.namespace}/{reference.name}, for which it makes room, "
        )
        yield f"{whose}has the UID of pod {pod.key}; the file was changed"


def _served(move: PlanMove, basis: MoveBasis, moved: Collection[str], held: Collection[str]) -> Sequence[PodReference]:
    """The pending pods that the move makes room for.

    Where room is held by name when the pod has left, these are the pods that it is held for, but not those among
    `moved`, which leave later, and those that no move has room `held` for. Else they are all that the move serves.
    """
    named = [room.pod for room in move.room_for if room.pod.uid not in moved]
    return [*named, *(pod for pod in basis.serves if pod.uid not in held)] or basis.serves


def _in_vain(served: Iterable[PodReference], by_uid: Mapping[str, Pod]) -> Iterator[str]:
    """Why none of the pending pods that a move makes room for waits any more; nothing where one does."""
    became: dict[str, list[str]] = {}
    for pod in served:
        became.setdefault(_not_pending(pod.uid, by_uid), []).append(f"{pod.namespace}/{pod.name}")
    for what, names in () if "" in became else became.items():
        noun, verb = ("pod", "is") if len(names) == 1 else ("pods", "are")
        yield f"{noun} {first_names(names, _MOST_NAMED)}, for which it makes room, {verb} {what}"


def _not_pending(uid: str, by_uid: Mapping[str, Pod]) -> str:
    """What a pod that waited for a node is by now, "" while it waits, also for one without a UID, as of some dumps."""
    pod = by_uid.get(uid)
    if uid and (pod is None or pod.deleted_at is not None or pod.is_terminal):
        return "gone"
    return "scheduled already" if pod is not None and pod.node_name else ""


def _changed_node(
    old: NodeFootprint | None, new: NodeFootprint | None, kept_cordoned: Collection[str]
) -> Iterator[str]:
    if old is None:
        return
    if new is None or new.uid != old.uid:
        yield f"node {old.name} is gone"
        return
    if new.cordoned != old.cordoned and new.name not in kept_cordoned:
        yield f"node {old.name} is {'now cordoned' if new.cordoned else 'not cordoned any more'}"
    if new.ready != old.ready:
        yield f"node {old.name} is {'now ready' if new.ready else 'not ready any more'}"
    for what in ("allocatable", "labels", "taints"):
        if getattr(new, what) != getattr(old, what):
            yield f"node {old.name} has other {'allocatable resources' if what == 'allocatable' else what}"


_MOST_SHOWN = 20


class PlanRefusedError(Exception):
    """A plan that does not hold any more; the message says what changed. Nothing was evicted."""


def refused(changes: Sequence[str], *, can_leave_out: bool = False) -> PlanRefusedError:
    """The error for a plan since which this has changed; `can_leave_out`: other moves of it hold."""
    lines = "".join(f"\n  {text}" for text in shortened(changes))
    way_out = ", or leave these moves out with --allow-partial" if can_leave_out else ""
    return PlanRefusedError(
        f"the plan is not applied, nothing was evicted; {counted(len(changes), 'change')} since it was made:{lines}\n"
        f"make a new plan with 'descheduler plan --out'{way_out}"
    )


def shortened(texts: Sequence[str]) -> list[str]:
    """The first of `texts`, and how many more there are."""
    more = len(texts) - _MOST_SHOWN
    return [*texts[:_MOST_SHOWN], *([f"and {more:,} more"] if more > 0 else [])]
