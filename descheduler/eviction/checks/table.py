"""The checks of every request, in the order in which they are asked; the first refusal is the one that is told."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from descheduler.eviction.background import BackgroundEvictions
from descheduler.eviction.checks.budgets import BudgetCheck
from descheduler.eviction.checks.deleted_claims import DeletedClaimCheck
from descheduler.eviction.checks.gangs import GangCheck
from descheduler.eviction.checks.known_answers import KnownAnswerCheck
from descheduler.eviction.checks.limits import LimitCheck, limits_of
from descheduler.eviction.checks.move_history import MoveHistoryCheck, ReturnCheck
from descheduler.eviction.checks.resource_quotas import ResourceQuotaCheck
from descheduler.eviction.checks.scope import Scope, ScopeCheck
from descheduler.eviction.checks.shard import ShardCheck
from descheduler.eviction.checks.stored_pods import StoredPodCheck
from descheduler.eviction.checks.time_windows import TimeWindowCheck
from descheduler.eviction.checks.too_large import TooLargeCheck
from descheduler.eviction.checks.volcano import (
    PodGroupPhaseCheck,
    PreemptableCheck,
    QueueStateCheck,
    TaskCooldownCheck,
)
from descheduler.eviction.checks.volcano_jobs import JobBudgetCheck, LifecycleCheck
from descheduler.eviction.handle import Handle
from descheduler.eviction.migration_controller.gate import MigrationGate
from descheduler.eviction.migration_controller.surging_pods import SurgingPods
from descheduler.eviction.placement_verification.in_any_order import NOTHING_HELD_BACK, HeldBack
from descheduler.eviction.placement_verification.landing_book import LandingBook
from descheduler.eviction.placement_verification.landing_check import LandingCheck
from descheduler.eviction.placement_verification.order_check import OrderCheck
from descheduler.eviction.request_check import RequestCheck
from descheduler.plan.moves import Move
from descheduler.plan.recent_moves import NO_MOVES, RecentMoves

__all__ = ["REQUEST_CHECKS", "CheckContext", "MakeCheck"]


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
    lambda run: TaskCooldownCheck(run.handle.policy.profiles, run.handle.now),
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
