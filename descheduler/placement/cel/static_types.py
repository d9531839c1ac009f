"""The types that an expression is checked against before it runs (CEL language definition, "Gradual Type Checking")."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = [
    "ANY",
    "BOOL",
    "DEVICE",
    "DOUBLE",
    "DYN",
    "FREE",
    "INT",
    "NULL",
    "QUANTITY",
    "SEMVER",
    "STRING",
    "A",
    "B",
    "Type",
    "are_alike",
    "fits",
    "list_of",
    "map_of",
    "optional_of",
    "resolved",
]


@dataclass(frozen=True, slots=True)
class Type:
    """A type by its name, with the types of its parts."""

    name: str
    parts: tuple[Type, ...] = ()

    def __str__(self) -> str:
        return f"{self.name}({', '.join(map(str, self.parts))})" if self.parts else self.name

    @property
    def is_dynamic(self) -> bool:
        """Whether it is known at run time only."""
        return self in (DYN, ANY, FREE)


DYN = Type("dyn")
ANY = Type("any")
"""An attribute: like `dyn`, but macros do not iterate over it."""
FREE = Type("free")
"""The elements of an empty list, or what an empty optional holds: any type at all."""
BOOL = Type("bool")
INT = Type("int")
DOUBLE = Type("double")
STRING = Type("string")
NULL = Type("null")
QUANTITY = Type("quantity")
SEMVER = Type("semver")
DEVICE = Type("device")
A = Type("A")
B = Type("B")
_PARAMETERS = (A, B)
_NULLABLE = ("quantity", "semver", "device", "optional")


def list_of(element: Type) -> Type:
    """A list."""
    return Type("list", (element,))


def map_of(key: Type, value: Type) -> Type:
    """A map."""
    return Type("map", (key, value))


def optional_of(value: Type) -> Type:
    """An optional value."""
    return Type("optional", (value,))


def fits(given: Type, wanted: Type, bound: dict[Type, Type]) -> bool:
    """Whether a value of type `given` is accepted as `wanted`; `bound` learns what the parameters `A` and `B` are."""
    if wanted in _PARAMETERS:
        known = bound.setdefault(wanted, given)
        if not fits(given, known, {}):
            return False
        bound[wanted] = joined(known, given)
        return True
    if given.is_dynamic or wanted.is_dynamic:
        return True
    if NULL in (given, wanted):
        return given == wanted or (wanted if given == NULL else given).name in _NULLABLE
    if given.name != wanted.name or len(given.parts) != len(wanted.parts):
        return False
    return all(fits(part, other, bound) for part, other in zip(given.parts, wanted.parts, strict=True))


def are_alike(one: Type, other: Type) -> bool:
    """Whether elements of these types may stand in one list literal: `dyn` and `any` are types of their own there."""
    if FREE in (one, other):
        return True
    if one.is_dynamic or other.is_dynamic:
        return one == other
    if one.name != other.name or len(one.parts) != len(other.parts):
        return fits(one, other, {})
    return all(are_alike(*pair) for pair in zip(one.parts, other.parts, strict=True))


def joined(first: Type, second: Type) -> Type:
    """The more general one of two types that fit each other."""
    if first.is_dynamic and first != FREE:
        return first
    if first == FREE or second == FREE:
        return second if first == FREE else first
    if second.is_dynamic:
        return second
    if first.name != second.name:
        return first if second == NULL else second
    return Type(first.name, tuple(joined(*pair) for pair in zip(first.parts, second.parts, strict=True)))


def resolved(wanted: Type, bound: dict[Type, Type]) -> Type:
    """`wanted` with its parameters replaced by what they are bound to; by `dyn` where that is nothing."""
    if wanted in _PARAMETERS:
        return bound.get(wanted, DYN)
    return Type(wanted.name, tuple(resolved(part, bound) for part in wanted.parts)) if wanted.parts else wanted
