"""Which kubeconfig says where the cluster of an explanation is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from descheduler.cycle.options import ConnectionOptions
from descheduler.explanation.sources import context_namespace, known_contexts
from descheduler.policy.types import Policy
from tests.explanation.questions import policy_of


def kubeconfig(directory: Path, name: str, **namespaces: str) -> str:
    """A file with a context for each namespace, the first one of which is the current one."""
    contexts = [
        {"name": each, "context": {"cluster": "c", "user": "u", "namespace": of}} for each, of in namespaces.items()
    ]
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": next(iter(namespaces)),
        "contexts": contexts,
        "clusters": [{"name": "c", "cluster": {"server": "https://10.0.0.1:6443"}}],
        "users": [{"name": "u", "user": {}}],
    }
    file = directory / name
    file.write_text(json.dumps(document))
    return str(file)


def policy_naming(file: str) -> Policy:
    return replace(policy_of(), kubeconfig=file)


@pytest.fixture(autouse=True)
def no_usual_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A kubeconfig in the usual place that nobody names."""
    monkeypatch.setenv("KUBECONFIG", kubeconfig(tmp_path, "usual", usual="usual"))


def test_namespace_is_that_of_the_context_in_the_file_of_the_flag_the_policy_or_the_environment(
    tmp_path: Path,
) -> None:
    of_flag = ConnectionOptions(kubeconfig(tmp_path, "flag", one="shop", two="blog"))
    policy = policy_naming(kubeconfig(tmp_path, "policy", three="ops"))

    assert context_namespace(of_flag, policy) == "shop"
    assert context_namespace(of_flag, None) == "shop"
    assert context_namespace(ConnectionOptions(of_flag.kubeconfig, "two"), policy) == "blog"
    assert context_namespace(ConnectionOptions(), policy) == "ops"
    assert context_namespace(ConnectionOptions(), policy_of()) == "usual"
    assert context_namespace(ConnectionOptions(), None) == "usual"


def test_namespace_is_not_known_where_the_file_cannot_be_used(tmp_path: Path) -> None:
    assert context_namespace(ConnectionOptions(str(tmp_path / "none")), None) == ""
    assert context_namespace(ConnectionOptions(context="none"), None) == ""


def test_contexts_are_those_of_the_file_in_order_and_none_where_it_cannot_be_read(tmp_path: Path) -> None:
    assert known_contexts(kubeconfig(tmp_path, "flag", two="shop", one="blog")) == ["two", "one"]
    assert known_contexts(None) == ["usual"]
    assert known_contexts(str(tmp_path / "none")) == []
