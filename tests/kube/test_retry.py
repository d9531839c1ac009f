from __future__ import annotations

import pytest

from descheduler.kube.errors import ApiError
from descheduler.kube.retry import RetryPolicy
from descheduler.transport.errors import ExchangeError, TransportError
from tests.integration.api_fixtures import Naps


def make_attempts(*results: Exception | int) -> tuple[list[Exception | int], RetryPolicy, Naps]:
    naps = Naps()
    return list(results), RetryPolicy(attempts=4, sleep=naps), naps


def take(results: list[Exception | int]) -> int:
    result = results.pop(0)
    if isinstance(result, Exception):
        raise result
    return result


def test_waits_grow_at_most_exponentially() -> None:
    results, policy, naps = make_attempts(TransportError("a"), TransportError("b"), TransportError("c"), 7)

    found = policy.call(lambda: take(results))

    assert found == 7
    assert all(nap <= policy.first_wait_seconds * 2**number for number, nap in enumerate(naps, start=0))


@pytest.mark.parametrize(
    "error",
    [
        pytest.param(ExchangeError("TLS failed"), id="a failure that repeating does not mend"),
        pytest.param(ApiError("no", status_code=403), id="a refusal"),
    ],
)
def test_other_errors_end_the_call_at_once(error: ExchangeError) -> None:
    results, policy, naps = make_attempts(error, 7)

    with pytest.raises(ExchangeError):
        policy.call(lambda: take(results))

    assert naps == []


def test_last_refusal_is_raised_as_it_came() -> None:
    busy = ApiError("busy", status_code=503, retry_after_seconds=1.0)
    results, policy, naps = make_attempts(busy, busy, busy, busy)

    with pytest.raises(ApiError) as caught:
        policy.call(lambda: take(results))

    assert caught.value is busy
    assert len(naps) == 3


def test_policy_without_an_attempt_is_refused() -> None:
    with pytest.raises(ValueError, match="attempts is 0"):
        RetryPolicy(attempts=0)
