"""How many pods of a node, a namespace, a workload and the whole cluster may be on the move at the same time.

Mirrors the limits in koordinator-sh/koordinator 1.8 `pkg/descheduler/controllers/migration/filter.go`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import msgspec

from descheduler.cluster.snapshot import Snapshot
from descheduler.eviction.cluster_view import pods_for
from descheduler.eviction.default_evictor.protections import Check
from descheduler.eviction.migration_controller.args import MigrationControllerArgs
from descheduler.eviction.migration_controller.migrating_pods import MigratingPods, Scope
from descheduler.eviction.migration_controller.surging_pods import can_be_surged
from descheduler.eviction.migration_controller.workloads import Workloads, allowed_at_once, can_look_up
from descheduler.eviction.request_check import Allowance, allowance_by_pod, always
from descheduler.model.groups.workloads import Workload
from descheduler.model.pod import Owner, Pod
from descheduler.model.text.counted import counted
from descheduler.model.text.numbers import share_of
from descheduler.model.verdict import Reason, Verdict, refuse

_OF_ONE_SHARD = ("MaxMigratingPerNode",)
"""Limits that shards of a cluster have no need to divide."""
_DEFAULT = "default"
"""The value of a workload's limit that is not set: some of its replicas."""
_FEWEST_REPLICAS = 2
"""Of a workload that can spare one."""


class MigrationLimits:
    """The limits of one MigrationController; `migrating` tells what is on the move."""

    def __init__(self, args: MigrationControllerArgs, snapshot: Snapshot, migrating: MigratingPods) -> None:
        self._args = args
        self._workloads = Workloads(snapshot)
        self._migrating = migrating
        self._has_spare_replicas: dict[int, bool] = {}
        counts = (args.max_migrating_globally, args.max_migrating_per_node, args.max_migrating_per_namespace)
        self._pods = pods_for(counts, snapshot)

    def non_retryable_checks(self) -> Iterator[Check]:
        """What the size of a workload forbids, whatever moves."""
        if "ExpectedReplicas" not in self._args.skip_eviction_gates:
            yield self._check_expected_replicas

    def retryable_checks(self) -> Iterator[Check]:
        """The limits that are set and whose gate is not skipped. A count that is unset or 0 is no limit."""
        args = self._args
        checks = (
            ("MaxMigratingGlobally", args.max_migrating_globally, self._check_global_count),
            ("MaxMigratingPerNode", args.max_migrating_per_node, self._check_node_count),
            ("MaxMigratingPerNamespace", args.max_migrating_per_namespace, self._check_namespace_count),
            ("MaxMigratingPerWorkload", True, self._check_migrating_of_workload),
            ("MaxUnavailablePerWorkload", True, self._check_unavailable_of_workload),
        )
        for gate, limit, check in checks:
            if limit and gate not in args.skip_eviction_gates:
                yield check

    def allowances(self) -> Iterator[Allowance]:
        """How many more pods may be on the move by each of these limits."""
        args = self._args
        for_workload = args.max_migrating_per_workload, args.max_unavailable_per_workload
        counted_by: tuple[tuple[str, object, Callable[[Pod], str | None], Callable[[str, Pod], int]], ...] = (
            ("MaxMigratingGlobally", args.max_migrating_globally, lambda pod: "", self._left_globally),
            ("MaxMigratingPerNode", args.max_migrating_per_node, lambda pod: pod.node_name or None, self._left_on_node),
            ("MaxMigratingPerNamespace", args.max_migrating_per_namespace, lambda pod: pod.namespace, self._left_in),
            ("MaxMigratingPerWorkload", for_workload[0] or _DEFAULT, _controller_uid, self._left_to_migrate),
            ("MaxUnavailablePerWorkload", for_workload[1] or _DEFAULT, _controller_uid, self._left_to_be_unavailable),
        )
        for gate, limit, key_of, left in counted_by:
            if limit and gate not in args.skip_eviction_gates:
                name = f"{gate[0].lower()}{gate[1:]}"
                divided = "" if gate in _OF_ONE_SHARD else name
                yield allowance_by_pod(key_of, left, divided, always(f"{name} ({limit})"))

    def _left_globally(self, key: str, pod: Pod) -> int:
        return share_of(self._args.max_migrating_globally or 0, self._pods.total) - self._migrating.others(pod)

    def _left_on_node(self, node: str, pod: Pod) -> int:
        limit = share_of(self._args.max_migrating_per_node or 0, self._pods.by_node.get(node, 0))
        return limit - self._migrating.others_on_node(pod)

    def _left_in(self, namespace: str, pod: Pod) -> int:
        limit = share_of(self._args.max_migrating_per_namespace or 0, self._pods.by_namespace.get(namespace, 0))
        return limit - self._migrating.others_in_namespace(pod)

    def _left_to_migrate(self, uid: str, pod: Pod) -> int:
        workload = self._workloads.of(pod)
        limit = 0 if workload is None else self._max_migrating(workload.replicas)
        # One pod may always be on the move.
        return max(limit, 1) - len(self._migrating.others_of_controller(pod, uid))

    def _left_to_be_unavailable(self, uid: str, pod: Pod) -> int:
        workload = self._workloads.of(pod)
        if workload is None:
            return 0
        return self._max_unavailable(workload.replicas) - self._num_away(workload, uid, pod)

    def _num_away(self, workload: Workload, uid: str, pod: Pod) -> int:
        """How many other pods of a workload are not ready or on the move."""
        unavailable = self._workloads.unavailable(workload)
        moving = self._migrating.others_of_controller(pod, uid)
        return len(unavailable) + len(moving - unavailable) if moving else len(unavailable)

    def _check_expected_replicas(self, pod: Pod) -> Verdict | None:
        """A workload that is gone wants 0 replicas; of one that cannot be looked up nothing is known, flag or not."""
        controller = pod.controller
        if controller is None:
            return None
        is_skipped = self._args.skip_check_expected_replicas
        workload = self._workloads.of(pod)
        if workload is None:
            return None if is_skipped and can_look_up(controller) else _unknown(controller)
        replicas = workload.replicas
        if is_skipped or self._can_spare(replicas) or (self._args.surges and can_be_surged(pod, workload)):
            return None
        subject = f"{workload.kind} {workload.namespace}/{workload.name}"
        message = f"{subject} has {self._too_few(replicas)} (skipCheckExpectedReplicas: false)"
        return refuse(Reason.WORKLOAD_REPLICAS, message, subject)

    def _too_few(self, replicas: int) -> str:
        """How many replicas a workload has that cannot spare one, and the limit that is not below that."""
        number = counted(replicas, "replica")
        if replicas < _FEWEST_REPLICAS:
            return f"{number}; at least {_FEWEST_REPLICAS} are required"
        is_migrating = replicas == self._max_migrating(replicas)
        key = "maxMigratingPerWorkload" if is_migrating else "maxUnavailablePerWorkload"
        args = self._args
        written = args.max_migrating_per_workload if is_migrating else args.max_unavailable_per_workload
        shown = f"{written}: {replicas}" if isinstance(written, str) else written
        return f"{number}, and {key} ({shown}) allows all of them to be evicted at once"

    def _can_spare(self, replicas: int) -> bool:
        known = self._has_spare_replicas.get(replicas)
        if known is None:
            known = replicas not in (1, self._max_migrating(replicas), self._max_unavailable(replicas))
            self._has_spare_replicas[replicas] = known
        return known

    def _check_global_count(self, pod: Pod) -> Verdict | None:
        limit = _Limit("maxMigratingGlobally", self._args.max_migrating_globally, self._pods.total)
        return limit.verdict(self._migrating.others(pod), self._others(pod, "cluster"))

    def _check_node_count(self, pod: Pod) -> Verdict | None:
        if not pod.node_name:
            return None
        num_pods = self._pods.by_node.get(pod.node_name, 0)
        limit = _Limit("maxMigratingPerNode", self._args.max_migrating_per_node, num_pods, f"node {pod.node_name}")
        return limit.verdict(self._migrating.others_on_node(pod), self._others(pod, "node"))

    def _check_namespace_count(self, pod: Pod) -> Verdict | None:
        written, num_pods = self._args.max_migrating_per_namespace, self._pods.by_namespace.get(pod.namespace, 0)
        limit = _Limit("maxMigratingPerNamespace", written, num_pods, f"namespace {pod.namespace}")
        return limit.verdict(self._migrating.others_in_namespace(pod), self._others(pod, "namespace"))

    def _check_migrating_of_workload(self, pod: Pod) -> Verdict | None:
        controller = pod.controller
        if controller is None:
            return None
        workload = self._workloads.of(pod)
        if workload is None and not can_look_up(controller):
            return _unknown(controller)
        num_moving = len(self._migrating.others_of_controller(pod, controller.uid))
        if not num_moving:
            return None
        replicas = 0 if workload is None else workload.replicas
        limit = self._max_migrating(replicas)
        if num_moving < limit:
            return None
        shown = _shown(self._args.max_migrating_per_workload, limit, replicas)
        subject = f"{controller.kind} {controller.name}"
        others = self._migrating.text_of_others(pod, "controller")
        message = f"maxMigratingPerWorkload ({shown}) reached for {subject}: {others}"
        return refuse(Reason.MIGRATING_LIMIT, message, subject)

    def _check_unavailable_of_workload(self, pod: Pod) -> Verdict | None:
        """Pods that are not ready count, the candidate among them."""
        controller = pod.controller
        if controller is None:
            return None
        workload = self._workloads.of(pod)
        if workload is None:
            return _unknown(controller)
        num_away = self._num_away(workload, controller.uid, pod)
        limit = self._max_unavailable(workload.replicas)
        if num_away < limit:
            return None
        subject = f"{workload.kind} {workload.namespace}/{workload.name}"
        shown = _shown(self._args.max_unavailable_per_workload, limit, workload.replicas)
        away = self._text_of_away(workload, controller.uid, pod)
        message = f"maxUnavailablePerWorkload ({shown}) reached for {subject}: {away}"
        return refuse(Reason.WORKLOAD_UNAVAILABLE, message, subject)

    def _text_of_away(self, workload: Workload, uid: str, pod: Pod) -> str:
        """Such as `1 pod is unavailable and 2 other pods are evicted before it`."""
        unavailable = self._workloads.unavailable(workload)
        moving = self._migrating.text_of(self._migrating.others_of_controller(pod, uid) - unavailable)
        number = len(unavailable)
        text = f"{counted(number, 'pod')} {'is' if number == 1 else 'are'} unavailable"
        return " and ".join(filter(None, (text if number or not moving else "", moving)))

    def _others(self, pod: Pod, scope: Scope) -> Callable[[], str]:
        return partial(self._migrating.text_of_others, pod, scope)

    def _max_migrating(self, replicas: int) -> int:
        return allowed_at_once(replicas, self._args.max_migrating_per_workload)

    def _max_unavailable(self, replicas: int) -> int:
        return allowed_at_once(replicas, self._args.max_unavailable_per_workload)


class _Limit(msgspec.Struct, frozen=True, gc=False):
    """How many pods may be on the move, a number or a percentage of `num_pods`; `key` and `scope` name it."""

    key: str
    written: int | str | None
    num_pods: int = 0
    scope: str = ""

    def verdict(self, num_others: int, others: Callable[[], str]) -> Verdict | None:
        """The refusal of a pod beside which so many `others` move; None while there may be one more."""
        if self.written is None or num_others < (limit := share_of(self.written, self.num_pods)):
            return None
        is_number = isinstance(self.written, int)
        shown = limit if is_number else f"{self.written}: {limit} of {counted(self.num_pods, 'pod')}"
        message = f"{self.key} ({shown}) reached{f' for {self.scope}' if self.scope else ''}: {others()}"
        return refuse(Reason.MIGRATING_LIMIT, message, self.scope)


def _shown(written: int | str | None, limit: int, replicas: int) -> str:
    """Such as `2`, or where the policy does not say the number `50%: 2 of 4 replicas` or `default: 1 of 3 replicas`."""
    if written == limit:
        return str(limit)
    return f"{_DEFAULT if written is None else written}: {limit} of {counted(replicas, 'replica')}"


def _controller_uid(pod: Pod) -> str | None:
    return None if pod.controller is None else pod.controller.uid


def _unknown(controller: Owner) -> Verdict:
    subject = f"{controller.kind} {controller.name}"
    message = f"controller {subject} was not found, so its replicas are unknown"
    if not can_look_up(controller):
        message = f"MigrationController does not know the replicas of {subject} ({controller.api_version})"
    return refuse(Reason.WORKLOAD_UNKNOWN, message, subject)
