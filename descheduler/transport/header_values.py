"""Values of HTTP header fields, checked before the HTTP library refuses them in a text that quotes them."""

from __future__ import annotations

from descheduler.transport.errors import SettingsError

_VISIBLE = frozenset(map(chr, range(0x21, 0x7F)))


def bearer(token: str, owner: str) -> str:
    """The value of an Authorization field for `token`; spaces and line breaks around it are dropped, "" stays "".

    Raises SettingsError, which names the `owner` and never holds the token.
    """
    stripped = token.strip()
    if not _VISIBLE.issuperset(stripped):
        raise SettingsError(
            f"{owner} holds a space, a line break or a character that HTTP headers cannot carry; renew it"
        )
    return f"Bearer {stripped}" if stripped else ""


def user_header(name: str, origin: str) -> str:
    """The value of a field that names a user, in UTF-8 as Go sends it; `origin` says where the name is from.

    The HTTP library encodes text as Latin-1, which every byte survives. Raises SettingsError.
    """
    try:
        encoded = name.encode("utf-8")
    except UnicodeEncodeError:
        encoded = b"\n"
    if any(byte < 0x20 or byte == 0x7F for byte in encoded):
        raise SettingsError(f"{origin} holds a line break or a character that HTTP headers cannot carry")
    return encoded.decode("latin-1")
