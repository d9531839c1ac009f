"""Why pods of an elastic quota use more than its runtime quota, which admits none beyond it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import msgspec

from descheduler.model.text.amounts import amount_of, amount_text
from descheduler.report.explanation.quota import QuotaFacts, QuotaResource

__all__ = ["Sharing", "excess_notes"]

_MOST_NAMED = 5


class Sharing(msgspec.Struct, frozen=True):
    """What a quota and its siblings share of one resource, and the runtime quota of each of them by name."""

    total: int
    runtimes: Mapping[str, int]


def excess_notes(
    facts: QuotaFacts, children: Sequence[QuotaFacts], sharing: Callable[[QuotaFacts, str], Sharing]
) -> Iterator[str]:
    """A sentence for each resource of which the quota, or a child of it, uses more than it may, and for each cause."""
    for each in facts.resources:
        if _excess(each) > 0:
            yield _sentence(facts, each, children, sharing)
            borrowed = {child.name: _borrowed(child, each.resource) for child in children}
            if any(borrowed.values()):
                shown = ", ".join(f"{name} {amount_of(each.resource, n)}" for name, n in borrowed.items() if n)
                yield f"children of {facts.name} that use more than their min: {shown}"
    for child in children:
        for each in child.resources:
            if _excess(each) > 0:
                yield _sentence(child, each, (), sharing)


def _excess(each: QuotaResource) -> int:
    return 0 if each.runtime is None else each.used - each.runtime


def _borrowed(quota: QuotaFacts, resource: str) -> int:
    return sum(max(0, each.used - each.min) for each in quota.resources if each.resource == resource)


def _sentence(
    quota: QuotaFacts,
    each: QuotaResource,
    children: Sequence[QuotaFacts],
    sharing: Callable[[QuotaFacts, str], Sharing],
) -> str:
    resource, runtime = each.resource, each.runtime or 0
    lead = f"{quota.name} uses {amount_of(resource, _excess(each))} more than its runtime quota"
    if each.max is not None and each.used > each.max:
        return (
            f"{lead} and more than its max of {amount_text(resource, each.max)}: "
            "its pods were placed before the max was lowered, or by a scheduler that does not check quotas"
        )
    if runtime >= each.requested:
        asked = f"requests {amount_of(resource, each.requested)}"
        return f"{lead}: it {asked}, as each child counts up to its max" if children else f"{lead}: it {asked}"
    shares = sharing(quota, resource)
    borrowed = each.used - each.min
    cause = (
        f"it borrowed {amount_of(resource, borrowed)} over its min, which others request now or which is gone"
        if borrowed > 0
        else "there is not enough for the min of every quota"
    )
    return f"{lead}: {cause}; {amount_of(resource, shares.total)} in all are shared out as {_shown(resource, shares)}"


def _shown(resource: str, shares: Sharing) -> str:
    """The largest shares, and how many more there are."""
    in_order = sorted(((name, n) for name, n in shares.runtimes.items() if n), key=lambda share: (-share[1], share[0]))
    named = [f"{name} {amount_text(resource, amount)}" for name, amount in in_order[:_MOST_NAMED]]
    more = len(in_order) - len(named)
    return ", ".join([*named, *([f"{more} more"] if more else [])]) or "nothing"
