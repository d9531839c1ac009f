from __future__ import annotations

import base64

import pytest

from descheduler.transport.answer import RawResponse, without_credentials
from descheduler.transport.bounded_body import SHORT_BYTES

SHORT_PAIR, TINY_PAIR = (base64.b64encode(f"u:{password}".encode()).decode() for password in ("abcd", "abc"))
PAIR = base64.b64encode(b"user:hunter22").decode()


@pytest.mark.parametrize(
    ("authorization", "text", "kept"),
    [
        pytest.param("Bearer s3cr3t", "bad header Bearer s3cr3t", "bad header Bearer ***", id="a token"),
        pytest.param(f"Basic {PAIR}", f"got {PAIR} for user", "got *** for user", id="an encoded pair"),
        pytest.param(f"Basic {PAIR}", "wrong password hunter22", "wrong password ***", id="a password"),
        pytest.param("Bearer abcd", "abcd is not", "*** is not", id="a token that is just long enough"),
        pytest.param(f"Basic {SHORT_PAIR}", "got abcd", "got ***", id="a password that is just long enough"),
        pytest.param(f"Basic {TINY_PAIR}", "got abc", "got abc", id="a password like a word"),
        pytest.param("Basic hunter22!", "got hunter22!", "got ***", id="a pair that is not encoded"),
        pytest.param("Bearer abc", "abc is short", "abc is short", id="a token like a word"),
        pytest.param("", "nothing to hide", "nothing to hide", id="no credentials"),
    ],
)
def test_credentials_that_come_back_are_hidden(authorization: str, text: str, kept: str) -> None:
    response = RawResponse(403, text, {}, text.encode())

    shown = without_credentials(response, authorization)

    assert (shown.phrase, shown.body) == (kept, kept.encode())


def test_answer_too_long_for_any_message_stays_as_it_is() -> None:
    longest = RawResponse(200, "s3cr3t", {}, b"s3cr3t".ljust(SHORT_BYTES))
    longer = RawResponse(200, "s3cr3t", {}, b"s3cr3t".ljust(SHORT_BYTES + 1))

    assert without_credentials(longest, "Bearer s3cr3t").body.startswith(b"*** ")
    assert without_credentials(longer, "Bearer s3cr3t") is longer


def test_answer_that_repeats_nothing_is_the_same() -> None:
    response = RawResponse(200, "OK", {}, b"fine")

    assert without_credentials(response, "Bearer s3cr3t") is response
    assert without_credentials(RawResponse(200, "s3cr3t", {}, b"fine"), "Bearer s3cr3t").phrase == "***"
    assert without_credentials(RawResponse(200, "OK", {}, b"s3cr3t"), "Bearer s3cr3t").body == b"***"


@pytest.mark.parametrize(("code", "is_success"), [(199, False), (200, True), (299, True), (300, False)])
def test_success_is_any_of_2xx(code: int, is_success: bool) -> None:
    assert RawResponse(code, "", {}, b"").is_success is is_success
