"""What pods need in all, which problems count exactly up to a limit."""

from __future__ import annotations

import numpy as np
import pytest

from descheduler.planner.problem.pod_needs import refuse_uncountable
from descheduler.strategies.framework import StrategyError


def test_needs_that_add_up_to_more_than_is_counted_exactly_are_refused_with_the_resource() -> None:
    need = np.array([[1, 2**52], [1, 2**52]])

    with pytest.raises(StrategyError) as error:
        refuse_uncountable(need, ("cpu", "memory"), "requests")

    assert str(error.value) == "requests of memory add up to 9.01e+15 bytes; plans are exact below 9.01e+15 only"


def test_needs_up_to_that_are_counted() -> None:
    refuse_uncountable(np.array([[2**52], [2**52 - 1]]), ("example.com/parts",), "requests")
