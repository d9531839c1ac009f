"""Whether a plan from a file still holds: the same cluster and policy, fresh, and every move as it was judged."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import msgspec

from descheduler.cluster.snapshot import Snapshot
from descheduler.cycle.options import PlanToApply
from descheduler.model.pod import Pod
from descheduler.model.text.counted import counted
from descheduler.plan.chosen import ChosenMove
from descheduler.plan.decisions import Decisions
from descheduler.policy.types import Policy
from descheduler.report.document import PodReference
from descheduler.report.plan.document import Move
from descheduler.report.plan.file import ClusterIdentity, MoveBasis, NodeFootprint, PlanFile, basis_of

if TYPE_CHECKING:
    from descheduler.kube.client import KubeClient

__all__ = ["PlanRefusedError", "check_identity", "cluster_uid", "still_valid"]

_NAMESPACE = "/api/v1/namespaces/kube-system"
_CLOCKS_APART = timedelta(minutes=5)
_MOST_SHOWN = 20
_MOST_NAMED = 3
"""Pending pods that are named of each move."""

DecideOn = Callable[[Sequence[ChosenMove]], Decisions]
"""Decides on exactly these moves, over the snapshot of the run."""


class PlanRefusedError(Exception):
    """A plan that does not hold any more; the message says what changed. Nothing was evicted."""


class _Metadata(msgspec.Struct):
    uid: str = ""


class _Namespace(msgspec.Struct):
    metadata: _Metadata = msgspec.field(default_factory=_Metadata)


_decode_namespace = msgspec.json.Decoder(_Namespace).decode


def cluster_uid(client: KubeClient) -> str:
    """The UID of the namespace kube-system, which no other cluster has; "" where it cannot be read."""
    from descheduler.kube.errors import KubeError

    try:
        return client.fetch(_NAMESPACE, _decode_namespace).metadata.uid
    except KubeError:
        return ""


def check_identity(plan: PlanToApply, policy: Policy, cluster: ClusterIdentity, now: datetime) -> None:
    """Raises PlanRefusedError unless the plan is of this cluster and policy, and not too old."""
    changes = [*_foreign(plan.file, policy, cluster), *_outdated(plan, now)]
    if changes:
        raise PlanRefusedError(_refusal(changes))


def _foreign(file: PlanFile, policy: Policy, cluster: ClusterIdentity) -> Iterator[str]:
    planned, digest = file.cluster, file.plan.policy.digest
    if planned.uid and cluster.uid and planned.uid != cluster.uid:
        yield f"another cluster: planned on {planned.server} ({planned.uid}), this is {cluster.server} ({cluster.uid})"
    if digest != policy.digest:
        yield f"another policy: planned with digest {digest}, {policy.path} has {policy.digest}"
    planned_files = {each.path: each.digest for each in file.plan.policy.scheduler_files}
    if planned_files != {each.path: each.digest for each in policy.scheduler_files.values()}:
        yield "the scheduler configuration that the policy names has changed"
    if file.plan.skipped:
        yield f"the plan was skipped: {file.plan.skipped}"
    yield from (f"plugin {each.plugin} failed: {each.message}" for each in file.plan.failures)


def _outdated(plan: PlanToApply, now: datetime) -> Iterator[str]:
    taken_at = plan.file.plan.snapshot.taken_at or plan.file.plan.now
    try:
        age = now - taken_at
    except TypeError:
        yield f"the time of its snapshot ({taken_at.isoformat()}) has no time zone"
        return
    if age > plan.max_age:
        yield f"its snapshot is {_seconds(age)} old (--max-age: {_seconds(plan.max_age)})"
    if age < -_CLOCKS_APART:
        yield f"its snapshot is of {taken_at.isoformat()}, which is in the future; check the clocks"


def _seconds(duration: timedelta) -> str:
    return f"{duration.total_seconds():,.0f} s"


def still_valid(
    plan: PlanToApply, snapshot: Snapshot, decide_on: DecideOn
) -> tuple[tuple[ChosenMove, ...], tuple[str, ...]]:
    """The moves that still hold, all together, and a sentence for each that is left out.

    Every move is compared with `snapshot`, and those that are unchanged are judged together; what fails is taken out
    and the rest is judged again. Raises PlanRefusedError when a move has changed and none may be left out, when no move
    is left, and when those that are left cannot be scheduled together.
    """
    bases = {basis.uid: basis for basis in plan.file.bases}
    moves = {move.pod.uid: move for move in plan.file.plan.moves}
    changes = dict(_changes(moves.values(), bases, snapshot))
    while True:
        gone = _with_bundles(changes, bases)
        left = [_chosen(move, bases[uid].bundle) for uid, move in moves.items() if uid not in gone]
        if changes and (not plan.allows_partial or not left):
            raise PlanRefusedError(_refusal(list(changes.values()), can_leave_out=bool(left)))
        decisions = decide_on(left)
        found = dict(_objections(decisions, left, moves))
        if not found:
            break
        changes |= found
    _check_together(decisions)
    return tuple(left), tuple(f"left out of the plan: {text}" for text in _shortened(list(changes.values())))


def _with_bundles(changes: Collection[str], bases: Mapping[str, MoveBasis]) -> set[str]:
    """The pods that changed, and those that leave only together with them."""
    bundles = {bases[uid].bundle for uid in changes if uid in bases} - {0}
    return {*changes, *(uid for uid, basis in bases.items() if basis.bundle in bundles)}


def _chosen(move: Move, bundle: int) -> ChosenMove:
    held_on = (move.to_node if move.holds_target else None) or ""
    rooms = tuple((room.pod.uid, room.node) for room in move.room_for)
    return ChosenMove(
        move.pod.uid, move.profile, move.plugin, move.reason, move.wave, move.cost, held_on, rooms, bundle
    )


def _changes(moves: Collection[Move], bases: Mapping[str, MoveBasis], snapshot: Snapshot) -> Iterator[tuple[str, str]]:
    """The UID of each pod whose move is not what it was, and the sentence that says why."""
    by_uid = {pod.uid: pod for pod in snapshot.pods}
    moved, held = {each.pod.uid for each in moves}, {room.pod.uid for each in moves for room in each.room_for}
    for move in moves:
        pod, basis = by_uid.get(move.pod.uid), bases[move.pod.uid]
        name = f"pod {move.pod.namespace}/{move.pod.name}"
        causes = list(_changed(pod, move, basis, snapshot)) if pod is not None else ["is gone"]
        causes += _in_vain(_served(move, basis, moved, held), by_uid)
        if causes:
            yield move.pod.uid, f"{name}: {', '.join(causes)}"


def _changed(pod: Pod, move: Move, old: MoveBasis, snapshot: Snapshot) -> Iterator[str]:
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
    yield from _changed_node(old.source, new.source)
    yield from _changed_node(old.target, new.target)


def _served(move: Move, basis: MoveBasis, moved: Collection[str], held: Collection[str]) -> Sequence[PodReference]:
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
        more = f" and {len(names) - _MOST_NAMED:,} more" if len(names) > _MOST_NAMED else ""
        yield f"{noun} {', '.join(names[:_MOST_NAMED])}{more}, for which it makes room, {verb} {what}"


def _not_pending(uid: str, by_uid: Mapping[str, Pod]) -> str:
    """What a pod that waited for a node is by now, "" while it waits, also for one without a UID, as of some dumps."""
    pod = by_uid.get(uid)
    if uid and (pod is None or pod.deleted_at is not None or pod.is_terminal):
        return "gone"
    return "scheduled already" if pod is not None and pod.node_name else ""


def _changed_node(old: NodeFootprint | None, new: NodeFootprint | None) -> Iterator[str]:
    if old is None or old == new:
        return
    if new is None or new.uid != old.uid:
        yield f"node {old.name} is gone"
        return
    if new.cordoned != old.cordoned:
        yield f"node {old.name} is {'now cordoned' if new.cordoned else 'not cordoned any more'}"
    if new.ready != old.ready:
        yield f"node {old.name} is {'now ready' if new.ready else 'not ready any more'}"
    for what in ("allocatable", "labels", "taints"):
        if getattr(new, what) != getattr(old, what):
            yield f"node {old.name} has other {'allocatable resources' if what == 'allocatable' else what}"


def _objections(
    decisions: Decisions, chosen: Sequence[ChosenMove], moves: Mapping[str, Move]
) -> Iterator[tuple[str, str]]:
    """What judging the moves together has against each."""
    granted = {move.pod.uid: move for move in decisions.leaving}
    refused = {refusal.pod.uid: refusal.verdict.message for refusal in decisions.refusals}
    for each in chosen:
        name = f"pod {moves[each.uid].pod.namespace}/{moves[each.uid].pod.name}"
        move, planned = granted.get(each.uid), moves[each.uid].landing
        if move is None:
            yield each.uid, f"{name}: {decisions.skipped or refused.get(each.uid) or 'is not evicted any more'}"
        elif (
            move.landing is not None
            and move.landing.verdict.value == "no"
            and (planned is None or planned.verdict != "no")
        ):
            yield each.uid, f"{name}: its replacement can no longer be scheduled: {move.landing.message}"
    asked = {each.uid for each in chosen}
    for uid, move in granted.items():
        if uid not in asked:
            mates = [mate.pod.uid for mate in decisions.leaving if mate.bundle == move.bundle and mate.pod.uid in asked]
            text = f"pod {move.pod.key} would have to leave too, which is not in the plan"
            yield from ((mate, text) for mate in mates)


def _check_together(decisions: Decisions) -> None:
    together = decisions.together
    if together is not None and together.verdict.value == "no":
        raise PlanRefusedError(_refusal(["the replacements can no longer be scheduled all together"]))


def _refusal(changes: Sequence[str], *, can_leave_out: bool = False) -> str:
    lines = "".join(f"\n  {text}" for text in _shortened(changes))
    way_out = ", or leave these moves out with --allow-partial" if can_leave_out else ""
    return (
        f"the plan is not applied, nothing was evicted; {counted(len(changes), 'change')} since it was made:{lines}\n"
        f"make a new plan with 'descheduler plan --out'{way_out}"
    )


def _shortened(texts: Sequence[str]) -> list[str]:
    more = len(texts) - _MOST_SHOWN
    return [*texts[:_MOST_SHOWN], *([f"and {more:,} more"] if more > 0 else [])]
