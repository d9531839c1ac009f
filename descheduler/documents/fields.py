"""The base of every object that is published in a document."""

from __future__ import annotations

import msgspec


class Fields(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """Base of every object in a document: names in camel case, no field optional, no other field allowed."""
