"""The evictor's own note in the memory of runs: read before it is made, written from what became of its grants."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from descheduler.cycle.options import RunResult
from descheduler.eviction.migration_controller.profiles import history_args
from descheduler.eviction.migration_controller.workloads import WorkloadIds
from descheduler.plan.decisions import Decisions
from descheduler.plan.moves import Move
from descheduler.plan.outcome import Outcome
from descheduler.plan.recent_moves import NO_MOVES, RECENT_MOVES_KEY, RecentMove, RecentMoves, RecentMovesError
from descheduler.plan.run_memory import RunMemory
from descheduler.policy.types import Policy


def longest_window(policy: Policy) -> timedelta | None:
    """How long the moves of a run matter to some profile; None where none has a `moveHistory`."""
    windows = (args.window for profile in policy.profiles if (args := history_args(profile)) is not None)
    return max(windows, default=None)


def moves_in(memory: RunMemory, policy: Policy) -> tuple[RecentMoves, tuple[str, ...]]:
    """What earlier runs have moved, as far as `policy` asks for it, and a sentence where that is not known."""
    if longest_window(policy) is None:
        return NO_MOVES, ()
    note = memory.of(RECENT_MOVES_KEY)
    if note.missing:
        return NO_MOVES, (f"evictions of earlier runs do not count for moveHistory: {note.missing}",)
    try:
        return RecentMoves.decoded(note.note), ()
    except RecentMovesError as error:
        return NO_MOVES, (f"evictions of earlier runs do not count for moveHistory, the memory of them: {error}",)


def with_moves(memory: RunMemory, policy: Policy, result: RunResult, ended_at: datetime) -> RunMemory:
    """`memory` with the moves of a live run that ended at `ended_at`, as far as a later run of `policy` asks for them.

    A move is as old as the end of its run: of a long run the last one would have rested too short a time else.
    """
    keep = longest_window(policy)
    if keep is None:
        return memory
    known, _ = moves_in(memory, policy)
    after = known.after(ended_at, _moves_of(result, ended_at), keep=keep)
    return memory.after(ended_at, {RECENT_MOVES_KEY: after.encoded()})


def _moves_of(result: RunResult, at: datetime) -> Iterator[RecentMove]:
    """Of everything that left, or may have left; what another controller evicts included."""
    decisions = result.decisions
    ids = WorkloadIds(decisions.snapshot)
    pods = {move.pod.uid: move.pod for move in _asked(decisions)}
    pods |= {move.pod.uid: move.pod for move in result.evicted_for_users}
    for outcome in result.all_outcomes:
        pod = pods.get(outcome.eviction.uid)
        if outcome.kind.uses_limits and pod is not None:
            yield RecentMove(ids.of(pod), outcome.eviction.node, _target(outcome), at, outcome.code.value)


def _asked(decisions: Decisions) -> Iterator[Move]:
    yield from decisions.moves
    yield from decisions.background


def _target(outcome: Outcome) -> str:
    """Where the replacement was seen ready, else where it was certain to go."""
    landing = outcome.eviction.landing
    predicted = "" if landing is None or landing.cause else landing.node
    return outcome.landed_on or predicted or ""
