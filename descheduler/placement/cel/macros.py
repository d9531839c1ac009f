"""What is no plain call: macros, and functions that do not evaluate, or not always, what they are given.

The macros are those of the CEL language definition, and `cel.bind`, `optMap` and `optFlatMap` of cel-go's extensions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from descheduler.placement.cel.errors import EvaluationError, InvalidExpression
from descheduler.placement.cel.frame import (
    ANY,
    BOOL,
    DEVICE,
    DYN,
    STRING,
    A,
    Compiled,
    Evaluation,
    Frame,
    NodeCompiler,
    Type,
    device_field,
    fits,
    list_of,
    optional_of,
    part_type,
    require,
    resolved,
)
from descheduler.placement.cel.patterns import Pattern
from descheduler.placement.cel.syntax import Call, Identifier, Literal, Node, Select
from descheduler.placement.cel.values import (
    NOTHING,
    DomainMap,
    Optional,
    Value,
    no_overload,
    place_in_list,
    type_name,
)

_CHARACTERS_IN_STEP = 16
"""A step is this many instructions of a regular expression, each of which may look at a character."""
_Macro = Callable[[NodeCompiler, Call], Compiled]


def expand(compiler: NodeCompiler, call: Call) -> Compiled | None:
    """The macro that `call` is, compiled; None for a function. Raises InvalidExpression and Unsupported."""
    macro = MACROS.get((call.name, call.target is not None, len(call.arguments)))
    if call.name == "bind" and not (isinstance(call.target, Identifier) and call.target.name == "cel"):
        return None
    return macro(compiler, call) if macro else None


def optional_part(whole: Compiled, key: Compiled, at: int) -> Compiled:
    """The part of a map under a key, as an optional value: none where map or key are missing."""
    is_optional = whole.type.name == "optional"
    kind = part_type(whole.type.parts[0] if is_optional else whole.type, key.type, at)
    run, name = whole.run, key.run

    def select(frame: Frame) -> Value:
        values = run(frame)
        if type(values) is Optional:
            if not values.has_value:
                return NOTHING
            values = values.value
        return _part(values, name(frame))

    return Compiled(optional_of(kind), select)


def _part(values: Value, key: Value) -> Optional:
    if type(values) is DomainMap:
        return Optional(True, values.of(key))
    if isinstance(values, dict) and type(key) is str and key in values:
        return Optional(True, values[key])
    if type(values) is tuple and (place := place_in_list(values, key)) is not None:
        return Optional(True, values[place])
    return NOTHING


def _optional_index(compiler: NodeCompiler, call: Call) -> Compiled:
    whole, key = map(compiler.compile, call.arguments)
    return optional_part(whole, key, call.at)


def _has(compiler: NodeCompiler, call: Call) -> Compiled:
    (part,) = call.arguments
    if not isinstance(part, Select):
        raise InvalidExpression(f"has() without a field at position {call.at + 1}")
    whole = compiler.compile(part.operand)
    if whole.type == DEVICE:
        device_field(part)
        return Compiled(BOOL, lambda frame: True)
    selected = optional_part(whole, Compiled(STRING, lambda frame: part.field), part.at).run
    return Compiled(BOOL, lambda frame: selected(frame).has_value)


def _variable_of(node: Node) -> str:
    if not isinstance(node, Identifier):
        raise InvalidExpression(f"the variable of a macro is not a name at position {node.at + 1}")
    return node.name


def _element_type(values: Compiled, at: int) -> Type:
    if values.type.name in ("list", "map"):
        return values.type.parts[0]
    if values.type == ANY or not values.type.is_dynamic:
        raise InvalidExpression(f"{values.type} has no elements at position {at + 1}")
    return DYN


def _elements(values: Value) -> Iterable[Value]:
    if type(values) is tuple or isinstance(values, dict):
        return values
    raise EvaluationError(f"found {type_name(values)}, expected a list or a map")


class _Loop:
    """The range of a macro, its variable, and the expressions that are evaluated for each element."""

    def __init__(self, compiler: NodeCompiler, call: Call, *, num_conditions: int) -> None:
        target, variable, *nodes = call.operands
        values = compiler.compile(target)
        name, before = _variable_of(variable), compiler.num_nodes
        with compiler.variable(name, _element_type(values, call.at)) as self._place:
            self.bodies = [compiler.compile(node) for node in nodes]
        for body, node in zip(self.bodies[:num_conditions], nodes, strict=False):
            require(body, BOOL, node.at)
        self._cost = 1 + compiler.num_nodes - before
        self.values = values

    def over(self, frame: Frame) -> Iterable[Value]:
        """Each element, which the variable then holds."""
        for element in _elements(self.values.run(frame)):
            frame.spend(self._cost)
            frame.variables[self._place] = element
            yield element


def _deciding(decisive: bool) -> _Macro:
    def compile_it(compiler: NodeCompiler, call: Call) -> Compiled:
        loop = _Loop(compiler, call, num_conditions=1)
        condition = loop.bodies[0].run

        def run(frame: Frame) -> bool:
            failure: EvaluationError | None = None
            for _ in loop.over(frame):
                try:
                    decided = _truth(condition, frame)
                except EvaluationError as error:
                    failure = failure or error
                    continue
                if decided is decisive:
                    return decisive
            if failure is not None:
                raise failure
            return not decisive

        return Compiled(BOOL, run)

    return compile_it


def _truth(condition: Evaluation, frame: Frame) -> bool:
    decided = condition(frame)
    if type(decided) is not bool:
        raise no_overload("?:", decided)
    return decided


def _exists_one(compiler: NodeCompiler, call: Call) -> Compiled:
    loop = _Loop(compiler, call, num_conditions=1)
    condition = loop.bodies[0].run
    return Compiled(BOOL, lambda frame: sum(_truth(condition, frame) for _ in loop.over(frame)) == 1)


def _filter(compiler: NodeCompiler, call: Call) -> Compiled:
    loop = _Loop(compiler, call, num_conditions=1)
    condition, kind = loop.bodies[0].run, _element_type(loop.values, call.at)
    return Compiled(list_of(kind), lambda frame: tuple([each for each in loop.over(frame) if _truth(condition, frame)]))


def _map(compiler: NodeCompiler, call: Call) -> Compiled:
    loop = _Loop(compiler, call, num_conditions=0)
    (body,) = loop.bodies
    return Compiled(list_of(body.type), lambda frame: tuple([body.run(frame) for _ in loop.over(frame)]))


def _filtering_map(compiler: NodeCompiler, call: Call) -> Compiled:
    loop = _Loop(compiler, call, num_conditions=1)
    condition, body = loop.bodies
    return Compiled(
        list_of(body.type),
        lambda frame: tuple([body.run(frame) for _ in loop.over(frame) if _truth(condition.run, frame)]),
    )


def _bind(compiler: NodeCompiler, call: Call) -> Compiled:
    """An error of the bound value is an error of the whole only where the variable is read."""
    bound = compiler.compile(call.arguments[1])
    with compiler.variable(_variable_of(call.arguments[0]), bound.type, may_fail=True) as place:
        body = compiler.compile(call.arguments[2])

    def run(frame: Frame) -> Value:
        try:
            frame.variables[place] = bound.run(frame)
        except EvaluationError as error:
            frame.variables[place] = error
        return body.run(frame)

    return Compiled(body.type, run)


def _mapped_optional(*, is_flat: bool) -> _Macro:
    def compile_it(compiler: NodeCompiler, call: Call) -> Compiled:
        target, variable, inner = call.operands
        optional = compiler.compile(target)
        kind = _held_type(optional, call.at)
        with compiler.variable(_variable_of(variable), kind) as place:
            body = compiler.compile(inner)
        if is_flat:
            require(body, optional_of(DYN), call.at)

        def run(frame: Frame) -> Value:
            held = _optional(optional.run(frame))
            if not held.has_value:
                return NOTHING
            frame.variables[place] = held.value
            found = body.run(frame)
            return found if is_flat else Optional(True, found)

        return Compiled(body.type if is_flat else optional_of(body.type), run)

    return compile_it


def _held_type(optional: Compiled, at: int) -> Type:
    require(optional, optional_of(DYN), at)
    return optional.type.parts[0] if optional.type.parts else DYN


def _optional(value: Value) -> Optional:
    if type(value) is not Optional:
        raise no_overload("optional", value)
    return value


def _otherwise(*, is_optional: bool) -> _Macro:
    """`or` and `orValue`, which evaluate their argument only where there is no value."""

    def compile_it(compiler: NodeCompiler, call: Call) -> Compiled:
        optional, other = map(compiler.compile, call.operands)
        bound = {A: _held_type(optional, call.at)}
        wanted = optional_of(A) if is_optional else A
        if not fits(other.type, wanted, bound):
            raise InvalidExpression(
                f"no overload of {call.name} for ({optional.type}, {other.type}) at position {call.at + 1}"
            )

        def run(frame: Frame) -> Value:
            held = optional.run(frame)
            if type(held) is not Optional:
                return held  # as cel-go 0.26 has it
            if not held.has_value:
                return other.run(frame)
            return held if is_optional else held.value

        return Compiled(resolved(wanted, bound), run)

    return compile_it


def _matches(compiler: NodeCompiler, call: Call) -> Compiled:
    nodes = call.operands
    text, pattern = map(compiler.compile, nodes)
    for operand, node in ((text, nodes[0]), (pattern, nodes[1])):
        require(operand, STRING, node.at)
    constant = Pattern.parse(nodes[1].value) if isinstance(nodes[1], Literal) and pattern.type == STRING else None

    def run(frame: Frame) -> bool:
        subject, wanted = text.run(frame), pattern.run(frame)
        if type(subject) is not str or type(wanted) is not str:
            raise no_overload("matches", subject, wanted)
        found = constant or _at_run_time(wanted)
        frame.spend(len(subject) * found.num_instructions // _CHARACTERS_IN_STEP)
        return found.is_found_in(subject)

    return Compiled(BOOL, run)


def _at_run_time(text: str) -> Pattern:
    try:
        return Pattern.parse(text)
    except InvalidExpression as error:
        raise EvaluationError(str(error)) from error


MACROS: Mapping[tuple[str, bool, int], _Macro] = {
    ("[?]", False, 2): _optional_index,
    ("has", False, 1): _has,
    ("exists", True, 2): _deciding(True),
    ("all", True, 2): _deciding(False),
    ("exists_one", True, 2): _exists_one,
    ("filter", True, 2): _filter,
    ("map", True, 2): _map,
    ("map", True, 3): _filtering_map,
    ("bind", True, 3): _bind,
    ("optMap", True, 2): _mapped_optional(is_flat=False),
    ("optFlatMap", True, 2): _mapped_optional(is_flat=True),
    ("or", True, 1): _otherwise(is_optional=True),
    ("orValue", True, 1): _otherwise(is_optional=False),
    ("matches", True, 1): _matches,
    ("matches", False, 2): _matches,
}
"""By name, whether there is a target, and the number of arguments."""
