"""The figures as text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from statistics import median

from tests.bench.peer.measure import Run

_ROWS: tuple[tuple[str, Callable[[Run], float], Callable[[float], str]], ...] = (
    ("wall", lambda run: run.usage.wall_seconds, lambda seconds: f"{seconds:.2f} s"),
    ("CPU", lambda run: run.usage.cpu_seconds, lambda seconds: f"{seconds:.2f} s"),
    ("peak RSS", lambda run: run.usage.peak_bytes, lambda size: f"{size / 1e6:,.0f} MB"),
    ("server CPU", lambda run: run.server_cpu_seconds, lambda seconds: f"{seconds:.2f} s"),
    ("received", lambda run: run.bytes_received, lambda size: f"{size / 1e6:,.1f} MB"),
)


def render(title: str, runs: Mapping[str, Sequence[Run]]) -> str:
    """One line a figure: the median of each program's runs with their range, and the ratio of ours to upstream's."""
    lines = [title, f"  {'':<11}{'upstream':<36}{'ours':<36}ratio"]
    for name, figure, show in _ROWS:
        of_upstream, of_ours = ([figure(run) for run in runs[side]] for side in ("upstream", "ours"))
        ratio = median(of_ours) / median(of_upstream)
        lines.append(f"  {name:<11}{_spread(of_upstream, show):<36}{_spread(of_ours, show):<36}{ratio:.2f}")
    counts = {side: ", ".join(_count(run) for run in runs[side]) for side in runs}
    lines.append(f"  {'evictions':<11}{counts['upstream']:<36}{counts['ours']}")
    return "\n".join(lines)


def _spread(figures: Sequence[float], show: Callable[[float], str]) -> str:
    text = show(median(figures))
    return text if len(figures) == 1 else f"{text} ({show(min(figures))} - {show(max(figures))})"


def _count(run: Run) -> str:
    if run.was_stopped:
        return f"stopped after {run.usage.wall_seconds:.0f} s"
    return "none counted" if run.num_evictions is None else f"{run.num_evictions:,}"
