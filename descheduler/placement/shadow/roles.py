"""Which objects implement a protocol: the answers of `isinstance` for `runtime_checkable` ones, kept by class.

`isinstance` of Python 3.11 looks up every attribute of the protocol at each call, which takes 30 to 50 microseconds. A
scheduler makes a hundred such calls when it is made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeGuard, TypeVar, cast

RoleType = TypeVar("RoleType")
_ANSWERS: dict[tuple[type, object], bool] = {}
"""Class and protocol → whether the instances of the class implement the protocol."""


class OfManyKinds:
    """The base of classes whose instances differ in the protocols that they implement: no answer is kept for these."""


def implements(candidate: object, role: Callable[..., RoleType]) -> TypeGuard[RoleType]:
    """Whether `candidate` implements the protocol `role`.

    The answer for the first instance of a class counts for all, except for subclasses of OfManyKinds.
    """
    kind = type(candidate)
    known = _ANSWERS.get((kind, role))
    if known is None:
        known = isinstance(candidate, cast("type", role))
        if not issubclass(kind, OfManyKinds):
            _ANSWERS[kind, role] = known
    return known


def those_of(role: Callable[..., RoleType], candidates: Iterable[object]) -> list[RoleType]:
    """The `candidates` that implement the protocol `role`, in their order."""
    return [each for each in candidates if implements(each, role)]
