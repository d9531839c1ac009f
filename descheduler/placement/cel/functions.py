"""The functions and operators of expressions: for which types each is defined, what it gives, and how it runs.

Names and types are those of the CEL language definition, "List of Standard Definitions", of the strings, sets and
optional extensions of cel-go 0.26, and of the quantity and semver libraries of Kubernetes. A name of this table has
every overload that values of `values.py` can reach; any other name is outside the subset.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from descheduler.model.quantity import QuantityError
from descheduler.placement.cel import operations
from descheduler.placement.cel.errors import EvaluationError
from descheduler.placement.cel.frame import (
    BOOL,
    DOUBLE,
    DYN,
    FREE,
    INT,
    QUANTITY,
    SEMVER,
    STRING,
    A,
    B,
    Type,
    list_of,
    map_of,
    optional_of,
)
from descheduler.placement.cel.values import (
    NOTHING,
    DomainMap,
    Optional,
    Quantity,
    Value,
    Version,
    contains,
    equal,
    no_overload,
    ordered,
    place_in_list,
)

Run = Callable[..., Value]


class Overload(NamedTuple):
    """One definition of a function; the target of a method is its first parameter."""

    parameters: tuple[Type, ...]
    result: Type
    run: Run
    is_method: bool = False
    checks_types: bool = False
    """Whether `run` itself refuses values of other types."""


def _on(target: Type, *rest: Type, gives: Type, run: Run) -> Overload:
    return Overload((target, *rest), gives, run, is_method=True)


def _of(*parameters: Type, gives: Type, run: Run, checks_types: bool = False) -> Overload:
    return Overload(parameters, gives, run, checks_types=checks_types)


def _quantity(text: str) -> Quantity:
    try:
        return Quantity.parse(text)
    except QuantityError as error:
        raise EvaluationError(str(error)) from error


def _is_quantity(text: str) -> bool:
    try:
        Quantity.parse(text)
    except QuantityError:
        return False
    return True


def _version(text: str) -> Version:
    try:
        return Version.parse(text)
    except ValueError as error:
        raise EvaluationError(str(error)) from error


def _is_version(text: str) -> bool:
    try:
        Version.parse(text)
    except ValueError:
        return False
    return True


def _value_of(optional: Optional) -> Value:
    if not optional.has_value:
        raise EvaluationError("optional.none() has no value")
    return optional.value


def _index(values: Value, index: Value) -> Value:
    if type(values) is tuple:
        place = place_in_list(values, index)
        if place is None:
            raise EvaluationError(f"index out of bounds: {index}")
        return values[place]
    if type(values) is DomainMap:
        return values.of(index)
    if isinstance(values, dict):
        if type(index) is str and index in values:
            return values[index]
        raise EvaluationError(f"no such key: {index}")
    raise no_overload("[]", values, index)


def _is_in(wanted: Value, values: Value) -> bool:
    return contains(values, wanted)


def _differ(left: Value, right: Value) -> bool:
    """`!=`, which is true where `==` is an error (cel-go 0.26)."""
    try:
        return not equal(left, right)
    except EvaluationError:
        return True


def _order(sign: str, decide: Callable[[int], bool]) -> tuple[Overload, ...]:
    def run(left: Value, right: Value) -> bool:
        return decide(ordered(sign, left, right))

    pairs = ((BOOL, BOOL), (INT, INT), (INT, DOUBLE), (DOUBLE, INT), (DOUBLE, DOUBLE), (STRING, STRING))
    return tuple(_of(*pair, gives=BOOL, run=run, checks_types=True) for pair in pairs)


_OPERATORS: Mapping[str, tuple[Overload, ...]] = {
    "==": (_of(A, A, gives=BOOL, run=equal, checks_types=True),),
    "!=": (_of(A, A, gives=BOOL, run=_differ, checks_types=True),),
    "<": _order("<", lambda sign: sign < 0),
    "<=": _order("<=", lambda sign: sign <= 0),
    ">": _order(">", lambda sign: sign > 0),
    ">=": _order(">=", lambda sign: sign >= 0),
    "in": (
        _of(A, list_of(A), gives=BOOL, run=_is_in, checks_types=True),
        _of(A, map_of(A, B), gives=BOOL, run=_is_in, checks_types=True),
    ),
    "[]": (
        _of(list_of(A), INT, gives=A, run=_index, checks_types=True),
        _of(map_of(A, B), A, gives=B, run=_index, checks_types=True),
    ),
    "!_": (_of(BOOL, gives=BOOL, run=lambda value: not value),),
    "-_": (
        _of(INT, gives=INT, run=lambda value: operations.in_range(-value)),
        _of(DOUBLE, gives=DOUBLE, run=lambda value: -value),
    ),
    "+": (
        _of(INT, INT, gives=INT, run=lambda left, right: operations.in_range(left + right)),
        _of(DOUBLE, DOUBLE, gives=DOUBLE, run=lambda left, right: left + right),
        _of(STRING, STRING, gives=STRING, run=operations.joined_pair),
        _of(list_of(A), list_of(A), gives=list_of(A), run=operations.joined_pair),
    ),
    "-": (
        _of(INT, INT, gives=INT, run=lambda left, right: operations.in_range(left - right)),
        _of(DOUBLE, DOUBLE, gives=DOUBLE, run=lambda left, right: left - right),
    ),
    "*": (
        _of(INT, INT, gives=INT, run=lambda left, right: operations.in_range(left * right)),
        _of(DOUBLE, DOUBLE, gives=DOUBLE, run=lambda left, right: left * right),
    ),
    "/": (
        _of(INT, INT, gives=INT, run=operations.quotient),
        _of(DOUBLE, DOUBLE, gives=DOUBLE, run=operations.ratio),
    ),
    "%": (_of(INT, INT, gives=INT, run=operations.remainder),),
}

_STANDARD: Mapping[str, tuple[Overload, ...]] = {
    "dyn": (_of(A, gives=DYN, run=lambda value: value),),
    "size": tuple(
        Overload((kind,), INT, len, is_method)
        for kind in (STRING, list_of(A), map_of(A, B))
        for is_method in (False, True)
    ),
    "startsWith": (_on(STRING, STRING, gives=BOOL, run=str.startswith),),
    "endsWith": (_on(STRING, STRING, gives=BOOL, run=str.endswith),),
    "contains": (_on(STRING, STRING, gives=BOOL, run=str.__contains__),),
}

_STRINGS: Mapping[str, tuple[Overload, ...]] = {
    "lowerAscii": (_on(STRING, gives=STRING, run=operations.lower_ascii),),
    "upperAscii": (_on(STRING, gives=STRING, run=operations.upper_ascii),),
    "trim": (_on(STRING, gives=STRING, run=operations.trimmed),),
    "charAt": (_on(STRING, INT, gives=STRING, run=operations.char_at),),
    "substring": (
        _on(STRING, INT, gives=STRING, run=operations.substring),
        _on(STRING, INT, INT, gives=STRING, run=operations.substring),
    ),
    "split": (
        _on(STRING, STRING, gives=list_of(STRING), run=operations.split),
        _on(STRING, STRING, INT, gives=list_of(STRING), run=operations.split),
    ),
    "replace": (
        _on(STRING, STRING, STRING, gives=STRING, run=operations.replaced),
        _on(STRING, STRING, STRING, INT, gives=STRING, run=operations.replaced),
    ),
    "join": (
        _on(list_of(STRING), gives=STRING, run=operations.joined),
        _on(list_of(STRING), STRING, gives=STRING, run=operations.joined),
    ),
}

_QUANTITIES: Mapping[str, tuple[Overload, ...]] = {
    "quantity": (_of(STRING, gives=QUANTITY, run=_quantity),),
    "isQuantity": (_of(STRING, gives=BOOL, run=_is_quantity),),
    "isInteger": (_on(QUANTITY, gives=BOOL, run=lambda amount: amount.is_integer),),
    "asInteger": (_on(QUANTITY, gives=INT, run=operations.integer_of),),
    "asApproximateFloat": (_on(QUANTITY, gives=DOUBLE, run=operations.float_of),),
    "add": (
        _on(QUANTITY, QUANTITY, gives=QUANTITY, run=Quantity.plus),
        _on(QUANTITY, INT, gives=QUANTITY, run=lambda amount, number: amount.plus(operations.quantity_of(number))),
    ),
    "sub": (
        _on(QUANTITY, QUANTITY, gives=QUANTITY, run=Quantity.minus),
        _on(QUANTITY, INT, gives=QUANTITY, run=lambda amount, number: amount.minus(operations.quantity_of(number))),
    ),
    "sign": (_of(QUANTITY, gives=INT, run=lambda amount: (amount.nano > 0) - (amount.nano < 0)),),
}

_VERSIONS: Mapping[str, tuple[Overload, ...]] = {
    "semver": (
        _of(STRING, gives=SEMVER, run=_version),
        _of(STRING, BOOL, gives=SEMVER, run=lambda text, lenient: _version(operations.full_version(text, lenient))),
    ),
    "isSemver": (
        _of(STRING, gives=BOOL, run=_is_version),
        _of(STRING, BOOL, gives=BOOL, run=lambda text, lenient: _is_version(operations.full_version(text, lenient))),
    ),
    "major": (_on(SEMVER, gives=INT, run=lambda version: version.major),),
    "minor": (_on(SEMVER, gives=INT, run=lambda version: version.minor),),
    "patch": (_on(SEMVER, gives=INT, run=lambda version: version.patch),),
    "compareTo": (
        _on(QUANTITY, QUANTITY, gives=INT, run=operations.compared),
        _on(SEMVER, SEMVER, gives=INT, run=Version.compared),
    ),
    "isGreaterThan": (
        _on(QUANTITY, QUANTITY, gives=BOOL, run=lambda left, right: left.nano > right.nano),
        _on(SEMVER, SEMVER, gives=BOOL, run=lambda left, right: left.compared(right) > 0),
    ),
    "isLessThan": (
        _on(QUANTITY, QUANTITY, gives=BOOL, run=lambda left, right: left.nano < right.nano),
        _on(SEMVER, SEMVER, gives=BOOL, run=lambda left, right: left.compared(right) < 0),
    ),
}

_OPTIONALS: Mapping[str, tuple[Overload, ...]] = {
    "optional.of": (_of(A, gives=optional_of(A), run=lambda value: Optional(True, value)),),
    "optional.none": (_of(gives=optional_of(FREE), run=lambda: NOTHING),),
    "hasValue": (_on(optional_of(A), gives=BOOL, run=lambda optional: optional.has_value),),
    "value": (_on(optional_of(A), gives=A, run=_value_of),),
}

_SETS: Mapping[str, tuple[Overload, ...]] = {
    "sets.contains": (
        _of(list_of(A), list_of(A), gives=BOOL, run=lambda whole, part: all(contains(whole, each) for each in part)),
    ),
    "sets.intersects": (
        _of(list_of(A), list_of(A), gives=BOOL, run=lambda one, other: any(contains(other, each) for each in one)),
    ),
    "sets.equivalent": (
        _of(
            list_of(A),
            list_of(A),
            gives=BOOL,
            run=lambda one, other: all(contains(other, each) for each in one) and all(contains(one, e) for e in other),
        ),
    ),
}

FUNCTIONS: Mapping[str, tuple[Overload, ...]] = {
    **_OPERATORS,
    **_STANDARD,
    **_STRINGS,
    **_QUANTITIES,
    **_VERSIONS,
    **_OPTIONALS,
    **_SETS,
}
"""Every definition by name; operators are called by their sign, those with one operand with `_` behind it."""

_AT_RUN_TIME: Mapping[str, tuple[type, ...]] = {
    "bool": (bool,),
    "int": (int,),
    "double": (float,),
    "string": (str,),
    "list": (tuple,),
    "map": (dict, DomainMap),
    "quantity": (Quantity,),
    "semver": (Version,),
    "optional": (Optional,),
}


def dispatch(name: str, overloads: tuple[Overload, ...]) -> Run:
    """What chooses among `overloads` by the types of the values. It raises EvaluationError where none is defined."""
    known: dict[tuple[type, ...], Run] = {}

    def run(*values: Value) -> Value:
        kinds = tuple(map(type, values))
        chosen = known.get(kinds)
        if chosen is None:
            chosen = next((each.run for each in overloads if _accepts(each, kinds)), None)
            if chosen is None:
                raise no_overload(name, *values)
            known[kinds] = chosen
        return chosen(*values)

    return run


def _accepts(overload: Overload, kinds: tuple[type, ...]) -> bool:
    return all(
        kind in _AT_RUN_TIME.get(parameter.name, (kind,))
        for parameter, kind in zip(overload.parameters, kinds, strict=True)
    )
