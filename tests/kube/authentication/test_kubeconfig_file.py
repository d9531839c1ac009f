"""Which context, cluster and user some kubeconfigs name together."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from descheduler.kube.authentication.kubeconfig_file import ChosenContext, choose_context, context_names
from descheduler.transport.errors import SettingsError

SERVER = {"server": "https://h:6443"}


def config(**changes: Any) -> dict[str, Any]:
    """A kubeconfig of one context; None leaves a part out."""
    whole: dict[str, Any] = {
        "current-context": "c",
        "contexts": [{"name": "c", "context": {"cluster": "k", "user": "u", "namespace": "n"}}],
        "clusters": [{"name": "k", "cluster": SERVER}],
        "users": [{"name": "u", "user": {"token": "t"}}],
    } | {name.replace("_", "-"): part for name, part in changes.items()}
    return {name: part for name, part in whole.items() if part is not None}


def write(folder: Path, document: Mapping[str, Any], name: str = "config") -> Path:
    file = folder / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(yaml.safe_dump(document))
    return file


def refusal(*files: Path, context: str | None = None) -> str:
    with pytest.raises(SettingsError) as caught:
        choose_context(files, context)
    return str(caught.value)


def test_context_names_a_cluster_a_user_and_a_namespace(tmp_path: Path) -> None:
    chosen = choose_context([write(tmp_path, config())], None)

    assert (chosen.name, chosen.cluster_name, chosen.user_name, chosen.namespace) == ("c", "k", "u", "n")
    assert (chosen.cluster.server, chosen.user.token) == ("https://h:6443", "t")
    assert chosen.cluster_folder == chosen.user_folder == tmp_path


def test_context_may_name_a_cluster_alone(tmp_path: Path) -> None:
    alone = [{"name": "c", "context": {"cluster": "k"}}]

    chosen = choose_context([write(tmp_path, config(contexts=alone, users=None))], None)

    assert (chosen.user_name, chosen.user.token, chosen.namespace) == ("", None, "")


def test_first_entry_of_a_name_counts_and_knows_its_folder(tmp_path: Path) -> None:
    first = write(tmp_path, config(current_context=None, users=None, contexts=None), "a/config")
    second = write(tmp_path, config(clusters=[{"name": "k", "cluster": {"server": "https://other"}}]), "b/config")

    chosen: ChosenContext = choose_context([first, second], None)

    assert chosen.cluster.server == "https://h:6443"
    assert (chosen.cluster_folder, chosen.user_folder) == (first.parent, second.parent)
    assert context_names([first, second]) == ["c"]
    assert refusal(first, second, context="x").startswith(f"kubeconfig {first}, {second}: context 'x' is not defined")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"current_context": None}, "no current-context is set; choose one with --context (defined: c)"),
        ({"current_context": "", "contexts": []},
         "no current-context is set; choose one with --context (none is defined)"),
        ({"current_context": "x"}, "context 'x' is not defined (defined: c)"),
        ({"clusters": None}, "context 'c' names cluster 'k', which is not defined (none is defined)"),
        ({"users": [{"name": "v"}]}, "context 'c' names user 'u', which is not defined (defined: v)"),
        ({"contexts": [{"name": "c"}]}, "context 'c' names cluster '', which is not defined (defined: k)"),
        ({"clusters": [{"name": "k"}]}, "cluster 'k' needs a server such as https://host:6443"),
        ({"clusters": [{"name": "k", "cluster": {"server": "h"}}]},
         "cluster 'k' needs a server such as https://host:6443"),
        ({"clusters": [{"name": "k", "cluster": SERVER | {"tls-server-name": "a..b"}}]},
         "tls-server-name of cluster 'k' is not the name of a host"),
    ],
)  # fmt: skip
def test_part_that_is_missing_is_named(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    file = write(tmp_path, config(**changes))

    assert refusal(file) == f"kubeconfig {file}: {message}"


@pytest.mark.parametrize("name", [None, "", "host.example.com"])
def test_name_of_the_server_may_be_stated(tmp_path: Path, name: str | None) -> None:
    file = write(tmp_path, config(clusters=[{"name": "k", "cluster": SERVER | {"tls-server-name": name}}]))

    assert choose_context([file], None).cluster.tls_server_name == name


def test_file_that_cannot_be_read_is_told_with_the_cause(tmp_path: Path) -> None:
    (tmp_path / "text").write_bytes(b"\xff")
    (tmp_path / "yaml").write_text("a: 1\nb: [\n")

    assert refusal(tmp_path / "none").endswith("no such file; name another one with --kubeconfig or KUBECONFIG")
    assert refusal(tmp_path).endswith(": cannot be read: is a directory")
    assert refusal(tmp_path / "text").endswith(": cannot be read: it is not text")
    assert refusal(tmp_path / "yaml").endswith("yaml:3:1: is not valid YAML; fix it")


@pytest.mark.parametrize("character", ["\0", chr(0xD800), chr(0xDFFF)], ids=["nul", "high", "low"])
def test_text_that_is_none_is_located(tmp_path: Path, character: str) -> None:
    file = tmp_path / "config"
    file.write_text(f'users:\n- name: u\n  user: {{token: "a\\u{ord(character):04x}"}}\n')

    assert refusal(file).endswith("users[0].user.token holds a NUL or a character that is not text; fix it")


def test_characters_beside_half_a_pair_are_text(tmp_path: Path) -> None:
    file = write(tmp_path, config(users=[{"name": "u", "user": {"token": "\ud7ff\ue000"}}]))

    assert choose_context([file], None).user.token == "\ud7ff\ue000"
