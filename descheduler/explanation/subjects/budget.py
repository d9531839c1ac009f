"""PodDisruptionBudgets: what each allows now, and why some can never allow an eviction."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from descheduler.cluster.snapshot import Snapshot
from descheduler.documents.fields import Fields
from descheduler.explanation.asked import Answer, Explained
from descheduler.explanation.finding import find_key
from descheduler.model.groups.disruption_budget import DisruptionBudget
from descheduler.model.pod import Pod
from descheduler.model.text.counted import counted
from descheduler.model.text.printable import printable
from descheduler.report.tables.table_style import TableStyle


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


_HEADER = ["NAMESPACE", "NAME", "RULE", "ALLOWED", "HEALTHY", "REQUIRED", "PODS", "WHY NONE"]


def budgets_table(explanation: BudgetsExplanation, style: TableStyle) -> Iterator[str]:
    """A row for each budget: what it allows now, from which figures, and why nothing.

    Healthy pods are those of the expected ones, such as `1/3`.
    """
    yield from style.heading("PodDisruptionBudgets")
    if not explanation.budgets:
        yield "none"
        yield ""
        return
    yield from style.table(_HEADER, [_row(each) for each in explanation.budgets])


def _row(each: BudgetFacts) -> list[str]:
    return [
        printable(each.namespace),
        printable(each.name),
        printable(each.rule) or "-",
        "unknown" if each.disruptions_allowed is None else f"{each.disruptions_allowed:,}",
        f"{each.current_healthy:,}" + ("" if each.expected_pods is None else f"/{each.expected_pods:,}"),
        f"{each.desired_healthy:,}",
        f"{each.num_pods:,}",
        printable(each.why_none) or "-",
    ]


SUBJECT = Explained(
    BudgetsExplanation, lambda asked: Answer(explain_budgets(asked.name, asked.snapshot)), budgets_table
)
