"""Which moves of a plan from a file still hold: each as it was decided on, still selected, and judged together."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from descheduler.cluster.snapshot import Snapshot
from descheduler.cycle.applying.changes import changes_of, refused, shortened
from descheduler.cycle.applying.selection import Reselection
from descheduler.cycle.options import PlanToApply
from descheduler.model.held_room import HeldRoom
from descheduler.model.pod import Pod
from descheduler.model.text.printable import clipped
from descheduler.placement.landings.landing import LandingVerdict
from descheduler.plan.decisions import Decisions
from descheduler.plan.moves import Move
from descheduler.policy.plugin_faults import MOST_TEXT
from descheduler.report.plan import document
from descheduler.report.plan.file import MoveBasis

DecideOn = Callable[[Sequence[Move]], Decisions]
"""Decides on exactly these moves, over the snapshot of the run."""


def still_valid(
    plan: PlanToApply,
    snapshot: Snapshot,
    decide_on: DecideOn,
    selection: Reselection | None = None,
    kept_cordoned: Collection[str] = (),
) -> tuple[tuple[Move, ...], tuple[str, ...]]:
    """The moves that still hold, all together, and a sentence for each that is left out.

    Every move is compared with `snapshot`, the plugins are asked by `selection` whether they still select its pod, if
    at all, and those that are left are judged together; what fails is taken out and the rest is judged again. A
    cordon is no change of the nodes that are `kept_cordoned` by the run itself. Raises PlanRefusedError when a move has
    changed and none may be left out, when no move is left, and when those that are left cannot be scheduled together.
    """
    pods = {pod.uid: pod for pod in snapshot.pods}
    bases = {basis.uid: basis for basis in plan.file.bases}
    moves = {move.pod.uid: move for move in plan.file.plan.moves}
    changes = dict(changes_of(plan, snapshot, kept_cordoned))
    if selection is not None:
        unchanged = [_chosen(move, bases[uid].bundle, pods) for uid, move in moves.items() if uid not in changes]
        changes |= {uid: f"{_name(moves[uid])}: {text}" for uid, text in selection.against(unchanged, plan.file)}
    while True:
        gone = _with_bundles(changes, bases)
        left = [_chosen(move, bases[uid].bundle, pods) for uid, move in moves.items() if uid not in gone]
        if changes and (not plan.allows_partial or not left):
            raise refused(list(changes.values()), can_leave_out=bool(left))
        decisions = decide_on(left)
        found = dict(_objections(decisions, left, moves))
        if not found:
            break
        changes |= found
    _check_together(decisions)
    return tuple(left), tuple(f"left out of the plan: {text}" for text in shortened(list(changes.values())))


def _with_bundles(changes: Collection[str], bases: Mapping[str, MoveBasis]) -> set[str]:
    """The pods that changed, and those that leave only together with them."""
    bundles = {bases[uid].bundle for uid in changes if uid in bases} - {0}
    return {*changes, *(uid for uid, basis in bases.items() if basis.bundle in bundles)}


def _chosen(move: document.PlanMove, bundle: int, pods: Mapping[str, Pod]) -> Move:
    """A move of the file, about `pods` by UID. The room of a pod that is not among them is not waited for."""
    return Move(
        pods[move.pod.uid],
        move.profile,
        move.plugin,
        clipped(move.reason, MOST_TEXT),
        bundle=bundle,
        wave=move.wave,
        cost=move.cost,
        held_on=(move.to_node if move.holds_target else None) or "",
        rooms=tuple(HeldRoom(pods[room.pod.uid], room.node) for room in move.room_for if room.pod.uid in pods),
    )


def _objections(
    decisions: Decisions, chosen: Sequence[Move], moves: Mapping[str, document.PlanMove]
) -> Iterator[tuple[str, str]]:
    """What judging the moves together has against each."""
    granted = {move.pod.uid: move for move in decisions.leaving}
    refusals = {refusal.pod.uid: refusal.verdict.message for refusal in decisions.refusals}
    for each in chosen:
        uid = each.pod.uid
        name, move, planned = _name(moves[uid]), granted.get(uid), moves[uid].landing
        if move is None:
            yield uid, f"{name}: {decisions.skipped or refusals.get(uid) or 'is not evicted any more'}"
        elif (
            move.landing is not None
            and move.landing.verdict is LandingVerdict.NO
            and (planned is None or planned.verdict != LandingVerdict.NO.value)
        ):
            yield uid, f"{name}: its replacement can no longer be scheduled: {move.landing.message}"
    asked = {each.pod.uid for each in chosen}
    for uid, move in granted.items():
        if uid not in asked:
            mates = [mate.pod.uid for mate in decisions.leaving if mate.bundle == move.bundle and mate.pod.uid in asked]
            text = f"pod {move.pod.key} would have to leave too, which is not in the plan"
            yield from ((mate, text) for mate in mates)


def _name(move: document.PlanMove) -> str:
    return f"pod {move.pod.namespace}/{move.pod.name}"


def _check_together(decisions: Decisions) -> None:
    together = decisions.together
    if together is not None and together.verdict is LandingVerdict.NO:
        raise refused(["the replacements can no longer be scheduled all together"])
