"""Every recorded answer of a controller to an eviction is what the model of owners predicts.

The repository carries a part of the cases; `DESCHEDULER_CONFORMANCE_DIR` names a folder that holds all of them.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import pytest

from tests.conformance.owners.cases import Case, difference_of, is_owner_case
from tests.conformance.runner import read_vectors
from tests.conformance.subset import OWNERS, VECTORS
from tests.series import Part, parts

_FOLDER = Path(os.environ.get("DESCHEDULER_CONFORMANCE_DIR") or VECTORS)
_CLASSES = ("ds", "evict", "job", "other", "rs", "sts")


@cache
def _cases() -> list[Case]:
    return list(read_vectors([_FOLDER / OWNERS]))


@pytest.mark.parametrize("name", _CLASSES)
@pytest.mark.parametrize("part", parts(3))
def test_recorded_evictions_come_out_the_same(name: str, part: Part) -> None:
    cases = part.of([case for case in _cases() if case["class"] == name])

    differences = {case["id"]: found for case in cases if (found := difference_of(case)) is not None}

    assert cases
    assert differences == {}


def test_each_recorded_case_is_of_a_known_class() -> None:
    assert {case["class"] for case in _cases()} == set(_CLASSES)
    assert all(map(is_owner_case, _cases()))


def test_case_with_another_outcome_fails() -> None:
    """The comparison is no formality: a pod that comes back is not one that does not."""
    case = next(case for case in _cases() if case["id"] == "rs/rs-healthy")
    entry = case["expect"]["replacements"][0]
    changed = {**case, "expect": {**case["expect"], "replacements": [{"pod": entry["pod"], "outcome": "not replaced"}]}}

    assert difference_of(changed) == f"{entry['pod']}: at once instead of not replaced"
