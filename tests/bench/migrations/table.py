"""The figures of one bench as text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

_MOST_TEXTS = 5


def render(title: str, figures: Mapping[str, Any]) -> str:
    """A line a figure, then the calls by verb and resource, the most frequent first."""
    return "\n".join([f"\n{title}", *(f"  {name:<34}{text}" for name, text in _lines(figures))])


def _lines(figures: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    calls: Mapping[str, int] = figures["calls"]
    wall, evicted = figures["wall_seconds"], figures["num_granted"]
    idle = figures["idle_server_cpu"]
    yield "wall", f"{wall:.1f} s"
    yield "CPU, peak RSS", f"{figures['cpu_seconds']:.1f} s, {figures['peak_bytes'] / 1e6:,.0f} MB"
    yield "server CPU", f"{figures['server_cpu_seconds']:.1f} s, of which {idle * wall:.1f} s as when idle"
    yield "outcomes", _counts(figures["codes"]) + (f", stopped by {figures['guard']}" if figures["guard"] else "")
    yield "evictions", f"{evicted:,} granted, {figures['num_gone']:,} pods gone"
    yield "pods", f"{figures['num_before']:,} before, {figures['num_after']:,} after, {figures['num_pending']} pending"
    yield "nodes", f"{figures['num_as_predicted']:,} of {len(figures['predicted']):,} as predicted"
    yield "told by the program", _counts(figures["predictions"]) or "none"
    for name in ("refusals", "messages"):
        for text, number in _most_frequent(figures[name])[:_MOST_TEXTS]:
            yield name, f"{number:,} times: {text}"
    yield "calls", f"{sum(calls.values()):,}, {sum(calls.values()) / max(evicted, 1):.1f} a migration"
    for name, number in _most_frequent(calls):
        yield f"  {name}", f"{number:,}"


def _most_frequent(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda each: -each[1])


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{number:,} {name}" for name, number in _most_frequent(counts))
