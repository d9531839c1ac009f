"""Which kubeconfig says where the cluster of an explanation is, and what earlier runs have left there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from descheduler.cycle.options import ConnectionOptions
from descheduler.cycle.remembering import memory_name
from descheduler.explanation.sources import context_namespace, known_contexts, read_live
from descheduler.kube import client as client_module
from descheduler.migration.lease_settings import LeaseOptions
from descheduler.plan.run_memory import RunMemory
from descheduler.policy.types import Policy
from tests.builders import NOW
from tests.cycle.live.runs import crowded
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


def policy_that_remembers() -> Policy:
    """A policy of a plugin that leaves something for its next run."""
    profile = {
        "name": "main",
        "pluginConfig": [{"name": "RemovePodsViolatingNodeReservation"}],
        "plugins": {"deschedule": {"enabled": ["RemovePodsViolatingNodeReservation"]}},
    }
    return policy_of({"apiVersion": "descheduler/v1alpha2", "kind": "DeschedulerPolicy", "profiles": [profile]})


@pytest.mark.parametrize(
    ("policy", "is_read"),
    [
        pytest.param(None, False, id="no policy"),
        pytest.param(policy_of(), False, id="a policy whose plugins leave nothing"),
        pytest.param(policy_that_remembers(), True, id="a policy one of whose plugins does"),
    ],
)
def test_memory_of_earlier_runs_is_read_for_a_policy_that_remembers(
    policy: Policy | None, is_read: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster, left = crowded("web"), RunMemory().after(NOW, {"p/q/0": b"1"})
    metadata = {"name": memory_name("d"), "namespace": "kube-system"}
    data = {"memory.json": left.encoded()}
    cluster.add({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data})
    monkeypatch.setattr(client_module, "connect", lambda *_, **__: cluster.client())

    found = read_live(
        ConnectionOptions(), policy, LeaseOptions(name="d", namespace="kube-system"), taken_at=cluster.clock.now()
    )

    assert [pod.namespace for pod in found.snapshot.pods] == ["shop"]
    assert found.memory.notes == (left.notes if is_read else {})
