"""Compares the placement engine with recorded cases and counts, by class of case, in what the two agree."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from tests.conformance.outcomes import Outcomes
from tests.conformance.scheduler_answer import (
    ASPECTS,
    INFORMATIVE,
    Answer,
    Differences,
    differences_of,
    recorded_answer,
)
from tests.conformance.scheduler_cases import Case, make_scheduler, our_answers

_DECISIVE = tuple(aspect for aspect in ASPECTS if aspect not in INFORMATIVE)


@dataclass
class SchedulerTally:
    """Outcomes by class: of whole cases, and of each aspect of each candidate.

    `failures` and `notes` map the id of a case to what differs, which for a note is only the words of a message.
    """

    outcomes: Outcomes = field(default_factory=Outcomes)
    failures: dict[str, str] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)

    def add(self, case: Case) -> str | None:
        """Checks one case, notes the outcome and returns what differs, if anything."""
        found = list(_differences_by_candidate(case))
        for _, differences in found:
            for aspect, difference in differences.items():
                self.outcomes.note(case["class"], aspect, is_passed=difference is None)
        failure = _summary(found, only=_DECISIVE)
        self.outcomes.note(case["class"], "cases", is_passed=failure is None)
        note = _summary(found, only=INFORMATIVE)
        if note is not None:
            self.notes[case["id"]] = note
        if failure is not None:
            self.failures[case["id"]] = failure
        return failure

    @property
    def num_passed(self) -> int:
        """Cases in which nothing but words of messages differs."""
        return self.outcomes.cell("cases")[0]

    @property
    def num_failed(self) -> int:
        """The other cases."""
        return self.outcomes.cell("cases")[1]

    def table(self) -> str:
        """Agreements of all, by class (rows) and aspect (columns), as a Markdown table."""
        return self.outcomes.table("class", ("cases", *ASPECTS))


def placement_difference(case: Case) -> str | None:
    """How our answers to one case depart from the recorded ones, or None. Words of messages may differ."""
    return _summary(list(_differences_by_candidate(case)), only=_DECISIVE)


def _differences_by_candidate(case: Case) -> Iterator[tuple[str, Differences]]:
    """Every candidate with its comparison. After a crash, which is a difference too, nothing more is asked."""
    answers = _answers(case)
    crash = ""
    for entry in case["expect"]:
        want = recorded_answer(entry)
        try:
            got = None if crash else next(answers)
        except Exception as error:
            crash = f"{type(error).__name__}: {error}"
            got = None
        if got is None:
            yield entry["pod"], {aspect: crash for aspect in _DECISIVE if getattr(want, aspect) is not None}
        else:
            yield entry["pod"], differences_of(want, got)


def _answers(case: Case) -> Iterator[Answer]:
    yield from our_answers(make_scheduler(case), case)


def _summary(found: list[tuple[str, Differences]], *, only: Collection[str]) -> str | None:
    """One line: the first candidate that differs in one of the aspects, in what, and how many others do."""
    lines = []
    for pod, differences in found:
        named = [f"{aspect}: {text}" for aspect, text in differences.items() if text is not None and aspect in only]
        if named:
            others = [line.partition(":")[0] for line in named[1:]]
            lines.append(f"{pod}: {named[0]}" + (f"; also {', '.join(others)}" if others else ""))
    if not lines:
        return None
    return lines[0] + (f"; and {len(lines) - 1} more of {len(found)} candidates" if len(lines) > 1 else "")
