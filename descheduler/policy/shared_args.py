"""Argument shapes that several plugins share, and the checks that go with them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, TypeVar

import msgspec

from descheduler.documents.problems import shown
from descheduler.model.selection.labels import LabelError, LabelSelector, selector_from_object
from descheduler.model.text.numbers import PERCENTAGE_PATTERN, is_percentage
from descheduler.policy.plugin import ArgsProblem

_ValueT = TypeVar("_ValueT")

WITHOUT_EFFECT = "Without effect here."
WithoutEffect = Annotated[_ValueT, WITHOUT_EFFECT]
"""An argument of another program that is read and changes nothing; its documentation is just that."""
UInt = Annotated[int, msgspec.Meta(ge=0)]
"""Go's `uint`: 0 to 2^64-1."""
Int32 = Annotated[int, msgspec.Meta(ge=-(2**31), le=2**31 - 1)]
Int64 = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
Percentage = Annotated[str, msgspec.Meta(pattern=PERCENTAGE_PATTERN)]
"""A text such as `10%`; the pattern is for schemas, `check_int_or_percent` enforces it."""
UIntOrPercent = UInt | Percentage
Int32OrPercent = Int32 | Percentage
_NUMBER_PERCENT = re.compile(r"[+-]?[0-9.]+%\Z")
Percent = Annotated[float, msgspec.Meta(ge=0, le=100)]
"""The bounds are for schemas; `check_percentages` enforces them."""


def one_of(choices: Iterable[str]) -> msgspec.Meta:
    """Says in schemas which texts a field takes; checks such as `check_in` enforce it."""
    return msgspec.Meta(extra_json_schema={"enum": list(choices)})


class Args(msgspec.Struct, frozen=True, rename="camel"):
    """Base of every plugin's arguments and their parts: frozen, with `snake_case` fields read from `camelCase` keys."""


class Namespaces(Args, frozen=True):
    """Exact names of namespaces to include or to exclude, without wildcards. An empty list restricts nothing."""

    include: tuple[str, ...] = ()
    """Only these namespaces."""
    exclude: tuple[str, ...] = ()
    """All but these namespaces."""


class LabelExpression(Args, frozen=True):
    """One entry of `matchExpressions`."""

    key: str = ""
    """Name of the label."""
    operator: Annotated[str, one_of(("In", "NotIn", "Exists", "DoesNotExist"))] = ""
    """`In`, `NotIn`, `Exists` or `DoesNotExist`."""
    values: tuple[str, ...] = ()
    """For `In` and `NotIn`."""


class LabelSelectorArg(Args, frozen=True):
    """A Kubernetes label selector.

    `compile_selector` makes it usable.
    """

    match_labels: Mapping[str, str] = msgspec.field(default_factory=dict)
    """Label values that must all be met."""
    match_expressions: tuple[LabelExpression, ...] = ()
    """Expressions that must all hold."""


class PriorityThreshold(Args, frozen=True):
    """The priority from which pods are protected, as a number or by the name of a PriorityClass."""

    value: Int32 | None = None
    """The priority itself."""
    name: str = ""
    """Name of a PriorityClass, whose value is used."""


def compile_selector(selector: LabelSelectorArg | None) -> LabelSelector | None:
    """The selector ready to match; None ("no restriction") stays None. Raises LabelError when it is not valid."""
    if selector is None:
        return None
    return selector_from_object(msgspec.to_builtins(selector))


def check_selector(field: str, selector: LabelSelectorArg | None) -> list[ArgsProblem]:
    """The problem that keeps `selector` from compiling, if there is one."""
    try:
        compile_selector(selector)
    except LabelError as error:
        return [ArgsProblem((field,), str(error))]
    return []


def check_pod_selectors(selectors: Iterable[LabelSelectorArg | None]) -> list[ArgsProblem]:
    """Problems of the selectors of the entries of `podSelectors`."""
    return [
        ArgsProblem(("podSelectors", index, *problem.path), problem.message)
        for index, selector in enumerate(selectors)
        for problem in check_selector("selector", selector)
    ]


def check_namespaces(namespaces: Namespaces | None, field: str = "namespaces") -> list[ArgsProblem]:
    """A problem when both lists of `namespaces`, which stand at `field`, are given."""
    if namespaces is None or not (namespaces.include and namespaces.exclude):
        return []
    return [ArgsProblem((field,), "include and exclude are both given; keep one of them")]


def check_exclude_only(field: str, namespaces: Namespaces | None) -> list[ArgsProblem]:
    """A problem when `namespaces` has an include list, for plugins that only know how to leave namespaces out."""
    if namespaces is None or not namespaces.include:
        return []
    return [ArgsProblem((field, "include"), "including namespaces is not supported here; use exclude")]


def check_in(field: str, values: Sequence[str], allowed: Iterable[str]) -> list[ArgsProblem]:
    """A problem for every entry of the list `field` that is not one of `allowed`."""
    known = list(allowed)
    return [
        ArgsProblem((field, index), f"{value!r} is not one of {', '.join(known)}")
        for index, value in enumerate(values)
        if value not in known
    ]


def int_or_percent_fault(limit: int | str | None) -> str:
    """What is wrong with a text in the place of a limit; "" for a number, for None, and from 1% to 100%."""
    if not isinstance(limit, str) or is_percentage(limit):
        return ""
    if _NUMBER_PERCENT.match(limit):
        return f"{shown(limit)} is not a percentage from 1% to 100%"
    return f"{shown(limit)} is neither a number nor a percentage such as '10%'"


def check_int_or_percent(path: tuple[str | int, ...], limit: int | str | None) -> list[ArgsProblem]:
    """The problem of a text at `path` that is no percentage from 1% to 100%."""
    fault = int_or_percent_fault(limit)
    return [ArgsProblem(path, fault)] if fault else []


def check_percentages(field: str, percent_by_resource: Mapping[str, float]) -> list[ArgsProblem]:
    """Problems of a resource-to-percent map: it must name a resource, and stay within 0 and 100."""
    if not percent_by_resource:
        return [ArgsProblem((field,), "no resource is given; name at least one, such as cpu: 20")]
    return [
        ArgsProblem((field, resource), f"{percent:g} is {'below 0' if percent < 0 else 'above 100'} (percent)")
        for resource, percent in sorted(percent_by_resource.items())
        if not 0 <= percent <= 100
    ]
