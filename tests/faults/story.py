"""One schedule told in full, to find out why it broke a promise."""

from __future__ import annotations

import json

from tests.faults.campaign import Played
from tests.faults.history import History, Run
from tests.faults.reports import report_of

_MOST_LINES = 400


def story(played: Played) -> str:
    """The schedule, the server's log and the words of the program, side by side."""
    schedule, history = played.schedule, played.history
    lines = [f"=== seed {schedule.seed}", f"limits: {schedule.terms.limits}", f"flags: {' '.join(schedule.flags)}"]
    lines.append(f"policy: {json.dumps(schedule.world.policy)}")
    for kind, rule in schedule.rules.items():
        faults = "; ".join(f"{fault.name} late={fault.late_seconds:.1f}" for fault in rule.menu)
        lines.append(f"rule: {kind}: {faults} (rate {rule.rate}, at most {rule.most}, {sorted(rule.paths)[:3]})")
    lines += [f"disturbance: {disturbance}" for disturbance in schedule.disturbances]
    lines.append(f"TLS {schedule.is_tls}, grace {schedule.grace_seconds} s, standard output {schedule.output}")
    for run in history.runs:
        lines += _told_by_server(history, run)
        lines += _told_by_program(run)
    lines += [f"BROKEN: {broken.promise}: {broken.story}" for broken in played.broken]
    return "\n".join(lines)


def _told_by_server(history: History, run: Run) -> list[str]:
    told = []
    for request in history.requests:
        if request.run == run.index:
            fault = f" [{request.fault}]" if request.fault else ""
            note = f" ({request.note})" if request.note else ""
            told.append((request.at, f"{request.method} {request.path} {request.code}{fault}{note}"))
    told += [(e.at, f"  >>> {e.uid} evicted from {e.node}") for e in history.effects if e.run == run.index]
    told += [(at, f"  >>> {name} sent") for at, name in run.signals]
    told += [(at, "  >>> stopped") for at, _ in run.paused] + [(at, "  >>> continued") for _, at in run.paused]
    if not run.index:
        told += [(t.at, f"  >>> Lease held by {t.holder or 'nobody'}") for t in history.tenures]
    told.append((run.ended_at, f"  >>> ended with {run.exit_code}, {run.max_rss_bytes / 1e6:.0f} MB"))
    return [f"{at - run.started_at:8.3f} {text}" for at, text in sorted(told)[:_MOST_LINES]]


def _told_by_program(run: Run) -> list[str]:
    lines = [f"  stderr {line[:300]}" for line in run.stderr.splitlines()[-40:]]
    report = report_of(run)
    if report is None:
        return [*lines, *(f"  stdout {line[:200]}" for line in run.stdout.splitlines()[:30])]
    return [*lines, f"  counts {report.counts}, unconfirmed {report.unconfirmed}"] + [
        f"  result {result.uid}: {result.result} ({result.code})" for result in report.results
    ]
