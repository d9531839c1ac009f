"""`descheduler explain budgets`: what each PodDisruptionBudget allows now, and why some can never allow an eviction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from descheduler.cluster.snapshot import Snapshot
from descheduler.explanation.subjects import find_key
from descheduler.model.disruption_budget import DisruptionBudget
from descheduler.model.pod import Pod
from descheduler.model.text.counted import counted
from descheduler.report.explanation.budget import BudgetFacts, BudgetsExplanation

__all__ = ["explain_budgets"]

_Covered = Mapping[str, Sequence[tuple[Pod, tuple[DisruptionBudget, ...]]]]
"""`namespace/name` of a budget → its pods that have not finished, each with all budgets that cover it."""


def explain_budgets(name: str, snapshot: Snapshot) -> BudgetsExplanation:
    """The budget called `name`, those of a namespace (`namespace/`), or all (empty). Raises UnknownSubjectError."""
    asked = _asked(name, snapshot)
    covered = _covered({budget.key for budget in asked}, snapshot)
    return BudgetsExplanation(budgets=tuple(_facts(budget, covered) for budget in asked))


def _asked(name: str, snapshot: Snapshot) -> list[DisruptionBudget]:
    namespace, _, bare = name.rpartition("/")
    if not bare:
        return [budget for budget in snapshot.budgets if namespace in ("", budget.namespace)]
    known = {budget.key: budget for budget in snapshot.budgets}
    return [known[find_key("PodDisruptionBudget", snapshot, name, known)]]


def _covered(keys: Iterable[str], snapshot: Snapshot) -> _Covered:
    found: dict[str, list[tuple[Pod, tuple[DisruptionBudget, ...]]]] = {key: [] for key in keys}
    for pod in snapshot.pods:
        budgets = () if pod.is_terminal else snapshot.budgets_of(pod)
        for budget in budgets:
            if budget.key in found:
                found[budget.key].append((pod, budgets))
    return found


def _facts(budget: DisruptionBudget, covered: _Covered) -> BudgetFacts:
    pods = covered[budget.key]
    num_shared = sum(len(budgets) > 1 for _, budgets in pods)
    others = tuple(sorted({each.name for _, budgets in pods for each in budgets if each.key != budget.key}))
    is_never = bool(budget.why_never) or 0 < len(pods) == num_shared
    return BudgetFacts(
        namespace=budget.namespace,
        name=budget.name,
        rule=budget.rule,
        unhealthy_pod_eviction_policy=budget.unhealthy_policy or "IfHealthyBudget",
        disruptions_allowed=budget.disruptions_allowed,
        current_healthy=budget.current_healthy,
        desired_healthy=budget.desired_healthy,
        expected_pods=budget.expected_pods,
        num_pods=len(pods),
        num_shared_pods=num_shared,
        other_budgets=others,
        never_allows=is_never,
        why_none=_why_none(budget, len(pods), num_shared, others),
    )


def _why_none(budget: DisruptionBudget, num_pods: int, num_shared: int, others: Sequence[str]) -> str:
    sentences = [budget.why_none]
    if budget.selector_error:
        sentences = [f"selector is invalid and covers no pod: {budget.selector_error}"]
    if budget.why_never and budget.unhealthy_policy == "AlwaysAllow":
        sentences.append("pods that are not Ready can be evicted (unhealthyPodEvictionPolicy: AlwaysAllow)")
    if num_shared:
        them = f"{counted(num_shared, 'pod')} of {num_pods:,}" if num_shared < num_pods else "any of its pods"
        sentences.append(f"can never allow the eviction of {them}: {', '.join(others)} covers them too")
    return "; ".join(filter(None, sentences))
