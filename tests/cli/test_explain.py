from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from descheduler.cluster.kinds import KINDS
from descheduler.report.published_schema import published_schema
from tests.builders import node_object, pod_object
from tests.cli.commands import Descheduler
from tests.cli.loaded_modules import HEAVY, modules_of
from tests.integration.fake_api import FakeApi

NOW = "2026-06-30T12:00:00Z"


def test_a_pod_is_explained_on_a_dump(descheduler: Descheduler, policy: Path, dump: Path) -> None:
    ended = descheduler("explain", "pod", "default/old", "--config", policy, "--snapshot", dump, "--now", NOW)

    assert ended.code == 0
    assert (
        "Decision: evicted\nSelected by:   PodLifeTime (profile main): 1 h old (maxPodLifeTimeSeconds: 60)\n"
        in ended.out
    )
    assert "If evicted: the replacement pod can be scheduled onto b" in ended.out
    assert "placement of the replacement pod: 2/2 nodes are available" in ended.out


def test_without_a_policy_only_the_landing_is_explained(descheduler: Descheduler, dump: Path) -> None:
    ended = descheduler("explain", "pod", "default/old", "--snapshot", dump, "--now", NOW)

    assert ended.code == 0
    assert "Decision:" not in ended.out
    assert "If evicted: the replacement pod can be scheduled onto b" in ended.out


@pytest.mark.parametrize(
    "question",
    [("pod/old",), ("po", "old", "-n", "default"), ("po/old", "-A"), ("rs/web",), ("ns/default",)],
)
def test_a_pod_is_found_as_kubectl_finds_it(
    descheduler: Descheduler, policy: Path, dump: Path, question: tuple[str, ...]
) -> None:
    ended = descheduler("explain", *question, "--config", policy, "--snapshot", dump, "--now", NOW)

    assert ended.code == 0
    assert "PodLifeTime" in ended.out


def test_the_scope_of_the_run_is_that_of_run_namespace(descheduler: Descheduler, policy: Path, dump: Path) -> None:
    arguments = ("--config", policy, "--snapshot", dump, "--now", NOW, "-o", "json", "--run-namespace", "shop")

    ended = descheduler("explain", "pod/old", *arguments)

    assert json.loads(ended.out)["pod"]["decision"]["answers"][0]["code"] == "OutOfScope"


def test_a_pod_is_explained_as_the_shard_of_a_run_sees_it(descheduler: Descheduler, policy: Path, dump: Path) -> None:
    arguments = ("--config", policy, "--snapshot", dump, "--now", NOW, "-o", "json", "--shards", "2")

    shards = [descheduler("explain", "pod/old", *arguments, "--shard-index", index) for index in "01"]

    outcomes = [json.loads(ended.out)["pod"]["decision"]["outcome"] for ended in shards]
    assert sorted(outcomes) == ["evicted", "unjudged"]


def test_a_node_is_explained_on_a_dump(descheduler: Descheduler, policy: Path, dump: Path) -> None:
    ended = descheduler("explain", "node", "a", "--config", policy, "--snapshot", dump, "--now", NOW)

    assert ended.code == 0
    assert "1 pod would be evicted, 1 pod not evicted, 0 replacement pods would be scheduled onto the node" in ended.out
    assert "1                  BarePod" in ended.out


def test_a_plugin_is_explained_without_any_cluster(descheduler: Descheduler) -> None:
    ended = descheduler("explain", "plugin", "podlifetime")

    assert ended.code == 0
    assert ended.out.startswith("PodLifeTime (deschedule plugin)\n")
    assert "maxPodLifeTimeSeconds" in ended.out


def test_a_plugin_tells_what_it_decided_on_a_dump(descheduler: Descheduler, policy: Path, dump: Path) -> None:
    ended = descheduler("explain", "plugin", "PodLifeTime", "--config", policy, "--snapshot", dump, "--now", NOW)

    assert "main      1              BarePod 1" in ended.out.splitlines()


@pytest.mark.long
@pytest.mark.parametrize(("output_format", "read"), [("json", json.loads), ("yaml", yaml.safe_load)])
@pytest.mark.parametrize(
    "question", [("pod", "default/old"), ("pod", "default/bare"), ("node", "a"), ("plugin", "DefaultEvictor")]
)
def test_documents_obey_their_schema(
    descheduler: Descheduler,
    policy: Path,
    dump: Path,
    output_format: str,
    read: Callable[[str], Any],
    question: tuple[str, str],
) -> None:
    ended = descheduler("explain", *question, "--config", policy, "--snapshot", dump, "--now", NOW, "-o", output_format)

    explanation = read(ended.out)
    jsonschema.validate(explanation, json.loads(published_schema("explanation")))
    assert explanation["kind"] == "Explanation"
    assert [name for name in ("pod", "node", "plugin") if explanation[name] is not None] == [question[0]]


def test_wide_tables_show_every_answer_and_all_scores(descheduler: Descheduler, policy: Path, dump: Path) -> None:
    ended = descheduler("explain", "pod", "default/old", "--config", policy, "--snapshot", dump, "-o", "wide")

    assert "SELECTED BY" in ended.out
    assert "EVICTABLE" in ended.out
    assert "TaintToleration" in ended.out


def test_the_same_input_gives_the_same_bytes(descheduler: Descheduler, policy: Path, dump: Path) -> None:
    arguments = ("explain", "pod", "default/old", "--config", policy, "--snapshot", dump, "--now", NOW, "-o", "json")

    assert descheduler(*arguments).out == descheduler(*arguments).out


@pytest.mark.parametrize(
    ("question", "message"),
    [
        (("pod", "default/odl"), "; did you mean 'default/old'?"),
        (("pod", "bold"), "no pod 'default/bold'"),
        (("node", "z"), "error: no node 'z' in "),
        (("plugin", "PodLiveTime"), "error: no plugin 'PodLiveTime'; did you mean 'PodLifeTime'?"),
    ],
)
def test_what_is_not_there_ends_with_one_message(
    descheduler: Descheduler, dump: Path, question: tuple[str, str], message: str
) -> None:
    ended = descheduler("explain", *question, "--snapshot", dump)

    assert (ended.code, ended.out) == (2, "")
    assert message in ended.err.splitlines()[-1]


def test_a_dump_that_cannot_be_read_is_wrong_input(descheduler: Descheduler, tmp_path: Path) -> None:
    ended = descheduler("explain", "node", "a", "--snapshot", tmp_path / "none.json")

    assert ended.code == 2
    assert "cannot be read" in ended.err


def test_a_version_that_is_none_is_wrong_usage(descheduler: Descheduler, dump: Path) -> None:
    ended = descheduler("explain", "node", "a", "--snapshot", dump, "--kube-version", "new")

    assert ended.code == 2
    assert "'new' is not a Kubernetes version; write it as 1.36 or v1.36.3" in ended.err


def test_the_scheduler_of_a_configuration_places_the_pods(descheduler: Descheduler, tmp_path: Path) -> None:
    dump = tmp_path / "dump.json"
    pods = [pod_object("old", scheduler="packer", cpu="500m"), pod_object("there", node="b", cpu="2")]
    dump.write_text(
        json.dumps({"kind": "List", "apiVersion": "v1", "items": [node_object("a"), node_object("b"), *pods]})
    )
    configuration = tmp_path / "scheduler.yaml"
    configuration.write_text(
        yaml.safe_dump(
            {
                "apiVersion": "kubescheduler.config.k8s.io/v1",
                "kind": "KubeSchedulerConfiguration",
                "profiles": [{"schedulerName": "packer"}],
            }
        )
    )
    arguments = ("explain", "pod", "default/old", "--snapshot", dump, "--now", NOW)

    unknown = descheduler(*arguments)
    known = descheduler(*arguments, "--scheduler-config", configuration)

    assert "If evicted: the replacement pod is likely scheduled onto" in unknown.out
    assert "If evicted: the replacement pod can be scheduled onto a, the node of the pod itself" in known.out


def test_a_configuration_that_is_wrong_names_the_place(descheduler: Descheduler, dump: Path, tmp_path: Path) -> None:
    configuration = tmp_path / "scheduler.yaml"
    configuration.write_text("apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeScheduler\n")

    ended = descheduler("explain", "node", "a", "--snapshot", dump, "--scheduler-config", configuration)

    assert ended.code == 2
    assert f"{configuration}:2:" in ended.err


def test_a_cluster_is_only_read(descheduler: Descheduler, policy: Path, kubeconfig: Path, fake_api: FakeApi) -> None:
    for kind in KINDS.values():
        fake_api.add(kind.path)
    fake_api.add("/api/v1/nodes", node_object("a"), node_object("b"))
    fake_api.add("/api/v1/pods", pod_object("old"))
    arguments = ("explain", "pod", "default/old", "--kubeconfig", kubeconfig, "--now", NOW)

    ended = descheduler(*arguments, "--config", policy)

    assert ended.code == 0
    assert "Decision: evicted\nSelected by:   PodLifeTime" in ended.out
    assert {request.method for request in fake_api.requests} == {"GET"}
    assert "/apis/apps/v1/replicasets" in {request.path for request in fake_api.requests}


def test_a_plugin_is_judged_on_a_cluster_only_when_one_is_named(
    descheduler: Descheduler, policy: Path, kubeconfig: Path, fake_api: FakeApi
) -> None:
    for kind in KINDS.values():
        fake_api.add(kind.path)
    fake_api.add("/api/v1/nodes", node_object("a"), node_object("b"))
    fake_api.add("/api/v1/pods", pod_object("old"))

    alone = descheduler("explain", "plugin", "PodLifeTime", "--config", policy)
    live = descheduler("explain", "plugin", "PodLifeTime", "--config", policy, "--kubeconfig", kubeconfig, "--now", NOW)

    assert "PODS EVICTED" not in alone.out
    assert "PODS EVICTED" in live.out


def test_a_cluster_that_is_not_there_is_a_failure(descheduler: Descheduler, tmp_path: Path) -> None:
    ended = descheduler("explain", "node", "a", "--kubeconfig", tmp_path / "none")

    assert (ended.code, ended.out) == (1, "")


def test_help_loads_nothing_heavy() -> None:
    assert modules_of("explain", "--help").isdisjoint(HEAVY | {"yaml", "descheduler.cycle", "descheduler.explanation"})


@pytest.mark.long
def test_explaining_on_a_dump_loads_no_client(policy: Path, dump: Path) -> None:
    modules = modules_of("explain", "pod", "default/old", "--config", policy, "--snapshot", dump)

    assert modules.isdisjoint(HEAVY - {"numpy"})


@pytest.mark.long
@pytest.mark.parametrize("name", ["PodLifeTime", "MigrationController", "NodeAffinity"])
def test_a_plugin_is_explained_alike_where_python_strips_docstrings(descheduler: Descheduler, name: str) -> None:
    program = [sys.executable, "-OO", "-m", "descheduler", "explain", "plugin", name, "-o", "json"]
    whole = json.loads(descheduler("explain", "plugin", name, "-o", "json").out)

    ended = subprocess.run(program, capture_output=True, text=True, check=False)

    assert (ended.returncode, ended.stderr) == (0, "")
    stripped = json.loads(ended.stdout)
    assert stripped["plugin"] == whole["plugin"]
