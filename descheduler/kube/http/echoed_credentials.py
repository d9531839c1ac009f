"""Answers in which somebody repeats the credentials of the request, as proxies do that are set up to find faults."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator

from msgspec.structs import replace

from descheduler.kube.http.status import RawResponse

__all__ = ["text_without_credentials", "without_credentials"]

_HIDDEN = "***"
_LEAST_LENGTH = 4
"""A shorter password stands in every other word, and hiding it would tell where."""
_MOST_BYTES = 1 << 20
"""Answers whose text may get into a message are smaller; lists are larger."""


def without_credentials(response: RawResponse, authorization: str) -> RawResponse:
    """`response` with the credentials in `authorization`, the value of that header field, replaced by `***`."""
    if len(response.body) > _MOST_BYTES:
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
