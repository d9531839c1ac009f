"""MigrationController: which pods Koordinator would migrate, and how many of them at once."""

from __future__ import annotations

from collections.abc import Sequence

from descheduler.eviction.default_evictor.other_node import make_other_node_check
from descheduler.eviction.default_evictor.protections import Check, first_refusal
from descheduler.eviction.handle import Handle
from descheduler.eviction.migration_controller.args import MigrationControllerArgs
from descheduler.eviction.migration_controller.migrating_pods import MigratingPods
from descheduler.eviction.migration_controller.pod_checks import PodChecks
from descheduler.eviction.migration_controller.room_provider import RoomProvider
from descheduler.eviction.request_check import Allowance
from descheduler.model.koordinator.migration_job import JobMode, JobPhase
from descheduler.model.koordinator.scheduler_name import scheduler_name_of
from descheduler.model.pod import Pod
from descheduler.model.verdict import Reason, Verdict, refuse

__all__ = ["MigrationController"]

_EVICTED = refuse(Reason.ALREADY_MIGRATING, "this run already evicts a pod of this name")


class MigrationController:
    """Mirrors koordinator-sh/koordinator 1.8 `pkg/descheduler/controllers/migration/filter.go`.

    Evictions that this run has booked count as live migrations. A `priorityThreshold.name` arrives here as a value: the
    policy resolves it, which koord-descheduler forgets to do. The scheduler of a pod only matters where Reservation
    objects hold the room.
    """

    def __init__(self, args: MigrationControllerArgs, handle: Handle) -> None:
        self._args = args
        snapshot = handle.view.snapshot
        live = [job for job in snapshot.migration_jobs if job.is_live]
        self.migrating = MigratingPods(handle.view, live)
        self._jobs_by_uid = {job.pod_uid: job for job in live if job.pod_uid}
        self._jobs_by_name = {(job.pod_namespace, job.pod_name): job for job in live}
        self._checks = PodChecks(args, snapshot, self.migrating)
        provider = RoomProvider.named(args.reservation_provider)
        self._needs_reservation = args.default_job_mode == JobMode.RESERVATION_FIRST and (
            provider is None or provider.needs_koordinator
        )
        self._other_node: tuple[Check, ...] = ()
        if args.node_fit and "NodeFit" not in args.skip_eviction_gates:
            fits = handle.node_fit.has_room_on_any_other
            self._other_node = (make_other_node_check(handle, args.node_selector, fits),)

    def filter(self, pod: Pod) -> Verdict:
        """The first thing that forbids the migration of `pod`, else acceptance.

        The evict annotation bypasses everything but a migration under way and a scheduler that cannot reserve.
        """
        if self.migrating.has(pod):
            return self._already_migrating(pod)
        if self._needs_reservation and scheduler_name_of(pod) not in self._args.scheduler_names:
            names = ", ".join(self._args.scheduler_names)
            message = (
                f"scheduler {scheduler_name_of(pod)} does not support Reservations (schedulerNames: {names}); to evict"
                " such pods, set reservationProvider: placeholder or defaultJobMode: EvictDirectly"
            )
            return refuse(Reason.SCHEDULER_NAME, message)
        return self._checks.verdict(pod)

    @property
    def allowances(self) -> Sequence[Allowance]:
        """How many more pods may be on the move."""
        return self._checks.allowances

    def pre_eviction_filter(self, pod: Pod) -> Verdict:
        """Whether some other node has room, where `nodeFit` asks for that."""
        return first_refusal(self._other_node, pod)

    def _already_migrating(self, pod: Pod) -> Verdict:
        """The refusal of a pod that, or one of whose name, migrates."""
        job = self._jobs_by_uid.get(pod.uid) or self._jobs_by_name.get((pod.namespace, pod.name))
        if job is None:
            return _EVICTED
        subject = f"PodMigrationJob {job.name}"
        message = f"{subject} already migrates a pod of this name (phase: {job.phase or JobPhase.PENDING})"
        return refuse(Reason.ALREADY_MIGRATING, message, subject)
