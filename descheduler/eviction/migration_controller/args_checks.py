"""What is wrong with arguments of MigrationController."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import timedelta

from descheduler.documents.problems import did_you_mean, shown
from descheduler.eviction.migration_controller.args import (
    EVICTION_GATES,
    EVICTION_POLICIES,
    JOB_MODES,
    RESERVATION_PROVIDERS,
    SINGLE_REPLICAS,
    GuardArgs,
    MigrationControllerArgs,
    MigrationObjectLimiter,
    MoveHistoryArgs,
    TimeWindowArgs,
)
from descheduler.eviction.migration_controller.room_provider import RoomProvider
from descheduler.eviction.migration_controller.schedules import zone_named
from descheduler.model.text.duration import format_duration
from descheduler.model.time_windows import LONGEST_WINDOW, parse_cron
from descheduler.policy.plugin import ArgsProblem
from descheduler.policy.shared_args import check_in, check_int_or_percent, check_namespaces, check_selector

_LIMITED_OBJECTS = ("workload", "namespace")
_LONGEST_WINDOW = timedelta(days=7)
"""As long as the memory of runs keeps a note."""
_PERCENT = re.compile(r"[+-]?[0-9]{1,9}%\Z")


def validate_args(args: MigrationControllerArgs) -> list[ArgsProblem]:
    """Problems of `args` as they are after `default_args`."""
    return [
        *check_namespaces(args.namespaces),
        *check_selector("labelSelector", args.label_selector),
        *check_in("skipEvictionGates", args.skip_eviction_gates, EVICTION_GATES),
        *_check_counts(args),
        *_check_pace(args),
        *_check_choice("defaultJobMode", args.default_job_mode, JOB_MODES),
        *_check_choice("evictionPolicy", args.eviction_policy, EVICTION_POLICIES),
        *check_in("allowedEvictionPolicies", args.allowed_eviction_policies, EVICTION_POLICIES),
        *_check_choice_if_given("reservationProvider", args.reservation_provider, RESERVATION_PROVIDERS),
        *_check_choice_if_given("singleReplicas", args.single_replicas, SINGLE_REPLICAS),
        *_check_surge(args),
        *_check_limiters(args.object_limiters),
        *_check_history(args.move_history),
        *_check_times("windows", args.windows),
        *_check_times("blackouts", args.blackouts),
        *_check_guards(args.guards),
    ]


def _check_guards(guards: GuardArgs) -> list[ArgsProblem]:
    problems = [
        *_check_guard_share(("guards", "maxNotReadyNodes"), guards.max_not_ready_nodes),
        *_check_guard_share(("guards", "maxAPIErrorRate"), guards.max_api_error_rate),
    ]
    path, most = ("guards", "maxPendingPodsIncrease"), guards.max_pending_pods_increase
    problems += check_int_or_percent(path, most)
    if isinstance(most, int) and most < 0:
        problems.append(ArgsProblem(path, f"{most} is below 0"))
    if guards.interval < timedelta(seconds=1):
        problems.append(ArgsProblem(("guards", "interval"), f"{format_duration(guards.interval)} is below 1s"))
    return problems


def _check_guard_share(path: tuple[str, ...], share: int | str) -> list[ArgsProblem]:
    problems = _check_share(path, share)
    if not problems and isinstance(share, str) and int(share.removesuffix("%")) > 100:
        problems.append(ArgsProblem(path, f"{share} is above 100%; use 100% to switch the guard off"))
    return problems


def _check_choice(field: str, value: str, allowed: tuple[str, ...]) -> list[ArgsProblem]:
    if value in allowed:
        return []
    message = f"{shown(value)} is not one of {', '.join(allowed)}{did_you_mean(value, allowed)}"
    return [ArgsProblem((field,), message)]


def _check_choice_if_given(field: str, value: str, allowed: tuple[str, ...]) -> list[ArgsProblem]:
    return _check_choice(field, value, allowed) if value else []


def _check_surge(args: MigrationControllerArgs) -> list[ArgsProblem]:
    """Where no room is held pods would leave without a second one, past checks that count on it."""
    if not args.surges:
        return []
    problems = []
    if args.reservation_provider in ("", *(each.value for each in RoomProvider if not each.holds_room)):
        holding = " or ".join(each.value for each in RoomProvider if each.holds_room)
        message = f"Surge needs reservationProvider {holding} (now {args.reservation_provider or 'unset'})"
        problems.append(ArgsProblem(("singleReplicas",), message))
    if args.default_job_mode == "EvictDirectly":
        message = "Surge needs defaultJobMode ReservationFirst (now EvictDirectly)"
        problems.append(ArgsProblem(("singleReplicas",), message))
    if args.eviction_policy != EVICTION_POLICIES[0]:
        message = f"Surge needs evictionPolicy {EVICTION_POLICIES[0]} (now {args.eviction_policy})"
        problems.append(ArgsProblem(("singleReplicas",), message))
    return problems


def _check_counts(args: MigrationControllerArgs) -> list[ArgsProblem]:
    least = {
        "maxMigratingGlobally": (args.max_migrating_globally, 0),
        "maxMigratingPerNode": (args.max_migrating_per_node, 0),
        "maxMigratingPerNamespace": (args.max_migrating_per_namespace, 0),
        "maxConcurrentReconciles": (args.max_concurrent_reconciles, 1),
        "evictBurst": (args.evict_burst, 1),
    }
    return [
        *(
            ArgsProblem((field,), f"{count} is below {bound}")
            for field, (count, bound) in least.items()
            if isinstance(count, int) and count < bound
        ),
        *(problem for field, (count, _) in least.items() for problem in check_int_or_percent((field,), count)),
        *_check_share(("maxMigratingPerWorkload",), args.max_migrating_per_workload),
        *_check_share(("maxUnavailablePerWorkload",), args.max_unavailable_per_workload),
    ]


def _check_share(path: tuple[str, ...], share: int | str | None) -> list[ArgsProblem]:
    """Problems of a count or percentage; Kubernetes' `intstr` wants the percent sign in every string."""
    if share is None:
        return []
    if isinstance(share, str) and not _PERCENT.match(share):
        return [ArgsProblem(path, f"{share!r} is neither a number nor a percentage such as '10%'")]
    number = int(share.removesuffix("%")) if isinstance(share, str) else share
    return [ArgsProblem(path, f"{share} is below 0")] if number < 0 else []


def _check_pace(args: MigrationControllerArgs) -> list[ArgsProblem]:
    problems = []
    if args.evict_qps is not None:
        try:
            rate = float(args.evict_qps)
        except ValueError:
            rate = math.nan
        if not 0 < rate < math.inf:
            message = f"{args.evict_qps!r} is not a number above 0 (evictions per second)"
            problems.append(ArgsProblem(("evictQPS",), message))
    if args.default_job_ttl is not None and args.default_job_ttl < timedelta(0):
        problems.append(ArgsProblem(("defaultJobTTL",), "is negative; use 0 for no time limit"))
    return problems


def _check_limiters(limiters: Mapping[str, MigrationObjectLimiter]) -> list[ArgsProblem]:
    problems = []
    for name, limiter in sorted(limiters.items()):
        path = ("objectLimiters", name)
        if name not in _LIMITED_OBJECTS:
            problems.append(ArgsProblem(path, f"{name!r} is not one of {', '.join(_LIMITED_OBJECTS)}"))
        problems += _check_share((*path, "maxMigrating"), limiter.max_migrating)
        problems += check_int_or_percent((*path, "burst"), limiter.burst)
    return problems


def _check_history(history: MoveHistoryArgs | None) -> list[ArgsProblem]:
    if history is None:
        return []
    problems = []
    window, cooldown = format_duration(history.window), format_duration(history.cooldown)
    if not timedelta(0) < history.window <= _LONGEST_WINDOW:
        problems.append(ArgsProblem(("moveHistory", "window"), f"{window} is not above 0 and at most 168h"))
    elif history.cooldown < timedelta(0):
        problems.append(ArgsProblem(("moveHistory", "cooldown"), f"{cooldown} is below 0; use 0s for none"))
    elif history.cooldown > history.window:
        problems.append(ArgsProblem(("moveHistory", "cooldown"), f"{cooldown} is longer than window ({window})"))
    path, most = ("moveHistory", "maxMovesPerWindow"), history.max_moves_per_window
    if isinstance(most, int) and most < 1:
        problems.append(ArgsProblem(path, f"{most} is below 1; leave it out for no limit"))
    return [*problems, *check_int_or_percent(path, most)]


def _check_times(field: str, windows: Sequence[TimeWindowArgs]) -> Iterator[ArgsProblem]:
    for index, window in enumerate(windows):
        yield from _check_text((field, index, "cron"), parse_cron, window.cron)
        yield from _check_text((field, index, "timeZone"), zone_named, window.time_zone)
        if not timedelta(0) < window.duration <= LONGEST_WINDOW:
            hint = "" if window.duration else "; write how long it lasts, such as 8h"
            message = f"{format_duration(window.duration)} is not above 0 and at most 168h{hint}"
            yield ArgsProblem((field, index, "duration"), message)


def _check_text(path: tuple[str | int, ...], parse: Callable[[str], object], text: str) -> Iterator[ArgsProblem]:
    """The problem of a text that cannot be read."""
    try:
        parse(text)
    except ValueError as error:
        yield ArgsProblem(path, str(error))
