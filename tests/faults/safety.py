"""Promises about the cluster: what was evicted, how often, by whose leave."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

from tests.faults.bounds import was_too_late_for_lease
from tests.faults.history import Effect, History, Run, Tenure
from tests.faults.reports import report_of

_NEEDED_LISTS = ("/api/v1/nodes", "/api/v1/pods", "/apis/policy/v1/poddisruptionbudgets")
_SLACK_SECONDS = 1.0


def limits_hold(history: History) -> Iterator[str]:
    """At no moment more pods have left than a limit allows, per run; one that left late counts as much."""
    limits = history.terms.limits
    scopes = (
        ("in total", limits.total, lambda effect: "the run"),
        ("per node", limits.node, lambda effect: effect.node),
        ("per namespace", limits.namespace, lambda effect: effect.namespace),
        ("per node, of LowNodeUtilization", limits.plugin_node, lambda effect: effect.node),
    )
    for run in history.runs:
        for words, limit, scope_of in scopes:
            if limit is None:
                continue
            counts = Counter(scope_of(effect) for effect in _effects_of(history, run))
            for scope, count in counts.items():
                if count > limit:
                    yield f"run {run.index}: {count} pods evicted from {scope}, {limit} allowed {words}"


def no_pod_twice(history: History) -> Iterator[str]:
    """No pod is evicted twice, none is asked for again once its eviction was confirmed, and no successor is hit."""
    for uid, count in Counter(effect.uid for effect in history.effects).items():
        if count > 1:
            yield f"{uid} was evicted {count} times"
    confirmed: set[str] = set()
    for request in history.requests:
        if request.kind == "eviction" and request.uid in confirmed:
            yield f"run {request.run}: eviction of {request.uid} was asked for again after it was confirmed"
        if request.is_confirmed:
            confirmed.add(request.uid)
    for effect in history.effects:
        if effect.uid not in history.listed.get(effect.run, set()):
            yield f"run {effect.run}: {effect.uid} was evicted and is none of the pods that the run had read"


def nothing_unlisted(history: History) -> Iterator[str]:
    """No pod leaves that the plan does not name, and none that the policy protects."""
    for effect in history.effects:
        if effect.uid in history.terms.protected:
            yield f"run {effect.run}: {effect.uid} was evicted, which the policy protects"
    for run in history.runs:
        report = report_of(run)
        if report is None:
            continue
        named = report.planned | {result.uid for result in report.results}
        for effect in _effects_of(history, run):
            if effect.uid not in named:
                yield f"run {run.index}: {effect.uid} was evicted and is not in the plan"


def budgets_hold(history: History) -> Iterator[str]:
    """No budget loses more pods than it allowed. None is ever replenished, and several runs count together."""
    for budget, count in Counter(effect.budget for effect in history.effects if effect.budget).items():
        if count > history.budgets[budget]:
            yield f"budget {budget} lost {count} pods, {history.budgets[budget]} allowed"


def reading_is_sound(history: History) -> Iterator[str]:
    """Nothing is evicted, and no run calls itself done, unless every list that decisions rest on was read whole."""
    for run in history.runs:
        is_done = run.exit_code in (0, 3) and report_of(run) is not None
        if not is_done and not _effects_of(history, run):
            continue
        for path in _NEEDED_LISTS:
            if not _was_read_whole(history, run, path):
                yield f"run {run.index} decided although no answer to {path} was whole and true"


def _was_read_whole(history: History, run: Run, path: str) -> bool:
    """Whether of some list every page that was asked for came as it is, to the last."""
    asked: dict[int, set[int]] = defaultdict(set)
    whole: dict[int, set[int]] = defaultdict(set)
    complete: set[int] = set()
    for request in history.requests:
        page = request.page
        if page is None or request.run != run.index or request.path != path:
            continue
        asked[page.list_number].add(page.start)
        if request.is_whole:
            whole[page.list_number].add(page.start)
            complete |= {page.list_number} if page.is_last else set()
    return any(asked[number] == whole[number] for number in complete)


def lease_is_respected(history: History) -> Iterator[str]:
    """No eviction before the Lease is held or while a rival holds it; it is given back, but outlasts every call."""
    if history.terms.lease_seconds is None:
        return
    for run in history.runs:
        yield from _unheld_evictions(history, run)
        yield from _kept_lease(history, run)
        yield from _outlived_lease(history, run)


def _unheld_evictions(history: History, run: Run) -> Iterator[str]:
    for request in history.requests:
        if request.kind != "eviction" or request.run != run.index:
            continue
        tenure = _tenure_at(history, request.at)
        if tenure is None or (not tenure.holder and not tenure.is_seized):
            yield f"run {run.index}: eviction of {request.uid} was asked for before the Lease was held"
        elif tenure.is_seized and request.at > tenure.at + _grace_seconds(history, run, tenure):
            seconds = request.at - tenure.at
            yield f"run {run.index}: eviction of {request.uid} was asked for {seconds:.1f} s after the Lease was lost"


def _grace_seconds(history: History, run: Run, tenure: Tenure) -> float:
    """For how long a run cannot know that its Lease is gone. When it had run out by the run's own clock it can."""
    if tenure.had_expired:
        return 0.0
    seconds: float = history.terms.lease_seconds or 0
    if not _has_lease_faults(history, run):
        seconds /= 3  # the time from one renewal to the next; one that gets no answer may be tried again until the end
    return seconds + history.terms.request_timeout_seconds + _SLACK_SECONDS + run.stalled_seconds


def _kept_lease(history: History, run: Run) -> Iterator[str]:
    """A Lease still held at the end, unless its calls met faults, the run was killed, or an eviction is unconfirmed."""
    tenure = _tenure_at(history, run.ended_at)
    if _may_lose_lease(history, run) or tenure is None or tenure.is_seized or not tenure.holder:
        return
    if _has_unconfirmed(history, run):
        return
    if any(earlier.at >= run.started_at and earlier.holder == tenure.holder for earlier in history.tenures):
        yield f"run {run.index} ended with {run.exit_code} and did not give its Lease back"


def _outlived_lease(history: History, run: Run) -> Iterator[str]:
    """A call that takes effect when the Lease under which it was made has changed hands by the rules."""
    if _may_lose_lease(history, run) or any(tenure.is_seized for tenure in history.tenures):
        return
    for effect in _effects_of(history, run):
        asked_at = [
            r.at for r in history.requests if r.run == run.index and r.kind == "eviction" and r.uid == effect.uid
        ]
        handed_on = [tenure for tenure in history.tenures if min(asked_at, default=effect.at) < tenure.at <= effect.at]
        if handed_on:
            seconds = effect.at - handed_on[0].at
            yield f"run {run.index}: {effect.uid} left {seconds:.1f} s after the Lease was given back or taken over"


def _has_unconfirmed(history: History, run: Run) -> bool:
    """Whether the run does not know what became of some eviction; without a report, whether it may not know."""
    report = report_of(run)
    if report is not None:
        return bool(report.unconfirmed)
    return any(r.kind == "eviction" and r.run == run.index and r.fault for r in history.requests)


def _may_lose_lease(history: History, run: Run) -> bool:
    return was_too_late_for_lease(history.terms, run) or run.was_ended or _has_lease_faults(history, run)


def _has_lease_faults(history: History, run: Run) -> bool:
    return any(r.kind == "lease" and r.run == run.index and r.fault for r in history.requests)


def _tenure_at(history: History, at: float) -> Tenure | None:
    found = None
    for tenure in history.tenures:
        if tenure.at <= at:
            found = tenure
    return found


def _effects_of(history: History, run: Run) -> list[Effect]:
    return [effect for effect in history.effects if effect.run == run.index]
