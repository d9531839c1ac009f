"""The real scheduler as judge: where it puts generated pods, or what it says when it puts them nowhere.

`python -m tests.e2e.judge --worlds 20 --seed 1 -o cases.jsonl.gz` records cases; `Judge` answers single questions.
"""

from __future__ import annotations

from tests.e2e.judge.case import Case, generate_case
from tests.e2e.judge.features import Feature
from tests.e2e.judge.judge import Judge, JudgeError, judging
from tests.e2e.judge.pods import Candidate, generate_candidates
from tests.e2e.judge.record import read_cases, recorded, write_cases
from tests.e2e.judge.ruling import Ruling
from tests.e2e.judge.seats import KOORD_SCHEDULER, KUBE_SCHEDULER, SEATS, VOLCANO, SchedulerKind
from tests.e2e.judge.world import World, generate_world

__all__ = [
    "KOORD_SCHEDULER",
    "KUBE_SCHEDULER",
    "SEATS",
    "VOLCANO",
    "Candidate",
    "Case",
    "Feature",
    "Judge",
    "JudgeError",
    "Ruling",
    "SchedulerKind",
    "World",
    "generate_candidates",
    "generate_case",
    "generate_world",
    "judging",
    "read_cases",
    "recorded",
    "write_cases",
]
