from __future__ import annotations

import threading

import pytest

from descheduler.kube.background import BackgroundCalls


def test_calls_run_side_by_side_up_to_the_number_of_threads() -> None:
    calls: BackgroundCalls[int] = BackgroundCalls(2, name="test")
    both_there = threading.Barrier(2, timeout=10)

    futures = [calls.submit(both_there.wait) for _ in range(2)]

    assert sorted(future.result(timeout=10) for future in futures) == [0, 1]
    calls.close()


def test_error_of_a_call_reaches_whoever_asks_for_its_result() -> None:
    calls: BackgroundCalls[int] = BackgroundCalls(1, name="test")

    future = calls.submit(lambda: 1 // 0)

    with pytest.raises(ZeroDivisionError):
        future.result(timeout=10)
    assert calls.submit(lambda: 7).result(timeout=10) == 7
    calls.close()


def test_closing_cancels_what_has_not_started() -> None:
    calls: BackgroundCalls[bool] = BackgroundCalls(1, name="test")
    started, go_on = threading.Event(), threading.Event()

    def hang() -> bool:
        started.set()
        return go_on.wait(timeout=10)

    running, waiting = calls.submit(hang), calls.submit(lambda: True)
    started.wait(timeout=10)
    calls.close()
    go_on.set()

    assert running.result(timeout=10)
    assert waiting.cancelled()
