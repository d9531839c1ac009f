"""Which URLs Go's `net/url.Parse` refuses; it refuses few, and a policy that the reference loads must load here."""

from __future__ import annotations

import re
from ipaddress import IPv6Address

__all__ = ["url_problem"]

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_BAD_ESCAPE = re.compile(r"%(?![0-9a-fA-F]{2})")
_BAD_HOST_ESCAPE = re.compile(r"%(?!25)[0-7]")
_BAD_HOST_CHARACTER = re.compile(r"[ %\\^`{|}]")
_PORT = re.compile(r"(:[0-9]*)?\Z")
_USERINFO = re.compile(r"[A-Za-z0-9._:~!$&'()*+,;=%@-]*\Z")


def url_problem(url: str) -> str | None:
    """Why `url` does not parse, or None. Mirrors Go 1.26 `net/url`, `parse` and `parseHost`.

    Parts are quoted only of a URL without '@': they may belong to a password that was not escaped.
    """
    body, _, fragment = url.partition("#")
    if any(character < " " or character == "\x7f" for character in body):
        return "holds a control character"
    if url.startswith(":"):
        return "has no scheme before the colon"
    scheme = _SCHEME.match(body)
    rest = (body[scheme.end() :] if scheme else body).partition("?")[0]
    if scheme and not rest.startswith("/"):
        return None
    if not rest.startswith("/") and ":" in rest.partition("/")[0]:
        return "has no scheme such as http://, and a colon in its first part"
    path = rest
    if rest.startswith("//") and (scheme or not rest.startswith("///")):
        authority, slash, path = rest[2:].partition("/")
        path = slash + path
        if problem := _authority_problem(authority, scheme[1].lower() if scheme else "", is_quotable="@" not in url):
            return problem
    return (
        "holds a '%' that does not begin an escape"
        if _BAD_ESCAPE.search(path) or _BAD_ESCAPE.search(fragment)
        else None
    )


def _authority_problem(authority: str, scheme: str, *, is_quotable: bool) -> str | None:
    userinfo, _, host = authority.rpartition("@")
    if not _USERINFO.match(userinfo) or _BAD_ESCAPE.search(userinfo):
        return "has an invalid user part before the '@'"
    if "[" in host[1:]:
        return "has a '[' within its host name"
    is_bracketed = host.startswith("[")
    if is_bracketed:
        host, bracket, port = host[1:].rpartition("]")
        if not bracket:
            return "has a host without its closing ']'"
    else:
        # Database URLs may list hosts with ports; those of the web have one colon.
        at = host.find(":") if scheme in ("http", "https") else host.rfind(":")
        host, port = (host, "") if at < 0 else (host[:at], host[at:])
    if not _PORT.match(port):
        return f"has an invalid port {port!r} after the host" if is_quotable else "has an invalid port after the host"
    name = host.partition("%25")[0] if is_bracketed else host
    if _BAD_ESCAPE.search(host) or _BAD_HOST_ESCAPE.search(name) or _BAD_HOST_CHARACTER.search(_unescaped(host)):
        return "has an invalid character in its host name"
    if not is_bracketed or _is_ipv6(host):
        return None
    return (
        f"has {host!r} in brackets, which is not an IPv6 address" if is_quotable else "has no IPv6 address in brackets"
    )


def _is_ipv6(host: str) -> bool:
    try:
        IPv6Address(host.replace("%25", "%", 1))
    except ValueError:
        return False
    return True


def _unescaped(host: str) -> str:
    return re.sub(r"%[0-9a-fA-F]{2}", "", host)
