"""The sentences that sum a plan or an outcome up."""

from __future__ import annotations

from collections import Counter

from descheduler.report.figures import TotalFigures
from descheduler.report.outcome_document import Outcome
from descheduler.report.plan_document import LandingTotals, Plan

__all__ = ["landing_summary", "outcome_summary", "plan_summary", "requested_summary"]

_GIB = 2**30
_TOGETHER = {
    "lands": "; together they land in every order that was tried",
    "lands_if": "; whether all land hangs on their order or on a condition",
    "no": "; not all of them land together",
}
_WAY_OUT = "; enable PlacementVerification to keep such pods"


def plan_summary(plan: Plan) -> str:
    """Such as `12 pods would be evicted (PodLifeTime 12), 3 requests refused, 40 candidates kept`."""
    if plan.skipped:
        return f"nothing was judged: {plan.skipped}"
    by_plugin = Counter(move.plugin for move in plan.evicted)
    detail = ", ".join(f"{plugin} {num_pods}" for plugin, num_pods in by_plugin.items())
    parts = [f"{_pods(len(plan.evicted))} would be evicted" + (f" ({detail})" if detail else "")]
    if plan.num_background:
        parts.append(f"{_pods(plan.num_background)} left to other controllers")
    return ", ".join([*parts, *_refused(plan)])


def outcome_summary(outcome: Outcome) -> str:
    """Such as `10 pods evicted, 1 refused, 1 not-attempted, 3 requests refused beforehand, 40 candidates kept`."""
    if outcome.plan.skipped:
        return f"nothing was judged: {outcome.plan.skipped}"
    unconfirmed = f" ({outcome.unconfirmed} unconfirmed)" if outcome.unconfirmed else ""
    parts = [f"{_pods(outcome.counts['evicted'])} evicted{unconfirmed}"]
    parts += [f"{num} {kind}" for kind, num in outcome.counts.items() if num and kind != "evicted"]
    return ", ".join([*parts, *_refused(outcome.plan)])


def landing_summary(totals: LandingTotals) -> str:
    """What becomes of the pods that are created instead; empty when nothing was looked up."""
    if not totals.num_assessed:
        return ""
    of_all = f" of the first {totals.num_assessed}" if totals.num_assessed < totals.num_evicted else ""
    num_landing = totals.lands - totals.not_created
    parts = [
        f"{num_landing} {_land(num_landing)}",
        f"{totals.not_created} {'is' if totals.not_created == 1 else 'are'} not created",
        f"{totals.lands_if} {_land(totals.lands_if)} under a condition",
        f"{totals.no} would be left pending",
        f"{totals.unknown} cannot be told",
        f"{totals.returns_to_source} would come straight back to the node they leave",
    ]
    said = ", ".join(part for part in parts if not part.startswith("0 "))
    way_out = "" if totals.is_verified or not (totals.no or totals.returns_to_source) else _WAY_OUT
    together = _TOGETHER.get(totals.together or "", "")
    return f"replacements{of_all}: {said}{together}{way_out}"


def _land(num_pods: int) -> str:
    return "lands" if num_pods == 1 else "land"


def requested_summary(total: TotalFigures) -> str:
    """What all pods request of all nodes, and how much of it leaves its node."""
    nodes = "1 node" if total.num_nodes == 1 else f"{total.num_nodes} nodes"
    return (
        f"{_pods(total.before.pods)} on {nodes} request "
        f"{_cores(total.before.cpu_milli)} of {_cores(total.allocatable.cpu_milli)} cores and "
        f"{_gib(total.before.memory_bytes)} of {_gib(total.allocatable.memory_bytes)} GiB; "
        f"{_cores(total.displaced.cpu_milli)} cores and {_gib(total.displaced.memory_bytes)} GiB leave their node"
    )


def _refused(plan: Plan) -> list[str]:
    num_attempts = sum(count.num_attempts for count in plan.refusal_counts)
    num_kept = sum(count.num_refusals for count in plan.refusal_counts) - num_attempts
    requests = "1 request" if num_attempts == 1 else f"{num_attempts} requests"
    candidates = "1 candidate" if num_kept == 1 else f"{num_kept} candidates"
    return [f"{requests} refused", f"{candidates} kept"]


def _pods(num_pods: int) -> str:
    return "1 pod" if num_pods == 1 else f"{num_pods} pods"


def _cores(cpu_milli: int) -> str:
    return f"{cpu_milli / 1000:.1f}"


def _gib(memory_bytes: int) -> str:
    return f"{memory_bytes / _GIB:.1f}"
