from __future__ import annotations

import pytest

from descheduler.kube.answers import ApiStatus, ObjectHead, StatusCause, decode_status, describe_body
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


@pytest.mark.parametrize(
    ("code", "body", "is_done", "is_told"),
    [
        pytest.param(201, b'{"kind": "Status", "status": "Success"}', True, True, id="a Status of success"),
        pytest.param(201, b'{"kind": "Status", "status": "Failure"}', False, True, id="a Status of failure"),
        pytest.param(201, b'{"kind": "Eviction"}', True, False, id="the object that was created"),
        pytest.param(201, b'{"kind": "Pod"}', False, False, id="another object"),
        pytest.param(201, b"", False, False, id="nothing"),
        pytest.param(429, b'{"kind": "Status", "status": "Success"}', False, True, id="a Status that contradicts"),
        pytest.param(429, b'{"kind": "Eviction"}', False, False, id="an object that contradicts"),
    ],
)
def test_success_is_confirmed_by_a_status_or_by_the_object(
    code: int, body: bytes, is_done: bool, is_told: bool
) -> None:
    status = decode_status(make_response(body, status_code=code))

    assert (status.is_done, status.is_told) == (is_done, is_told)


def test_answer_without_words_is_told_by_its_status() -> None:
    assert decode_status(RawResponse(418, "", {}, b"")).message == "HTTP status 418"
    assert decode_status(RawResponse(418, "", {}, b'{"message": "tea"}')).message == "tea"


@pytest.mark.parametrize(
    ("header", "seconds"), [("0", 0.0), (" 7 ", 7.0), ("86400", 86_400.0), ("9" * 5000, 86_400.0), ("-5", None)]
)
def test_wait_is_a_number_of_seconds_and_a_day_at_most(header: str, seconds: float | None) -> None:
    assert decode_status(make_response(b"", retry_after=header)).retry_after_seconds == seconds


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "empty"),
        (b" \n\t", "empty"),
        (b" <html>", "HTML"),
        (b'{"kind": "PodList", "apiVersion": "v1"}', "a PodList of v1"),
        (b'{"kind": "PodList"}', "a PodList of no apiVersion"),
        (b'{"kind": "Status", "message": "no\\nway"}', "a Status: no\\nway"),
        (b'{"kind": "Status"}', "a Status of no apiVersion"),
        (b'{"message": "x"}', "JSON without a kind"),
        (b"[]", "JSON of another shape"),
        (b'{"kind": 5}', "JSON of another shape"),
        (b'{"kind"', "not whole JSON"),
        (b'{"a":' * 1200, "not whole JSON"),
        (b'{"kind": "\xff"}', "not whole JSON"),
    ],
)
def test_body_is_described_without_its_content(body: bytes, words: str) -> None:
    assert describe_body(body) == words


def test_words_of_others_are_shortened() -> None:
    assert len(ObjectHead("Status", "v1", "x" * 1000).words) < 250
    assert len(ObjectHead("x" * 1000, "y" * 1000).words) < 450
