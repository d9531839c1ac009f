"""What can be told of objects that are nested more deeply than the decoder goes, which no rule needs to read."""

from __future__ import annotations

from contextlib import suppress

import msgspec

from descheduler.cluster.decoding.wire import ABSENT, ListMetadataWire, ObjectHeader
from descheduler.documents.json_values import JsonFaultError, elements, members

__all__ = ["deep_header", "deep_name_in", "deep_object_in"]

_Malformed = (JsonFaultError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError)

_decode_any = msgspec.json.Decoder().decode
_decode_text = msgspec.json.Decoder(str).decode
_decode_list_metadata = msgspec.json.Decoder(ListMetadataWire | None).decode


def deep_header(block: bytes) -> ObjectHeader:
    """What says which kind an object is that is nested too deeply to be decoded; nothing where that is too deep."""
    header = ObjectHeader()
    with suppress(*_Malformed):
        found = members(block)
        header.items = msgspec.Raw(found["items"]) if "items" in found else ABSENT
        header.kind, header.api_version = (_decode_text(found.get(name, b'""')) for name in ("kind", "apiVersion"))
        header.metadata = _decode_list_metadata(found.get("metadata", b"null"))
    return header


def deep_name_in(block: bytes) -> str:
    """Namespace and name of an object that is nested too deeply to be decoded; empty where they are, too."""
    try:
        metadata = members(members(block).get("metadata", b"{}"))
        parts = [_decode_text(metadata[name]) for name in ("namespace", "name") if name in metadata]
    except _Malformed:
        return ""
    return "/".join(parts)


def deep_object_in(page: bytes) -> str:
    """Namespace and name of the first object of a list that cannot be decoded for its depth; else `the list`."""
    with suppress(*_Malformed):
        for item, _ in elements(members(page)["items"]):
            try:
                _decode_any(item)
            except RecursionError:
                return deep_name_in(item) or "an object without a name"
    return "the list"
