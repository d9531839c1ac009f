"""Words in which rows of the kinds table say what a dump keeps of an object."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

__all__ = ["IDENTITY", "METADATA", "ByName", "Fields", "Leaf", "Shape", "an_object", "scalars"]


class Leaf(Enum):
    """What is kept of a value that is no object with fields of its own."""

    SCALAR = "a string, number or truth value, or a list of them"
    HANDLE = "the same without the user and password of an address"
    MAP = "an object with any keys and such values"
    ANNOTATIONS = "a map with the known keys alone"


Fields: TypeAlias = "Mapping[str, Shape]"
Shape: TypeAlias = "Fields | ByName | Leaf"
"""An object with these fields, or a list of such objects."""


@dataclass(frozen=True)
class ByName:
    """An object with any keys, each of which has an object with these fields."""

    fields: Fields


def scalars(*names: str) -> Fields:
    """An object with these fields, each a scalar."""
    return dict.fromkeys(names, Leaf.SCALAR)


METADATA: Fields = {
    **scalars("name", "namespace", "uid", "generation", "creationTimestamp", "deletionTimestamp"),
    "labels": Leaf.MAP,
    "annotations": Leaf.ANNOTATIONS,
    "ownerReferences": scalars("apiVersion", "kind", "name", "uid", "controller"),
}


def an_object(**fields: Shape) -> Fields:
    """An object of the API with these fields beside its metadata."""
    return {**scalars("kind", "apiVersion"), "metadata": METADATA, **fields}


IDENTITY = an_object()
"""Which object it is, and nothing of what it says."""
