"""Disruption budgets, charged ahead of the eviction API.

Follows the order of `kubernetes/pkg/registry/core/pod/storage/eviction.go` (1.36), so that a refusal which the API
would answer with 429 or 500 is known while another pod can still be chosen.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence

from descheduler.cluster.snapshot import Snapshot
from descheduler.eviction.background import BackgroundEvictions
from descheduler.eviction.migration_controller.surging_pods import SurgingPods
from descheduler.eviction.request_check import Allowance, PodByPod
from descheduler.eviction.undo import NOTHING_DONE, Undo
from descheduler.model.objects import DisruptionBudget
from descheduler.model.pod import Pod
from descheduler.model.verdict import ACCEPTED, Reason, Verdict, refuse
from descheduler.plan.bundles import Bundle, Candidate
from descheduler.plan.prior_moves import PriorMove

__all__ = ["BudgetCheck", "BudgetLedger"]

_WITHOUT_BUDGET = ("Succeeded", "Failed", "Pending")


class BudgetLedger:
    """What is left of every budget whose status is current; one that nobody has reported on decides nothing here."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._charged: Counter[tuple[str, str]] = Counter()

    def verdict(self, pod: Pod, *, is_surged: bool = False) -> Verdict:
        """Whether the eviction API would let `pod` go after everything charged so far.

        Where `is_surged` its workload has one pod more by then. That helps with a budget of so many pods; one of so
        many that may be missing, or of a share, needs that pod too.
        """
        if pod.phase in _WITHOUT_BUDGET or pod.is_terminating:
            return ACCEPTED
        budgets = self._snapshot.budgets_of(pod)
        known = [budget for budget in budgets if budget.disruptions_allowed is not None]
        if not known:
            return ACCEPTED
        if len(budgets) > 1:
            names = ", ".join(budget.name for budget in budgets)
            return refuse(Reason.SEVERAL_BUDGETS, f"more than one PodDisruptionBudget covers the pod: {names}", names)
        budget = known[0]
        num_more = 1 if is_surged and budget.min_available is not None else 0
        if _spares_unready(pod, budget) or self._remaining(budget, num_more) > 0:
            return ACCEPTED
        message = (
            f"PodDisruptionBudget {budget.namespace}/{budget.name} allows {_allowance(budget)} "
            f"({budget.current_healthy} healthy, {budget.desired_healthy} required)"
        )
        return refuse(Reason.DISRUPTION_BUDGET, message, f"{budget.namespace}/{budget.name}")

    def charge(self, pod: Pod) -> Undo:
        """Takes one disruption from the budget of `pod`, if it has one and the API would charge it."""
        if pod.phase in _WITHOUT_BUDGET or pod.is_terminating:
            return NOTHING_DONE
        budgets = [
            budget
            for budget in self._snapshot.budgets_of(pod)
            if budget.disruptions_allowed is not None and not _spares_unready(pod, budget)
        ]
        self._charge(budgets, 1)
        return (lambda: self._charge(budgets, -1)) if budgets else NOTHING_DONE

    def allowance(self) -> Allowance:
        """What is left of the budgets; pods that their budget lets go uncharged do not count."""
        left: dict[Hashable, int] = {_key(budget): self._remaining(budget, 0) for budget in self._snapshot.budgets}
        return Allowance(self._charged_budget, lambda key: left[key])

    def _charged_budget(self, pod: Pod) -> Hashable | None:
        """Which budget the eviction of `pod` is charged to, if any."""
        if pod.phase in _WITHOUT_BUDGET or pod.is_terminating:
            return None
        known = (budget for budget in self._snapshot.budgets_of(pod) if budget.disruptions_allowed is not None)
        return next((_key(budget) for budget in known if not _spares_unready(pod, budget)), None)

    def _charge(self, budgets: Iterable[DisruptionBudget], number: int) -> None:
        for budget in budgets:
            self._charged[_key(budget)] += number

    def _remaining(self, budget: DisruptionBudget, num_more: int) -> int:
        allowed = budget.disruptions_allowed or 0
        if num_more:  # what is allowed is never told to be below 0
            allowed = budget.current_healthy + num_more - budget.desired_healthy
        return allowed - self._charged[_key(budget)]


class BudgetCheck(PodByPod):
    """Refuses what the eviction API would refuse for a budget; each pod is charged once, by whoever evicts it.

    What another controller evicts is charged when that one asks.
    """

    def __init__(self, snapshot: Snapshot, background: BackgroundEvictions, surging: SurgingPods | None = None) -> None:
        self._ledger = BudgetLedger(snapshot)
        self._background = background
        self._surging = surging
        self._charged: set[str] = set()

    def may_go(self, candidate: Candidate, bundle: Bundle) -> Verdict:
        """Whether the budget of a pod that is not charged yet has a disruption left."""
        pod = candidate.pod
        if not self._is_new(pod):
            return ACCEPTED
        is_surged = self._surging is not None and self._surging.has(pod, bundle.profile_index)
        return self._ledger.verdict(pod, is_surged=is_surged)

    def take(self, candidate: Candidate, bundle: Bundle) -> Undo:
        """Charges the budget of the pod."""
        del bundle
        return self._charge(candidate.pod)

    def allowances(self, profile_index: int) -> Sequence[Allowance]:
        """What is left of every budget."""
        del profile_index
        return (self._ledger.allowance(),)

    def adopt(self, moves: Sequence[PriorMove]) -> None:
        """Charges what earlier rounds have evicted."""
        for move in moves:
            self._charge(move.pod)

    def _is_new(self, pod: Pod) -> bool:
        return pod.uid not in self._charged and not self._background.concern(pod)

    def _charge(self, pod: Pod) -> Undo:
        if not self._is_new(pod):
            return NOTHING_DONE
        give_back = self._ledger.charge(pod)
        self._charged.add(pod.uid)

        def undo() -> None:
            self._charged.discard(pod.uid)
            give_back()

        return undo


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
            return "1 disruption, already used by this run"
        case number if number > 1:
            return f"{number} disruptions, already used by this run"
        case _:
            return "0 disruptions"
