"""Documents become values of Structs, and every fault is told with its place."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Any

import msgspec
import pytest

from descheduler.documents.decode import Decoder, Strictness
from descheduler.documents.document import to_plain
from descheduler.documents.json_document import parse_json
from descheduler.documents.problems import PolicyError
from descheduler.documents.yaml_document import parse_yaml


class Numbers(msgspec.Struct):
    signed: int = 0
    unsigned: Annotated[int, msgspec.Meta(ge=0)] = 0


class Part(msgspec.Struct, frozen=True):
    name: str = ""
    size: int = 0


class Whole(msgspec.Struct, rename="camel"):
    is_set: bool = False
    text: str = ""
    level: Annotated[int, msgspec.Meta(ge=1, le=5)] = 1
    share: float = 0.0
    wait: timedelta = timedelta()
    part: Part = Part()
    parts: tuple[Part, ...] = ()
    sizes: dict[str, int] = {}
    flags: dict[str, bool] = {}
    texts: tuple[str, ...] = ()
    shares: tuple[float, ...] = ()
    maybe: int | None = None
    either: int | str = 0
    raw: object = None


ERRORS, WARNINGS = Strictness("error", "error"), Strictness("warning", "warning")


def decoded(text: str, strictness: Strictness = ERRORS) -> tuple[dict[str, Any], list[str], list[str]]:
    """The fields that are not as they are by default, the problems and the warnings."""
    document = (parse_json if text.startswith("{") else parse_yaml)(text, "x")
    decoder = Decoder(document)
    value = decoder.partial(document.root, Whole, (), strictness)
    fields = {name: getattr(value, name) for name in Whole.__struct_fields__}
    default = Whole()
    changed = {name: field for name, field in fields.items() if field != getattr(default, name)}
    problems = [f"{each.field}: {each.message}" for each in decoder.problems]
    return changed, problems, [f"{each.field}: {each.message}" for each in decoder.warnings]


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        pytest.param("isSet: yes", {"is_set": True}, id="a boolean"),
        pytest.param("text: x", {"text": "x"}, id="a string"),
        pytest.param("level: 5", {"level": 5}, id="the largest number"),
        pytest.param("level: 2.0", {"level": 2}, id="a whole float"),
        pytest.param("share: 2", {"share": 2.0}, id="a float"),
        pytest.param("wait: 1m30s", {"wait": timedelta(seconds=90)}, id="a duration"),
        pytest.param("part: {name: a}", {"part": Part("a")}, id="an object"),
        pytest.param("parts: [{name: a}, null]", {"parts": (Part("a"), Part())}, id="objects, one of them null"),
        pytest.param("sizes: {a: 1, b: null}", {"sizes": {"a": 1, "b": 0}}, id="numbers, one of them null"),
        pytest.param("flags: {a: null}", {"flags": {"a": False}}, id="a boolean that is null"),
        pytest.param("texts: [a, null]", {"texts": ("a", "")}, id="strings, one of them null"),
        pytest.param("shares: [0.5, null]", {"shares": (0.5, 0.0)}, id="floats, one of them null"),
        pytest.param("maybe: 3", {"maybe": 3}, id="a number that may be absent"),
        pytest.param("either: 3", {"either": 3}, id="a number or a string"),
        pytest.param("either: 3%", {"either": "3%"}, id="a string or a number"),
        pytest.param("{isSet: null, text: null, level: null, part: null, maybe: null}", {}, id="nulls"),
        pytest.param("null", {}, id="null"),
    ],
)
def test_values_are_those_of_their_types(text: str, fields: dict[str, Any]) -> None:
    assert decoded(f"# YAML\n{text}\n") == (fields, [], [])


def test_field_of_any_type_receives_its_node() -> None:
    fields, _, _ = decoded("raw: {a: [1]}\n")

    assert to_plain(fields["raw"]) == {"a": [1]}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("isSet: 1", "isSet: expected true or false, found number 1"),
        ("text: 1.5", "text: expected a string, found number 1.5"),
        ("text: true", "text: expected a string, found boolean true"),
        ("level: true", "level: expected a whole number, found boolean true"),
        ("level: x", "level: expected a whole number, found the string 'x'"),
        ("level: 1.5", "level: expected a whole number, found number 1.5"),
        ("level: 0", "level: 0 is below 1"),
        ("level: 6", "level: 6 is above 5"),
        ("share: true", "share: expected a number, found boolean true"),
        ("share: x", "share: expected a number, found the string 'x'"),
        ("wait: 5", "wait: expected a duration such as 90s or 1h30m, found number 5"),
        ("wait: soon", "wait: 'soon' is not a duration such as 90s, 5m or 1h30m"),
        ("part: [a]", "part: expected an object, found a list"),
        ("parts: {}", "parts: expected a list, found an object"),
        ("parts: [{}, {size: x}]", "parts[1].size: expected a whole number, found the string 'x'"),
        ("sizes: {a: x}", "sizes.a: expected a whole number, found the string 'x'"),
        ("either: [1]", "either: expected a whole number, found a list"),
        ("prat: {}", "prat: unknown field; did you mean 'part'?"),
        ("part: {kind: x}", "part.kind: unknown field"),
        ("- 1", ": expected an object, found a list"),
    ],
)
def test_value_of_another_type_is_a_problem(text: str, problem: str) -> None:
    assert decoded(f"{text}\n")[1:] == ([problem], [])


def test_whole_float_of_json_is_no_whole_number() -> None:
    assert decoded('{"level": 2.0}')[1] == ["level: expected a whole number, found number 2.0"]


def test_neighbours_of_a_fault_are_decoded() -> None:
    fields, problems, _ = decoded("texts: [a, 5, b]\nsizes: {a: x, b: 2}\nlevel: x\ntext: z\n")

    assert fields == {"texts": ("a", "", "b"), "sizes": {"a": 0, "b": 2}, "text": "z"}
    assert len(problems) == 3


def test_object_with_a_problem_is_no_value_and_one_without_is() -> None:
    document = parse_yaml("a: {size: x}\nb: {size: 2}\n", "x")
    decoder = Decoder(document)
    assert isinstance(document.root.value, dict)
    bad, good = (document.root.value[key].node for key in "ab")

    assert decoder.struct(bad, Part, (), ERRORS) is None
    assert decoder.struct(good, Part, (), ERRORS) == Part(size=2)


def test_unknown_and_repeated_fields_are_what_the_caller_takes_them_for() -> None:
    text = "txt: a\ntext: a\ntext: b\n"

    assert decoded(text)[1:] == (
        ["text: is given twice; keep one of them", "txt: unknown field; did you mean 'text'?"],
        [],
    )
    assert decoded(text, WARNINGS) == (
        {"text": "b"},
        [],
        ["text: is given twice; the last one counts", "txt: unknown field, ignored; did you mean 'text'?"],
    )


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        ("apiVersion: v1\nkind: X\n", []),
        ("kind: null\n", []),
        ("kind: 5\n", ["kind: expected a string, found number 5"]),
        ("part: {kind: X}\n", ["part.kind: unknown field"]),
    ],
)
def test_outermost_object_alone_may_name_its_kind(text: str, problems: list[str]) -> None:
    assert decoded(text, Strictness("error", "error", type_meta=True))[1] == problems


def test_a_hundred_problems_are_told_and_no_more() -> None:
    known = ", ".join("5" for _ in range(99))
    assert len(decoded(f"texts: [{known}]\n")[1]) == 99

    with pytest.raises(PolicyError) as caught:
        decoded(f"texts: [{known}, 5, 5]\n")

    assert [each.message for each in caught.value.problems[99:]] == [
        "expected a string, found number 5",
        "stopped after 100 problems",
    ]


def test_a_hundred_warnings_are_told_and_no_more() -> None:
    unknown = "".join(f"x{number}: 1\n" for number in range(101))
    repeated = "".join(f"a{number}: 1\n" * 2 for number in range(101))

    assert len(decoded(unknown, WARNINGS)[2]) == 100
    assert len(decoded("sizes:\n" + repeated.replace("a", "  a"), WARNINGS)[2]) == 100


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        pytest.param('{"part": {"name": "a"}, "part": {"size": 2}}', {"part": Part("a", 2)}, id="objects"),
        pytest.param('{"part": {"name": "a"}, "part": null}', {"part": Part("a")}, id="null over an object"),
        pytest.param('{"part": null, "part": {"size": 2}}', {"part": Part(size=2)}, id="an object over null"),
        pytest.param('{"part": {"size": 1}, "part": {"size": 2}, "part": {"name": "a"}}', {"part": Part("a", 2)},
                     id="three objects"),
        pytest.param('{"parts": [{"name": "a"}, {}], "parts": [{"size": 2}]}', {"parts": (Part("a", 2),)}, id="lists"),
        pytest.param('{"parts": [{}], "parts": [{"size": 2}, {"size": 3}]}', {"parts": (Part("", 2), Part("", 3))},
                     id="a longer list"),
        pytest.param('{"parts": [{}], "parts": null}', {}, id="null over a list"),
        pytest.param('{"sizes": {"a": 1}, "sizes": null}', {}, id="null over a map"),
        pytest.param('{"sizes": {"a": 1}, "sizes": {"b": 2}}', {"sizes": {"a": 1, "b": 2}}, id="maps"),
        pytest.param('{"maybe": 1, "maybe": null}', {}, id="null over what may be absent"),
        pytest.param('{"text": "a", "text": null}', {"text": "a"}, id="null over a string"),
        pytest.param('{"text": "a", "text": "b"}', {"text": "b"}, id="strings"),
    ],
)  # fmt: skip
def test_repeated_field_of_json_is_laid_over_what_it_said_before(text: str, fields: dict[str, Any]) -> None:
    assert decoded(text, WARNINGS)[:2] == (fields, [])


def test_faults_of_what_a_repeated_field_said_before_count() -> None:
    assert decoded('{"text": 5, "text": "b"}', WARNINGS)[:2] == (
        {"text": "b"},
        ["text: expected a string, found number 5"],
    )


@pytest.mark.parametrize(
    ("field", "number", "fault"),
    [
        ("signed", 2**63 - 1, ""),
        ("signed", 2**63, "signed: 9223372036854775808 is above 9223372036854775807"),
        ("unsigned", 2**64 - 1, ""),
        ("unsigned", 2**64, "unsigned: 18446744073709551616 is above 18446744073709551615"),
        ("unsigned", -1, "unsigned: -1 is below 0"),
    ],
)
def test_whole_numbers_have_64_bits(field: str, number: int, fault: str) -> None:
    document = parse_json(f'{{"{field}": {number}}}', "x")
    decoder = Decoder(document)

    decoder.struct(document.root, Numbers, (), Strictness("error", "error"))

    assert [f"{each.field}: {each.message}" for each in decoder.problems] == ([fault] if fault else [])


@pytest.mark.parametrize(
    ("field", "faults"),
    [("signed", []), ("unsigned", ["unsigned: expected a whole number, found number -0.0"])],
)
def test_minus_zero_in_yaml_is_a_signed_number_alone(field: str, faults: list[str]) -> None:
    document = parse_yaml(f"{field}: -0.0\n", "x")
    decoder = Decoder(document)

    decoder.struct(document.root, Numbers, (), Strictness("error", "error"))

    assert [f"{each.field}: {each.message}" for each in decoder.problems] == faults
