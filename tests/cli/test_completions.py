"""What is offered for the last word of a command line, without a shell around it."""

from __future__ import annotations

import json
from pathlib import Path

import click
import pytest

from descheduler.cli import kubectl_completion
from descheduler.cli.completions import complete_context, complete_file, complete_namespace
from tests.builders import node_object, pod_object

PARAM = click.Option(["--test"])


def context(**params: object) -> click.Context:
    found = click.Context(click.Command("test"))
    found.params = params
    return found


@pytest.fixture
def dump(tmp_path: Path) -> str:
    """Pods of three namespaces, one of which a shell would take for a command."""
    pods = [pod_object("p", namespace=namespace) for namespace in ("shop", "shop-2", "blog", "$(rm)")]
    file = tmp_path / "dump.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [node_object("a"), *pods]}))
    return str(file)


def test_files_are_left_to_the_shell() -> None:
    (item,) = complete_file(context(), PARAM, "pol")

    assert (item.value, item.type) == ("pol", "file")


@pytest.mark.parametrize(
    ("incomplete", "names"), [("", ["blog", "shop", "shop-2"]), ("sho", ["shop", "shop-2"]), ("x", [])]
)
def test_namespaces_are_those_of_the_dump(dump: str, incomplete: str, names: list[str]) -> None:
    found = complete_namespace(context(snapshot=(dump,)), PARAM, incomplete)

    assert [item.value for item in found] == names


@pytest.mark.parametrize("snapshot", [None, (), ("missing.json",), ("-",)], ids=["not given", "none", "missing", "-"])
def test_no_namespace_is_offered_without_a_dump_that_can_be_read(snapshot: object) -> None:
    assert complete_namespace(context(snapshot=snapshot), PARAM, "") == []


def test_nothing_is_offered_of_a_file_beside_standard_input(dump: str) -> None:
    assert complete_namespace(context(snapshot=(dump, "-")), PARAM, "") == []


def test_nothing_is_offered_of_standard_input_even_where_a_file_is_called_so(
    dump: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(Path(dump).parent)
    Path(dump).rename("-")

    assert complete_namespace(context(snapshot=("-",)), PARAM, "") == []
    assert [item.value for item in complete_namespace(context(snapshot=("./-",)), PARAM, "b")] == ["blog"]


def test_contexts_are_those_of_the_kubeconfig(tmp_path: Path) -> None:
    file = tmp_path / "config"
    file.write_text("{apiVersion: v1, kind: Config, contexts: [{name: prod}, {name: test}, {name: 'a b'}]}")

    assert [item.value for item in complete_context(context(kubeconfig=str(file)), PARAM, "")] == ["prod", "test"]
    assert complete_context(context(kubeconfig=str(tmp_path / "none")), PARAM, "") == []


@pytest.mark.parametrize(
    ("words", "last"), [(["validate", "pol"], ":0"), (["schema", "p"], ":4")], ids=["files", "no files"]
)
def test_kubectl_is_told_whether_files_may_come(
    words: list[str], last: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert kubectl_completion.main(words) == 0

    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == last
    assert [line for line in lines[:-1] if line.startswith("pol")] == (["policy"] if words[0] == "schema" else [])
