"""The document `Outcome`: what became of a plan that was carried out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal, get_args

import msgspec

from descheduler.plan import outcome
from descheduler.report.document import API_VERSION, ApiVersion, Fields, PodReference
from descheduler.report.plan_document import Plan

__all__ = ["EvictionResult", "Outcome", "ResultKind", "make_outcome"]

ResultKind = Literal["evicted", "gone", "refused", "background", "failed", "not-attempted"]

_KINDS: Mapping[str, ResultKind] = {kind: kind for kind in get_args(ResultKind)}


_UNCONFIRMED = "outcome-unknown"


class EvictionResult(Fields, frozen=True):
    """How one eviction ended. `status_code` is 0 when no answer came, `num_attempts` counts the calls made."""

    pod: PodReference
    node: str
    profile: str
    plugin: str
    result: ResultKind
    code: str
    message: str
    status_code: int
    num_attempts: int = msgspec.field(name="attempts")


class Outcome(Fields, frozen=True):
    """A plan and what became of it. `results` stand in the order of request; `counts` has every kind.

    `unconfirmed` of the evicted pods have code `outcome-unknown`: no clear answer came, and they count as evicted.
    """

    api_version: ApiVersion
    kind: Literal["Outcome"]
    plan: Plan
    results: tuple[EvictionResult, ...]
    counts: Mapping[ResultKind, int]
    unconfirmed: int

    @property
    def may_have_evicted(self) -> bool:
        """Whether any pod left, may have left, or is left to another controller that evicts it."""
        return bool(self.counts["evicted"] or self.counts["background"])


def make_outcome(plan: Plan, executed: Sequence[outcome.Outcome]) -> Outcome:
    """The document about `plan` and the evictions made for it."""
    results = tuple(_result(eviction) for eviction in executed)
    counts = Counter(result.result for result in results)
    return Outcome(
        api_version=API_VERSION,
        kind="Outcome",
        plan=plan,
        results=results,
        counts={kind: counts[kind] for kind in _KINDS.values()},
        unconfirmed=sum(result.code == _UNCONFIRMED for result in results),
    )


def _result(executed: outcome.Outcome) -> EvictionResult:
    eviction = executed.eviction
    return EvictionResult(
        pod=PodReference(namespace=eviction.namespace, name=eviction.name, uid=eviction.uid),
        node=eviction.node,
        profile=eviction.profile,
        plugin=eviction.plugin,
        result=_KINDS[str(executed.kind.value)],
        code=str(executed.code.value),
        message=executed.message,
        status_code=executed.status_code,
        num_attempts=executed.num_attempts,
    )
