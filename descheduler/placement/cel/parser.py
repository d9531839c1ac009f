"""From text to syntax tree (CEL language definition, section "Syntax")."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from descheduler.placement.cel.errors import InvalidExpression, Unsupported
from descheduler.placement.cel.syntax import (
    END,
    FLOAT,
    IDENTIFIER,
    INTEGER,
    PUNCTUATION,
    STRING,
    Call,
    Conditional,
    Identifier,
    ListOf,
    Literal,
    Logical,
    MapOf,
    Node,
    Select,
    Token,
    tokens_of,
)

_DEEPEST = 48
"""Levels of nesting. The API server takes 250; expressions in use have fewer than ten, and each level costs stack."""
_BINARY = (("==", "!=", "<", "<=", ">", ">=", "in"), ("+", "-"), ("*", "/", "%"))
"""Signs of the same rank, from the loosest to the tightest; all associate to the left."""
_CONSTANTS = {"true": True, "false": False, "null": None}
_RESERVED = frozenset(
    (
        *("as", "break", "const", "continue", "else", "for", "function", "if", "import", "in", "let", "loop"),
        *("package", "namespace", "return", "var", "void", "while"),
    )
)


def parse(text: str) -> Node:
    """The tree of `text`. Raises InvalidExpression with the position, and Unsupported for deep nesting."""
    parser = _Parser(list(tokens_of(text)))
    node = parser.expression()
    parser.expect(END)
    return node


class _Parser:
    """A cursor over tokens; every method reads one construct of the grammar."""

    def __init__(self, tokens: Sequence[Token]) -> None:
        self._tokens = tokens
        self._next = 0
        self._nesting = 0

    def expression(self) -> Node:
        """A conditional, or anything that binds tighter."""
        self._nesting += 1
        self._bounded(self._nesting)
        condition = self._logical("||", lambda: self._logical("&&", lambda: self._binary(0)))
        at = self._peek.at
        if self._skip("?"):
            chosen = self._logical("||", lambda: self._logical("&&", lambda: self._binary(0)))
            self.expect(PUNCTUATION, ":")
            other = self.expression()
            condition = Conditional(at, condition, chosen, other, self._depth(condition, chosen, other))
        self._nesting -= 1
        return condition

    def expect(self, kind: str, value: str | None = None) -> Token:
        """The next token, which must be of `kind` and, if given, have `value`."""
        token = self._peek
        if token.kind != kind or (value is not None and token.value != value):
            raise self._error(token)
        self._next += 1
        return token

    @property
    def _peek(self) -> Token:
        return self._tokens[self._next]

    def _skip(self, sign: str) -> bool:
        token = self._peek
        found = token.kind in (PUNCTUATION, IDENTIFIER) and token.value == sign
        self._next += found
        return found

    def _error(self, token: Token) -> InvalidExpression:
        return InvalidExpression(f"syntax error at position {token.at + 1}: {token.value[:20]!r}")

    def _bounded(self, depth: int) -> int:
        if depth > _DEEPEST:
            raise Unsupported(f"nesting of more than {_DEEPEST} levels at position {self._peek.at + 1}")
        return depth

    def _depth(self, *children: Node) -> int:
        return self._bounded(1 + max((child.depth for child in children), default=0))

    def _logical(self, sign: str, operand: Callable[[], Node]) -> Node:
        at, operands = self._peek.at, [operand()]
        while self._skip(sign):
            operands.append(operand())
        return operands[0] if len(operands) == 1 else Logical(at, sign, operands, self._depth(*operands))

    def _binary(self, rank: int) -> Node:
        if rank == len(_BINARY):
            return self._unary()
        left = self._binary(rank + 1)
        while any(self._peek.value == sign and self._skip(sign) for sign in _BINARY[rank]):
            token = self._tokens[self._next - 1]
            right = self._binary(rank + 1)
            left = Call(token.at, token.value, None, (left, right), self._depth(left, right))
        return left

    def _unary(self) -> Node:
        token, count = self._peek, 0
        sign = token.value if token.kind == PUNCTUATION and token.value in ("!", "-") else ""
        while sign and self._peek.kind == PUNCTUATION and self._skip(sign):
            count += 1
        if sign == "-" and self._peek.kind in (INTEGER, FLOAT):
            count -= 1
            operand = self._members(self._number(token.at, negative=True))
        else:
            operand = self._members(self._primary())
        return Call(token.at, f"{sign}_", None, (operand,), self._depth(operand)) if count % 2 else operand

    def _number(self, at: int, *, negative: bool) -> Literal:
        token = self._peek
        self._next += 1
        value = -token.number if negative else token.number
        if isinstance(value, int) and not -(2**63) <= value < 2**63:
            raise InvalidExpression(f"integer out of range at position {at + 1}")
        return Literal(at, value)

    def _members(self, node: Node) -> Node:
        while True:
            at = self._peek.at
            if self._skip("."):
                optional = self._skip("?")
                field = self.expect(IDENTIFIER).value
                if not optional and self._skip("("):
                    arguments = self._list_until(")")
                    node = Call(at, field, node, arguments, self._depth(node, *arguments))
                else:
                    node = Select(at, node, field, optional, self._depth(node))
            elif self._skip("["):
                name = "[?]" if self._skip("?") else "[]"
                index = self.expression()
                self.expect(PUNCTUATION, "]")
                node = Call(at, name, None, (node, index), self._depth(node, index))
            elif self._peek.value == "{" and self._peek.kind == PUNCTUATION and isinstance(node, Identifier | Select):
                raise Unsupported(f"construction of a message at position {at + 1}")
            else:
                return node

    def _primary(self) -> Node:
        token = self._peek
        if token.kind in (INTEGER, FLOAT):
            return self._number(token.at, negative=False)
        if token.kind == STRING:
            self._next += 1
            return Literal(token.at, token.value)
        if self._skip("("):
            inner = self.expression()
            self.expect(PUNCTUATION, ")")
            return inner
        if self._skip("["):
            elements = self._list_until("]", trailing_comma=True)
            return ListOf(token.at, elements, self._depth(*elements))
        if self._skip("{"):
            entries = self._entries()
            return MapOf(token.at, entries, self._depth(*(node for entry in entries for node in entry)))
        self._skip(".")
        return self._named()

    def _named(self) -> Node:
        token = self.expect(IDENTIFIER)
        name = token.value
        if name in _CONSTANTS:
            return Literal(token.at, _CONSTANTS[name])
        if self._skip("("):
            arguments = self._list_until(")")
            return Call(token.at, name, None, arguments, self._depth(*arguments))
        if name in _RESERVED:
            raise self._error(token)
        return Identifier(token.at, name)

    def _list_until(self, end: str, *, trailing_comma: bool = False) -> Sequence[Node]:
        found: list[Node] = []
        while not self._skip(end):
            if found:
                self.expect(PUNCTUATION, ",")
                if trailing_comma and self._skip(end):
                    break
            self._refuse_optional("an optional element")
            found.append(self.expression())
        return found

    def _entries(self) -> Sequence[tuple[Node, Node]]:
        found: list[tuple[Node, Node]] = []
        while not self._skip("}"):
            if found:
                self.expect(PUNCTUATION, ",")
                if self._skip("}"):
                    break
            self._refuse_optional("an optional entry")
            key = self.expression()
            self.expect(PUNCTUATION, ":")
            found.append((key, self.expression()))
        return found

    def _refuse_optional(self, what: str) -> None:
        if self._peek.kind == PUNCTUATION and self._peek.value == "?":
            raise Unsupported(f"{what} at position {self._peek.at + 1}")
