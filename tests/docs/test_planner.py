"""The examples of the planner's page, and of the package's own text, run."""

from __future__ import annotations

import doctest

import descheduler.optimizer
from tests.docs.pages import ROOT, blocks


def test_examples_of_the_planners_page_run() -> None:
    for example in blocks(ROOT / "docs" / "explanation" / "planner.md", "python"):
        exec(compile(example, "planner.md", "exec"), {})  # noqa: S102 - our own example


def test_example_of_the_package_runs() -> None:
    result = doctest.testmod(descheduler.optimizer)

    assert (result.failed, result.attempted > 0) == (0, True)
