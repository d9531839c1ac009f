from __future__ import annotations

import builtins
import signal
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from descheduler.policy.plugin_faults import (
    MOST_TEXT,
    Origin,
    PluginFault,
    WrongAnswer,
    a_mapping,
    at_most,
    collected_faults,
    contained,
    failure_words,
    fault_of,
    guarded,
    is_of,
    is_own_code,
    note_fault,
    origin_of,
    place_in_foreign_code,
    text_of,
)
from descheduler.supervision import RunStopped

SITE = "/opt/site-packages"
ACME = Origin("Spot", "acme", "acme_plugins")
OWN = {"RunStopped": RunStopped, "PluginFault": PluginFault, "WrongAnswer": WrongAnswer}
"""What code of this program may raise, by name."""


def module_of(code: str, name: str = "acme_plugins.spot", *, package: bool = False, **known: Any) -> dict[str, Any]:
    """What `code` defines as the module `name`, which lies in SITE; before, it knows `known`."""
    file = f"{SITE}/{name.replace('.', '/')}{'/__init__' if package else ''}.py"
    names: dict[str, Any] = {"__name__": name, **OWN, **known}
    exec(compile(code, file, "exec"), names)  # noqa: S102 - code of these tests
    return names


def function_of(name: str, code: str, **known: Any) -> Callable[[], object]:
    """A function on line 2 of the module `name`, which is `code`."""
    function: Callable[[], object] = module_of(f"def call():\n    {code}\n", name, **known)["call"]
    return function


def error_of(call: Callable[[], object]) -> BaseException:
    """What `call` raises, with its own frames and those below."""
    try:
        call()
    except BaseException as error:
        trace = error.__traceback__
        return error.with_traceback(trace.tb_next if trace is not None else None)
    raise AssertionError("nothing is raised")


RAISING = function_of("acme_plugins.spot", "raise KeyError('secret')")
OWN_RAISING = function_of("descheduler.eviction.evictor", "raise KeyError('secret')")
OTHER_RAISING = function_of("other.helper", "raise KeyError('secret')")


@pytest.mark.parametrize(
    ("message", "words"),
    [
        pytest.param("no metrics", "no metrics", id="a plugin of the program says what is wrong"),
        pytest.param(
            "plugin Spot (package acme) failed: KeyError at acme/spot.py:3",
            "KeyError at acme/spot.py:3 (package acme)",
            id="a fault names its plugin and package first",
        ),
        pytest.param("plugin Spot failed: KeyError", "KeyError", id="a plugin without a package"),
        pytest.param(
            "plugin Spotless failed: KeyError", "plugin Spotless failed: KeyError", id="another plugin stays named"
        ),
        pytest.param("plugin Spot failed: ", "plugin Spot failed: ", id="nothing is said"),
    ],
)
def test_words_of_a_failure_leave_out_its_own_plugin(message: str, words: str) -> None:
    assert failure_words("Spot", message) == words


@pytest.mark.parametrize(
    ("call", "place"),
    [
        pytest.param(RAISING, "acme_plugins/spot.py:2", id="its own line"),
        pytest.param(
            function_of("acme_plugins.deep.er", "inner()", inner=RAISING), "acme_plugins/spot.py:2", id="the innermost"
        ),
        pytest.param(
            lambda: module_of("raise KeyError", "acme_plugins", package=True),
            "acme_plugins/__init__.py:1",
            id="package",
        ),
        pytest.param(
            function_of("acme_plugins.spot", "inner()", inner=OWN_RAISING), "acme_plugins/spot.py:2", id="calls ours"
        ),
        pytest.param(
            function_of("acme_plugins.spot", "inner()", inner=OTHER_RAISING),
            "acme_plugins/spot.py:2",
            id="calls that of another package",
        ),
        pytest.param(
            function_of("other.helper", "inner()", inner=RAISING),
            "acme_plugins/spot.py:2",
            id="is called by another one",
        ),
        pytest.param(OTHER_RAISING, "other/helper.py:2", id="code of another package alone"),
        pytest.param(
            function_of("other.one", "inner()", inner=OTHER_RAISING), "other/helper.py:2", id="others' innermost line"
        ),
        pytest.param(
            function_of("other.helper", "inner()", inner=OWN_RAISING), "other/helper.py:2", id="another one calls ours"
        ),
        pytest.param(OWN_RAISING, "", id="code of this program"),
        pytest.param(function_of("numpy.linalg", "raise KeyError"), "", id="a library of this program"),
        pytest.param(function_of("json.decoder", "raise KeyError"), "", id="Python's own library"),
        pytest.param(function_of("acme_plugins_too.spot", "raise KeyError"), "acme_plugins_too/spot.py:2", id="longer"),
        pytest.param(function_of("acme_plugins.\x1b[2J", "raise KeyError"), "acme_plugins/\\x1b[2J.py:2", id="control"),
    ],
)
def test_place_of_a_fault_is_in_code_of_the_package(call: Callable[[], object], place: str) -> None:
    assert place_in_foreign_code(error_of(call), "acme_plugins") == place


def test_place_without_a_package_is_in_code_that_is_of_no_library() -> None:
    error = error_of(function_of("other.helper", "inner()", inner=OWN_RAISING))

    assert place_in_foreign_code(error) == "other/helper.py:2"


def test_error_that_nothing_has_raised_has_no_place() -> None:
    assert place_in_foreign_code(KeyError(), "acme_plugins") == ""


@pytest.mark.parametrize(
    ("filename", "root", "place"),
    [
        pytest.param(f"{SITE}/acme_plugins/spot.py", "acme_plugins", "acme_plugins/spot.py:7", id="of the package"),
        pytest.param(f"{SITE}/other/spot.py", "acme_plugins", "", id="of another one"),
        pytest.param(f"{SITE}/acme_plugins/spot.py", "", "", id="of no package"),
        pytest.param(None, "acme_plugins", "", id="of no file"),
    ],
)
def test_place_of_code_that_python_cannot_read_is_the_line_at_fault(
    filename: str | None, root: str, place: str
) -> None:
    error = SyntaxError("invalid syntax", (filename, 7, 1, "x = = 1"))

    assert place_in_foreign_code(error, root) == place


@pytest.mark.parametrize(
    ("module", "line", "said"),
    [
        pytest.param("acme_plugins.spot", "raise KeyError('secret')", "KeyError", id="the text of an error stays out"),
        pytest.param("acme_plugins.spot", "raise SystemExit(0)", "SystemExit", id="sys.exit"),
        pytest.param("acme_plugins.spot", "raise KeyboardInterrupt", "KeyboardInterrupt", id="a raised interrupt"),
        pytest.param("acme_plugins.spot", "raise WrongAnswer('words')", "WrongAnswer", id="words of a foreign answer"),
        pytest.param("acme_plugins.spot", "raise RunStopped('over', 99)", "RunStopped", id="a foreign end of the run"),
        pytest.param("acme_plugins.spot", "raise PluginFault('Other', 'it')", "PluginFault", id="a foreign accusation"),
        pytest.param("descheduler_too.spot", "raise WrongAnswer('words')", "WrongAnswer", id="a name like ours"),
    ],
)
def test_fault_names_plugin_package_error_and_line(module: str, line: str, said: str) -> None:
    error = error_of(function_of(module, line))

    fault = fault_of(Origin("Spot", "acme", module.partition(".")[0]), error)

    place = f"{module.replace('.', '/')}.py:2"
    assert (fault.plugin, str(fault)) == ("Spot", f"plugin Spot (package acme) failed: {said} at {place}")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        pytest.param("raise WrongAnswer('it is a list')", "it is a list", id="what is wrong with an answer"),
        pytest.param("raise KeyError('secret')", "KeyError", id="an error of this program"),
    ],
)
def test_fault_in_code_of_this_program_is_the_plugin_s(line: str, message: str) -> None:
    """The plugin has given what this program cannot work with."""
    call = function_of("acme_plugins.spot", "inner()", inner=function_of("descheduler.cycle.run", line))

    assert str(fault_of(Origin("Spot"), error_of(call))) == (f"plugin Spot failed: {message} at acme_plugins/spot.py:2")


@pytest.mark.parametrize(
    ("module", "line", "error"),
    [
        pytest.param("descheduler.cycle.run", "raise RunStopped('over', 99)", RunStopped, id="the run is over"),
        pytest.param("descheduler.cycle.run", "raise PluginFault('Other', 'failed')", PluginFault, id="another one"),
        pytest.param(
            "acme_plugins.spot", "default_int_handler(2, None)", KeyboardInterrupt, id="Ctrl-C while its code runs"
        ),
        pytest.param(
            "descheduler.cycle.run", "default_int_handler(2, None)", KeyboardInterrupt, id="Ctrl-C while ours runs"
        ),
    ],
)
def test_what_a_plugin_is_not_to_blame_for_goes_on(module: str, line: str, error: type[BaseException]) -> None:
    inner = function_of(module, line, default_int_handler=signal.default_int_handler)
    call = function_of("acme_plugins.spot", "inner()", inner=inner)

    with pytest.raises(error) as raised:
        fault_of(ACME, error_of(call))

    assert raised.type is error
    assert getattr(raised.value, "plugin", "Other") == "Other"


def test_wrong_answer_that_was_not_raised_yet_is_of_this_program() -> None:
    assert str(fault_of(ACME, WrongAnswer("it is a list"))) == "plugin Spot (package acme) failed: it is a list"


def test_guarded_code_is_asked_as_it_is_and_fails_as_its_plugin() -> None:
    def ask(*given: int, more: int) -> list[int]:
        return [*given, more, given[3]]

    guard = guarded(Origin("Spot"), ask)

    assert guard(1, 2, 3, 4, more=5) == [1, 2, 3, 4, 5, 4]
    with pytest.raises(PluginFault, match="plugin Spot failed: IndexError") as raised:
        guard(1, more=5)
    assert isinstance(raised.value.__cause__, IndexError)


@pytest.mark.parametrize("name", ["SystemExit", "KeyboardInterrupt", "GeneratorExit"])
def test_what_would_end_the_program_is_contained(name: str) -> None:
    with pytest.raises(PluginFault, match=f"plugin of another package failed: {name}"), contained():
        raise getattr(builtins, name)


def test_errors_that_end_nothing_are_not_contained() -> None:
    with pytest.raises(KeyError), contained():
        raise KeyError


def test_faults_are_collected_by_the_innermost_who_does() -> None:
    first, second, third, nobody_s = (PluginFault("Spot", text) for text in ("first", "second", "third", "nobody's"))

    with collected_faults() as outer:
        note_fault(first)
        with collected_faults() as inner:
            note_fault(second)
        note_fault(third)
    note_fault(nobody_s)

    assert (outer, inner) == ([first, third], [second])


@pytest.mark.parametrize(
    ("code", "is_own"),
    [
        pytest.param(Origin, True, id="a class of this program"),
        pytest.param(fault_of, True, id="a function of this program"),
        pytest.param(RAISING, False, id="another's"),
        pytest.param(function_of("descheduler_too.spot", "pass"), False, id="a name like ours"),
        pytest.param(object(), False, id="of no module"),
    ],
)
def test_code_is_of_this_program_where_its_module_is(code: object, is_own: bool) -> None:
    assert is_own_code(code) is is_own


def test_origin_of_code_is_the_root_of_its_module() -> None:
    assert origin_of("Spot", RAISING) == Origin("Spot", "", "acme_plugins")


class Shouting(str):
    """A text that shows itself as another one."""

    __slots__ = ()

    def __str__(self) -> str:
        return self.upper()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        pytest.param("on spot", "on spot", id="short"),
        pytest.param("x" * MOST_TEXT, "x" * MOST_TEXT, id="as long as texts may be"),
        pytest.param("x" * 1001, f"{'x' * 1000}... (cut off: 1,001 characters)", id="longer"),
        pytest.param("größer", "größer", id="letters of any language"),
        pytest.param("a\udc80", "a\\udc80", id="what is no Unicode text"),
        pytest.param(Shouting("on spot"), "on spot", id="its own kind of text"),
    ],
)
def test_text_of_a_plugin_is_cut_off_and_can_be_written(value: str, text: str) -> None:
    assert text_of(value, "the reason") == text
    assert type(text_of(value, "the reason")) is str


def an_endless_list() -> Iterator[int]:
    while True:
        yield 1


@pytest.mark.parametrize(
    ("check", "message"),
    [
        pytest.param(lambda: text_of(5, "the reason"), "the reason is int, not text", id="a number as a text"),
        pytest.param(lambda: text_of(b"x", "the reason"), "the reason is bytes, not text", id="bytes as a text"),
        pytest.param(lambda: is_of("web", int, "a count"), "a count is str, not int", id="a text as a number"),
        pytest.param(lambda: a_mapping([1], "counts"), "counts is list, not a mapping", id="a list as a mapping"),
        pytest.param(lambda: at_most(5, 2, "names"), "names is int, not a list", id="a number as a list"),
        pytest.param(lambda: at_most("web", 2, "names"), "names is str, not a list", id="a text as a list"),
        pytest.param(lambda: at_most(b"web", 2, "names"), "names is bytes, not a list", id="bytes as a list"),
        pytest.param(lambda: at_most([1, 2, 3], 2, "names"), "names has more than 2 entries", id="too many entries"),
        pytest.param(
            lambda: at_most(an_endless_list(), 1000, "names"), "names has more than 1,000 entries", id="without end"
        ),
    ],
)
def test_answer_that_is_none_is_told(check: Callable[[], object], message: str) -> None:
    with pytest.raises(WrongAnswer) as raised:
        check()

    assert str(raised.value) == message


def test_answers_of_their_kind_are_taken() -> None:
    assert is_of(True, int, "a count") is True
    assert a_mapping({"a": 1}, "counts") == {"a": 1}
    assert at_most((1, 2), 2, "names") == [1, 2]
    assert text_of("abc", "a name", 3) == "abc"
