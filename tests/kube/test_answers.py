from __future__ import annotations

import pytest

from descheduler.kube.answers import ApiStatus, StatusCause, decode_status
from descheduler.transport.answer import RawResponse


def make_response(body: bytes, *, status_code: int = 429, **headers: str) -> RawResponse:
    return RawResponse(
        status_code, "Too Many Requests", {name.replace("_", "-"): text for name, text in headers.items()}, body
    )


def test_status_object_is_reduced_to_what_decisions_need() -> None:
    body = b"""{"kind": "Status", "reason": "TooManyRequests", "message": "no", "details":
        {"causes": [{"reason": "DisruptionBudget", "message": "b", "field": "x"}], "retryAfterSeconds": 10}}"""

    status = decode_status(make_response(body))

    assert status == ApiStatus(429, "TooManyRequests", "no", (StatusCause("DisruptionBudget", "b"),), 10.0, True)


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"<html>secret</html>", id="markup"),
        pytest.param(b"", id="nothing"),
        pytest.param(b"\xff", id="no text"),
        pytest.param(b'{"message": 5}', id="another shape"),
        pytest.param(b'{"message": null, "details": null}', id="nulls"),
    ],
)
def test_body_that_is_no_status_is_described_by_the_http_phrase(body: bytes) -> None:
    assert decode_status(make_response(body)) == ApiStatus(429, "", "Too Many Requests", (), None, False)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        pytest.param("3", 3.0, id="the header field wins"),
        pytest.param("", 10.0, id="no header field"),
        pytest.param("soon", 10.0, id="a header field that is no number"),
    ],
)
def test_wait_is_read_from_header_then_body(header: str, seconds: float) -> None:
    response = make_response(b'{"details": {"retryAfterSeconds": 10}}', retry_after=header)

    assert decode_status(response).retry_after_seconds == seconds
