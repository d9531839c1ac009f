"""Words in which the tables of `dump_fields` say what is kept of a JSON value."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import TypeAlias

__all__ = ["Fields", "Leaf", "Shape", "scalars"]


class Leaf(Enum):
    """What is kept of a value that is no object with fields of its own."""

    SCALAR = "a string, number or truth value, or a list of them"
    HANDLE = "the same without the user and password of an address"
    MAP = "an object with any keys and such values"
    ANNOTATIONS = "a map with the known keys alone"


Fields: TypeAlias = "Mapping[str, Shape]"
Shape: TypeAlias = "Fields | Leaf"
"""An object with these fields, or a list of such objects."""


def scalars(*names: str) -> Fields:
    """An object with these fields, each a scalar."""
    return dict.fromkeys(names, Leaf.SCALAR)
