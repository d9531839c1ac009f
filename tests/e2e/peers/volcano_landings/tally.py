"""Counts of what was said of jobs and what came of them, by class."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from tests.e2e.peers.volcano_landings.plays import Play, Plays

_COLUMNS = {
    "jobs": "jobs",
    "pods": "pods",
    "bound": "bound",
    "pending": "pending",
    "late": "later",
    "evicted": "evicted",
}
"""Counts and the heads of their columns. Pods that are bound `later` had waited for an earlier step."""
_STEPS = {
    "steps": "steps",
    "certain": "all plays alike",
    "said": "as said",
    "played": "as a further play has it",
    "against": "against",
    "evicting": "with evictions",
    "nodes": "pods on the node that was said",
    "proven": "proofs agree",
    "unproven": "proofs against",
}


@dataclass(slots=True)
class Tally:
    """Counts by class, and of steps; `contradictions` in a sentence each."""

    counts: dict[str, Counter[str]] = field(default_factory=dict)
    steps: Counter[str] = field(default_factory=Counter)
    contradictions: list[str] = field(default_factory=list)

    def add_job(self, kind: str, num_pods: int) -> None:
        """Counts a job that came."""
        self.counts.setdefault(kind, Counter()).update(jobs=1, pods=num_pods)

    def add_waiting(self, kind: str, node: str, *, is_new: bool) -> None:
        """Counts a pod that waited before a step and has got `node` since, which is empty for none."""
        is_bound = bool(node)
        late = int(is_bound and not is_new)
        self.counts[kind].update(bound=int(is_bound), late=late, pending=int(is_new and not is_bound) - late)

    def add_step(self, plays: Plays, came: Play, evicted: Mapping[str, str]) -> bool:
        """Whether one of `plays` comes to what came; `evicted` are the pods that were, with their classes."""
        for kind in evicted.values():
            self.counts[kind]["evicted"] += 1
        is_said = any(play.is_like(came) for play in plays.said)
        is_played = is_said or plays.include(came)
        how = "said" if is_said else "played" if is_played else "against"
        self.steps.update(["steps", how, *["certain"] * plays.is_certain, *["evicting"] * bool(evicted)])
        self.steps["nodes"] += max(len(play.nodes.items() & came.nodes.items()) for play in plays.said)
        if not is_played:
            said = "; or ".join(sorted({_shown(play) for play in plays.said}))
            self.contradictions.append(f"{_shown(came)}; expected: {said}")
        return is_played

    def add_proof(self, plays: Plays, proven: Mapping[str, int]) -> bool:
        """Whether some play binds as many pods of each job as the proof expects."""
        is_played = plays.bind_as_many(proven)
        self.steps["proven" if is_played else "unproven"] += 1
        if not is_played:
            self.contradictions.append(f"pods of jobs proven: {dict(proven)}; played: {dict(plays.said[0].by_job)}")
        return is_played

    def lines(self) -> Iterator[str]:
        """The table and the contradictions."""
        yield f"{'class':<15}" + "".join(f"{head:>10}" for head in _COLUMNS.values())
        total = sum(self.counts.values(), Counter[str]())
        for kind, counts in [*sorted(self.counts.items()), ("all", total)]:
            yield f"{kind:<15}" + "".join(f"{counts[column]:>10}" for column in _COLUMNS)
        yield ", ".join(f"{self.steps[name]} {text}" for name, text in _STEPS.items())
        yield from self.contradictions


def _shown(play: Play) -> str:
    return f"bound {_listed(play.nodes)}, evicted {_listed(play.evicted)}"


def _listed(pods: Collection[str]) -> str:
    return " ".join(sorted(pods)) or "none"
