from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from descheduler.kube.retry import TokenBucket


class Clock:
    """A clock that moves only when told to."""

    def __init__(self) -> None:
        self.seconds = 1000.0

    def __call__(self) -> float:
        return self.seconds


def test_burst_is_free_and_then_the_rate_holds() -> None:
    clock = Clock()
    bucket = TokenBucket(5.0, 2, now=clock)

    waits = [bucket.try_take() for _ in range(3)]

    assert waits == [0.0, 0.0, pytest.approx(0.2)]


def test_waiting_as_told_is_enough() -> None:
    clock = Clock()
    bucket = TokenBucket(3.0, 1, now=clock)
    bucket.try_take()

    clock.seconds += bucket.try_take()

    assert bucket.try_take() == 0.0


@settings(deadline=None)
@given(qps=st.floats(0.1, 500), burst=st.integers(1, 50), num_calls=st.integers(1, 200))
def test_calls_in_any_time_never_exceed_burst_plus_rate(qps: float, burst: int, num_calls: int) -> None:
    clock = Clock()
    bucket = TokenBucket(qps, burst, now=clock)
    taken_at: list[float] = []

    while len(taken_at) < num_calls:
        if wait_seconds := bucket.try_take():
            clock.seconds += wait_seconds
        else:
            taken_at.append(clock.seconds)

    elapsed = taken_at[-1] - taken_at[0]
    assert num_calls <= burst + elapsed * qps + 1e-3
    assert elapsed <= max(0, num_calls - burst) / qps + 1e-3


@pytest.mark.parametrize(("qps", "burst"), [(0.0, 1), (-1.0, 1), (float("nan"), 1), (1.0, 0)])
def test_pace_that_never_lets_a_call_through_is_refused(qps: float, burst: int) -> None:
    with pytest.raises(ValueError, match=r"qps is|burst is"):
        TokenBucket(qps, burst)
