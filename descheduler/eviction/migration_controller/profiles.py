"""Profiles that evict through MigrationController, and what operators have to know about how this version evicts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from descheduler.eviction.migration_controller.args import EVICTION_POLICIES, MigrationControllerArgs, MoveHistoryArgs
from descheduler.model.pod import Pod
from descheduler.model.text.counted import counted
from descheduler.plan.moves import Move
from descheduler.policy.types import Policy, Profile

__all__ = ["dry_profiles", "history_args", "is_dry", "migration_controllers", "migration_notes", "policy_label_notes"]


_POLICY_LABEL = "koordinator.sh/evict-policy"


def migration_controllers(policy: Policy) -> Mapping[str, MigrationControllerArgs]:
    """Arguments of the profiles whose evictions go through MigrationController, by the name of the profile."""
    evictors = ((profile.name, profile.args[name]) for profile in policy.profiles for name in profile.evict)
    return {profile: args for profile, args in evictors if isinstance(args, MigrationControllerArgs)}


def dry_profiles(policy: Policy) -> frozenset[str]:
    """Names of the profiles whose evictions are planned and not made."""
    return frozenset(profile for profile, args in migration_controllers(policy).items() if args.dry_run)


def history_args(profile: Profile) -> MoveHistoryArgs | None:
    """The `moveHistory` of the profile's MigrationController; None without one."""
    found = (profile.args[name] for name in profile.evict)
    all_args = (args.move_history for args in found if isinstance(args, MigrationControllerArgs))
    return next((args for args in all_args if args is not None), None)


def is_dry(policy: Policy) -> bool:
    """Whether the policy itself asks for a dry run: in its own field, or in the evict plugin of every profile."""
    dry = dry_profiles(policy)
    return policy.dry_run or (bool(dry) and all(profile.name in dry for profile in policy.profiles))


def migration_notes(policy: Policy) -> tuple[str, ...]:
    """One sentence for each argument that has no effect yet, and for each profile that is dry alone."""
    controllers = migration_controllers(policy)
    dry = () if is_dry(policy) else sorted(dry_profiles(policy))
    return (
        *dict.fromkeys(note for args in controllers.values() for note in _notes(args)),
        *(f"profile {name} evicts nothing (dryRun: true of MigrationController)" for name in dry),
    )


def policy_label_notes(policy: Policy, moves: Iterable[Move]) -> tuple[str, ...]:
    """One sentence if pods of `moves` ask by label for an eviction of another kind than all pods get."""
    profiles = migration_controllers(policy).keys()
    pods = {move.pod.uid for move in moves if move.profile in profiles and _asks_for_another_policy(move.pod)}
    if not pods:
        return ()
    number = counted(len(pods), "pod")
    return (f"label {_POLICY_LABEL} of {number} has no effect: pods are always evicted through the eviction API",)


def _asks_for_another_policy(pod: Pod) -> bool:
    """Of an unknown policy Koordinator takes the default one."""
    return pod.labels.get(_POLICY_LABEL) in set(EVICTION_POLICIES) - {"Eviction"}


def _notes(args: MigrationControllerArgs) -> Iterator[str]:
    if args.eviction_policy != "Eviction":
        yield f"evictionPolicy {args.eviction_policy} has no effect: pods are always evicted through the eviction API"
