"""The checks of every request, in the order in which they are asked, and the evictor that asks them.

The first refusal is the one that is told.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from descheduler.eviction.background import Answers, BackgroundEvictions
from descheduler.eviction.checks.budgets import BudgetCheck
from descheduler.eviction.checks.deleted_claims import DeletedClaimCheck
from descheduler.eviction.checks.gangs import GangCheck
from descheduler.eviction.checks.known_answers import KnownAnswerCheck, StoredPodCheck
from descheduler.eviction.checks.limits import LimitCheck, limits_of
from descheduler.eviction.checks.move_history import MoveHistoryCheck, ReturnCheck
from descheduler.eviction.checks.resource_quotas import ResourceQuotaCheck
from descheduler.eviction.checks.scope import EVERYWHERE, Scope, ScopeCheck
from descheduler.eviction.checks.shard import ShardCheck, divided
from descheduler.eviction.checks.too_large import TooLargeCheck
from descheduler.eviction.checks.volcano import PodGroupPhaseCheck, PreemptableCheck, QueueStateCheck, TaskCooldownCheck
from descheduler.eviction.checks.volcano_jobs import JobBudgetCheck, LifecycleCheck
from descheduler.eviction.evictor import Evictor
from descheduler.eviction.handle import Handle
from descheduler.eviction.migration_controller.migration_controller import MigrationGate
from descheduler.eviction.migration_controller.schedules import TimeWindowCheck
from descheduler.eviction.migration_controller.surging_pods import SurgingPods
from descheduler.eviction.placement_verification.in_any_order import NOTHING_HELD_BACK, HeldBack, OrderCheck
from descheduler.eviction.placement_verification.landing_book import LandingBook
from descheduler.eviction.placement_verification.landing_check import LandingCheck
from descheduler.eviction.placement_verification.placement_verification import scheduling_by_profile
from descheduler.eviction.request_check import RequestCheck
from descheduler.plan.moves import Move
from descheduler.plan.recent_moves import NO_MOVES, RecentMoves


class CheckContext(msgspec.Struct, frozen=True):
    """What checks are made from: the cycle, and what this run keeps account of."""

    handle: Handle
    scope: Scope
    background: BackgroundEvictions
    landings: LandingBook
    recent_moves: RecentMoves = NO_MOVES
    """What earlier runs have moved."""
    evicted_before: Sequence[Move] = ()
    """What this run has evicted before its snapshot was taken, for jobs of users: only limits have to know of it."""
    held_back: HeldBack = NOTHING_HELD_BACK
    """What stays because of the order of the replacements."""


MakeCheck = Callable[[CheckContext], RequestCheck]
"""A row: makes the check for one run."""


def _charged(check: RequestCheck, run: CheckContext) -> RequestCheck:
    """`check`, which has counted what was evicted before the snapshot."""
    check.adopt(run.evicted_before)
    return check


def _surging(run: CheckContext) -> SurgingPods:
    return SurgingPods(run.handle.policy.profiles, run.handle.view.snapshot)


REQUEST_CHECKS: tuple[MakeCheck, ...] = (
    lambda run: ScopeCheck(run.scope),
    lambda run: ShardCheck(run.handle.policy.profiles, run.handle.view.snapshot),
    lambda run: TimeWindowCheck(run.handle.policy.profiles, run.handle.now),
    lambda run: _charged(MigrationGate(run.handle.policy.profiles, run.handle), run),
    lambda run: _charged(
        MoveHistoryCheck(run.handle.policy.profiles, run.handle.view.snapshot, run.recent_moves, run.handle.now), run
    ),
    lambda run: TooLargeCheck(run.handle.policy.profiles, run.handle.view.snapshot),
    lambda run: StoredPodCheck(),
    lambda run: _charged(LimitCheck(limits_of(run.handle.policy, run.handle.view.snapshot), run.background), run),
    lambda run: KnownAnswerCheck(run.handle.view.snapshot, run.background),
    lambda run: BudgetCheck(run.handle.view.snapshot, run.background, _surging(run)),
    lambda run: ResourceQuotaCheck(run.handle.policy.profiles, run.handle.view.snapshot, _surging(run)),
    lambda run: DeletedClaimCheck(run.handle.policy.profiles, run.handle.view.snapshot),
    lambda run: PreemptableCheck(run.handle.policy.profiles, run.handle.view.snapshot),
    lambda run: TaskCooldownCheck(run.handle.policy.profiles, run.handle.view.snapshot, run.handle.now),
    lambda run: PodGroupPhaseCheck(run.handle.policy.profiles, run.handle.view.snapshot),
    lambda run: QueueStateCheck(run.handle.policy.profiles, run.handle.view.snapshot),
    lambda run: LifecycleCheck(run.handle.policy.profiles, run.handle.view.snapshot),
    lambda run: JobBudgetCheck(run.handle.policy.profiles, run.handle.view.snapshot, run.background),
    lambda run: GangCheck(run.handle.policy.profiles, run.handle.view.snapshot, run.background),
    lambda run: LandingCheck(run.handle.policy.profiles, run.landings, run.background),
    lambda run: ReturnCheck(
        run.handle.policy.profiles, run.handle.view.snapshot, run.recent_moves, run.landings, run.handle.now
    ),
    lambda run: OrderCheck(run.handle.policy.profiles, run.held_back),
)
"""Cheap ones first; a proof of landing is dear and comes last, with what asks for its answer."""


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
