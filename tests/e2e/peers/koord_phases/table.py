"""Rounds of all recorded scripts, and how many went as recorded."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from tests.e2e.control_plane import ControlPlane
from tests.e2e.peers.koord_phases.comparing import differences, told
from tests.e2e.peers.koord_phases.rounds import Seen, koord_descheduler, play_round, this_program

Case = Mapping[str, Any]


class Played(NamedTuple):
    """One script, as this program and koord-descheduler went through it."""

    name: str
    ours: Seen
    theirs: Seen
    differences: tuple[str, ...]
    """From the recording, of this program's."""
    differences_of_theirs: tuple[str, ...]
    """From the recording, of koord-descheduler's."""

    def __str__(self) -> str:
        if not self.differences and not self.differences_of_theirs:
            return f"{self.name}: {told(self.ours.sequence)}"
        lines = [f"{self.name}: {'; '.join(self.differences) or 'as recorded'}"]
        lines += [f"    koord-descheduler: {each}" for each in self.differences_of_theirs]
        lines += [f"    ours   {told(self.ours.sequence)}", f"    theirs {told(self.theirs.sequence)}"]
        return "\n".join(lines)


def recorded_scripts(file: Path) -> list[Case]:
    """The scripts of a file of recorded cases of jobs."""
    with gzip.open(file, "rt") as lines:
        cases = [json.loads(line) for line in lines]
    return [case for case in cases if case.get("class") == "phases"]


def _round_of(case: Case) -> tuple[str, bool]:
    """Those with the same arguments go together, but for those in which a Reservation is deleted.

    koord-scheduler 1.8.0 crashes of that while pods are in flight, and nobody says then of the pods that it was binding
    that they have consumed their Reservations.
    """
    return case["group"], (case["expect"]["reservation"] or {}).get("exists", True) is False


def play_all(plane: ControlPlane, cases: Sequence[Case]) -> Iterator[Played]:
    """Plays `cases` with both programs, those of one configuration at once."""
    for number, (_, group) in enumerate(groupby(sorted(cases, key=_round_of), key=_round_of)):
        some = list(group)
        theirs = play_round(plane, some, f"-t{number}", koord_descheduler)
        states_at_steps = {name: seen.at_steps for name, (_, seen) in theirs.items()}
        ours = play_round(plane, some, f"-o{number}", this_program, states_at_steps)
        for name, (script, seen) in ours.items():
            their_script, their_seen = theirs[name]
            yield Played(
                name,
                seen,
                their_seen,
                tuple(differences(script, seen, departs=True)),
                tuple(differences(their_script, their_seen, departs=False)),
            )
