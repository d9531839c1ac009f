"""Rows of plugins that are not of this program, as they are used: every function of theirs behind a guard.

What goes wrong while a policy is read is a problem of the policy, at the arguments of the plugin.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar, get_args

import msgspec
from msgspec.structs import replace

from descheduler.cluster.kinds import KINDS
from descheduler.cycle.foreign.plugins import METHODS, ForeignFactory
from descheduler.model.node import Node
from descheduler.policy.plugin import ArgsProblem, ExtensionPoint, Needs, PluginSpec, ReadSchedulerFile, SchedulerFile
from descheduler.policy.plugin_faults import (
    Origin,
    PluginFault,
    WrongAnswer,
    a_mapping,
    at_most,
    guarded,
    is_of,
    is_own_code,
    origin_of,
    text_of,
)

__all__ = ["admit_spec", "guarded_spec"]

_MOST_PROBLEMS = 100
_MOST_QUERIES = 100
_FUNCTIONS = (
    "validate",
    "defaults",
    "construction_problems",
    "file_problems",
    "warnings",
    "profile_problems",
    "creates_reservations",
    "samples",
    "samples_address",
    "without_limits",
    "cordons",
)
_POINTS: tuple[ExtensionPoint, ...] = get_args(ExtensionPoint)
Spec = PluginSpec[Any]
_AnswerT = TypeVar("_AnswerT")
Problems = Sequence[ArgsProblem]


def guarded_spec(spec: Spec) -> Spec:
    """A row as it is used: as it is where it is of this program, or guarded already."""
    if isinstance(spec.factory, ForeignFactory) or is_own_code(spec.factory):
        return spec
    origin = origin_of(spec.name, spec.factory)
    return replace(spec, factory=ForeignFactory(spec.factory, origin, spec.extension_points))


def admit_spec(spec: Spec, origin: Origin) -> Spec:
    """The row of a package. Raises WrongAnswer for one that makes no sense, PluginFault where its code fails."""
    _check_row(spec)
    _check_methods(spec)
    guarded(origin, _zero_args)(spec)
    guard = _Guard(spec, origin)
    return replace(
        spec,
        factory=ForeignFactory(spec.factory, origin, spec.extension_points),
        validate=guard.validate,
        defaults=guard.defaults,
        construction_problems=guard.construction_problems,
        file_problems=guard.file_problems,
        warnings=guard.warnings,
        profile_problems=guard.profile_problems,
        uses=None if spec.uses is None else guard.uses,
        needs=guard.needs,
        creates_reservations=guard.creates_reservations,
        samples=guard.samples,
        samples_address=guard.samples_address,
        without_limits=guard.without_limits,
        cordons=guard.cordons,
    )


def _check_row(spec: Spec) -> None:
    if not (isinstance(spec.args_type, type) and issubclass(spec.args_type, msgspec.Struct)):
        raise WrongAnswer("args_type of its row is not a class of arguments")
    points = at_most(spec.extension_points, len(_POINTS), "extension_points of its row")
    unknown = [text_of(point, "an extension point") for point in points if point not in _POINTS]
    if unknown or not points:
        named = f"names {', '.join(sorted(unknown))}" if unknown else "names no extension point"
        raise WrongAnswer(f"its row {named}; known are {', '.join(_POINTS)}")
    for key, warning in a_mapping(spec.beside, "beside of its row").items():
        text_of(key, "a plugin of beside")
        text_of(warning, "a warning of beside")
    for name in _FUNCTIONS:
        if not callable(getattr(spec, name)):
            raise WrongAnswer(f"{name} of its row is not a function")


def _check_methods(spec: Spec) -> None:
    """A misspelt method is found here, not by a plugin that never does anything."""
    if not isinstance(spec.factory, type):
        return
    wanted = [METHODS[point] for point in _POINTS if point in spec.extension_points and point in METHODS]
    if all(callable(getattr(spec.factory, name, None)) for name in wanted):
        return
    there = ", ".join(sorted(name for name in vars(spec.factory) if not name.startswith("_"))) or "none"
    raise WrongAnswer(f"its row needs the methods {', '.join(wanted)}; class {spec.factory.__name__} has {there}")


def _zero_args(spec: Spec) -> None:
    try:
        spec.args_type()
    except TypeError:
        raise WrongAnswer("args_type of its row has fields without a default") from None


class _Guard:
    """The functions of a row that read arguments."""

    def __init__(self, spec: Spec, origin: Origin) -> None:
        self._spec = spec
        self._origin = origin

    def validate(self, args: msgspec.Struct) -> Problems:
        """The problems of the row; that there are no defaults for the arguments is one as well."""
        no_defaults = self._fault(lambda: self._defaults(args))
        return [*no_defaults, *self._found("validate", lambda: self._spec.validate(args))]

    def defaults(self, args: msgspec.Struct) -> msgspec.Struct:
        """The arguments with defaults; as they are where these fail."""
        return self._answer(lambda: self._defaults(args), args)

    def construction_problems(self, args: msgspec.Struct) -> Problems:
        """The problems of the row; that it cannot say what it needs, reads or holds is one as well."""
        unknown = [
            problem
            for ask in (
                self._needs,
                self._samples,
                self._creates_reservations,
                self._without_limits,
                partial(self._cordons, nodes=(), files={}),
            )
            for problem in self._fault(partial(ask, args))
        ]
        found = self._found("construction_problems", lambda: self._spec.construction_problems(args))
        return [*unknown, *found]

    def file_problems(self, args: msgspec.Struct, read: ReadSchedulerFile) -> Problems:
        """The problems of the row."""
        return self._found("file_problems", lambda: self._spec.file_problems(args, read))

    def warnings(self, args: msgspec.Struct) -> Problems:
        """The warnings of the row."""
        return self._found("warnings", lambda: self._spec.warnings(args))

    def profile_problems(self, args: msgspec.Struct, has_reservations: bool) -> Problems:
        """The problems of the row."""
        return self._found("profile_problems", lambda: self._spec.profile_problems(args, has_reservations))

    def uses(self, args: msgspec.Struct) -> Mapping[tuple[str | int, ...], str]:
        """The strategies that it runs; none where it cannot tell."""
        found: dict[tuple[str | int, ...], str] = {}

        def ask() -> None:
            used = self._spec.uses(args) if self._spec.uses is not None else {}
            found.update({_checked_path(path): text_of(name, "uses()") for path, name in used.items()})

        self._fault(ask)
        return found

    def needs(self, args: msgspec.Struct) -> Needs:
        """What it needs; nothing where it cannot tell."""
        return self._answer(lambda: self._needs(args), Needs())

    def creates_reservations(self, args: msgspec.Struct) -> bool:
        """Whether it says so; not where it cannot tell."""
        return self._answer(lambda: self._creates_reservations(args), False)

    def samples(self, args: msgspec.Struct) -> Sequence[str]:
        """The queries of the row; none where it cannot tell."""
        return self._answer(lambda: self._samples(args), ())

    def samples_address(self, args: msgspec.Struct) -> str:
        """The address of the row; none where it cannot tell."""
        return self._answer(lambda: text_of(self._spec.samples_address(args), "samples_address()"), "")

    def without_limits(self, args: msgspec.Struct) -> msgspec.Struct:
        """The arguments without limits; as they are where these fail."""
        return self._answer(lambda: self._without_limits(args), args)

    def cordons(
        self, args: msgspec.Struct, nodes: Sequence[Node], files: Mapping[str, SchedulerFile]
    ) -> frozenset[str]:
        """The nodes that it cordons; none where it cannot tell."""
        return self._answer(lambda: self._cordons(args, nodes, files), frozenset())

    def _cordons(
        self, args: msgspec.Struct, nodes: Sequence[Node], files: Mapping[str, SchedulerFile]
    ) -> frozenset[str]:
        names = at_most(self._spec.cordons(args, nodes, files), len(nodes), "cordons()")
        return frozenset(text_of(name, "a node of cordons()") for name in names)

    def _needs(self, args: msgspec.Struct) -> Needs:
        return _checked_needs(self._spec.needs(args))

    def _creates_reservations(self, args: msgspec.Struct) -> bool:
        return bool(self._spec.creates_reservations(args))

    def _samples(self, args: msgspec.Struct) -> Sequence[str]:
        queries = at_most(self._spec.samples(args), _MOST_QUERIES, "samples()")
        return [text_of(query, "a query of samples()") for query in queries]

    def _defaults(self, args: msgspec.Struct) -> msgspec.Struct:
        return self._arguments(self._spec.defaults(args), "defaults()")

    def _without_limits(self, args: msgspec.Struct) -> msgspec.Struct:
        return self._arguments(self._spec.without_limits(args), "without_limits()")

    def _arguments(self, given: object, what: str) -> msgspec.Struct:
        kind: type[msgspec.Struct] = self._spec.args_type
        return is_of(given, kind, what)

    def _answer(self, ask: Callable[[], _AnswerT], otherwise: _AnswerT) -> _AnswerT:
        """The answer of the row, or `otherwise` where its code fails."""
        found: list[_AnswerT] = []
        self._fault(lambda: found.append(ask()))
        return found[0] if found else otherwise

    def _found(self, name: str, ask: Callable[[], object]) -> Problems:
        found: list[ArgsProblem] = []
        failed = self._fault(
            lambda: found.extend(_checked_problem(each) for each in at_most(ask(), _MOST_PROBLEMS, f"{name}()"))
        )
        return [*found, *failed]

    def _fault(self, ask: Callable[[], object]) -> Problems:
        """The fault of the plugin as a problem; none where `ask` succeeds."""
        try:
            guarded(self._origin, ask)()
        except PluginFault as fault:
            return [ArgsProblem((), str(fault))]
        return ()


def _checked_problem(given: object) -> ArgsProblem:
    problem = is_of(given, ArgsProblem, "a problem")
    return ArgsProblem(_checked_path(problem.path), text_of(problem.message, "the message of a problem"))


def _checked_path(given: object) -> tuple[str | int, ...]:
    steps = at_most(given, _MOST_PROBLEMS, "the path of a problem")
    return tuple([step if isinstance(step, int) else text_of(step, "a step of a path") for step in steps])


def _checked_needs(given: object) -> Needs:
    needs = is_of(given, Needs, "needs()")
    unknown = sorted(text_of(key, "a kind of needs()") for key in needs.kinds if key not in KINDS)
    if unknown:
        raise WrongAnswer(f"needs() names unknown kinds: {', '.join(unknown)}")
    annotations = frozenset(text_of(key, "an annotation of needs()") for key in needs.annotations)
    return Needs(
        frozenset(needs.kinds),
        pod_conditions=bool(needs.pod_conditions),
        pod_templates=bool(needs.pod_templates),
        annotations=annotations,
    )
