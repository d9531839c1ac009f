"""What budgets allow once pods have gone and others have come, as their controller would report it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from msgspec.structs import replace

from descheduler.cluster.snapshot import Snapshot
from descheduler.model.objects import DisruptionBudget
from descheduler.model.pod import Pod

__all__ = ["budgets_after"]


def budgets_after(snapshot: Snapshot, gone: Iterable[Pod], come: Iterable[Pod]) -> tuple[DisruptionBudget, ...]:
    """The budgets of `snapshot` without the pods that are `gone` and with those that have `come`.

    A budget of which as many pods are healthy as before stays as it is reported. Mirrors kubernetes 1.36
    `pkg/controller/disruption/disruption.go`: what is allowed is what is healthy beyond what is desired.
    """
    changes: Counter[tuple[str, str]] = Counter()
    for pods, number in ((gone, -1), (come, 1)):
        for pod in filter(_is_healthy, pods):
            changes.update({(each.namespace, each.name): number for each in snapshot.budgets_of(pod)})
    return tuple(_changed(budget, changes[budget.namespace, budget.name]) for budget in snapshot.budgets)


def _is_healthy(pod: Pod) -> bool:
    return pod.is_ready and not pod.is_terminating


def _changed(budget: DisruptionBudget, number: int) -> DisruptionBudget:
    if not number or budget.disruptions_allowed is None:
        return budget
    healthy = budget.current_healthy + number
    return replace(budget, current_healthy=healthy, disruptions_allowed=max(0, healthy - budget.desired_healthy))
