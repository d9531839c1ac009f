"""The jobs of a live run: which profiles use them, and what earlier runs have left of theirs."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from descheduler.eviction.migration_controller.profiles import migration_controllers, unheeded_notes
from descheduler.eviction.migration_controller.room_provider import RoomProvider
from descheduler.kube.leases.settings import own_namespace
from descheduler.kube.objects import ObjectCalls
from descheduler.migration.roads.users_jobs import UsersJobs
from descheduler.migration.room.table import JobProfile, ProviderMissing, choose, find_offer
from descheduler.migration.settings import JobStorage
from descheduler.model.shard import WHOLE_CLUSTER, Shard
from descheduler.model.text.counted import counted
from descheduler.plan.outcome import OutcomeCode, OutcomeKind
from descheduler.policy.run_name import run_name
from descheduler.policy.types import Policy
from descheduler.report.outcome.status_document import NOTHING_TAKEN_UP, TakenUp
from descheduler.transport.errors import ExchangeError

if TYPE_CHECKING:
    from descheduler.cluster.snapshot import Snapshot
    from descheduler.kube.client import KubeClient
    from descheduler.kube.discovery import ServerFacts
    from descheduler.kube.evict import EvictionClient
    from descheduler.kube.leases.settings import LeaseSettings
    from descheduler.migration.dispatch.surroundings import Surroundings
    from descheduler.migration.roads.adoption import Adopted
    from descheduler.migration.roads.execution import JobExecution
    from descheduler.migration.settings import DispatchSettings
    from descheduler.plan.outcome import Outcome

_LONGEST_LABEL = 63
_MOST_TOLD = 5
"""Of users' jobs that did not go as they should, so that a thousand of them do not hide what else a run says."""


class JobPlan(msgspec.Struct, frozen=True):
    """Which profiles carry their evictions out as jobs; `notes` say how, a sentence for each MigrationController."""

    profiles: Mapping[str, JobProfile]
    storage: JobStorage
    notes: tuple[str, ...] = ()

    def execution(
        self,
        client: KubeClient,
        port: EvictionClient,
        settings: DispatchSettings,
        around: Surroundings,
        snapshot: Snapshot | None = None,
    ) -> JobExecution | None:
        """What carries the jobs out by `around.calls` in the background; None where no profile uses any."""
        if not self.profiles:
            return None
        # Sixty modules, which runs without jobs go without.
        from descheduler.migration.roads.execution import JobExecution

        return JobExecution(ObjectCalls(client), self.profiles, self.storage, port, settings, around, snapshot)


def plan_jobs(
    policy: Policy,
    client: KubeClient,
    server: ServerFacts,
    lease: LeaseSettings | None,
    shard: Shard = WHOLE_CLUSTER,
) -> JobPlan:
    """Which profiles of `policy` use jobs on the server behind `client`. Raises ExchangeError.

    Jobs bear the name and the namespace of the Lease, in which their ConfigMaps are too; without a Lease, what they
    would be by default.
    """
    by_default = own_namespace(), shard.name(run_name(policy))
    namespace, name = by_default if lease is None else (lease.namespace, lease.name)
    owner = _label_value(f"{name}.{namespace}")  # what holds room is in other namespaces, or in none
    storage = JobStorage(owner, namespace, in_objects=False, is_first_shard=shard.index == 0)
    controllers = migration_controllers(policy)
    if not controllers:
        return JobPlan({}, storage)
    named = {RoomProvider.named(args.reservation_provider) for args in controllers.values()}
    offer = find_offer(ObjectCalls(client), server, named)
    try:
        chosen = {name: JobProfile(args, choose(name, args, offer)) for name, args in controllers.items()}
    except ProviderMissing as error:
        raise ExchangeError(str(error)) from error
    profiles = {name: each for name, each in chosen.items() if each.choice.uses_jobs and not each.args.dry_run}
    notes = tuple(each.choice.why for each in chosen.values())
    return JobPlan(profiles, replace(storage, in_objects=offer.has_jobs), notes)


def take_up_notes(adopted: Adopted) -> tuple[str, ...]:
    """What was found of earlier runs, a sentence each; none where they left nothing."""
    notes = []
    if number := len(adopted.unfinished):
        notes.append(f"found {counted(number, 'migration')} under way; {adopted.num_finished} succeeded")
    if adopted.undone:
        notes.append(f"undid {counted(len(adopted.undone), 'migration')} of which an earlier run had evicted no pod")
    if adopted.swept:
        notes.append(f"removed {counted(len(adopted.swept), 'reservation')} that an earlier run had left behind")
    failed = [f"PodMigrationJob {each}; it has failed by that" for each in adopted.broken]
    more = "more objects only look like those of this program, or could not be removed"
    return (*notes, *_first(failed, "more PodMigrationJobs of users failed as invalid"), *_first(adopted.notes, more))


def left_notes(told: Sequence[str]) -> tuple[str, ...]:
    """What a run has possibly left behind, a sentence each; none where it is certain that nothing is."""
    return _first(told, "more jobs may be left in the cluster; the next run removes them")


def _first(notes: Sequence[str], more: str) -> tuple[str, ...]:
    """The first few, and how many there are besides."""
    number = len(notes) - _MOST_TOLD
    return (*notes[:_MOST_TOLD], *([f"{number:,} {more}"] if number > 0 else []))


def taken_up(adopted: Adopted | None) -> TakenUp:
    """The figures of what a run has taken up, for its status."""
    if adopted is None:
        return NOTHING_TAKEN_UP
    undone, removed = len(adopted.undone), len(adopted.swept)
    return TakenUp(finished=adopted.num_finished, undone=undone, removed=removed, of_users=0)


def users_notes(jobs: UsersJobs) -> tuple[str, ...]:
    """What became of the jobs that users have created, a sentence each; none where there are none."""
    notes = []
    if jobs.num_started:
        started = counted(jobs.num_started, "PodMigrationJob")
        notes.append(f"started {started} of users; {jobs.num_succeeded} succeeded")
    notes += _not_moved([each for each in jobs.outcomes if each.message and each.code is not OutcomeCode.LIMIT])
    notes += unheeded_notes(jobs.unheeded, "PodMigrationJob")
    if jobs.num_limited:
        waiting = counted(jobs.num_limited, "PodMigrationJob")
        notes.append(f"left {waiting} of users to the next run: {jobs.limit}")
    if jobs.num_left:
        left = counted(jobs.num_left, "PodMigrationJob")
        notes.append(
            f"left {left} of users to koord-descheduler: it runs, or there is no right to get its Lease "
            "koordinator-system/koord-descheduler"
        )
    return tuple(notes)


def _not_moved(outcomes: Sequence[Outcome]) -> Iterator[str]:
    """What is to be told of the first of these evictions of users' jobs, a sentence each."""
    for outcome in outcomes[:_MOST_TOLD]:
        pod, result = outcome.eviction, "evicted" if outcome.kind is OutcomeKind.EVICTED else "not evicted"
        yield f"PodMigrationJob of a user: pod {pod.namespace}/{pod.name} {result}: {outcome.message}"
    if len(outcomes) > _MOST_TOLD:
        yield f"{len(outcomes) - _MOST_TOLD:,} more PodMigrationJobs of users: kubectl describe podmigrationjobs"


def num_unused(outcomes: Iterable[Outcome]) -> int:
    """How many Reservations were not used by the replacement that came to their node."""
    return sum(outcome.code is OutcomeCode.RESERVATION_UNUSED for outcome in outcomes)


def unused_notes(number: int) -> tuple[str, ...]:
    """What to change where so many Reservations were not used, in a sentence; none where all were."""
    if not number:
        return ()
    return (
        f"Replacement pods did not use {counted(number, 'Reservation')} on their nodes: in the configuration of "
        "koord-scheduler, enable the plugin Reservation under plugins.reserve of the profile",
    )


def _label_value(name: str) -> str:
    """`name` as the value of a label, which is shorter than names of objects may be."""
    if len(name) <= _LONGEST_LABEL:
        return name
    return f"{name[:40].rstrip('-.')}-{hashlib.sha256(name.encode()).hexdigest()[:12]}"
