from __future__ import annotations

import base64

import pytest

from descheduler.transport.answer import RawResponse, without_credentials

PAIR = base64.b64encode(b"user:hunter22").decode()


@pytest.mark.parametrize(
    ("authorization", "text", "kept"),
    [
        pytest.param("Bearer s3cr3t", "bad header Bearer s3cr3t", "bad header Bearer ***", id="a token"),
        pytest.param(f"Basic {PAIR}", f"got {PAIR} for user", "got *** for user", id="an encoded pair"),
        pytest.param(f"Basic {PAIR}", "wrong password hunter22", "wrong password ***", id="a password"),
        pytest.param("Bearer abc", "abc is short", "abc is short", id="a token like a word"),
        pytest.param("", "nothing to hide", "nothing to hide", id="no credentials"),
    ],
)
def test_credentials_that_come_back_are_hidden(authorization: str, text: str, kept: str) -> None:
    response = RawResponse(403, text, {}, text.encode())

    shown = without_credentials(response, authorization)

    assert (shown.phrase, shown.body) == (kept, kept.encode())
