"""What an operator of MigrationController has to know about how this version evicts."""

from __future__ import annotations

from collections.abc import Iterator

from descheduler.eviction.migration_controller import MigrationControllerArgs
from descheduler.policy.types import Policy

__all__ = ["migration_controllers", "migration_notes"]


def migration_controllers(policy: Policy) -> list[MigrationControllerArgs]:
    """Arguments of the profiles whose evictions go through MigrationController."""
    evictors = (profile.args[name] for profile in policy.profiles for name in profile.evict)
    return [args for args in evictors if isinstance(args, MigrationControllerArgs)]


def migration_notes(policy: Policy) -> tuple[str, ...]:
    """One sentence for each promise of the arguments that is not kept yet, without repetition."""
    return tuple(dict.fromkeys(note for args in migration_controllers(policy) for note in _notes(args)))


def _notes(args: MigrationControllerArgs) -> Iterator[str]:
    if args.default_job_mode == "ReservationFirst":
        yield "MigrationController evicts directly: ReservationFirst is not held yet, so no room is reserved beforehand"
    if args.eviction_policy != "Eviction":
        yield f"evictionPolicy {args.eviction_policy} is not used: pods always leave through the eviction API"
