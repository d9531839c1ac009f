"""Workloads that runs have moved a short while ago, and pods that no other node can ever take (`moveHistory`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from descheduler.cluster.snapshot import Snapshot
from descheduler.eviction.migration_controller.args import MoveHistoryArgs
from descheduler.eviction.migration_controller.profiles import history_args
from descheduler.eviction.migration_controller.workloads import WorkloadIds, Workloads
from descheduler.eviction.placement_verification.landing_book import LandingBook
from descheduler.eviction.placement_verification.placement_verification import REFUSE, verification_args
from descheduler.eviction.placement_verification.scheduling_settings import SchedulingSettings
from descheduler.eviction.request_check import PodByPod
from descheduler.eviction.undo import NOTHING_DONE, Undo
from descheduler.model.pod import Pod
from descheduler.model.text.counted import counted
from descheduler.model.text.duration import format_duration
from descheduler.model.text.numbers import share_of
from descheduler.model.verdict import ACCEPTED, Reason, Verdict, refuse
from descheduler.plan.bundles import Bundle, Candidate
from descheduler.plan.moves import Move
from descheduler.plan.recent_moves import RecentMove, RecentMoves
from descheduler.policy.types import Profile


class MoveHistoryCheck(PodByPod):
    """Lets a workload rest after a move, and moves it no more often than `maxMovesPerWindow`.

    `cooldown` is counted between runs: how many pods of a workload may leave in one run others say. Moves of this run
    count in the window.
    """

    def __init__(self, profiles: Sequence[Profile], snapshot: Snapshot, history: RecentMoves, now: datetime) -> None:
        self._args = {index: args for index, profile in enumerate(profiles) if (args := history_args(profile))}
        self._ids = WorkloadIds(snapshot)
        self._workloads = Workloads(snapshot)
        self._history = history
        self._shard = snapshot.shard
        self._now = now
        self._moved: Counter[str] = Counter()

    def may_go(self, candidate: Candidate, bundle: Bundle) -> Verdict:
        """Whether the pod's workload has rested long enough, and has a move left."""
        args = self._args.get(bundle.profile_index)
        if args is None:
            return ACCEPTED
        workload = self._ids.of(candidate.pod)
        moves = self._history.of(workload, since=self._now - args.window)
        if moves and (verdict := self._cooling(args, moves[-1])) is not None:
            return verdict
        num_moves, written = len(moves) + self._moved[workload.key], args.max_moves_per_window
        if written is None:
            return ACCEPTED
        # Each shard remembers its own moves, so that it has the same share in every run.
        most = self._shard.lasting_share(share_of(written, self._workloads.replicas_of(candidate.pod)), workload.key)
        if num_moves < most:
            return ACCEPTED
        shown = most if isinstance(written, int) else f"{written}: {most}"
        message = (
            f"maxMovesPerWindow ({shown}) reached for {workload}: {counted(num_moves, 'move')}"
            f" within {format_duration(args.window)} (window)"
        )
        return refuse(Reason.MOVES_PER_WINDOW, message, str(workload))

    def take(self, candidate: Candidate, bundle: Bundle) -> Undo:
        """Counts the move, of whichever profile."""
        return self._count(candidate.pod)

    def adopt(self, moves: Sequence[Move]) -> None:
        """Counts what earlier rounds have moved."""
        for move in moves:
            self._count(move.pod)

    def _cooling(self, args: MoveHistoryArgs, last: RecentMove) -> Verdict | None:
        ends = last.at + args.cooldown
        if ends <= self._now:
            return None
        message = (
            f"{last.workload} lost a pod to an eviction at {_shown(last.at)};"
            f" cooldown ({format_duration(args.cooldown)}) ends at {_shown(ends)}"
        )
        return refuse(Reason.COOLDOWN, message, str(last.workload))

    def _count(self, pod: Pod) -> Undo:
        if not self._args:
            return NOTHING_DONE
        key = self._ids.of(pod).key
        self._moved[key] += 1
        return lambda: self._moved.subtract([key])


class ReturnCheck(PodByPod):
    """Refuses a move back to the node that the pod's predecessor was evicted from (`refuseReturn`).

    The landing has to be known: by PlacementVerification, whose answer is at hand, or by the plugin's target.
    """

    def __init__(
        self,
        profiles: Sequence[Profile],
        snapshot: Snapshot,
        history: RecentMoves,
        landings: LandingBook,
        now: datetime,
    ) -> None:
        self._args = _returning(profiles)
        self._verifying = _verifying(profiles, landings)
        self._ids = WorkloadIds(snapshot)
        self._history = history
        self._landings = landings
        self._now = now

    def may_go(self, candidate: Candidate, bundle: Bundle) -> Verdict:
        """Whether the pod goes somewhere new."""
        args = self._args.get(bundle.profile_index)
        if args is None:
            return ACCEPTED
        pod = candidate.pod
        moves = self._history.of(self._ids.of(pod), since=self._now - args.window)
        before = [move for move in moves if move.target in ("", pod.node_name) and move.source != pod.node_name]
        if not before:
            return ACCEPTED
        node = candidate.target_node or self._landing(pod, bundle)
        return next((_ping_pong(move, args) for move in reversed(before) if move.source == node), ACCEPTED)

    def _landing(self, pod: Pod, bundle: Bundle) -> str:
        """Where the replacement is certain to go, "" where that is not known."""
        verifying = self._verifying.get(bundle.profile_index)
        if verifying is None:
            return ""
        settings, only_proven = verifying
        mates = bundle.pods if len(bundle.candidates) > 1 else ()
        landing = self._landings.consider(pod, settings, only_proven=only_proven, mates=mates)
        return "" if landing.cause or landing.node is None else landing.node


def _returning(profiles: Sequence[Profile]) -> Mapping[int, MoveHistoryArgs]:
    found = ((index, history_args(profile)) for index, profile in enumerate(profiles))
    return {index: args for index, args in found if args is not None and args.refuse_return}


def _verifying(profiles: Iterable[Profile], landings: LandingBook) -> Mapping[int, tuple[SchedulingSettings, bool]]:
    """Who places what comes after the evictions of a profile, and whether only a proof counts, as LandingCheck asks."""
    pairs = enumerate(zip(profiles, landings.scheduling, strict=False))
    found = ((index, verification_args(profile), settings) for index, (profile, (_, settings)) in pairs)
    return {
        index: (settings, args.on_unknown == REFUSE)
        for index, args, settings in found
        if args is not None and settings is not None
    }


def _ping_pong(move: RecentMove, args: MoveHistoryArgs) -> Verdict:
    message = (
        f"the replacement pod would be scheduled onto {move.source}, from which a pod of {move.workload} was evicted"
        f" at {_shown(move.at)} (refuseReturn: true, window: {format_duration(args.window)})"
    )
    return refuse(Reason.PING_PONG, message, move.source)


def _shown(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M} UTC"
