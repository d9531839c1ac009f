"""Counts of what was said and what came of it, by class of pods."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from descheduler.placement.landings.landing import LandingVerdict
from tests.e2e.peers.koord_landings.arena import Outcome
from tests.e2e.peers.koord_landings.engine import Forecast, Said, Taken

_COLUMNS = {
    "asked": "asked",
    "lands": "lands",
    "lands_if": "lands_if",
    "likely": "likely",
    "no": "no",
    "unknown": "unknown",
    "bound": "bound",
    "named": "as named",
    "tied": "in ties",
    "pending": "pending",
    "untried": "untried",
    "unmet": "unmet",
    "contradictions": "against",
}
"""Counts and the heads of their columns. The minors of all that are as named or in ties are those that were named.

Members of a gang that are more than it needs may stay untried: koord-scheduler 1.8.0 puts a pod aside that comes while
others of its gang are being scheduled, and no event wakes it. A landing that is `lands_if` and stays Pending is unmet.
One that is `unknown` may be bound or not.
"""


@dataclass(slots=True)
class Tally:
    """Counts by class; `contradictions` in a sentence each."""

    counts: dict[str, Counter[str]] = field(default_factory=dict)
    contradictions: list[str] = field(default_factory=list)

    def add(self, kind: str, names: Sequence[str], forecast: Forecast, outcomes: Sequence[Outcome]) -> None:
        """Counts pods that came together."""
        first = forecast.said()
        counts = self.counts.setdefault(kind, Counter())
        counts.update(str(said.verdict.value) for said in first)
        counts["asked"] += len(names)
        for name, said, outcome in zip(names, first, outcomes, strict=True):
            if said.verdict is LandingVerdict.UNKNOWN:
                continue
            if kind == "gang" and said.node and outcome.is_untried:
                counts["untried"] += 1
            elif said.verdict is LandingVerdict.LANDS_IF and not outcome.node:
                counts["unmet"] += 1
            elif (said.verdict is LandingVerdict.NO) is not (outcome.node == ""):
                self._contradict(kind, f"{name}: said {_words(said)}, but {_came(outcome)}")
            elif not outcome.node:
                counts["pending"] += 1
        counts["bound"] += sum(bool(outcome.node) for outcome in outcomes)
        self._compare_places(kind, names, forecast, outcomes)

    def retract_pending(self, kind: str, name: str) -> None:
        """Counts a pod that was bound after all."""
        self.counts[kind]["pending"] -= 1
        self._contradict(kind, f"{name}: said no, stayed Pending, and was bound later")

    @property
    def num_asked(self) -> int:
        """How many pods were asked about."""
        return sum(counts["asked"] for counts in self.counts.values())

    def lines(self) -> Iterator[str]:
        """The table and the contradictions."""
        yield f"{'class':<13}" + "".join(f"{head:>10}" for head in _COLUMNS.values())
        total = sum(self.counts.values(), Counter[str]())
        for kind, counts in [*sorted(self.counts.items()), ("all", total)]:
            yield f"{kind:<13}" + "".join(f"{counts[column]:>10}" for column in _COLUMNS)
        yield from self.contradictions

    def _compare_places(self, kind: str, names: Sequence[str], forecast: Forecast, outcomes: Sequence[Outcome]) -> None:
        """Compares nodes and what was taken there; pods of a gang may have changed places with each other."""
        nodes = [outcome.node for outcome in outcomes if outcome.node]
        first = sorted(_place(said.node, said.taken) for said in forecast.said() if said.node)
        came = sorted(_place(outcome.node, outcome.taken) for outcome in outcomes if outcome.node)
        if len(first) != len(came):
            return  # that is told already
        told = sorted(_place(said.node, said.taken) for said in forecast.said(nodes) if said.node)
        as_named = Counter(first) & Counter(came)
        num_named, num_tied = as_named.total(), (Counter(told) & Counter(came)).total()
        self.counts[kind]["named"] += num_named
        self.counts[kind]["tied"] += max(0, num_tied - num_named)
        if max(num_named, num_tied) < len(came):
            self._contradict(kind, f"{', '.join(names)}: said {told} (first of ties: {first}), but came {came}")
            if len(names) == 1:
                said = forecast.said()[0].node
                self.contradictions += [f"  {node}: {forecast.scores(node)}" for node in (said, *nodes)]

    def _contradict(self, kind: str, sentence: str) -> None:
        self.counts[kind]["contradictions"] += 1
        self.contradictions.append(sentence)


def _place(node: str, taken: Taken) -> str:
    parts = (f"{kind} {','.join(sorted(names))}" for kind, names in sorted(taken.items()) if names)
    return " ".join([node, *parts])


def _words(said: Said) -> str:
    place = f" on {_place(said.node, said.taken)} of {len(said.ties)}" if said.node else ""
    return f"{said.verdict.value}{place}{f' ({said.why})' if said.why else ''}"


def _came(outcome: Outcome) -> str:
    return f"bound to {_place(outcome.node, outcome.taken)}" if outcome.node else f"Pending: {outcome.message}"
