"""The first and the last line of a dump that `descheduler snapshot` writes.

Between them stands one list of Kubernetes objects a line. The last line says how many objects there must be, so that
a dump that was cut short is known as such.
"""

from __future__ import annotations

import msgspec

__all__ = ["API_VERSION", "DumpHeader", "DumpTrailer", "read_marker"]

API_VERSION = "descheduler.dump/v1"

_GROUP = b'"descheduler.dump/'
_HEAD_BYTES = 200


class DumpHeader(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """The first line. `taken_at` is RFC 3339; `kinds` are those that were asked for, as `name.group`."""

    api_version: str
    kind: str
    taken_at: str
    kinds: tuple[str, ...]
    server_version: str = ""
    source: str = ""


_decode_header = msgspec.json.Decoder(DumpHeader).decode


class DumpTrailer(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """The last line: `name.group` of a kind → number of its objects, and → the version its list was read at."""

    api_version: str
    kind: str
    num_objects: dict[str, int]
    resource_versions: dict[str, str] = {}
    absent_kinds: tuple[str, ...] = ()


_decode_trailer = msgspec.json.Decoder(DumpTrailer).decode


class _Marker(msgspec.Struct, rename="camel"):
    kind: str = ""
    api_version: str = ""


_decode_marker = msgspec.json.Decoder(_Marker).decode


def read_marker(line: bytes) -> DumpHeader | DumpTrailer | None:
    """The header or trailer that `line` is, None for objects. Raises ValueError for one of another format version."""
    if _GROUP not in line[:_HEAD_BYTES]:
        return None
    marker = _decode_marker(line)
    if not marker.api_version.startswith("descheduler.dump/"):
        return None
    if marker.api_version != API_VERSION or marker.kind not in ("DumpHeader", "DumpTrailer"):
        raise ValueError(
            f"{marker.kind} of {marker.api_version!r} was written by another version of descheduler; "
            f"this one reads {API_VERSION}"
        )
    if marker.kind == "DumpHeader":
        return _decode_header(line)
    return _decode_trailer(line)
