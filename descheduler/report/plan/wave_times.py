"""The part of a plan about its waves: how many pods each evicts, and how long that takes by pace and grace periods."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from descheduler.documents.fields import Fields
from descheduler.eviction.migration_controller.args import MigrationControllerArgs
from descheduler.eviction.migration_controller.profiles import migration_controllers
from descheduler.plan.moves import Move
from descheduler.policy.types import DEFAULT_BURST, DEFAULT_QPS, Policy


class PlannedWave(Fields, frozen=True):
    """One wave of `moves`. It evicts `pods`, the last of which is gone after `seconds` if each uses its whole grace
    period: `pace_seconds` until the last eviction by the pace of the policy, and `grace_seconds` of the pods that are
    evicted one after the other. How long replacements need to start is not in it."""

    wave: int
    pods: int
    pace_seconds: float
    grace_seconds: int
    seconds: float


def planned_waves(policy: Policy, leaving: Iterable[Move]) -> tuple[PlannedWave, ...]:
    """The waves of the moves, in order. Where a policy keeps waves, pods of one workload leave one after the other."""
    waves: dict[int, list[Move]] = {}
    for move in leaving:
        waves.setdefault(move.wave, []).append(move)
    controllers = migration_controllers(policy)
    return tuple(_wave(policy, controllers, number, waves[number]) for number in sorted(waves))


Controllers = Mapping[str, MigrationControllerArgs]


def _wave(policy: Policy, controllers: Controllers, number: int, moves: Sequence[Move]) -> PlannedWave:
    pace, grace = _pace_seconds(policy, controllers, moves), _grace_seconds(policy, controllers, moves)
    return PlannedWave(
        wave=number, pods=len(moves), pace_seconds=round(pace, 1), grace_seconds=grace, seconds=round(pace + grace, 1)
    )


def _pace_seconds(policy: Policy, controllers: Controllers, moves: Sequence[Move]) -> float:
    """Every MigrationController has a pace of its own; the other profiles share one."""
    own = Counter(move.profile if move.profile in controllers else "" for move in moves)
    seconds = [0.0]
    for profile, number in own.items():
        args = controllers.get(profile)
        qps = float((args.evict_qps if args is not None else None) or 0) or policy.client_qps or DEFAULT_QPS
        burst = policy.client_burst or DEFAULT_BURST if args is None else args.evict_burst or 1
        seconds.append(max(0, number - burst) / qps)
    return max(seconds)


def _grace_seconds(policy: Policy, controllers: Controllers, moves: Sequence[Move]) -> int:
    """Of the pods that end last: of one workload together where they leave one after the other."""
    seconds = Counter[str]()
    for move in moves:
        owner = move.pod.controller
        alone = not policy.evicts_in_waves or owner is None or bool(move.bundle)
        seconds[move.pod.key if alone else str(owner and owner.uid)] += _grace_period(policy, controllers, move)
    return max(seconds.values(), default=0)


def _grace_period(policy: Policy, controllers: Controllers, move: Move) -> int:
    """What goes with each eviction by the policy, else the grace period of the pod; 0 for one that has finished."""
    if move.pod.is_terminal:
        return 0
    args = controllers.get(move.profile)
    options = None if args is None else args.default_delete_options
    stated = None if options is None else options.grace_period_seconds
    stated = policy.grace_period_seconds if stated is None else stated
    return move.pod.spec.grace_period_seconds if stated is None else stated
