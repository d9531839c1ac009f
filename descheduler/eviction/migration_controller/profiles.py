"""Profiles that evict through MigrationController, and what operators have to know about how their pods leave."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterator, Mapping, Sequence

from descheduler.cluster.snapshot import Snapshot
from descheduler.eviction.migration_controller.args import EVICTION_POLICIES, MigrationControllerArgs, MoveHistoryArgs
from descheduler.eviction.migration_controller.room_provider import RoomProvider
from descheduler.model.koordinator.eviction_annotations import EVICT_POLICY_LABEL
from descheduler.model.koordinator.migration_job import MIGRATION_JOB_KIND
from descheduler.model.pod import Pod
from descheduler.model.text.counted import counted
from descheduler.plan.moves import Move
from descheduler.policy.types import Policy, Profile

_NO_LABELS: Mapping[str, str] = {}
_API = "Eviction"
"""The policy that needs no job."""


def migration_controllers(policy: Policy) -> Mapping[str, MigrationControllerArgs]:
    """Arguments of the profiles whose evictions go through MigrationController, by the name of the profile."""
    return {
        profile.name: args
        for profile in policy.profiles
        for args in profile.args_of(MigrationControllerArgs, profile.evict)
    }


def dry_profiles(policy: Policy) -> frozenset[str]:
    """Names of the profiles whose evictions are planned and not made."""
    return frozenset(profile for profile, args in migration_controllers(policy).items() if args.dry_run)


def history_args(profile: Profile) -> MoveHistoryArgs | None:
    """The `moveHistory` of the profile's MigrationController; None without one."""
    found = (args.move_history for args in profile.args_of(MigrationControllerArgs, profile.evict))
    return next((args for args in found if args is not None), None)


def is_dry(policy: Policy) -> bool:
    """Whether the policy itself asks for a dry run: in its own field, or in the evict plugin of every profile."""
    dry = dry_profiles(policy)
    return policy.dry_run or (bool(dry) and all(profile.name in dry for profile in policy.profiles))


def migration_notes(policy: Policy) -> tuple[str, ...]:
    """One sentence for each profile that is dry alone, and for each limit that limits nothing."""
    dry = () if is_dry(policy) else sorted(dry_profiles(policy))
    return (
        *(f"profile {name} evicts nothing (dryRun: true of MigrationController)" for name in dry),
        *_limiter_notes(policy),
    )


def _limiter_notes(policy: Policy) -> Iterator[str]:
    for name, args in migration_controllers(policy).items():
        limiter = args.object_limiters.get("namespace")
        if limiter is not None and limiter.duration and isinstance(limiter.max_migrating, str):
            key = f"objectLimiters.namespace.maxMigrating ({limiter.max_migrating})"
            yield f"profile {name}: {key} limits nothing: only a number limits a namespace, as in Koordinator"


def eviction_policy_notes(policy: Policy, moves: Collection[Move], kinds: Container[str]) -> tuple[str, ...]:
    """What asks for another kind of eviction and does not get it: one sentence each.

    Jobs alone can have it, and labels choose only what `allowedEvictionPolicies` lists. `kinds` are the kinds that the
    cluster has, by their keys. Of `moves` the labels of the pods count.
    """
    controllers = migration_controllers(policy)
    without_jobs = {name: args for name, args in controllers.items() if not _evicts_by_jobs(args, kinds)}
    wanted = {
        f"evictionPolicy {args.eviction_policy}" for args in without_jobs.values() if args.eviction_policy != _API
    }
    pods = {move.pod.uid for move in moves if move.profile in without_jobs and _asks_for_another_policy(move.pod)}
    labelled = [f"label {EVICT_POLICY_LABEL} of {counted(len(pods), 'pod')}"] if pods else []
    with_jobs = controllers.keys() - without_jobs.keys()
    unheeded = {
        move.pod.uid: asked
        for move in moves
        if move.profile in with_jobs and (asked := unheeded_policy(controllers[move.profile], move.pod.labels))
    }
    return (
        *(f"{what} has no effect: {_WHY_NOT}" for what in (*sorted(wanted), *labelled)),
        *unheeded_notes(list(unheeded.values()), "pod"),
    )


def unheeded_policy(
    args: MigrationControllerArgs, pod_labels: Mapping[str, str], job_labels: Mapping[str, str] = _NO_LABELS
) -> str:
    """The eviction policy that a label asks for and that `args` do not allow; "" where there is none.

    Of an unknown policy Koordinator takes the default one.
    """
    asked = pod_labels.get(EVICT_POLICY_LABEL) or job_labels.get(EVICT_POLICY_LABEL) or ""
    is_heeded = asked in (args.eviction_policy, *args.allowed_eviction_policies)
    return "" if is_heeded or asked not in EVICTION_POLICIES else asked


def unheeded_notes(asked: Sequence[str], noun: str) -> Iterator[str]:
    """A sentence on so many labels that ask for these policies in vain; none where there are none."""
    if asked:
        policies = ", ".join(sorted(set(asked)))
        why = f"allowedEvictionPolicies of MigrationController does not list {policies}"
        yield f"label {EVICT_POLICY_LABEL} of {counted(len(asked), noun)} has no effect: {why}"


_WHY_NOT = "the cluster has no PodMigrationJobs, so pods are evicted through the eviction API"


def _evicts_by_jobs(args: MigrationControllerArgs, kinds: Container[str]) -> bool:
    provider = RoomProvider.named(args.reservation_provider)
    holds_room = provider is not None and provider.holds_room and not provider.needs_koordinator
    return (holds_room and args.default_job_mode != "EvictDirectly") or MIGRATION_JOB_KIND in kinds


def _asks_for_another_policy(pod: Pod) -> bool:
    """Of an unknown policy Koordinator takes the default one."""
    return pod.labels.get(EVICT_POLICY_LABEL) in set(EVICTION_POLICIES) - {_API}


OF_APPLY = "apply evicts only pods of the plan"
OF_DRY_RUN = "a run that evicts checks them first, unless koord-descheduler runs"


def jobs_left_out(policy: Policy, snapshot: Snapshot, why: str) -> tuple[str, ...]:
    """A sentence on the jobs that a run of `policy` would decide about, and `why` this one does not; else none."""
    if not snapshot.migration_jobs or not migration_controllers(policy):
        return ()
    # Few runs have jobs to look at.
    from descheduler.eviction.migration_controller.arbitration import is_unclaimed, jobs_to_judge

    number = sum(is_unclaimed(job) and not job.is_paused for job in jobs_to_judge(snapshot))
    counts = f"{counted(number, 'PodMigrationJob')} of users {'is' if number == 1 else 'are'} not in this plan"
    return (f"{counts}: {why}",) if number else ()
