"""The part of an `Explanation` about PodDisruptionBudgets."""

from __future__ import annotations

from descheduler.documents.fields import Fields

__all__ = ["BudgetFacts", "BudgetsExplanation"]


class BudgetFacts(Fields, frozen=True):
    """One PodDisruptionBudget. `rule` is what its spec states, for example `maxUnavailable: 1`.

    `disruptions_allowed` is null while the disruption controller has not processed the latest spec; the API server then
    refuses evictions. `expected_pods`, `current_healthy` and `desired_healthy` are those of the status,
    `expected_pods` null where a dump does not tell. `num_pods`
    counts the pods that the budget covers, of which other budgets cover `num_shared_pods` too; their names are in
    `other_budgets`. `why_none` says why no eviction is allowed now, and is empty where one is; `never_allows` that this
    stays so until the budget or the replicas change.
    """

    namespace: str
    name: str
    rule: str
    unhealthy_pod_eviction_policy: str
    disruptions_allowed: int | None
    current_healthy: int
    desired_healthy: int
    expected_pods: int | None
    num_pods: int
    num_shared_pods: int
    other_budgets: tuple[str, ...]
    never_allows: bool
    why_none: str


class BudgetsExplanation(Fields, frozen=True):
    """The PodDisruptionBudgets that were asked about, in namespace and name order."""

    budgets: tuple[BudgetFacts, ...]
