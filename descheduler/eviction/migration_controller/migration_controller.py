"""MigrationController: which pods Koordinator would migrate, and how many of them at once.

When a plugin requests an eviction, the filter is asked once more, and the object limiters.
"""

from __future__ import annotations

from collections.abc import Sequence

from descheduler.eviction.default_evictor.protections import Check, first_refusal, make_other_node_check
from descheduler.eviction.handle import Handle
from descheduler.eviction.migration_controller.args import MigrationControllerArgs
from descheduler.eviction.migration_controller.migrating_pods import MigratingPods
from descheduler.eviction.migration_controller.object_limiter import ObjectLimiter
from descheduler.eviction.migration_controller.pod_checks import PodChecks
from descheduler.eviction.migration_controller.room_provider import RoomProvider
from descheduler.eviction.request_check import Allowance, PodByPod
from descheduler.eviction.undo import NOTHING_DONE, Undo, undo_all
from descheduler.model.koordinator.migration_job import JobMode, JobPhase
from descheduler.model.koordinator.scheduler_name import scheduler_name_of
from descheduler.model.pod import Pod
from descheduler.model.verdict import ACCEPTED, Reason, Verdict, refuse
from descheduler.plan.bundles import Bundle, Candidate
from descheduler.plan.moves import Move
from descheduler.policy.types import Profile

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


class MigrationGate(PodByPod):
    """The filter once more, since evictions granted meanwhile count as migrations, then the object limiters.

    Asked of profiles that evict through MigrationController. Mirrors koordinator-sh/koordinator 1.8
    `pkg/descheduler/controllers/migration/controller.go`, `Evict`.
    """

    def __init__(self, profiles: Sequence[Profile], handle: Handle) -> None:
        self._gates = {index: gate for index, profile in enumerate(profiles) if (gate := _gate(profile, handle))}

    def may_go(self, candidate: Candidate, bundle: Bundle) -> Verdict:
        """Whether a migration of the pod may be started now."""
        gate = self._of(bundle)
        return ACCEPTED if gate is None else gate.verdict(candidate.pod)

    def take(self, candidate: Candidate, bundle: Bundle) -> Undo:
        """Charges the object limiters; what is on the move the filter learns from the cluster view."""
        gate = self._of(bundle)
        return NOTHING_DONE if gate is None else undo_all(gate.count(candidate.pod))

    def try_out(self, candidate: Candidate, bundle: Bundle) -> Undo:
        """The same, with the pod on the move before the view says so."""
        gate = self._of(bundle)
        return NOTHING_DONE if gate is None else undo_all([*gate.count(candidate.pod), *gate.move(candidate.pod)])

    def allowances(self, profile_index: int) -> Sequence[Allowance]:
        """How many more migrations may be started."""
        gate = self._gates.get(profile_index)
        return () if gate is None else gate.allowances()

    def adopt(self, moves: Sequence[Move]) -> None:
        """Charges the object limiters of each profile; the filter knows of prior moves already."""
        for gate in self._gates.values():
            gate.adopt(moves)

    def _of(self, bundle: Bundle) -> _Gate | None:
        return self._gates.get(bundle.profile_index)


def _gate(profile: Profile, handle: Handle) -> _Gate | None:
    all_args = list(profile.args_of(MigrationControllerArgs, profile.evict))
    return _Gate(profile.name, all_args, handle) if all_args else None


class _Gate:
    """The evict plugins of one profile that are a MigrationController."""

    def __init__(self, profile: str, all_args: Sequence[MigrationControllerArgs], handle: Handle) -> None:
        self._profile = profile
        self._controllers = [MigrationController(args, handle) for args in all_args]
        self._limiters = [ObjectLimiter(args, handle.view.snapshot) for args in all_args]

    def verdict(self, pod: Pod) -> Verdict:
        """The first refusal."""
        for controller, limiter in zip(self._controllers, self._limiters, strict=True):
            for verdict in (controller.filter(pod), limiter.verdict(pod)):
                if not verdict.is_accepted:
                    return verdict
        return ACCEPTED

    def allowances(self) -> list[Allowance]:
        """What is left of the limits on pods on the move, and of the object limiters."""
        moving = [allowance for controller in self._controllers for allowance in controller.allowances]
        return moving + [allowance for limiter in self._limiters for allowance in limiter.allowances()]

    def count(self, pod: Pod) -> list[Undo]:
        """Charges the limiters."""
        return [limiter.count(pod) for limiter in self._limiters]

    def move(self, pod: Pod) -> list[Undo]:
        """Counts `pod` among those on the move."""
        return [controller.migrating.move(pod) for controller in self._controllers]

    def adopt(self, moves: Sequence[Move]) -> None:
        """Charges the limiters for what was evicted in the name of the profile."""
        mine = [move for move in moves if move.profile == self._profile]
        for limiter in self._limiters:
            limiter.adopt(mine)
