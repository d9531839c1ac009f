"""What PodDisruptionBudgets of manifests allow: they have no status, so their pods are counted here.

Mirrors kubernetes 1.36 `pkg/controller/disruption/disruption.go`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from msgspec.structs import replace as changed

from descheduler.cluster.snapshot import Snapshot
from descheduler.model.groups.disruption_budget import DisruptionBudget
from descheduler.model.pod import Owner, Pod

_WARNING = (
    "no PodDisruptionBudget in the dump has a status, as in manifests; the disruptions that they allow are counted "
    "from their specs, pods and replicas"
)
_PERCENTAGE = re.compile("[0-9]{1,9}%", re.ASCII)
_WITHOUT_SCALE = {"Job": "jobs.batch", "DaemonSet": "daemonsets.apps"}


def with_counted_budgets(snapshot: Snapshot) -> Snapshot:
    """The snapshot with budgets as the disruption controller would report them, if none of them has a status.

    So it is in manifests. Where some have one, the others are new, and their controller has not processed them yet.
    """
    if all(budget.has_status for budget in snapshot.budgets):
        return snapshot
    if any(budget.has_status for budget in snapshot.budgets):
        return replace(snapshot, budgets=tuple(changed(budget, has_status=True) for budget in snapshot.budgets))
    covered: dict[tuple[str, str], list[Pod]] = {(each.namespace, each.name): [] for each in snapshot.budgets}
    for pod in snapshot.pods:
        for budget in snapshot.budgets_of(pod):
            covered[budget.namespace, budget.name].append(pod)
    reported = (changed(each, has_status=True) for each in snapshot.budgets)
    budgets = tuple(_counted(each, covered[each.namespace, each.name], snapshot) for each in reported)
    return replace(snapshot, budgets=budgets, warnings=(*snapshot.warnings, _WARNING))


def _counted(budget: DisruptionBudget, pods: Sequence[Pod], snapshot: Snapshot) -> DisruptionBudget:
    owners = {pod.controller.uid or pod.controller.name: pod.controller for pod in pods if pod.controller is not None}
    without_scale = [owner.kind for owner in owners.values() if owner.kind in _WITHOUT_SCALE]
    if not _is_counted(budget.min_available) or not _is_counted(budget.max_unavailable):
        failure = f"{budget.rule} is not a number or a percentage"
        return changed(budget, disruptions_allowed=0, sync_failure=failure)
    if budget.rule and without_scale and not isinstance(budget.min_available, int):
        failure = f"{_WITHOUT_SCALE[without_scale[0]]} does not implement the scale subresource"
        return changed(budget, disruptions_allowed=0, sync_failure=failure)
    if isinstance(budget.min_available, int):
        expected, desired = len(pods), budget.min_available
    else:  # without a rule the controller expects no pods, and allows none of them to leave
        expected = _expected(owners.values(), pods, snapshot) if budget.rule else 0
        desired = _desired(budget, expected)
    healthy = sum(pod.is_ready and not pod.is_terminating for pod in pods)
    return changed(
        budget,
        disruptions_allowed=max(0, healthy - desired) if expected > 0 else 0,
        current_healthy=healthy,
        desired_healthy=desired,
        expected_pods=expected,
    )


def _desired(budget: DisruptionBudget, expected: int) -> int:
    if budget.max_unavailable is not None:
        return max(0, expected - _scaled(budget.max_unavailable, expected))
    return _scaled(budget.min_available or 0, expected)


def _scaled(value: int | str, whole: int) -> int:
    """A number, or a percentage of `whole`, rounded up."""
    return value if isinstance(value, int) else -(-int(value.removesuffix("%")) * whole // 100)


def _is_counted(value: int | str | None) -> bool:
    return not isinstance(value, str) or _PERCENTAGE.fullmatch(value) is not None


def _expected(owners: Iterable[Owner], pods: Sequence[Pod], snapshot: Snapshot) -> int:
    """The replicas of all workloads that own one of `pods`, those of a Deployment in place of its ReplicaSets'."""
    replicas: dict[str, int] = {}
    for owner in owners:
        workload = snapshot.workloads.get(owner.uid)
        makers = () if workload is None else workload.owners
        maker = next((snapshot.workloads[each.uid] for each in makers if each.uid in snapshot.workloads), workload)
        # Of a workload that the dump does not hold, its pods are what is known.
        known = sum(pod.controller == owner for pod in pods) if maker is None else maker.replicas
        replicas[owner.uid if maker is None else maker.uid] = known
    return sum(replicas.values())
