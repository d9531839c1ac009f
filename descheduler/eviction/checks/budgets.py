"""Disruption budgets, charged ahead of the eviction API.

A refusal which the API would answer with 429 or 500 is known so while another pod can still be chosen: its code, cause
and Retry-After. Follows the order of `kubernetes/pkg/registry/core/pod/storage/eviction.go` (1.36).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence

import msgspec

from descheduler.cluster.snapshot import Snapshot
from descheduler.eviction.background import BackgroundEvictions
from descheduler.eviction.migration_controller.surging_pods import SurgingPods
from descheduler.eviction.request_check import Allowance, PodByPod
from descheduler.eviction.undo import NOTHING_DONE, Undo
from descheduler.model.groups.disruption_budget import DisruptionBudget
from descheduler.model.pod import Pod
from descheduler.model.text.counted import counted
from descheduler.model.verdict import ACCEPTED, BudgetRefusal, Reason, Verdict
from descheduler.plan.bundles import Bundle, Candidate
from descheduler.plan.moves import Move

_CONFLICT = 409
_SEVERAL = "", ""
"""In the place of a budget, for pods that several cover: nothing is ever left of it."""


_WITHOUT_BUDGET = ("Succeeded", "Failed", "Pending")
_UNOBSERVED_WAIT_SECONDS = 10
_MOST_DISRUPTED = 2000


class _Taken(msgspec.Struct, frozen=True):
    """What evictions have taken of a budget since its status was read: disruptions, and healthy pods among them."""

    disruptions: int = 0
    healthy: int = 0


def _needs_no_budget(pod: Pod) -> bool:
    """Whether the API evicts `pod` without a look at any budget."""
    return pod.phase in _WITHOUT_BUDGET or pod.is_terminating


def _spares_unready(pod: Pod, budget: DisruptionBudget) -> bool:
    """Whether the pod is not Ready and the budget's policy allows the eviction of such pods uncharged."""
    if pod.is_ready:
        return False
    if budget.unhealthy_policy == "AlwaysAllow":
        return True
    is_known = budget.unhealthy_policy in ("", "IfHealthyBudget")
    return is_known and 0 < budget.desired_healthy <= budget.current_healthy


def _budget_refusal(
    pod: Pod, budgets: Sequence[DisruptionBudget], taken: _Taken, *, is_counted_again: bool = True
) -> BudgetRefusal | None:
    """How the API refuses the eviction of `pod`, which `budgets` cover; None when it does not.

    `taken` is of the one budget. `is_counted_again` says that the disruption controller has seen it.
    """
    if _needs_no_budget(pod):
        return None
    if len(budgets) > 1:
        return BudgetRefusal(
            500, "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
        )
    budget = budgets[0]
    if _spares_unready(pod, budget):
        return None
    if budget.disruptions_allowed is None:
        cause = f"The disruption budget {budget.name} is still being processed by the server."
        return BudgetRefusal(429, cause, _UNOBSERVED_WAIT_SECONDS)
    if budget.disruptions_allowed < 0:
        return BudgetRefusal(403, "pdb disruptions allowed is negative")
    if _has_too_many_unconfirmed(budget, taken):
        cause = "DisruptedPods map too big - too many evictions not confirmed by PDB controller"
        return BudgetRefusal(403, cause)
    if budget.disruptions_allowed > taken.disruptions:
        return None
    healthy = budget.current_healthy - (taken.healthy if is_counted_again else 0)
    return BudgetRefusal(429, _cause_of_none(budget, healthy))


def _has_too_many_unconfirmed(budget: DisruptionBudget, taken: _Taken) -> bool:
    """Whether the API waits for the disruption controller to confirm evictions before it allows more."""
    return budget.num_disrupted + taken.disruptions > _MOST_DISRUPTED


def _cause_of_none(budget: DisruptionBudget, healthy: int) -> str:
    """What the API says about a budget of which nothing is left."""
    name, desired = budget.name, budget.desired_healthy
    if healthy > desired:
        return f"The disruption budget {name} does not allow evicting pods currently"
    return f"The disruption budget {name} needs {desired} healthy pods and has {healthy} currently"


class BudgetLedger:
    """What is left of every budget; one whose status is not current allows nothing.

    Budgets of objects that no API server has stored have no status, and decide nothing.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._charged: Counter[Hashable] = Counter()
        self._healthy: Counter[tuple[str, str]] = Counter()

    def verdict(self, pod: Pod, *, is_surged: bool = False) -> Verdict:
        """Whether the eviction API would let `pod` go after everything charged so far.

        Where `is_surged` its workload has one pod more by then. That helps with a budget of so many pods; one of so
        many that may be missing, or of a share, needs that pod too.
        """
        budgets = self._budgets_of(pod)
        refusal = self._refusal(pod, budgets)
        if refusal is None:
            return ACCEPTED
        if len(budgets) > 1:
            names = ", ".join(budget.name for budget in budgets)
            message = f"more than one PodDisruptionBudget covers the pod: {names}"
            return Verdict(Reason.SEVERAL_BUDGETS, message, names, api_refusal=refusal)
        budget = budgets[0]
        if is_surged and self._has_room_with_one_more(budget):
            return ACCEPTED
        message = _sentence(budget, self._taken(budget))
        return Verdict(Reason.DISRUPTION_BUDGET, message, budget.key, api_refusal=refusal)

    def refusal(self, pod: Pod, *, is_counted_again: bool = True) -> BudgetRefusal | None:
        """How the API would refuse the eviction of `pod` now; None when it would not.

        `is_counted_again` says that the disruption controller has seen what was charged.
        """
        return self._refusal(pod, self._budgets_of(pod), is_counted_again=is_counted_again)

    def charge(self, pod: Pod) -> Undo:
        """Takes one disruption from the budget of `pod`, if it has one and the API would charge it."""
        key = self._charged_budget(pod)
        if key is None:
            return NOTHING_DONE
        self._charge(key, pod, 1)
        return lambda: self._charge(key, pod, -1)

    def allowance(self) -> Allowance:
        """What is left of the budgets; pods whose eviction is not charged to a budget do not count."""
        allowed: dict[Hashable, int] = {
            _key(budget): max(0, budget.disruptions_allowed or 0) for budget in self._snapshot.budgets
        }
        allowed[_SEVERAL] = 0
        names: dict[Hashable, str] = {_key(budget): _name(budget) for budget in self._snapshot.budgets}
        return Allowance(
            self._charged_budget,
            lambda key: allowed[key] - self._charged[key],
            "PodDisruptionBudget",
            lambda key: names.get(key, ""),
        )

    def _budgets_of(self, pod: Pod) -> tuple[DisruptionBudget, ...]:
        budgets = self._snapshot.budgets_of(pod)
        return budgets if any(budget.has_status for budget in budgets) else ()

    def _refusal(
        self, pod: Pod, budgets: Sequence[DisruptionBudget], *, is_counted_again: bool = True
    ) -> BudgetRefusal | None:
        if not budgets:
            return None
        return _budget_refusal(pod, budgets, self._taken(budgets[0]), is_counted_again=is_counted_again)

    def _taken(self, budget: DisruptionBudget) -> _Taken:
        key = _key(budget)
        return _Taken(self._charged[key], self._healthy[key])

    def _charged_budget(self, pod: Pod) -> tuple[str, str] | None:
        """Which budget the eviction of `pod` is charged to, if any."""
        if _needs_no_budget(pod):
            return None
        budgets = self._budgets_of(pod)
        if len(budgets) > 1:
            return _SEVERAL
        return next((_key(budget) for budget in budgets if not _spares_unready(pod, budget)), None)

    def _charge(self, key: tuple[str, str], pod: Pod, number: int) -> None:
        self._charged[key] += number
        self._healthy[key] += number if pod.is_ready else 0

    def _has_room_with_one_more(self, budget: DisruptionBudget) -> bool:
        """Whether the budget allows another disruption once one pod more is healthy."""
        if not budget.is_current or not isinstance(budget.min_available, int):
            return False
        # What is allowed is never told to be below 0.
        return budget.current_healthy + 1 - budget.desired_healthy > self._charged[_key(budget)]


class BudgetCheck(PodByPod):
    """Refuses what the eviction API would refuse for a budget; each pod is charged once, by whoever evicts it.

    What another controller evicts is charged when that one asks.
    """

    def __init__(self, snapshot: Snapshot, background: BackgroundEvictions, surging: SurgingPods | None = None) -> None:
        self._ledger = BudgetLedger(snapshot)
        self._background = background
        self._surging = surging
        self._charged: set[str] = set()
        self._charge_conflicts(snapshot)

    def may_go(self, candidate: Candidate, bundle: Bundle) -> Verdict:
        """Whether the budget of a pod that is not charged yet has a disruption left."""
        pod = candidate.pod
        if not self._is_new(pod):
            return ACCEPTED
        is_surged = self._surging is not None and self._surging.has(pod, bundle.profile_index)
        return self._ledger.verdict(pod, is_surged=is_surged)

    def take(self, candidate: Candidate, bundle: Bundle) -> Undo:
        """Charges the budget of the pod."""
        return self._charge(candidate.pod)

    def allowances(self, profile_index: int) -> Sequence[Allowance]:
        """What is left of every budget."""
        return (self._ledger.allowance(),)

    def adopt(self, moves: Sequence[Move]) -> None:
        """Charges what earlier rounds have evicted."""
        self._charge_all(move.pod for move in moves)

    def _charge_conflicts(self, snapshot: Snapshot) -> None:
        """Charges budgets of pods that the API did not evict for a failed precondition: it charges before it looks."""
        names = {name for name, answer in self._background.answers.items() if answer.code == _CONFLICT}
        if names:
            self._charge_all(pod for pod in snapshot.pods if pod.key in names)

    def _charge_all(self, pods: Iterable[Pod]) -> None:
        for pod in pods:
            self._charge(pod)

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


def _name(budget: DisruptionBudget) -> str:
    """How goals of plans call a budget of which more is allowed later on; empty where it allows nothing."""
    allowed = budget.disruptions_allowed or 0
    return f"PodDisruptionBudget {budget.key} ({counted(allowed, 'disruption')} now)" if allowed > 0 else ""


def _sentence(budget: DisruptionBudget, taken: _Taken) -> str:
    """Why nothing is left of a budget, for operators."""
    name = f"PodDisruptionBudget {budget.key}"
    if why := budget.why_none:
        return f"{name} {why}"
    if _has_too_many_unconfirmed(budget, taken):
        return f"{name} has more than {_MOST_DISRUPTED:,} evictions that the disruption controller has not confirmed"
    healthy = f"{budget.current_healthy} healthy, {budget.desired_healthy} required"
    allowed = counted(budget.disruptions_allowed or 0, "disruption")
    return f"{name} allows {allowed}, used by other pods of this run ({healthy})"
