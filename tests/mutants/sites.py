"""Operators that can be changed: comparisons and booleans flipped, minus for plus."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

_FLIPPED: dict[type[ast.AST], tuple[str, str]] = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
    ast.And: ("and", "or"),
    ast.Or: ("or", "and"),
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
}
"""Kind of an operator → how it is written, and what stands there in a mutant."""


class Site(NamedTuple):
    """An operator between two operands. `start` and `end` are offsets of the text between these, in characters."""

    line: int
    start: int
    end: int
    written: str
    instead: str


def sites_of(source: str) -> Iterator[Site]:
    """Every operator of a module that can be changed, as it is written in `source`."""
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    lines = source.splitlines()

    def offset(line: int, column: int) -> int:
        return starts[line - 1] + len(lines[line - 1].encode()[:column].decode())

    for node in ast.walk(ast.parse(source)):
        for operator, left, right in _operations(node):
            written, instead = _FLIPPED.get(type(operator), ("", ""))
            if written and not _is_text(left, right):
                start = offset(left.end_lineno or 0, left.end_col_offset or 0)
                yield Site(left.end_lineno or 0, start, offset(right.lineno, right.col_offset), written, instead)


def mutated(source: str, site: Site) -> str | None:
    """`source` with another operator at `site`; None where the text there holds more than the operator."""
    between = source[site.start : site.end]
    pattern = r"\s+".join(map(re.escape, site.written.split()))
    if not re.fullmatch(rf"[\s()\\]*{pattern}[\s()\\]*", between):
        return None
    return source[: site.start] + re.sub(pattern, site.instead, between, count=1) + source[site.end :]


def _operations(node: ast.AST) -> Iterator[tuple[ast.AST, ast.expr, ast.expr]]:
    """Each operator of `node` with the operands at its sides."""
    if isinstance(node, ast.Compare):
        yield from zip(node.ops, (node.left, *node.comparators), node.comparators, strict=False)
    elif isinstance(node, ast.BoolOp):
        for left, right in zip(node.values, node.values[1:], strict=False):
            yield node.op, left, right
    elif isinstance(node, ast.BinOp):
        yield node.op, node.left, node.right


def _is_text(*operands: ast.expr) -> bool:
    """Whether the operands are texts or sequences, of which there is no difference."""
    return any(
        isinstance(each, ast.JoinedStr | ast.Tuple | ast.List)
        or (isinstance(each, ast.Constant) and isinstance(each.value, str) and not each.value)
        for each in operands
    )
