"""MigrationController's `objectLimiters`: how many evictions of one workload or namespace one run may start."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import timedelta
from functools import partial

from descheduler.cluster.snapshot import Snapshot
from descheduler.eviction.cluster_view import pods_for
from descheduler.eviction.migration_controller.args import MigrationControllerArgs, MigrationObjectLimiter
from descheduler.eviction.migration_controller.workloads import Workloads, allowed_at_once
from descheduler.eviction.request_check import Allowance, allowance_by_pod, always
from descheduler.eviction.undo import Undo
from descheduler.model.pod import Pod
from descheduler.model.text.numbers import share_of
from descheduler.model.verdict import ACCEPTED, Reason, Verdict, refuse
from descheduler.plan.moves import Move


class ObjectLimiter:
    """Token buckets per workload and namespace, within one run.

    A run is shorter than the time in which a bucket of koordinator-sh/koordinator 1.8
    (`pkg/descheduler/controllers/migration/limiter.go`) refills, so each key gets its `burst`, 1 unless set. Keys whose
    allowance is 0 are not limited, as there. The allowance of a workload is that of `maxMigrating`, else of
    `maxMigratingPerWorkload`; that of a namespace only counts as a number.
    """

    def __init__(self, args: MigrationControllerArgs, snapshot: Snapshot) -> None:
        self._per_workload = _active(args.object_limiters.get("workload"))
        self._per_namespace = _active(args.object_limiters.get("namespace"))
        self._share = args.max_migrating_per_workload
        self._workloads = Workloads(snapshot)
        bursts = (limiter.burst for limiter in (self._per_workload, self._per_namespace) if limiter is not None)
        self._pods = pods_for(bursts, snapshot)
        self._started: Counter[tuple[str, str]] = Counter()

    def verdict(self, pod: Pod) -> Verdict:
        """Whether the run may start one more eviction of what `pod` belongs to."""
        for key, burst, name in self._limits(pod):
            if self._started[key] >= burst:
                message = f"objectLimiters.{key[0]}.burst ({burst} in each run) reached for {name}"
                return refuse(Reason.MIGRATING_LIMIT, message, name)
        return ACCEPTED

    def count(self, pod: Pod) -> Undo:
        """Charges one eviction of `pod`."""
        keys = Counter(key for key, _, _ in self._limits(pod))
        self._started.update(keys)
        return lambda: self._started.subtract(keys)

    def allowances(self) -> list[Allowance]:
        """What the run may still start, by workload and by namespace."""
        limiters = (("workload", self._per_workload), ("namespace", self._per_namespace))
        return [self._allowed(scope, limiter.burst or 1) for scope, limiter in limiters if limiter is not None]

    def _allowed(self, scope: str, burst: int | str) -> Allowance:
        name = f"objectLimiters.{scope}.burst"
        return allowance_by_pod(partial(self._key, scope), self._left, name, always(f"{name} ({burst})"))

    def _key(self, scope: str, pod: Pod) -> tuple[str, str] | None:
        return next((key for key, _, _ in self._limits(pod) if key[0] == scope), None)

    def _left(self, key: tuple[str, str], pod: Pod) -> int:
        return next(burst for found, burst, _ in self._limits(pod) if found == key) - self._started[key]

    def adopt(self, moves: Sequence[Move]) -> None:
        """Charges what earlier rounds of the run have started."""
        for move in moves:
            self.count(move.pod)

    def _limits(self, pod: Pod) -> Iterator[tuple[tuple[str, str], int, str]]:
        """The key, the burst and the name of everything that is limited and that `pod` belongs to."""
        workload, namespace = self._per_workload, self._per_namespace
        controller = pod.controller
        if workload is not None and controller is not None and self._allowance(pod, workload) > 0:
            burst = _burst(workload, self._workloads.replicas_of(pod))
            yield ("workload", controller.uid), burst, f"{controller.kind} {controller.name}"
        if namespace is not None and isinstance(namespace.max_migrating, int) and namespace.max_migrating > 0:
            burst = _burst(namespace, self._pods.by_namespace.get(pod.namespace, 0))
            yield ("namespace", pod.namespace), burst, f"namespace {pod.namespace}"

    def _allowance(self, pod: Pod, limiter: MigrationObjectLimiter) -> int:
        share = self._share if limiter.max_migrating is None else limiter.max_migrating
        return allowed_at_once(self._workloads.replicas_of(pod), share)


def _active(limiter: MigrationObjectLimiter | None) -> MigrationObjectLimiter | None:
    return limiter if limiter is not None and limiter.duration > timedelta(0) else None


def _burst(limiter: MigrationObjectLimiter, num_pods: int) -> int:
    return max(1, share_of(limiter.burst, num_pods))
