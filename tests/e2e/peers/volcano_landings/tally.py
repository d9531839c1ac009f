"""Counts of what was said of jobs and what came of them, by class."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

__all__ = ["Tally"]

_COLUMNS = {
    "jobs": "jobs",
    "pods": "pods",
    "bound": "bound",
    "named": "as named",
    "pending": "pending",
    "late": "later",
    "evicted": "evicted",
    "foretold": "foretold",
    "contradictions": "against",
}
"""Counts and the heads of their columns. Pods that are bound `later` had waited for an earlier step; `foretold`
are pods that are evicted and that are victims in what may come, of which their part is largest."""


@dataclass(slots=True)
class Tally:
    """Counts by class; `contradictions` in a sentence each."""

    counts: dict[str, Counter[str]] = field(default_factory=dict)
    contradictions: list[str] = field(default_factory=list)

    def add_job(self, kind: str, num_pods: int) -> None:
        """Counts a job that came."""
        self.counts.setdefault(kind, Counter()).update(jobs=1, pods=num_pods)

    def compare(
        self, kind: str, job: str, said: Mapping[str, str], came: Mapping[str, str], *, num_waiting: int, is_new: bool
    ) -> None:
        """Counts the pods of a job that waited before a step: those that were said to get a node, and that got one."""
        counts = self.counts[kind]
        counts["bound"] += len(came)
        counts["late"] += 0 if is_new else len(came)
        counts["named"] += sum((Counter(said.values()) & Counter(came.values())).values())
        counts["pending"] += (num_waiting - len(came)) if is_new else -len(came)
        if len(said) != len(came):
            counts["contradictions"] += 1
            self.contradictions.append(f"{job}: {len(said)} of {num_waiting} pods expected, {len(came)} bound ({came})")

    def compare_victims(self, came: Mapping[str, str], said: Collection[Collection[str]]) -> None:
        """Counts the pods that were evicted, given with their classes, of which sets `said` are what may come."""
        named = max((came.keys() & set(each) for each in said), key=len, default=set[str]())
        for pod, kind in came.items():
            self.counts[kind].update(evicted=1, foretold=int(pod in named))
        if set(came) not in [set(each) for each in said]:
            self.counts.setdefault("victims", Counter())["contradictions"] += 1
            self.contradictions.append(f"{sorted(came)} evicted, one of {sorted(map(sorted, said))} expected")

    def lines(self) -> Iterator[str]:
        """The table and the contradictions."""
        yield f"{'class':<15}" + "".join(f"{head:>10}" for head in _COLUMNS.values())
        total = sum(self.counts.values(), Counter[str]())
        for kind, counts in [*sorted(self.counts.items()), ("all", total)]:
            yield f"{kind:<15}" + "".join(f"{counts[column]:>10}" for column in _COLUMNS)
        yield from self.contradictions
