"""Promises about words: the report, the exit code, and what must never be printed."""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Iterator

from tests.faults.bounds import was_too_late_for_lease
from tests.faults.history import History, Run
from tests.faults.reports import Report, report_of

_DOCUMENTED = {0, 1, 2, 3, 4, 130, 143}  # and 5, of dry runs, which no schedule plays
_CODE_OF_SIGNAL = {"SIGTERM": 143, "SIGINT": 130}
_CONFIRMED_BY_ABSENCE = "left-without-answer"
_READING_SLACK_SECONDS = 0.5
_GUARD_CODES = {"deadline", "overloaded", "stopped"}


def report_is_true(history: History) -> Iterator[str]:
    """Every pod that left is reported as evicted, none that stayed is reported as surely evicted, and sums agree."""
    for run in history.runs:
        report = report_of(run)
        if report is None:
            if _owes_report(history, run):
                yield f"run {run.index} ended with {run.exit_code} after evictions and wrote no report"
            continue
        yield from _false_results(history, run, report)
        yield from _false_sums(run, report)


def _owes_report(history: History, run: Run) -> bool:
    has_evicted = any(effect.run == run.index for effect in history.effects)
    return has_evicted and history.terms.is_json and run.has_output and not run.was_ended


def _false_results(history: History, run: Run, report: Report) -> Iterator[str]:
    effects = {effect.uid: effect for effect in history.effects if effect.run == run.index}
    away = history.departed | {effect.uid for effect in history.effects}
    # Whoever asked for the eviction of a pod, was not told what came of it, and finds it gone cannot know who it was.
    unclear = {r.uid for r in history.requests if r.run == run.index and r.kind == "eviction" and r.fault}
    for uid, effect in effects.items():
        told = report.result_of(uid)
        if told is None:
            yield f"run {run.index}: {uid} left and the report does not say so"
        elif told.result != "evicted":
            when = "after the run" if effect.at > run.ended_at else "in the run"
            yield f"run {run.index}: {uid} left {when}, reported {told.result} ({told.code})"
    for told in report.results:
        is_sure = told.result == "evicted" and told.code != "outcome-unknown"
        is_unclear = told.code == _CONFIRMED_BY_ABSENCE or told.uid in unclear
        was_taken_away = is_unclear and told.uid in away
        if is_sure and told.uid not in effects and not was_taken_away:
            yield f"run {run.index}: {told.uid} is reported {told.result} ({told.code}) and never left"


def _false_sums(run: Run, report: Report) -> Iterator[str]:
    counted = Counter(result.result for result in report.results)
    for kind, count in report.counts.items():
        if counted[kind] != count:
            yield f"run {run.index}: counts.{kind} is {count}, {counted[kind]} results say so"
    unknown = sum(result.code == "outcome-unknown" for result in report.results)
    if unknown != (report.unconfirmed or 0):
        yield f"run {run.index}: unconfirmed is {report.unconfirmed}, {unknown} results are outcome-unknown"


def exit_codes_are_documented(history: History) -> Iterator[str]:
    """The exit code is one that the manual names, and says what it means there."""
    for run in history.runs:
        if not run.was_ended:
            for fault in _false_exit_code(history, run):
                yield f"run {run.index}: exit code {run.exit_code}, but {fault}"


def _false_exit_code(history: History, run: Run) -> Iterator[str]:
    terms, code, report = history.terms, run.exit_code, report_of(run)
    num_evicted = sum(effect.run == run.index for effect in history.effects)
    codes = Counter(result.code for result in report.results) if report else Counter()
    signals = {name for _, name in run.signals}
    if code not in _DOCUMENTED:
        yield "no page names it"
    if code == 1 and num_evicted:
        yield f"{num_evicted} pods were evicted"
    if code == 1 and codes["outcome-unknown"]:
        yield f"{codes['outcome-unknown']} evictions are reported as unknown"
    if code == 2:
        yield "policy and flags are valid"
    if code == 3 and not terms.is_detailed:
        yield "no detailed exit codes were asked for"
    if code in (0, 3) and any(codes[guard] for guard in _GUARD_CODES):
        yield f"a guard cut the run short: {dict(codes)}"
    if code == 0 and terms.is_detailed and report and report.counts.get("failed", 0) + report.counts.get("refused", 0):
        yield f"detailed codes were asked for and not all went well: {dict(codes)}"
    if code == 0 and report and report.counts.get("failed", 0) and not report.counts.get("evicted", 0):
        yield "evictions failed and nothing was evicted"
    for name, expected in _CODE_OF_SIGNAL.items():
        if code == expected and name not in signals:
            yield f"no {name} was sent"
    if signals and codes["stopped"] and code not in {_CODE_OF_SIGNAL[name] for name in signals}:
        yield f"{', '.join(signals)} cut the run short"
    if code == 1 and _SUMS not in run.stderr and _was_cut_off_reading(history, run):
        yield "a signal or the deadline ended it before it had asked for any eviction"
    if code == 4 and not _has_guard(history, run, codes):
        yield "no guard had a reason to end the run"


_ERRORS_OF_A_GUARD = 10
"""So many calls have failed at least where `guards.maxAPIErrorRate` of MigrationController ends a run."""
_ALREADY = "pods were evicted before this error"
"""Logged where a run cannot go on that has evicted pods for the jobs of users."""
_SUMS = "Number of evictions/requests"
"""Logged once a run has come to its end; what it ended with is its own matter then, whatever came afterwards."""


_GUARD = "guards.maxAPIErrorRate"


def _was_cut_off_reading(history: History, run: Run) -> bool:
    """Whether nothing but a signal or the deadline can have ended a run that got no further than reading."""
    requests = [request for request in history.requests if request.run == run.index]
    if any(request.kind == "eviction" for request in requests):
        return False
    seconds = history.terms.deadline_seconds
    if seconds is not None and run.ended_at - run.started_at > seconds + _READING_SLACK_SECONDS + run.stalled_seconds:
        return True
    return bool(run.signals) and not any(request.fault for request in requests)


def _has_guard(history: History, run: Run, codes: Counter[str]) -> bool:
    """Whether deadline, Lease, overload or failing calls can have ended the run."""
    seconds = history.terms.deadline_seconds
    if seconds is not None and run.ended_at - run.started_at >= seconds * 0.5:
        return True
    if was_too_late_for_lease(history.terms, run):
        return True
    if _ALREADY in run.stderr:
        return True
    of_run = [r for r in history.requests if r.run == run.index]
    is_told = codes["guard"] or _GUARD in run.stderr  # the log says so where the report is no JSON
    if is_told and sum(bool(r.fault) for r in of_run) >= _ERRORS_OF_A_GUARD:
        return True
    if codes["overloaded"] or any(tenure.is_seized for tenure in history.tenures):
        return True
    return any(r.kind == "lease" and r.fault for r in of_run)


def no_secret_is_told(history: History) -> Iterator[str]:
    """No token and no password stands in an output, an Event or the metrics, or is sent without TLS."""
    for run in history.runs:
        outputs = {"standard output": run.stdout, "standard error": run.stderr, "the metrics": run.metrics}
        for place, text in outputs.items():
            for canary in history.terms.canaries:
                if canary in text or _encoded(canary) in text:
                    line = next((line for line in text.splitlines() if canary in line), "")
                    yield f"run {run.index}: {place} shows a credential: {line[:160]}"
                    break
    for event in history.events:
        if any(canary in event for canary in history.terms.canaries):
            yield f"an Event shows a credential: {event[:160]}"
    for place in sorted(set(history.foreign_credentials)):
        yield f"a token was sent where it does not belong: {place}"


def no_internal_error(history: History) -> Iterator[str]:
    """No traceback, and no error that the program itself did not expect.

    The traceback of a plugin that failed is expected at verbosity 6, after the line that announces it.
    """
    for run in history.runs:
        before = ""
        for line in run.stderr.splitlines():
            is_announced = "Traceback of a plugin that failed" in before
            if (
                (line.startswith("Traceback ") and not is_announced)
                or line.startswith("Fatal Python")
                or "internal error" in line
            ):
                yield f"run {run.index}: {line[:200]}"
                break
            before = line


def _encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode().rstrip("=")[:-1]
