"""PodDisruptionBudgets that can never allow an eviction and are in the way of a run, in words for operators."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from descheduler.cluster.snapshot import Snapshot
from descheduler.model.disruption_budget import DisruptionBudget
from descheduler.model.pod import Pod
from descheduler.model.text.counted import counted
from descheduler.model.verdict import Reason
from descheduler.plan.moves import Refusal
from descheduler.policy.types import Policy

__all__ = ["budget_notes"]

_MOST_NAMED = 5
_PLANNER = "MigrationPlanner"
"""It plans around budgets and asks for no pod that they do not let go, so no refusal tells of them."""


def budget_notes(policy: Policy, refusals: Iterable[Refusal], snapshot: Snapshot) -> tuple[str, ...]:
    """A sentence about the budgets that block pods of this run for ever, if there are any."""
    never = {budget.key: budget for budget in snapshot.budgets if budget.why_never}
    if not never:
        return ()
    blocked: dict[str, set[str]] = {}
    for key, pod in _blocked(policy, refusals, snapshot, never.values()):
        blocked.setdefault(key, set()).add(pod.key)
    if not blocked:
        return ()
    budgets = [never[key] for key in sorted(blocked)]
    pods = counted(len(set().union(*blocked.values())), "pod")
    return (
        f"{counted(len(budgets), 'PodDisruptionBudget')} can never allow an eviction and {_blocks(budgets)} {pods}:"
        f" {_named(budgets)}; see 'descheduler explain budgets'",
    )


def _blocked(
    policy: Policy, refusals: Iterable[Refusal], snapshot: Snapshot, never: Iterable[DisruptionBudget]
) -> Iterator[tuple[str, Pod]]:
    """Budgets and the pods that they block: those that were asked for, and all that a planner may move."""
    keys = {budget.key for budget in never}
    for refusal in refusals:
        if refusal.verdict.reason is Reason.DISRUPTION_BUDGET and refusal.verdict.subject in keys:
            yield refusal.verdict.subject, refusal.pod
    if any(_PLANNER in profile.balance for profile in policy.profiles):
        namespaces = {budget.namespace for budget in never}
        for pod in snapshot.pods:
            if pod.namespace in namespaces and pod.phase == "Running":
                yield from ((each.key, pod) for each in snapshot.budgets_of(pod) if each.key in keys)


def _blocks(budgets: list[DisruptionBudget]) -> str:
    return "blocks" if len(budgets) == 1 else "block"


def _named(budgets: list[DisruptionBudget]) -> str:
    named = [f"{budget.key} ({budget.why_never})" for budget in budgets[:_MOST_NAMED]]
    more = len(budgets) - len(named)
    return ", ".join(named) + (f" and {more:,} others" if more else "")
