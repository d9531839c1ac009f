"""Counts over many schedules: which promises broke, what was tried, and how far the runs came."""

from __future__ import annotations

from collections import Counter, defaultdict

from tests.faults.campaign import Played
from tests.faults.observer import PROMISES
from tests.faults.reports import report_of
from tests.faults.rooms.reach import rooms_reached

_MOST_SEEDS = 12


class Tally:
    """Adds schedules up, and shows the sums as text."""

    def __init__(self) -> None:
        self.num_schedules = 0
        self._broken: dict[str, list[int]] = defaultdict(list)
        self._faults: Counter[tuple[str, str]] = Counter()
        self._exit_codes: Counter[tuple[str, int]] = Counter()
        self.reach: Counter[str] = Counter()
        """What schedules got to → how many of them did."""

    @property
    def num_broken(self) -> int:
        """Schedules times promises that they broke."""
        return sum(map(len, self._broken.values()))

    def add(self, played: Played) -> None:
        """Counts one schedule."""
        self.num_schedules += 1
        for promise in {broken.promise for broken in played.broken}:
            self._broken[promise].append(played.history.seed)
        for request in played.history.requests:
            if request.fault:
                self._faults[request.kind, request.fault] += 1
            if request.met:
                self._faults[request.kind, request.met] += 1
        for run in played.history.runs:
            self._exit_codes["second" if run.index else "first", run.exit_code] += 1
        self.reach.update(_reached(played) | rooms_reached(played))

    def text(self) -> str:
        """The tables."""
        return "\n".join([*self._reach_lines(), "", *self._fault_lines(), "", *self._promise_lines()])

    def _promise_lines(self) -> list[str]:
        lines = [f"{'PROMISE':38} {'BROKEN':>6}  SEEDS"]
        for promise in PROMISES:
            seeds = sorted(self._broken[promise])
            more = f" and {len(seeds) - _MOST_SEEDS} more" if len(seeds) > _MOST_SEEDS else ""
            lines.append(f"{promise:38} {len(seeds):6}  {' '.join(map(str, seeds[:_MOST_SEEDS]))}{more}")
        return lines

    def _fault_lines(self) -> list[str]:
        lines = [f"{'REQUEST':16} {'FAULT':60} {'MET':>6}"]
        for (kind, fault), count in sorted(self._faults.items()):
            lines.append(f"{kind:16} {fault:60} {count:6}")
        return lines

    def _reach_lines(self) -> list[str]:
        lines = [f"{'SCHEDULES':60} {self.num_schedules:6}"]
        lines += [f"{what:60} {count:6}" for what, count in sorted(self.reach.items())]
        codes = (f"{run} run {code}: {count}" for (run, code), count in sorted(self._exit_codes.items()))
        return [*lines, f"exit codes: {', '.join(codes)}"]


def _reached(played: Played) -> set[str]:
    """What this schedule got to."""
    history = played.history
    runs = history.runs
    evictions = [request for request in history.requests if request.kind == "eviction"]
    lost = [request for request in evictions if request.fault and "no effect" not in request.fault]
    uids = {effect.uid for effect in history.effects}
    facts = {
        "asked for evictions": bool(evictions),
        "evicted pods": bool(history.effects),
        "effect behind a lost or false answer": any(request.uid in uids for request in lost),
        "late effect": any(effect.is_late for effect in history.effects),
        "late effect after the end of the run": any(e.at > runs[e.run].ended_at for e in history.effects),
        "no fault met by reading": not any(r.fault for r in history.requests if r.kind in ("list", "discovery")),
        "no fault met at all": not any(request.fault for request in history.requests),
        "second run": len(runs) > 1,
        "second run after evictions of the first": len(runs) > 1 and any(not e.run for e in history.effects),
        "signal sent": bool(runs[0].signals),
        "stopped and continued": bool(runs[0].paused),
        "Lease in other hands": any(tenure.is_seized for tenure in history.tenures),
        "TLS": played.schedule.is_tls,
        "report in JSON": any(report_of(run) for run in runs),
        "unknown outcomes reported": any(
            result.code == "outcome-unknown" for run in runs if (report := report_of(run)) for result in report.results
        ),
        "Prometheus asked": any(request.kind == "prometheus" for request in history.requests),
        "pods deleted by others": bool(history.departed),
    }
    return {words for words, is_true in facts.items() if is_true}
