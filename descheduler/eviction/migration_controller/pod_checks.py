"""What blocks the migration of a pod, for good or for the moment.

Asked of the candidates of a run and of the pods of PodMigrationJobs alike.
"""

from __future__ import annotations

from collections.abc import Iterator

from descheduler.cluster.snapshot import Snapshot
from descheduler.eviction.default_evictor.protections import (
    Check,
    check_bare_pod_unless_failed,
    check_critical_priority,
    check_daemon_set,
    check_kubelet_pod,
    check_local_storage,
    check_terminating,
    check_volume_claims,
    first_refusal,
    make_bare_pod_check,
    make_priority_check,
    make_selector_check,
)
from descheduler.eviction.migration_controller.args import MigrationControllerArgs
from descheduler.eviction.migration_controller.limits import MigrationLimits
from descheduler.eviction.migration_controller.migrating_pods import MigratingPods
from descheduler.model.koordinator.eviction_annotations import COST_ANNOTATION
from descheduler.model.pod import EVICT_ANNOTATION, Pod
from descheduler.model.verdict import ACCEPTED, Reason, Verdict, refuse
from descheduler.policy.shared_args import Namespaces, compile_selector

_FAILED_TOO = "evictFailedBarePods: false"
_NEVER_COST = "2147483647"
_NEVER = refuse(Reason.EVICTION_COST, f"annotation {COST_ANNOTATION} is {_NEVER_COST}: never evict")


class PodChecks:
    """The checks that `args` ask for, whose limits count what `migrating` says is on the move.

    Mirrors koordinator-sh/koordinator 1.8 `pkg/descheduler/controllers/migration/arbitrator/filter.go`: a refusal that
    is not retryable fails a PodMigrationJob, a retryable one has it wait. The evict annotation, whatever its value,
    bypasses all of them.
    """

    def __init__(self, args: MigrationControllerArgs, snapshot: Snapshot, migrating: MigratingPods) -> None:
        self._args = args
        self._gates = frozenset(args.skip_eviction_gates)
        limits = MigrationLimits(args, snapshot, migrating)
        self._non_retryable = (*self._own_checks(), *limits.non_retryable_checks())
        self._retryable = tuple(limits.retryable_checks())
        self.allowances = tuple(limits.allowances())
        """How many more pods its limits admit."""
        self._all = (*self._non_retryable, *self._retryable)

    def verdict(self, pod: Pod) -> Verdict:
        """The first refusal of either sort, else acceptance."""
        return ACCEPTED if EVICT_ANNOTATION in pod.annotations else first_refusal(self._all, pod)

    def non_retryable(self, pod: Pod) -> Verdict:
        """What will block the pod tomorrow, too: the pod itself, its namespace, the size of its workload."""
        return ACCEPTED if EVICT_ANNOTATION in pod.annotations else first_refusal(self._non_retryable, pod)

    def retryable(self, pod: Pod) -> Verdict:
        """What others on the move, or unavailable, stand in the way of."""
        return ACCEPTED if EVICT_ANNOTATION in pod.annotations else first_refusal(self._retryable, pod)

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
            yield check_bare_pod_unless_failed if args.evict_failed_bare_pods else make_bare_pod_check(_FAILED_TOO)
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


def _make_namespace_check(namespaces: Namespaces) -> Check:
    include, exclude = frozenset(namespaces.include), frozenset(namespaces.exclude)

    def check(pod: Pod) -> Verdict | None:
        if (include and pod.namespace not in include) or pod.namespace in exclude:
            return refuse(Reason.NAMESPACE, f"namespace {pod.namespace} is excluded (namespaces)", pod.namespace)
        return None

    return check


def _check_eviction_cost(pod: Pod) -> Verdict | None:
    return _NEVER if pod.annotations.get(COST_ANNOTATION) == _NEVER_COST else None
