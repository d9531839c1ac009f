"""From a policy and the flags of a run to the settings of its dispatcher."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

import msgspec

from descheduler.eviction.migration_controller.args import MigrationControllerArgs
from descheduler.eviction.migration_controller.profiles import migration_controllers
from descheduler.eviction.migration_controller.schedules import closings
from descheduler.migration.settings import ClosingTime, DispatchSettings, EvictionTerms, Pace
from descheduler.policy.types import DEFAULT_BURST, DEFAULT_QPS, Policy

_DEFAULT = Pace(qps=DEFAULT_QPS, burst=DEFAULT_BURST)


class PaceFlags(msgspec.Struct, frozen=True):
    """What the command line says of the pace; None leaves it to the policy."""

    qps: float | None = None
    burst: int | None = None


class RunStart(NamedTuple):
    """When a run began: as far as decisions go, in seconds of its monotonic clock, and this machine's time of day."""

    now: datetime
    at: float
    on: datetime


def dispatch_settings(
    policy: Policy,
    flags: PaceFlags,
    *,
    evictions_in_background: bool,
    effect_seconds: float,
    deadline: float | None,
    start: RunStart,
) -> DispatchSettings:
    """How the evictions of `policy` are carried out; `deadline` and `effect_seconds` as in `DispatchSettings`.

    Profiles with windows or blackouts evict nothing more some time after `start`.

    Without its limits, which a snapshot decides where they are percentages.

    The flags have the last word: a rate given there is that of the whole run. Else every MigrationController has its
    own pace, as each of Koordinator's has, and the other profiles share one.
    """
    return DispatchSettings(
        qps=flags.qps or policy.client_qps or _DEFAULT.qps,
        burst=flags.burst or (_least_burst(policy) if flags.qps else None) or policy.client_burst or _DEFAULT.burst,
        grace_period_seconds=policy.grace_period_seconds,
        evictions_in_background=evictions_in_background,
        effect_seconds=effect_seconds,
        deadline=deadline,
        terms=_terms(policy, flags, _closings(policy, start)),
    )


def _terms(policy: Policy, flags: PaceFlags, closings: Mapping[str, ClosingTime]) -> Mapping[str, EvictionTerms]:
    return {
        profile: EvictionTerms(
            grace_period_seconds=_grace_period(args),
            is_dry=args.dry_run,
            pace=None if flags.qps else _pace(args, flags),
            closing=closings.get(profile),
        )
        for profile, args in migration_controllers(policy).items()
    }


def _closings(policy: Policy, start: RunStart) -> Mapping[str, ClosingTime]:
    """When the profiles that may evict now may no longer, on both clocks of the run."""
    found = ((name, each.at - start.now, each.why) for name, each in closings(policy, start.now).items())
    return {name: ClosingTime(start.at + left.total_seconds(), start.on + left, why) for name, left, why in found}


def _least_burst(policy: Policy) -> int | None:
    return min((args.evict_burst or 1 for args in migration_controllers(policy).values()), default=None)


def _grace_period(args: MigrationControllerArgs) -> int | None:
    return None if args.default_delete_options is None else args.default_delete_options.grace_period_seconds


def _pace(args: MigrationControllerArgs, flags: PaceFlags) -> Pace:
    return Pace(qps=float(args.evict_qps or _DEFAULT.qps), burst=flags.burst or args.evict_burst or 1)
