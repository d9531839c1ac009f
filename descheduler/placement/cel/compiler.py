"""From syntax tree to a function of the device: types are checked, overloads are chosen, macros are expanded.

Every node becomes one closure. `&&`, `||`, `exists` and `all` absorb the error of one operand where another one
decides, as the CEL language definition says; all else is strict.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from operator import attrgetter

from descheduler.placement.cel import macros, syntax
from descheduler.placement.cel.errors import EvaluationError, InvalidExpression, Unsupported
from descheduler.placement.cel.frame import (
    BOOL,
    DEVICE,
    DOUBLE,
    DYN,
    FREE,
    INT,
    NULL,
    STRING,
    A,
    Compiled,
    Evaluation,
    Frame,
    Type,
    are_alike,
    device_field,
    fits,
    joined,
    list_of,
    map_of,
    part_type,
    require,
    resolved,
)
from descheduler.placement.cel.functions import FUNCTIONS, Overload, dispatch
from descheduler.placement.cel.values import Value, Version, contains, no_overload

_DEVICE = "device"
_LITERALS: Mapping[type, Type] = {bool: BOOL, int: INT, float: DOUBLE, str: STRING, type(None): NULL}
_NAMESPACES = frozenset(("cel", "lists", "math", "optional", "sets", "strings"))
"""What stands before the dot in the name of a function that is no method."""


class Compiler:
    """Compiles the nodes of one expression."""

    def __init__(self) -> None:
        self.num_variables = 0
        self.num_nodes = 0
        self._scope: dict[str, Compiled] = {}

    def compile(self, node: syntax.Node) -> Compiled:
        """The node as a function. Raises InvalidExpression and Unsupported."""
        self.num_nodes += 1
        match node:
            case syntax.Literal(value=value):
                return Compiled(_LITERALS[type(value)], lambda frame: value)
            case syntax.Identifier():
                return self._identifier(node)
            case syntax.Select():
                return self._select(node)
            case syntax.Call():
                return self._call(node)
            case syntax.Logical():
                return self._logical(node)
            case syntax.Conditional():
                return self._conditional(node)
            case syntax.ListOf():
                return self._list(node)
            case syntax.MapOf():
                return self._map(node)

    @contextmanager
    def variable(self, name: str, kind: Type, *, may_fail: bool = False) -> Iterator[int]:
        """The place of a variable that is in scope inside of the block; `may_fail`: an error may be its value."""
        place, hidden = self.num_variables, self._scope.get(name)
        self.num_variables += 1
        self._scope[name] = Compiled(kind, _read_checked(place) if may_fail else _read(place))
        yield place
        if hidden is None:
            del self._scope[name]
        else:
            self._scope[name] = hidden

    def _identifier(self, node: syntax.Identifier) -> Compiled:
        found = self._scope.get(node.name)
        if found is not None:
            return found
        if node.name == _DEVICE:
            return Compiled(DEVICE, attrgetter("device"))
        raise InvalidExpression(f"undeclared name {node.name} at position {node.at + 1}")

    def _select(self, node: syntax.Select) -> Compiled:
        operand = self.compile(node.operand)
        if node.optional and operand.type == DEVICE:
            raise Unsupported(f"device.?{node.field} at position {node.at + 1}")
        if node.optional or operand.type.name == "optional":
            return macros.optional_part(operand, Compiled(STRING, lambda frame: node.field), node.at)
        if operand.type == DEVICE:
            kind, attribute = device_field(node)
            read, device = attrgetter(attribute), operand.run
            return Compiled(kind, lambda frame: read(device(frame)))
        kind = part_type(operand.type, STRING, node.at)
        field, run = node.field, operand.run

        def select(frame: Frame) -> Value:
            values = run(frame)
            try:
                return values[field]
            except (KeyError, TypeError):
                raise _no_field(values, field) from None

        return Compiled(kind, select)

    def _call(self, node: syntax.Call) -> Compiled:
        expanded = macros.expand(self, node)
        if expanded is not None:
            return expanded
        name, operands = node.name, node.operands
        if isinstance(node.target, syntax.Identifier) and node.target.name in _NAMESPACES - self._scope.keys():
            name, operands = f"{node.target.name}.{name}", node.arguments
        if name not in FUNCTIONS:
            raise Unsupported(f"{name}() at position {node.at + 1}")
        is_method = len(operands) > len(node.arguments)
        overloads = [overload for overload in FUNCTIONS[name] if overload.is_method == is_method]
        values = [self.compile(operand) for operand in operands]
        called = _applied(name, overloads, values, node.at)
        if name == "in" and (constants := _constants(operands[1])):
            return Compiled(BOOL, _among(values[0].run, constants))
        return called

    def _logical(self, node: syntax.Logical) -> Compiled:
        operands = [self.compile(operand) for operand in node.operands]
        for operand, its_node in zip(operands, node.operands, strict=True):
            require(operand, BOOL, its_node.at)
        return Compiled(BOOL, _absorbing(node.sign, [operand.run for operand in operands]))

    def _conditional(self, node: syntax.Conditional) -> Compiled:
        condition, chosen, other = map(self.compile, (node.condition, node.chosen, node.other))
        require(condition, BOOL, node.at)
        bound = {A: chosen.type}
        if not fits(other.type, A, bound):
            raise InvalidExpression(f"no overload of ?: for ({chosen.type}, {other.type}) at position {node.at + 1}")
        test, first, second = condition.run, chosen.run, other.run

        def choose(frame: Frame) -> Value:
            decided = test(frame)
            if decided is True:
                return first(frame)
            if decided is False:
                return second(frame)
            raise no_overload("?:", decided)

        return Compiled(bound[A], choose)

    def _list(self, node: syntax.ListOf) -> Compiled:
        elements = [self.compile(element) for element in node.elements]
        runs = [element.run for element in elements]
        kind = _common(elements, node.at)
        constants = _constants(node)
        if constants:
            return Compiled(list_of(kind), lambda frame: constants)
        return Compiled(list_of(kind), lambda frame: tuple([run(frame) for run in runs]))

    def _map(self, node: syntax.MapOf) -> Compiled:
        keys, values = ([self.compile(entry[side]) for entry in node.entries] for side in (0, 1))
        if any(key.type != STRING for key in keys):
            raise Unsupported(f"a map with other keys than strings at position {node.at + 1}")
        runs = [(key.run, value.run) for key, value in zip(keys, values, strict=True)]

        kind = map_of(STRING, _common(values, node.at))
        return Compiled(kind, lambda frame: {key(frame): value(frame) for key, value in runs})


def _read(place: int) -> Evaluation:
    return lambda frame: frame.variables[place]


def _read_checked(place: int) -> Evaluation:
    def read(frame: Frame) -> Value:
        value = frame.variables[place]
        if type(value) is EvaluationError:
            raise value
        return value

    return read


def _common(values: Iterable[Compiled], at: int) -> Type:
    found: Type | None = None
    for value in values:
        if found is not None and not are_alike(value.type, found):
            raise InvalidExpression(f"expected {found}, found {value.type} at position {at + 1}")
        found = value.type if found is None else joined(found, value.type)
    return found or FREE


def _constants(node: syntax.Node) -> tuple[Value, ...]:
    """The elements of a list of literals; nothing for any other node."""
    elements = node.elements if isinstance(node, syntax.ListOf) else ()
    found = tuple(element.value for element in elements if isinstance(element, syntax.Literal))
    return found if len(found) == len(elements) else ()


def _among(wanted: Evaluation, constants: tuple[Value, ...]) -> Evaluation:
    """`in` a list of constants, which Kubernetes 1.36 looks up by their hashes; a version has none there."""

    def run(frame: Frame) -> bool:
        value = wanted(frame)
        if type(value) is Version:
            raise EvaluationError("a version has no hash to be looked up in a list of constants")
        return contains(constants, value)

    return run


def _no_field(values: Value, field: str) -> EvaluationError:
    return EvaluationError(f"no such key: {field}") if isinstance(values, dict) else no_overload(f".{field}", values)


def _applied(name: str, overloads: Sequence[Overload], arguments: Sequence[Compiled], at: int) -> Compiled:
    """The call of a function. Raises InvalidExpression when no overload fits the types of the arguments."""
    fitting, result = [], None
    for overload in overloads:
        bound: dict[Type, Type] = {}
        if len(arguments) == len(overload.parameters) and all(
            fits(argument.type, parameter, bound)
            for argument, parameter in zip(arguments, overload.parameters, strict=True)
        ):
            fitting.append(overload)
            gives = resolved(overload.result, bound)
            result = gives if result in (None, gives) else DYN
    if result is None:
        kinds = ", ".join(str(argument.type) for argument in arguments)
        raise InvalidExpression(f"no overload of {name} for ({kinds}) at position {at + 1}")
    is_open = any(argument.type.is_dynamic or argument.type == NULL for argument in arguments)
    run = dispatch(name, tuple(fitting)) if is_open and not fitting[0].checks_types else fitting[0].run
    return Compiled(result, _called(run, [argument.run for argument in arguments]))


def _called(run: Callable[..., Value], arguments: Sequence[Evaluation]) -> Evaluation:
    if len(arguments) == 1:
        (only,) = arguments
        return lambda frame: run(only(frame))
    if len(arguments) == 2:
        first, second = arguments
        return lambda frame: run(first(frame), second(frame))
    return lambda frame: run(*[argument(frame) for argument in arguments])


def _absorbing(sign: str, operands: Sequence[Evaluation]) -> Evaluation:
    decisive = sign == "||"

    def run(frame: Frame) -> Value:
        failure: EvaluationError | None = None
        for operand in operands:
            try:
                value = operand(frame)
            except EvaluationError as error:
                failure = failure or error
                continue
            if value is decisive:
                return decisive
            if type(value) is not bool:
                failure = failure or no_overload(sign, value)
        if failure is not None:
            raise failure
        return not decisive

    return run
