"""Every recorded answer of kube-scheduler, on where a pod fits and how the nodes score, is ours too.

The repository carries a part of the cases; `DESCHEDULER_CONFORMANCE_DIR` names a folder that holds all of them.
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

from tests.conformance.runner import read_lines
from tests.conformance.scheduler_cases import make_scheduler, our_answers
from tests.conformance.scheduler_tally import placement_difference
from tests.conformance.subset import SCHEDULERS, VECTORS
from tests.series import Part, parts

_FOLDER = Path(os.environ.get("DESCHEDULER_CONFORMANCE_DIR") or VECTORS)
_NUM_TAKEN_BACK = 5
"""Sequences of each class that are run twice, which takes as long as running as many cases more."""


@cache
def _lines_by_class_and_mode() -> dict[tuple[str, str], list[str]]:
    # Kept as text: decoded, all cases take ten times the memory, in every process that runs tests.
    groups: dict[tuple[str, str], list[str]] = defaultdict(list)
    for line in read_lines(_FOLDER / name for name in SCHEDULERS):
        case = json.loads(line)
        groups[case["class"], case["mode"]].append(line)
    return groups


_GROUPS = [pytest.param(*group, id="-".join(group)) for group in _lines_by_class_and_mode()]
_CLASSES_WITH_SEQUENCES = [name for name, mode in _lines_by_class_and_mode() if mode == "sequence"]


@pytest.mark.parametrize(("class_name", "mode"), _GROUPS)
@pytest.mark.parametrize("part", parts(3))
def test_recorded_placements_come_out_the_same(class_name: str, mode: str, part: Part) -> None:
    cases = [json.loads(line) for line in part.of(_lines_by_class_and_mode()[class_name, mode])]

    found = {(case["id"], case["kubernetes"]): placement_difference(case) for case in cases}
    differences = {case: difference for case, difference in found.items() if difference is not None}

    assert differences == {}


@pytest.mark.parametrize("class_name", _CLASSES_WITH_SEQUENCES)
def test_sequence_that_is_taken_back_leaves_no_trace(class_name: str) -> None:
    for line in _lines_by_class_and_mode()[class_name, "sequence"][:_NUM_TAKEN_BACK]:
        case = json.loads(line)
        scheduler = make_scheduler(case)
        cluster = scheduler.cluster
        with cluster.what_if():
            answers = list(our_answers(scheduler, case))
            digest = cluster.digest()

        again = list(our_answers(scheduler, case))

        assert again == answers, case["id"]
        assert cluster.digest() == digest, case["id"]
