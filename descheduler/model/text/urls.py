"""The user part of a URL, which may hold a password: taken out before the URL is used, and never shown."""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass, field
from urllib.parse import unquote_to_bytes, urlsplit

_HIDDEN = "***"
_BEFORE_LAST_AT = re.compile(r"\A((?:[A-Za-z][A-Za-z0-9+.-]*:)?//)?.*@", re.DOTALL)
_USER_AND_PASSWORD = re.compile(r"\A[^/@\s:]*:[^/@\s]*@")
_SCHEME = re.compile(r"\A[A-Za-z][A-Za-z0-9+.-]*(?=://)")
_AUTHORITY = re.compile(r"\A([A-Za-z][A-Za-z0-9+.-]*://)([^/?#]*)@")


@dataclass(frozen=True, slots=True)
class SplitUrl:
    """A URL without its user part, and the value of an Authorization field that the user part asks for, or ""."""

    url: str
    authorization: str = field(default="", repr=False)


def shown_url(url: str) -> str:
    """`url` as it may be printed: whatever stands before its last '@' is replaced, as it may be a password.

    A password that was not escaped can hold slashes and colons, so that where the user part ends cannot be told.
    """
    return _BEFORE_LAST_AT.sub(lambda match: f"{match[1] or ''}{_HIDDEN}@", url)


def without_user_part(text: str) -> str:
    """A URL or an address without its user part: of a URL whatever stands before the last '@', else `user:password@`.

    A handle such as `pool/disk@snapshot` is neither, and stays.
    """
    if "//" in text:
        return _BEFORE_LAST_AT.sub(lambda match: match[1] or "", text)
    return _USER_AND_PASSWORD.sub("", text)


def split_userinfo(url: str) -> SplitUrl:
    """`url` without user name and password, which become HTTP basic authentication, as Go's `http.Client` has it.

    The scheme comes in small letters.
    """
    url = _SCHEME.sub(lambda scheme: scheme[0].lower(), url)
    match = _AUTHORITY.match(url)
    if match is None:
        return SplitUrl(url)
    user, _, password = match[2].partition(":")
    return SplitUrl(
        match[1] + url[match.end() :], basic_authorization(unquote_to_bytes(user), unquote_to_bytes(password))
    )


def basic_authorization(user: bytes, password: bytes) -> str:
    """The value of an Authorization or Proxy-Authorization field for HTTP basic authentication (RFC 7617)."""
    return "Basic " + base64.b64encode(user + b":" + password).decode("ascii")


def is_host_name(name: str) -> bool:
    """Whether `name` can be that of a host: an address, or labels of at most 63 bytes each, none of them empty."""
    try:
        # Go refuses escapes in names; only the zone of an IPv6 address follows a percent sign.
        return bool(name.encode("idna")) and ("%" not in name or ":" in name)
    except UnicodeError:
        return False


def is_https(url: str) -> bool:
    """Whether what is sent to `url` can be read by its receiver alone."""
    return url[:6].lower() == "https:"


def is_web_url(url: str) -> bool:
    """Whether `url` is an http or https URL with a host, a possible port and no spaces or control characters in it."""
    try:
        parts = urlsplit(url)
        is_text = all(character.isprintable() and character != " " for character in url)
        return parts.scheme in {"http", "https"} and is_text and is_host_name(parts.hostname or "") and parts.port != 0
    except ValueError:  # brackets that are not closed, or a port that is none
        return False
