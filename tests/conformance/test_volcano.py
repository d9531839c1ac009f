"""Every recorded cycle of Volcano comes out of the session as it was recorded.

The repository carries a part of the cases; `DESCHEDULER_CONFORMANCE_DIR` names a folder that holds all of them.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import pytest

from tests.conformance.runner import read_vectors
from tests.conformance.subset import VECTORS, VOLCANO
from tests.conformance.volcano.cases import differences_of, is_volcano_case
from tests.conformance.volcano.worlds import Case

pytestmark = pytest.mark.long

_FOLDER = Path(os.environ.get("DESCHEDULER_CONFORMANCE_DIR") or VECTORS)
_CLASSES = (
    "backfill",
    "binpack",
    "capacity",
    "deviceshare",
    "drf",
    "enqueue",
    "gang",
    "nodeorder",
    "predicates",
    "preempt",
    "priority",
    "proportion",
    "reclaim",
    "tiers",
)


@cache
def _cases() -> list[Case]:
    return list(read_vectors([_FOLDER / VOLCANO]))


@pytest.mark.parametrize("name", _CLASSES)
def test_recorded_cycles_come_out_the_same(name: str) -> None:
    cases = [case for case in _cases() if case["class"] == name]

    differences = {case["id"]: found for case in cases if (found := differences_of(case))}

    assert cases
    assert differences == {}


def test_each_recorded_case_is_of_a_known_class() -> None:
    assert {case["class"] for case in _cases()} == set(_CLASSES)
    assert all(map(is_volcano_case, _cases()))


def test_case_with_another_outcome_fails() -> None:
    """The comparison is no formality: a job that is bound is not one that waits."""
    case = next(case for case in _cases() if case["class"] == "gang" and case["expect"].get("binds"))
    pod = next(iter(case["expect"]["binds"]))
    changed = {**case, "expect": {**case["expect"], "binds": {**case["expect"]["binds"], pod: "elsewhere"}}}

    found = differences_of(changed)

    assert found[0].startswith(f"binds.{pod}: expected elsewhere, got ")
