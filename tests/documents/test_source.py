"""Documents from files, texts and objects, and what is said where there is none."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from descheduler.documents import source
from descheduler.documents.document import MAX_BYTES, MAX_DEPTH, Document, to_plain
from descheduler.documents.problems import PolicyError
from descheduler.documents.source import digest_of, read_document, read_lines, read_plain_documents

OWN = "apiVersion: descheduler/v1alpha2\nkind: DeschedulerPolicy\n"
INNER = {"apiVersion": "descheduler/v1alpha2", "kind": "DeschedulerPolicy", "a": 1}
CONFIG_MAP = {"kind": "ConfigMap", "data": {"policy.yaml": OWN + "a: 1\n"}}


def read(text: Path | str | Mapping[str, object], noun: str = "policy") -> Document:
    return read_document(text, "p.yaml", noun)


def plain(text: Path | str | Mapping[str, object], noun: str = "policy") -> object:
    return to_plain(read(text, noun).root)


def fault(text: Path | str | Mapping[str, object]) -> str:
    with pytest.raises(PolicyError) as caught:
        read(text)
    return str(caught.value)


def nested(depth: int) -> Mapping[str, object]:
    """An object that holds `depth` levels of objects and then a number."""
    inner: object = 1
    for _ in range(depth):
        inner = {"a": inner}
    assert isinstance(inner, Mapping)
    return inner


@pytest.mark.parametrize(
    ("data", "message"),
    [
        pytest.param(b"\x1f\x8bxyz", "is compressed with gzip; unpack it first", id="gzip"),
        pytest.param(
            b"a: \0", "holds NUL bytes, so it is not a text file; a policy is YAML or JSON in UTF-8", id="NUL bytes"
        ),
        pytest.param(b"\xffa: 1", "p.yaml:1:1: byte 0xff is not UTF-8; save the policy as UTF-8", id="the first byte"),
        pytest.param(b"a: 1\nb: \xe4\n", "p.yaml:2:4: byte 0xe4 is not UTF-8", id="a byte of the second line"),
        pytest.param(b"\n\n\xe4", "p.yaml:3:1: byte 0xe4 is not UTF-8", id="the first byte of a line"),
        pytest.param(b"#" * (MAX_BYTES + 1), "p.yaml: is larger than 4 MiB; no policy needs that", id="a large file"),
    ],
)
def test_file_that_is_no_text_is_refused_with_the_place(tmp_path: Path, data: bytes, message: str) -> None:
    (tmp_path / "p").write_bytes(data)

    assert message in fault(tmp_path / "p")


def test_path_that_leads_to_no_file_is_refused_with_the_cause(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    assert fault(tmp_path / "x") == "p.yaml: no such file; name the policy file to read"
    assert fault(tmp_path) == "p.yaml: is a directory; name the policy file in it"
    assert fault(tmp_path / "file" / "x") == "p.yaml: cannot be read: Not a directory"
    assert fault(tmp_path / "\0") == "p.yaml: cannot be read: embedded null byte"


def test_document_may_be_as_large_as_4_mib(tmp_path: Path) -> None:
    text = "a: 1\n#".ljust(MAX_BYTES, "x")
    (tmp_path / "p").write_text(text)

    assert plain(tmp_path / "p") == {"a": 1}
    assert plain(text) == {"a": 1}
    assert fault(text + "x") == "p.yaml: is larger than 4 MiB; no policy needs that"


@pytest.mark.parametrize(
    ("text", "place"),
    [
        pytest.param("{{ if .x }}\na: 1\n", "1:1", id="a line of its own"),
        pytest.param("a: 1\n  {{- toYaml . }}\nb: 1\nc: [\n", "2:3", id="a line of its own far before the place"),
        pytest.param("a: {{ .x }}\n", "1:4", id="in the line that cannot be read"),
        pytest.param("a: x {{ y }}\n]: 3\n", "1:6", id="in the line before"),
    ],
)
def test_template_that_keeps_a_text_from_being_yaml_is_placed(text: str, place: str) -> None:
    assert fault(text) == (
        f"p.yaml:{place}: is a template ({{{{), not YAML; render it first, for example with 'helm template'"
    )


@pytest.mark.parametrize("text", ["]\na: x {{ y }}\n", "a: x {{ y }}\nb: 1\n]: 3\n"], ids=["behind", "far before"])
def test_template_elsewhere_is_not_what_keeps_a_text_from_being_yaml(text: str) -> None:
    assert ": not YAML: while parsing" in fault(text)


def test_texts_that_are_templates_are_noted_and_others_are_not() -> None:
    document = read("a: x\nb:\n- '{{ .x }}'\n- y\nc: 5\n")

    assert [(mark and (mark.line, mark.column), note.partition(" (")[0]) for mark, note in document.notes] == [
        ((3, 3), "is a template")
    ]


@pytest.mark.parametrize("number", [".inf", "-.inf", ".nan"])
def test_number_that_json_does_not_have_is_refused_wherever_it_is(number: str) -> None:
    message = "is not a number that Kubernetes accepts"

    assert fault(f"a:\n- b: {number}\n").startswith("p.yaml:2:6: ")
    assert message in fault(f"a:\n- b: {number}\n")
    assert message in fault({"a": [float(number.replace(".", ""))]})
    with pytest.raises(PolicyError, match=message):
        read_plain_documents(f"a: 1\n---\n- {number}\n", "x", "policy")


def test_text_with_a_nul_character_is_refused() -> None:
    assert fault("a: \0") == "p.yaml: holds NUL characters, so it is not text; a policy is YAML or JSON"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        pytest.param(OWN + "a: 1\n", INNER, id="a policy itself"),
        pytest.param("apiVersion: descheduler/v9\ndeschedulerPolicy: {}\n",
                     {"apiVersion": "descheduler/v9", "deschedulerPolicy": {}}, id="a policy with a key of values"),
        pytest.param("- kind: ConfigMap\n", [{"kind": "ConfigMap"}], id="a list"),
        pytest.param("just text\n", "just text", id="text"),
        pytest.param("", None, id="nothing"),
        pytest.param("a: 1\n", {"a": 1}, id="something else"),
        pytest.param("# none\n---\nkind: ConfigMap\ndata: {p: 'kind: DeschedulerPolicy'}\n",
                     {"kind": "DeschedulerPolicy"}, id="a ConfigMap behind comments"),
    ],
)  # fmt: skip
def test_policy_is_what_a_text_holds_or_is(text: str, value: object) -> None:
    assert plain(text) == value


def test_config_map_is_opened_for_a_policy_and_not_for_other_documents() -> None:
    assert plain(CONFIG_MAP) == INNER
    assert plain(CONFIG_MAP, "table") == CONFIG_MAP


def test_values_hold_policies_and_no_configuration_of_a_scheduler() -> None:
    values = {"deschedulerPolicy": {"a": 1}}

    assert plain(values) == INNER
    assert plain(values, "scheduler configuration") == values


def test_object_is_taken_as_it_is() -> None:
    value = {"a": [1, 2.5, "x", True, None, {"b": ()}], "c": {}}

    assert plain(value) == {"a": [1, 2.5, "x", True, None, {"b": []}], "c": {}}
    assert read(value).form == "object"


@pytest.mark.parametrize(
    ("value", "message"),
    [
        pytest.param({"a": {1}}, "holds a set; a policy holds only the types of JSON", id="a set"),
        pytest.param({"a": [{5: 1}]}, "has the key 5; keys are strings", id="a number as a key"),
        pytest.param({"a": 2**1024}, "holds a number of 1025 bits", id="a number of too many bits"),
        pytest.param(nested(MAX_DEPTH + 1), "is nested more than 100 levels deep", id="too many levels"),
        pytest.param({"a": [nested(MAX_DEPTH - 1)]}, "is nested more than 100 levels deep", id="levels in a list"),
    ],
)
def test_object_beyond_what_a_text_can_say_is_refused(value: Mapping[str, object], message: str) -> None:
    assert fault(value) == f"p.yaml: {message}"


def test_object_may_have_as_many_levels_values_and_bits_as_a_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "MAX_NODES", 4)

    assert plain({"a": [2**1024 - 1, 2]}) == {"a": [2**1024 - 1, 2]}
    assert fault({"a": [1, 2, 3]}) == "p.yaml: holds more than 4 values; no policy needs that"
    monkeypatch.undo()
    assert plain(nested(MAX_DEPTH)) == nested(MAX_DEPTH)


def test_lines_of_a_file_are_read_without_blanks_and_comments(tmp_path: Path) -> None:
    (tmp_path / "names").write_text("# all\n\n a  # first\nb\n  \n")

    document = read_lines(tmp_path / "names", "names", "list")

    assert to_plain(document.root) == ["a", "b"]
    assert isinstance(document.root.value, tuple)
    assert [node.mark and node.mark.line for node in document.root.value] == [3, 4]
    with pytest.raises(PolicyError, match=r"^x: no such file; name the list file to read$"):
        read_lines(tmp_path / "none", "x", "list")


def test_all_documents_of_a_text_are_read() -> None:
    assert read_plain_documents("a: 1\n---\n- x\n---\n", "x", "manifest") == [{"a": 1}, ["x"], None]


def test_digest_tells_documents_apart_by_their_values_alone() -> None:
    one, other = read('{"b": "ü", "a": [1]}'), read("a:  [1]\nb: ü # same\n")

    assert digest_of(one) == digest_of(other)
    assert digest_of(one) != digest_of(read("a: [2]\nb: ü\n"))
