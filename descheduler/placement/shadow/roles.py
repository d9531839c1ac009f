"""Which objects implement a protocol: what `isinstance` says of a `runtime_checkable` one, asked once a class.

Python 3.11 looks through all attributes of the protocol at each question, which takes as long as asking a filter about
all nodes of a small cluster; a scheduler asks a hundred times when it is made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeGuard, TypeVar, cast

RoleType = TypeVar("RoleType")
_ANSWERS: dict[tuple[type, object], bool] = {}


class OfManyKinds:
    """A base of classes whose instances differ in what they implement, so that each of them is asked."""


def implements(candidate: object, role: Callable[..., RoleType]) -> TypeGuard[RoleType]:
    """Whether `candidate` implements the protocol `role`; all objects of its class do, or none."""
    kind = type(candidate)
    known = _ANSWERS.get((kind, role))
    if known is None:
        known = isinstance(candidate, cast("type", role))
        if not issubclass(kind, OfManyKinds):
            _ANSWERS[kind, role] = known
    return known


def those_of(role: Callable[..., RoleType], candidates: Iterable[object]) -> list[RoleType]:
    """The `candidates` that implement the protocol `role`, in order."""
    return [each for each in candidates if implements(each, role)]
