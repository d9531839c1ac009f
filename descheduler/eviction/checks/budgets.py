"""Disruption budgets, charged ahead of the eviction API.

Follows the order of `kubernetes/pkg/registry/core/pod/storage/eviction.go` (1.36), so that a refusal which the API
would answer with 429 or 500 is known while another pod can still be chosen.
"""

from __future__ import annotations

from collections import Counter

from descheduler.cluster.snapshot import Snapshot
from descheduler.model.objects import DisruptionBudget
from descheduler.model.pod import Pod
from descheduler.model.verdict import ACCEPTED, Reason, Verdict, refuse

__all__ = ["BudgetLedger"]

_WITHOUT_BUDGET = ("Succeeded", "Failed", "Pending")


class BudgetLedger:
    """What is left of every budget whose status is current; one that nobody has reported on decides nothing here."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._charged: Counter[tuple[str, str]] = Counter()

    def verdict(self, pod: Pod) -> Verdict:
        """Whether the eviction API would let `pod` go after everything charged so far."""
        if pod.phase in _WITHOUT_BUDGET or pod.is_terminating:
            return ACCEPTED
        budgets = self._snapshot.budgets_of(pod)
        known = [budget for budget in budgets if budget.disruptions_allowed is not None]
        if not known:
            return ACCEPTED
        if len(budgets) > 1:
            names = ", ".join(budget.name for budget in budgets)
            return refuse(Reason.SEVERAL_BUDGETS, f"PodDisruptionBudgets {names} all cover the pod", names)
        budget = known[0]
        if _spares_unready(pod, budget) or self._remaining(budget) > 0:
            return ACCEPTED
        message = (
            f"PodDisruptionBudget {budget.namespace}/{budget.name} allows {_allowance(budget)} "
            f"({budget.current_healthy} healthy, {budget.desired_healthy} needed)"
        )
        return refuse(Reason.DISRUPTION_BUDGET, message, f"{budget.namespace}/{budget.name}")

    def charge(self, pod: Pod) -> None:
        """Takes one disruption from the budget of `pod`, if it has one and the API would charge it."""
        if pod.phase in _WITHOUT_BUDGET or pod.is_terminating:
            return
        for budget in self._snapshot.budgets_of(pod):
            if budget.disruptions_allowed is not None and not _spares_unready(pod, budget):
                self._charged[_key(budget)] += 1

    def _remaining(self, budget: DisruptionBudget) -> int:
        return (budget.disruptions_allowed or 0) - self._charged[_key(budget)]


def _key(budget: DisruptionBudget) -> tuple[str, str]:
    return budget.namespace, budget.name


def _spares_unready(pod: Pod, budget: DisruptionBudget) -> bool:
    """Whether the pod is not Ready and the budget's policy lets such pods go without charging it."""
    if pod.is_ready:
        return False
    if budget.unhealthy_policy == "AlwaysAllow":
        return True
    is_known = budget.unhealthy_policy in ("", "IfHealthyBudget")
    return is_known and 0 < budget.desired_healthy <= budget.current_healthy


def _allowance(budget: DisruptionBudget) -> str:
    """What a budget that is used up allowed."""
    match budget.disruptions_allowed or 0:
        case 1:
            return "1 disruption, which this run has taken"
        case number if number > 1:
            return f"{number} disruptions, which this run has taken"
        case _:
            return "no disruption"
