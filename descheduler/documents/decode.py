"""Document nodes to the values of frozen Structs, with every fault collected and placed.

The rules are those of Kubernetes' JSON decoder: null means "not given", strings are never numbers, keys are
case-sensitive, and a whole float is an integer unless the text is JSON.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from functools import cache
from typing import Any, Final, Literal, NoReturn, TypeVar

import msgspec
from msgspec import inspect
from msgspec.structs import replace

from descheduler.documents.document import Document, Mark, Member, TreeNode, kind_of, laid_over
from descheduler.documents.problems import DocumentProblem, PolicyError, did_you_mean, dotted, shown, spelled
from descheduler.model.text.duration import parse_duration

Path = tuple[str | int, ...]
_StructT = TypeVar("_StructT", bound=msgspec.Struct)
_UINT_MAX = 2**64 - 1
_LONGEST_DURATION = 100
_MOST_PROBLEMS = 100
_SKIP: Final = object()
_TYPE_META = ("apiVersion", "kind")
_EMPTIED_BY_NULL = (inspect.VarTupleType, inspect.DictType, inspect.UnionType)
"""Types whose value a null under a repeated key takes away; Go leaves all others as they are."""


class _Undecodable(Exception):  # noqa: N818 - not an error to report: the problem is recorded where it is raised
    """Leaves a value that has a recorded problem."""


class Strictness(msgspec.Struct, frozen=True):
    """What becomes of keys that the decoder in the reference would skip or overwrite."""

    unknown: Literal["error", "warning"]
    duplicates: Literal["error", "warning"]
    type_meta: bool = False
    """Whether the outermost object may say `apiVersion` and `kind`."""


@cache
def _struct_type(struct: type[msgspec.Struct]) -> inspect.StructType:
    info = inspect.type_info(struct)
    if not isinstance(info, inspect.StructType):
        raise TypeError(f"{struct!r} is not a Struct")
    return info


class Decoder(msgspec.Struct):
    """Decodes parts of one document, and keeps the problems and warnings found on the way."""

    document: Document
    problems: list[DocumentProblem] = msgspec.field(default_factory=list)
    warnings: list[DocumentProblem] = msgspec.field(default_factory=list)

    def problem(self, path: Path, mark: Mark | None, message: str) -> None:
        """Record a fault. Raises PolicyError when there are so many that the rest would only bury them."""
        self.problems.append(self.place(path, mark, message))
        if len(self.problems) >= _MOST_PROBLEMS:
            self.problems.append(self.place((), mark, f"stopped after {_MOST_PROBLEMS} problems"))
            raise PolicyError(self.problems)

    def warn(self, path: Path, mark: Mark | None, message: str) -> None:
        """Record a remark; beyond a hundred they are dropped."""
        if len(self.warnings) < _MOST_PROBLEMS:
            self.warnings.append(self.place(path, mark, message))

    def place(self, path: Path, mark: Mark | None, message: str) -> DocumentProblem:
        """A problem of this document."""
        line, column = (mark.line, mark.column) if mark else (None, None)
        steps = tuple(spelled(step) if isinstance(step, str) else step for step in path)
        return DocumentProblem(self.document.path, line, column, dotted(steps), message)

    def struct(self, node: TreeNode, struct: type[_StructT], path: Path, strictness: Strictness) -> _StructT | None:
        """`node` as a `struct`; null gives its defaults. None, with the problems recorded, when it does not decode."""
        before = len(self.problems)
        value = self.partial(node, struct, path, strictness)
        return value if len(self.problems) == before else None

    def partial(self, node: TreeNode, struct: type[_StructT], path: Path, strictness: Strictness) -> _StructT:
        """As `struct`, with the defaults in place of what does not decode, so that the rest can be looked at too.

        Fields of type `object` receive their node, for the caller to decode.
        """
        try:
            value: _StructT = self._struct(node, _struct_type(struct), path, strictness)
        except _Undecodable:
            return struct()
        return value

    def _struct(self, node: TreeNode, info: inspect.StructType, path: Path, strictness: Strictness) -> Any:
        if node.value is None:
            return info.cls()
        inner = replace(strictness, type_meta=False)
        fields = {item.encode_name: item for item in info.fields}
        values = {}
        for key, member in self._members(node, path, strictness).items():
            item = fields.get(key)
            if item is None:
                self._unknown(key, member, fields, path, strictness)
            elif (node := self._overlaid(member, item.type, (*path, key), inner)).value is not None:
                values[item.name] = self._field(node, item.type, (*path, key), inner)
        return info.cls(**{name: value for name, value in values.items() if value is not _SKIP})

    def _overlaid(self, member: Member, info: inspect.Type, path: Path, strictness: Strictness) -> TreeNode:
        """The value of `member`, laid over what the text says there before, whose faults count too.

        Go decodes a repeated key into the value that it has already filled.
        """
        node, *later = (*member.earlier, member.node)
        for over in later:
            if node.value is not None:
                self._field(node, info, path, strictness)
            is_replaced = isinstance(info, _EMPTIED_BY_NULL if over.value is None else inspect.CustomType)
            node = over if is_replaced else laid_over(node, over)
        return node

    def _field(self, node: TreeNode, info: inspect.Type, path: Path, strictness: Strictness) -> Any:
        """The value, or `_SKIP` for one with a recorded problem, so that its neighbours are looked at too."""
        try:
            return self._value(node, info, path, strictness)
        except _Undecodable:
            return _SKIP

    def _element(self, node: TreeNode, info: inspect.Type, path: Path, strictness: Strictness) -> Any:
        """An entry of a list or a map: null, or what does not decode, is the zero value."""
        value = _SKIP if node.value is None else self._field(node, info, path, strictness)
        return _zero(info) if value is _SKIP else value

    def _members(self, node: TreeNode, path: Path, strictness: Strictness) -> Mapping[str, Member]:
        if not isinstance(node.value, Mapping):
            self._refuse(node, path, _expected("an object", node))
        for key, mark in node.duplicates:
            if strictness.duplicates == "error":
                self.problem((*path, key), mark, "is given twice; keep one of them")
            else:
                self.warn((*path, key), mark, "is given twice; the last one counts")
        return node.value

    def _unknown(
        self, key: str, member: Member, known: Mapping[str, object], path: Path, strictness: Strictness
    ) -> None:
        if strictness.type_meta and key in _TYPE_META:
            if not isinstance(member.node.value, str | None):
                self.problem((*path, key), member.node.mark, _expected("a string", member.node))
        elif strictness.unknown == "error":
            self.problem((*path, key), member.key_mark, f"unknown field{did_you_mean(key, known)}")
        elif len(self.warnings) < _MOST_PROBLEMS:
            self.warn((*path, key), member.key_mark, f"unknown field, ignored{did_you_mean(key, known)}")

    def _value(self, node: TreeNode, info: inspect.Type, path: Path, strictness: Strictness) -> Any:
        match info:
            case inspect.BoolType():
                return node.value if isinstance(node.value, bool) else self._mismatch(node, path, "true or false")
            case inspect.StrType():
                return node.value if isinstance(node.value, str) else self._mismatch(node, path, "a string")
            case inspect.IntType():
                return self._integer(node, info, path)
            case inspect.FloatType():
                return self._number(node, path)
            case inspect.TimeDeltaType():
                return self._duration(node, path)
            case inspect.StructType():
                return self._struct(node, info, path, strictness)
            case inspect.VarTupleType():
                return self._list(node, info.item_type, path, strictness)
            case inspect.DictType():
                return self._map(node, info.value_type, path, strictness)
            case inspect.UnionType():
                return self._union(node, info, path, strictness)
            case inspect.Metadata(type=annotated):
                return self._value(node, annotated, path, strictness)
            case _:
                return node

    def _list(self, node: TreeNode, item_type: inspect.Type, path: Path, strictness: Strictness) -> tuple[Any, ...]:
        if not isinstance(node.value, tuple):
            self._mismatch(node, path, "a list")
        return tuple(
            self._element(item, item_type, (*path, index), strictness) for index, item in enumerate(node.value)
        )

    def _map(self, node: TreeNode, value_type: inspect.Type, path: Path, strictness: Strictness) -> dict[str, Any]:
        return {
            key: self._element(member.node, value_type, (*path, key), strictness)
            for key, member in self._members(node, path, strictness).items()
        }

    def _union(self, node: TreeNode, info: inspect.UnionType, path: Path, strictness: Strictness) -> Any:
        options = [option for option in info.types if not isinstance(option, inspect.NoneType)]
        if len(options) > 1 and isinstance(node.value, str):
            return node.value
        option = next(option for option in options if not isinstance(option, inspect.StrType) or len(options) == 1)
        return self._value(node, option, path, strictness)

    def _integer(self, node: TreeNode, info: inspect.IntType, path: Path) -> int:
        value = node.value
        if isinstance(value, float) and value.is_integer() and self.document.form != "json":
            # YAML is made JSON on the way, and -0 there is no unsigned number.
            value = value if info.ge == 0 and str(value) == "-0.0" else int(value)
        if isinstance(value, bool) or not isinstance(value, int):
            self._mismatch(node, path, "a whole number")
        least = -(2**63) if info.ge is None else info.ge
        most = info.le if info.le is not None else _UINT_MAX if least >= 0 else 2**63 - 1
        if value < least:
            self._refuse(node, path, f"{_short(value)} is below {least}")
        if value > most:
            self._refuse(node, path, f"{_short(value)} is above {most}")
        return value

    def _number(self, node: TreeNode, path: Path) -> float:
        if isinstance(node.value, bool) or not isinstance(node.value, (int, float)):
            self._mismatch(node, path, "a number")
        try:
            return float(node.value)
        except OverflowError:
            self._refuse(node, path, f"{_short(node.value)} is too large a number")

    def _duration(self, node: TreeNode, path: Path) -> timedelta:
        if not isinstance(node.value, str):
            self._mismatch(node, path, "a duration such as 90s or 1h30m")
        try:
            return parse_duration(node.value[:_LONGEST_DURATION])
        except (ValueError, OverflowError):
            self._refuse(node, path, f"{shown(node.value)} is not a duration such as 90s, 5m or 1h30m")

    def _mismatch(self, node: TreeNode, path: Path, expected: str) -> NoReturn:
        self._refuse(node, path, _expected(expected, node))

    def _refuse(self, node: TreeNode, path: Path, message: str) -> NoReturn:
        self.problem(path, node.mark, message)
        raise _Undecodable


def _expected(expected: str, node: TreeNode) -> str:
    if isinstance(node.value, str):
        return f"expected {expected}, found the string {shown(node.value)}"
    if isinstance(node.value, (bool, int, float)):
        return f"expected {expected}, found {kind_of(node).removeprefix('a ')} {_short(node.value)}"
    return f"expected {expected}, found {kind_of(node)}"


def _short(number: bool | int | float) -> str:
    return spelled(str(number).lower() if isinstance(number, bool) else str(number))


def _zero(info: inspect.Type) -> Any:
    """What null means inside a list or a map: the zero value of the type."""
    match info:
        case inspect.BoolType():
            return False
        case inspect.IntType():
            return 0
        case inspect.FloatType():
            return 0.0
        case inspect.StrType():
            return ""
        case inspect.StructType():
            return info.cls()
        case inspect.Metadata(type=annotated):
            return _zero(annotated)
        case _:
            return None
