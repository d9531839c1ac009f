"""MigrationController: which pods Koordinator would migrate, and how many of them at once."""

from __future__ import annotations

from collections.abc import Iterator

from descheduler.eviction.default_evictor.other_node import make_other_node_check
from descheduler.eviction.default_evictor.protections import (
    Check,
    check_bare_pod,
    check_bare_pod_unless_failed,
    check_critical_priority,
    check_daemon_set,
    check_kubelet_pod,
    check_local_storage,
    check_terminating,
    check_volume_claims,
    first_refusal,
    make_priority_check,
    make_selector_check,
)
from descheduler.eviction.handle import Handle
from descheduler.eviction.migration_controller.args import MigrationControllerArgs
from descheduler.eviction.migration_controller.limits import MigrationLimits
from descheduler.eviction.migration_controller.migrating_pods import MigratingPods
from descheduler.model.annotations import COST_ANNOTATION
from descheduler.model.pod import EVICT_ANNOTATION, Pod
from descheduler.model.verdict import ACCEPTED, Reason, Verdict, refuse
from descheduler.policy.shared_args import (
    Namespaces,
    compile_selector,
)

__all__ = ["MigrationController"]

_NEVER_COST = "2147483647"
_SCHEDULER_LABEL = "scheduling.koordinator.sh/scheduler-name"
_DEFAULT_SCHEDULER = "default-scheduler"

_MIGRATING = refuse(Reason.ALREADY_MIGRATING, "a PodMigrationJob, or this run, already migrates a pod of this name")
_NEVER = refuse(Reason.EVICTION_COST, f"annotation {COST_ANNOTATION} is {_NEVER_COST}: never evict")


class MigrationController:
    """Mirrors koordinator-sh/koordinator 1.8 `pkg/descheduler/controllers/migration/filter.go`.

    Evictions that this run has booked count as live migrations. A `priorityThreshold.name` arrives here as a value: the
    policy resolves it, which koord-descheduler forgets to do. The scheduler of a pod only matters where Reservation
    objects hold the room.
    """

    def __init__(self, args: MigrationControllerArgs, handle: Handle) -> None:
        self._args = args
        self._gates = frozenset(args.skip_eviction_gates)
        self.migrating = MigratingPods(handle.view)
        self._needs_reservation = args.default_job_mode == "ReservationFirst" and (
            args.reservation_provider == "koordinator"
        )
        limits = MigrationLimits(args, handle.view.snapshot, self.migrating)
        self._checks = (*self._own_checks(), *limits.checks())
        self._other_node: tuple[Check, ...] = ()
        if args.node_fit and "NodeFit" not in self._gates:
            fits = handle.node_fit.has_room_on_any_other
            self._other_node = (make_other_node_check(handle, args.node_selector, fits),)

    def filter(self, pod: Pod) -> Verdict:
        """The first thing that forbids the migration of `pod`, else acceptance.

        The evict annotation bypasses everything but a migration under way and a scheduler that cannot reserve.
        """
        if self.migrating.has(pod):
            return _MIGRATING
        if self._needs_reservation and _scheduler_of(pod) not in self._args.scheduler_names:
            names = ", ".join(self._args.scheduler_names)
            message = f"scheduler {_scheduler_of(pod)} does not support Reservations (schedulerNames: {names})"
            return refuse(Reason.SCHEDULER_NAME, message)
        if EVICT_ANNOTATION in pod.annotations:
            return ACCEPTED
        return first_refusal(self._checks, pod)

    def pre_eviction_filter(self, pod: Pod) -> Verdict:
        """Whether some other node has room, where `nodeFit` asks for that."""
        return first_refusal(self._other_node, pod)

    def _own_checks(self) -> Iterator[Check]:
        """What the pod itself and its namespace answer."""
        args, gates = self._args, self._gates
        if args.namespaces is not None and "Namespaces" not in gates:
            yield _make_namespace_check(args.namespaces)
        yield _check_eviction_cost
        yield check_daemon_set
        yield check_kubelet_pod
        yield check_terminating
        if not (args.evict_all_bare_pods or "BarePods" in gates):
            yield check_bare_pod_unless_failed if args.evict_failed_bare_pods else check_bare_pod
        yield from self._priority_checks()
        if not (args.evict_local_storage_pods or "LocalStorage" in gates):
            yield check_local_storage
        if args.ignore_pvc_pods and "PVC" not in gates:
            yield check_volume_claims
        selector = compile_selector(args.label_selector)
        if selector is not None and "LabelSelector" not in gates:
            yield make_selector_check(selector)

    def _priority_checks(self) -> Iterator[Check]:
        if self._args.evict_system_critical_pods or "SystemCritical" in self._gates:
            return
        yield check_critical_priority
        threshold = self._args.priority_threshold
        if threshold is not None and threshold.value is not None and "PriorityThreshold" not in self._gates:
            yield make_priority_check(threshold.value)


def _scheduler_of(pod: Pod) -> str:
    """The pod's scheduler as Koordinator sees it, which lets a label override the spec."""
    return pod.labels.get(_SCHEDULER_LABEL) or pod.spec.scheduler_name or _DEFAULT_SCHEDULER


def _make_namespace_check(namespaces: Namespaces) -> Check:
    include, exclude = frozenset(namespaces.include), frozenset(namespaces.exclude)

    def check(pod: Pod) -> Verdict | None:
        if (include and pod.namespace not in include) or pod.namespace in exclude:
            return refuse(Reason.NAMESPACE, f"namespace {pod.namespace} is excluded (namespaces)", pod.namespace)
        return None

    return check


def _check_eviction_cost(pod: Pod) -> Verdict | None:
    return _NEVER if pod.annotations.get(COST_ANNOTATION) == _NEVER_COST else None
