"""An answer as it came, and without the credentials of the request that it may repeat.

Proxies that are set up to find faults answer with the request that they received, credentials included.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Mapping

import msgspec
from msgspec.structs import replace

from descheduler.transport.bounded_body import SHORT_BYTES

_HIDDEN = "***"
_LEAST_LENGTH = 4
"""A shorter password is part of many words, and hiding the password would show where."""


class RawResponse(msgspec.Struct, frozen=True):
    """Status code, header fields (names in lower case) and decompressed body of one answer."""

    status_code: int
    phrase: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def is_success(self) -> bool:
        """Whether the status code is 2xx."""
        return 200 <= self.status_code < 300


def without_credentials(response: RawResponse, authorization: str) -> RawResponse:
    """`response` with the credentials in `authorization`, the value of that header field, replaced by `***`."""
    if len(response.body) > SHORT_BYTES:  # the text of a longer answer gets into no message
        return response
    body, phrase = response.body, text_without_credentials(response.phrase, authorization)
    for secret in _secrets_in(authorization):
        body = body.replace(secret.encode(), _HIDDEN.encode())
    is_same = body is response.body and phrase == response.phrase
    return response if is_same else replace(response, body=body, phrase=phrase)


def text_without_credentials(text: str, authorization: str) -> str:
    """`text` with the credentials in `authorization` replaced."""
    for secret in _secrets_in(authorization):
        text = text.replace(secret, _HIDDEN)
    return text


def _secrets_in(authorization: str) -> Iterator[str]:
    """The token, or the encoded pair and the password of basic authentication."""
    scheme, _, credentials = authorization.partition(" ")
    if len(credentials) >= _LEAST_LENGTH:
        yield credentials
    if scheme == "Basic":
        try:
            password = base64.b64decode(credentials, validate=True).decode().partition(":")[2]
        except (binascii.Error, UnicodeDecodeError):
            return
        if len(password) >= _LEAST_LENGTH:
            yield password
