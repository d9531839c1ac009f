"""Puts the evictor of a run together: what it keeps account of, and the checks of the table."""

from __future__ import annotations

from collections.abc import Sequence

from descheduler.eviction.answers import Answers
from descheduler.eviction.background import BackgroundEvictions
from descheduler.eviction.checks.scope import EVERYWHERE, Scope
from descheduler.eviction.checks.shard import divided
from descheduler.eviction.checks.table import REQUEST_CHECKS, CheckContext, MakeCheck
from descheduler.eviction.evictor import Evictor
from descheduler.eviction.handle import Handle
from descheduler.eviction.placement_verification.in_any_order import NOTHING_HELD_BACK, HeldBack
from descheduler.eviction.placement_verification.landing_book import LandingBook
from descheduler.eviction.placement_verification.placement_verification import scheduling_by_profile
from descheduler.plan.moves import Move
from descheduler.plan.recent_moves import NO_MOVES, RecentMoves

__all__ = ["make_evictor"]


def make_evictor(
    handle: Handle,
    *,
    answers: Answers | None = None,
    evictions_in_background: bool = False,
    scope: Scope = EVERYWHERE,
    checks: Sequence[MakeCheck] = REQUEST_CHECKS,
    recent_moves: RecentMoves = NO_MOVES,
    evicted_before: Sequence[Move] = (),
    held_back: HeldBack = NOTHING_HELD_BACK,
) -> Evictor:
    """The evictor of one run of the handle's policy, which asks `checks` in this order.

    `answers` are refusals of the eviction API that are known beforehand, `recent_moves` the moves of earlier runs,
    `evicted_before` what this run has evicted before its snapshot was taken. What is `held_back` is refused.
    Raises PolicyError for a scheduler's configuration that makes no sense in the version of the cluster.
    """
    view, snapshot = handle.view, handle.view.snapshot
    landings = LandingBook(snapshot, scheduling_by_profile(handle.policy, snapshot.kube_version), handle.now)
    background = BackgroundEvictions(snapshot, answers, is_enabled=evictions_in_background)
    context = CheckContext(handle, scope, background, landings, recent_moves, evicted_before, held_back)
    return Evictor(
        view, [divided(make(context), snapshot.shard) for make in checks], background=background, landings=landings
    )
