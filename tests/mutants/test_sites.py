"""Operators are found where they are written, and changed alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.mutants.__main__ import draw, nearby_tests
from tests.mutants.sites import mutated, sites_of


def mutants_of(source: str) -> set[str | None]:
    return {mutated(source, site) for site in sites_of(source)}


@pytest.mark.parametrize(
    ("source", "mutants"),
    [
        ("a < b", {"a <= b"}),
        ("a  is\tnot None", {"a  is None"}),
        ("a not  in (b)", {"a in (b)"}),
        ("a or b or c", {"a and b or c", "a or b and c"}),
        ("(a) + (b - c)", {"(a) - (b - c)", "(a) + (b + c)"}),
        ("'ä' + name if x == 1 else y", {"'ä' - name if x == 1 else y", "'ä' + name if x != 1 else y"}),
        ("[a] + [b]", set()),
        ("a * b", set()),
    ],
)
def test_each_operator_is_changed_alone(source: str, mutants: set[str]) -> None:
    assert mutants_of(source) == mutants


def test_text_with_a_comment_beside_the_operator_is_left_alone() -> None:
    assert mutants_of("(a  # is it\n and b)") == {None}


def test_equal_seeds_draw_equal_mutants() -> None:
    first = draw(1, 20, "descheduler/plan")

    assert draw(1, 20, "descheduler/plan") == first
    assert draw(2, 20, "descheduler/plan") != first


def test_tests_of_the_module_are_nearest() -> None:
    assert nearby_tests(Path("descheduler/model/verdict.py"))[-2:] == ["tests/model", "tests/conformance"]
    assert nearby_tests(Path("descheduler/supervision.py"))[0] == "tests/test_supervision.py"
