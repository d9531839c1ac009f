"""Rows of plugins of other packages: what makes no sense is refused, and what fails is a problem of the policy."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest
from msgspec.structs import replace

from descheduler.cluster.kinds import KINDS
from descheduler.cycle.foreign.plugins import ForeignFactory
from descheduler.cycle.foreign.specs import admit_spec, guarded_spec
from descheduler.cycle.plugins import REGISTRY
from descheduler.policy.plugin import ArgsProblem, Needs, PluginSpec, scheduler_file_reader
from descheduler.policy.plugin_faults import Origin, PluginFault, WrongAnswer
from descheduler.policy.shared_args import Args
from descheduler.strategies.framework import judges_pods_alone
from tests.builders import make_node
from tests.eviction.handles import make_handle

KIND = next(iter(KINDS))
ORIGIN = Origin("Spot", "acme", "tests")
READ = scheduler_file_reader({}, Path("/nowhere"))
NODES = [make_node("a"), make_node("b")]
OF_SPOT = "plugin Spot (package acme) failed: "


class SpotArgs(Args, frozen=True):
    """Arguments of the plugin."""

    limit: int = 0


class Spot:
    """A strategy that is a filter, too."""

    def __init__(self, args: object, handle: object) -> None:
        """Reads neither."""

    def deschedule(self, nodes: object) -> None:
        """Does nothing."""

    def filter(self, pod: object) -> None:
        """Does nothing."""


def row(**facts: Any) -> PluginSpec[Any]:
    """The row of a package; facts are its fields."""
    points = facts.pop("extension_points", frozenset({"deschedule", "filter"}))
    known: dict[str, Any] = {"name": "Spot", "args_type": SpotArgs, "factory": Spot}
    return PluginSpec(**(known | facts), extension_points=points)


def fail(*given: object) -> Any:
    raise KeyError(len(given))


@pytest.mark.parametrize(
    ("facts", "fault"),
    [
        pytest.param({"args_type": dict}, "args_type of its row is not a class of arguments", id="another class"),
        pytest.param({"args_type": SpotArgs()}, "args_type of its row is not a class of arguments", id="arguments"),
        pytest.param(
            {"extension_points": frozenset({"balanced", "a"})},
            "its row names a, balanced; known are deschedule, balance, filter, preEvictionFilter, evict",
            id="extension points that do not exist",
        ),
        pytest.param(
            {"extension_points": frozenset()},
            "its row names no extension point; known are deschedule, balance, filter, preEvictionFilter, evict",
            id="no extension point",
        ),
        pytest.param(
            {"extension_points": ["filter"] * 6}, "extension_points of its row has more than 5 entries", id="too many"
        ),
        pytest.param(
            {"extension_points": 5}, "extension_points of its row is int, not a list", id="a number of points"
        ),
        pytest.param({"beside": ["a"]}, "beside of its row is list, not a mapping", id="a list beside"),
        pytest.param({"beside": {5: "a"}}, "a plugin of beside is int, not text", id="a number as a plugin beside"),
        pytest.param({"beside": {"a": 5}}, "a warning of beside is int, not text", id="a number as a warning"),
        *(
            pytest.param({name: 5}, f"{name} of its row is not a function", id=f"a number as {name}")
            for name in (
                *("validate", "defaults", "construction_problems", "file_problems", "warnings", "profile_problems"),
                *("uses", "needs", "samples", "samples_address", "without_limits", "cordons", "creates_reservations"),
            )
        ),
        pytest.param({"needs": None}, "needs of its row is not a function", id="no needs"),
        pytest.param(
            {"extension_points": frozenset({"deschedule", "balance"})},
            "its row needs the methods deschedule, balance; class Spot has deschedule, filter",
            id="a method that is missing",
        ),
        pytest.param(
            {"factory": type("Empty", (), {}), "extension_points": frozenset({"balance"})},
            "its row needs the methods balance; class Empty has none",
            id="a class without methods",
        ),
    ],
)
def test_row_that_makes_no_sense_is_refused(facts: dict[str, Any], fault: str) -> None:
    with pytest.raises(WrongAnswer) as raised:
        admit_spec(row(**facts), ORIGIN)

    assert str(raised.value) == fault


def test_arguments_need_defaults() -> None:
    args_type = msgspec.defstruct("Needy", [("limit", int)], frozen=True)

    with pytest.raises(PluginFault, match=f"{re_of(OF_SPOT)}args_type of its row has fields without a default"):
        admit_spec(row(args_type=args_type), ORIGIN)


def re_of(text: str) -> str:
    """A pattern of that text alone."""
    return text.replace("(", r"\(").replace(")", r"\)")


@pytest.mark.parametrize(
    "facts",
    [
        pytest.param({}, id="as it should be"),
        pytest.param({"extension_points": frozenset({"deschedule"})}, id="methods that are never asked"),
        pytest.param({"extension_points": frozenset({"evict", "filter"})}, id="a point without a method"),
        pytest.param({"factory": lambda args, handle: Spot(args, handle)}, id="a function that builds the plugin"),
        pytest.param({"beside": {"PodLifeTime": "both look at the age"}}, id="a plugin beside"),
        pytest.param({"uses": lambda args: {("a", 0): "PodLifeTime"}}, id="a strategy that it runs"),
    ],
)
def test_row_that_makes_sense_is_admitted_behind_a_guard(facts: dict[str, Any]) -> None:
    admitted = admit_spec(row(**facts), ORIGIN)

    assert isinstance(admitted.factory, ForeignFactory)
    assert (admitted.name, admitted.args_type) == ("Spot", SpotArgs)
    assert (admitted.uses is None) == ("uses" not in facts)


@pytest.mark.parametrize(("said", "is_alone"), [(True, True), (False, False), (1, False), (None, False)])
def test_plugin_judges_pods_alone_where_it_says_so(said: object, is_alone: bool) -> None:
    class Saying(Spot):
        JUDGES_PODS_ALONE = said

    built = admit_spec(row(factory=Saying), ORIGIN).factory(SpotArgs(), make_handle(NODES))

    assert judges_pods_alone(built) is is_alone


FINDS = ("validate", "construction_problems", "file_problems", "warnings", "profile_problems")
GIVEN: dict[str, tuple[object, ...]] = {
    "file_problems": (SpotArgs(), READ),
    "profile_problems": (SpotArgs(), True),
    "cordons": (SpotArgs(), NODES, {}),
}


def asked(spec: PluginSpec[Any], function: str) -> Any:
    """What a function of the admitted row answers."""
    return getattr(admit_spec(spec, ORIGIN), function)(*GIVEN.get(function, (SpotArgs(),)))


@pytest.mark.parametrize("function", FINDS)
def test_problems_of_a_row_are_told_as_they_are(function: str) -> None:
    problem = ArgsProblem(("limit", 0), "is too low")

    assert asked(row(), function) == []
    assert asked(row(**{function: lambda *given: (problem,)}), function) == [problem]


@pytest.mark.parametrize("function", FINDS)
@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        pytest.param(fail, "KeyError", id="an error"),
        pytest.param(lambda *given: None, "{}() is NoneType, not a list", id="nothing"),
        pytest.param(lambda *given: ["bad"], "a problem is str, not ArgsProblem", id="a text"),
        pytest.param(
            lambda *given: [ArgsProblem((), cast(str, 5))], "the message of a problem is int, not text", id="a number"
        ),
        pytest.param(
            lambda *given: [ArgsProblem((cast(str, None),), "")], "a step of a path is NoneType, not text", id="a path"
        ),
        pytest.param(
            lambda *given: [ArgsProblem((), "bad")] * 101, "{}() has more than 100 entries", id="too many problems"
        ),
    ],
)
def test_row_that_cannot_find_problems_is_a_problem(function: str, answer: Callable[..., Any], fault: str) -> None:
    (problem,) = asked(row(**{function: answer}), function)

    assert problem.path == ()
    assert problem.message.partition(" at ")[0] == f"{OF_SPOT}{fault.format(function)}"


def test_as_many_problems_are_told_as_there_may_be() -> None:
    assert len(asked(row(warnings=lambda args: [ArgsProblem((), "bad")] * 100), "warnings")) == 100


ANSWERS: list[tuple[str, Any, Any, str]] = [
    ("defaults", lambda args: {}, SpotArgs(), "defaults() is dict, not SpotArgs"),
    ("without_limits", lambda args: {}, SpotArgs(), "without_limits() is dict, not SpotArgs"),
    ("needs", lambda args: {}, Needs(), "needs() is dict, not Needs"),
    ("needs", lambda args: Needs(frozenset({"gpus", KIND})), Needs(), "needs() names unknown kinds: gpus"),
    ("needs", lambda args: Needs(wanted_kinds=frozenset({"b", "a"})), Needs(), "needs() names unknown kinds: a, b"),
    ("samples", lambda args: "up", (), "samples() is str, not a list"),
    ("samples", lambda args: ["up"] * 101, (), "samples() has more than 100 entries"),
    ("samples", lambda args: [5], (), "a query of samples() is int, not text"),
    ("creates_reservations", fail, False, "KeyError"),
]


@pytest.mark.parametrize(("function", "answer", "instead", "fault"), ANSWERS)
def test_answer_that_is_none_is_a_problem_and_counts_as_no_function(
    function: str, answer: Callable[..., Any], instead: object, fault: str
) -> None:
    stage = "validate" if function == "defaults" else "construction_problems"
    spec = row(**{function: answer})

    assert asked(spec, function) == instead
    assert [problem.message.partition(" at ")[0] for problem in asked(spec, stage)] == [f"{OF_SPOT}{fault}"]


@pytest.mark.parametrize(
    ("function", "answer", "instead"),
    [
        ("uses", lambda args: [], {}),
        ("uses", lambda args: {("a",): 5}, {}),
        ("samples_address", lambda args: 5, ""),
        ("cordons", lambda args, nodes, files: ["a", "b", "c"], frozenset()),
        ("cordons", lambda args, nodes, files: [5], frozenset()),
    ],
)
def test_answer_that_is_none_counts_as_no_function(function: str, answer: Callable[..., Any], instead: object) -> None:
    assert asked(row(**{function: answer}), function) == instead


@pytest.mark.parametrize(
    ("function", "answer"),
    [
        ("defaults", SpotArgs(limit=1)),
        ("without_limits", SpotArgs(limit=2)),
        ("needs", Needs(frozenset({KIND}), pod_conditions=True, annotations=frozenset({"acme.example/"}))),
        ("needs", Needs(wanted_kinds=frozenset({KIND}))),
        ("needs", Needs(pod_templates=True)),
        ("uses", {("a", 0): "PodLifeTime"}),
        ("creates_reservations", True),
        ("samples", ["up"] * 100),
        ("samples_address", "http://prometheus"),
    ],
)
def test_right_answers_are_taken(function: str, answer: object) -> None:
    spec = row(**{function: lambda *given: answer})

    assert asked(spec, function) == answer
    assert asked(spec, "validate") == asked(spec, "construction_problems") == []


def test_nodes_that_a_run_cordons_are_among_those_it_is_told() -> None:
    spec = row(cordons=lambda args, nodes, files: [node.name for node in nodes])

    assert asked(spec, "cordons") == {"a", "b"}
    assert asked(spec, "construction_problems") == []


def test_rows_of_this_program_need_no_guard() -> None:
    assert guarded_spec(REGISTRY["PodLifeTime"]) is REGISTRY["PodLifeTime"]


def test_rows_of_others_are_guarded_once() -> None:
    spec = row()

    guarded = guarded_spec(spec)

    assert isinstance(guarded.factory, ForeignFactory)
    assert guarded_spec(guarded) is guarded
    assert replace(guarded, factory=Spot) == spec
