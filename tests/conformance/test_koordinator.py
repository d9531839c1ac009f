"""Every recorded decision of Koordinator is ours too.

The repository carries a part of the cases; `DESCHEDULER_CONFORMANCE_DIR` names a folder that holds all of them.
"""

from __future__ import annotations

import os
from collections import defaultdict
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.conformance.koordinator.cases import SUBJECTS, Case, difference_of, subject_of
from tests.conformance.runner import read_vectors
from tests.conformance.subset import KOORDINATOR, VECTORS
from tests.series import Part, parts

pytestmark = pytest.mark.long

_FOLDER = Path(os.environ.get("DESCHEDULER_CONFORMANCE_DIR") or VECTORS)


@cache
def _cases_by_subject() -> dict[str, list[Case]]:
    groups: dict[str, list[Case]] = defaultdict(list)
    for case in read_vectors(_FOLDER / name for name in KOORDINATOR):
        groups[str(subject_of(case))].append(case)
    return groups


@pytest.mark.parametrize("subject", [name for name in SUBJECTS if find_spec(f"tests.conformance.koordinator.{name}")])
@pytest.mark.parametrize("part", parts(3))
def test_recorded_cases_of_koordinator_come_out_the_same(subject: str, part: Part) -> None:
    cases = part.of(_cases_by_subject()[subject])

    differences = {case["id"]: found for case in cases if (found := difference_of(case)) is not None}

    assert cases
    assert differences == {}


def test_each_recorded_case_is_of_a_known_subject() -> None:
    assert set(_cases_by_subject()) == set(SUBJECTS)
