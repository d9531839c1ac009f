"""What an error of a call says about the call."""

from __future__ import annotations

import pytest

from descheduler.kube.errors import ApiError, credentials_refused, may_have_acted
from descheduler.transport.errors import ExchangeError, NotConnected, TransportError, Withheld


@pytest.mark.parametrize(
    ("code", "is_transient", "is_forbidden"),
    [(429, True, False), (500, True, False), (502, True, False), (503, True, False), (504, True, False),
     (501, False, False), (403, False, True), (404, False, False), (409, False, False)],
)  # fmt: skip
def test_status_says_whether_asking_again_can_help(code: int, is_transient: bool, is_forbidden: bool) -> None:
    error = ApiError("no", status_code=code)

    assert (error.is_transient, error.is_forbidden) == (is_transient, is_forbidden)


@pytest.mark.parametrize(
    ("error", "may"),
    [
        pytest.param(ApiError("", status_code=403, reason="Forbidden"), False, id="a refusal of the API server"),
        pytest.param(ApiError("", status_code=403), True, id="a refusal of a proxy"),
        pytest.param(ApiError("", status_code=504, reason="Timeout"), True, id="a call that was given up"),
        pytest.param(ApiError("", status_code=504), True, id="a proxy that waited for too long"),
        pytest.param(TransportError(), True, id="no answer"),
        pytest.param(NotConnected(), False, id="no connection"),
        pytest.param(Withheld(), False, id="a call that was not sent"),
        pytest.param(ExchangeError(), False, id="a failed handshake"),
    ],
)
def test_call_may_have_acted_unless_the_api_server_refused_or_nothing_was_sent(error: ExchangeError, may: bool) -> None:
    assert may_have_acted(error) is may


def test_refused_credentials_are_told_with_the_way_out() -> None:
    assert "renew the credentials" in credentials_refused("https://h")
    assert "not sent over plain http; use an https server" in credentials_refused("http://h")
