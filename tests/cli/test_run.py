from __future__ import annotations

import gzip
import json
import re
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from descheduler.cli.main import main
from descheduler.cluster.kinds import KINDS
from descheduler.report.published_schema import published_schema
from tests.builders import node_object, pod_object
from tests.cli.commands import Descheduler
from tests.integration.fake_api import FakeApi
from tests.report.decided_cycles import pod_life_time_policy

NOW = "2026-06-30T12:00:00Z"


def test_a_dump_is_judged_without_a_cluster(descheduler: Descheduler, policy: Path, dump: Path) -> None:
    ended = descheduler("run", "--policy-config-file", policy, "--snapshot", dump, "--now", NOW)

    assert ended.code == 0
    head, *lines = ended.out.splitlines()[:5]
    assert re.fullmatch(rf"Policy: {policy}; dump: {dump}; time: {NOW}; plan: [0-9a-f]{{12}}", head)
    assert lines == [
        "",
        "PodLifeTime: 1 pod to evict",
        "NAMESPACE   POD   NODE   TARGET   REASON",
        "default     old   a      b        1 h old (maxPodLifeTimeSeconds: 60)",
    ]


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        pytest.param(["-o", "name"], "default/old\n", id="names"),
        pytest.param(
            ["--no-headers"], "default   old   a   b   PodLifeTime   1 h old (maxPodLifeTimeSeconds: 60)\n", id="rows"
        ),
        pytest.param(["-o", "csv", "--no-headers"], "evict,default,old,", id="CSV without a header"),
        pytest.param(
            ["--quiet"],
            "Warning: 1 kind is not in the dump and assumed to be empty: poddisruptionbudgets.policy",
            id="warnings and the summary",
        ),
    ],
)
def test_output_for_scripts(
    descheduler: Descheduler, policy: Path, dump: Path, flags: list[str], expected: str
) -> None:
    ended = descheduler("run", "--config", policy, "--snapshot", dump, "--now", NOW, *flags)

    assert ended.code == 0
    assert ended.out.startswith(expected)


@pytest.mark.parametrize(("output_format", "read"), [("json", json.loads), ("yaml", yaml.safe_load)])
def test_documents_go_to_standard_output_and_obey_their_schema(
    descheduler: Descheduler, policy: Path, dump: Path, output_format: str, read: Callable[[str], Any]
) -> None:
    ended = descheduler("run", "--config", policy, "--snapshot", dump, "--now", NOW, "-o", output_format)

    plan = read(ended.out)
    jsonschema.validate(plan, json.loads(published_schema("plan")))
    assert [move["pod"]["name"] for move in plan["moves"]] == ["old"]
    assert plan["now"] == NOW


def test_wide_table_names_candidates_that_stay(descheduler: Descheduler, policy: Path, dump: Path) -> None:
    ended = descheduler("run", "--config", policy, "--snapshot", dump, "-o", "wide")

    assert "BarePod" in ended.out


def test_flags_without_a_command_are_those_of_run(descheduler: Descheduler, policy: Path, dump: Path) -> None:
    named = descheduler("run", "--policy-config-file", policy, "--snapshot", dump, "--now", NOW)
    unnamed = descheduler("--policy-config-file", policy, "--snapshot", dump, "--now", NOW)

    assert unnamed.out == named.out


def test_the_same_input_gives_the_same_bytes(descheduler: Descheduler, policy: Path, dump: Path) -> None:
    arguments = ("run", "--config", policy, "--snapshot", dump, "--now", NOW, "-o", "json")

    assert descheduler(*arguments).out == descheduler(*arguments).out


def test_ages_are_taken_at_the_time_of_the_dump_when_it_has_one(
    descheduler: Descheduler, policy: Path, tmp_path: Path
) -> None:
    header = {"apiVersion": "descheduler.dump/v1", "kind": "DumpHeader", "takenAt": NOW, "kinds": ["Node", "Pod"]}
    objects = [node_object("a"), node_object("b"), pod_object("old")]
    trailer = {"apiVersion": "descheduler.dump/v1", "kind": "DumpTrailer", "numObjects": {"Node": 2, "Pod": 1}}
    file = tmp_path / "dump.jsonl.gz"
    file.write_bytes(gzip.compress("\n".join(json.dumps(line) for line in (header, *objects, trailer)).encode()))

    ended = descheduler("run", "--config", policy, "--snapshot", file, "-o", "json")

    assert json.loads(ended.out)["now"] == NOW
    assert json.loads(ended.out)["snapshot"]["ageSeconds"] == 0


def test_a_dump_may_come_from_standard_input(
    descheduler: Descheduler, policy: Path, dump: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(dump.read_bytes())))

    ended = descheduler("run", "--config", policy, "--snapshot", "-", "-o", "json")

    assert json.loads(ended.out)["snapshot"]["source"] == "standard input"


def test_several_dumps_are_one_cluster(descheduler: Descheduler, policy: Path, dump: Path, tmp_path: Path) -> None:
    more = tmp_path / "more.json"
    more.write_text(json.dumps(pod_object("older", node="b")))

    ended = descheduler("run", "--config", policy, "--snapshot", dump, "--snapshot", more, "--now", NOW)

    assert "2 pods would be evicted" in ended.out


def test_broken_objects_are_left_out_on_request(
    descheduler: Descheduler, policy: Path, dump: Path, tmp_path: Path
) -> None:
    broken = tmp_path / "broken.json"
    broken.write_text(json.dumps(pod_object("broken", cpu="much")))
    arguments = ("run", "--config", policy, "--snapshot", dump, "--snapshot", broken)

    refused, skipped = descheduler(*arguments), descheduler(*arguments, "--skip-broken-objects")

    assert refused.code == 2
    assert "--skip-broken-objects" in refused.err
    assert skipped.code == 0
    assert "Warning: skipped: Pod default/broken is invalid" in skipped.out


def test_refused_requests_tell_in_the_exit_code_on_request(
    descheduler: Descheduler, dump: Path, tmp_path: Path
) -> None:
    policy = tmp_path / "none.yaml"
    policy.write_text(yaml.safe_dump(pod_life_time_policy(maxNoOfPodsToEvictTotal=0)))
    arguments = ("run", "--config", policy, "--snapshot", dump, "--now", NOW)

    assert descheduler(*arguments).code == 0
    assert descheduler(*arguments, "--detailed-exitcode").code == 3


def test_planned_evictions_tell_in_the_exit_code_of_a_dry_run_on_request(
    descheduler: Descheduler, policy: Path, dump: Path
) -> None:
    arguments = ("run", "--config", policy, "--snapshot", dump, "--now", NOW)

    assert descheduler(*arguments).code == 0
    assert descheduler(*arguments, "--detailed-exitcode").code == 5


def test_each_eviction_is_logged_from_verbosity_one(descheduler: Descheduler, policy: Path, dump: Path) -> None:
    arguments = ("run", "--config", policy, "--snapshot", dump, "--now", NOW)

    quiet, chatty = descheduler(*arguments), descheduler(*arguments, "-v", "1")

    assert "Evicted pod" not in quiet.err
    assert '"Evicted pod in dry run mode" pod="default/old"' in chatty.err
    assert len(quiet.err.splitlines()) < 30


def test_logs_may_be_json(descheduler: Descheduler, policy: Path, dump: Path) -> None:
    ended = descheduler("run", "--config", policy, "--snapshot", dump, "--logging-format", "json")

    assert [json.loads(line)["msg"] for line in ended.err.splitlines()][:2] == ["Policy loaded", "Snapshot read"]


@pytest.fixture
def cluster(fake_api: FakeApi) -> FakeApi:
    """A cluster like the dump, in which an hour-old pod and one without an owner run on node a."""
    fake_api.add("/api/v1/nodes", node_object("a"), node_object("b"))
    fake_api.add("/api/v1/pods", pod_object("old"), pod_object("bare", owners=()))
    fake_api.add("/apis/policy/v1/poddisruptionbudgets")
    return fake_api


def test_a_run_on_a_cluster_evicts_and_reports_the_outcome(
    descheduler: Descheduler, policy: Path, kubeconfig: Path, cluster: FakeApi
) -> None:
    ended = descheduler("run", "--config", policy, "--kubeconfig", kubeconfig, "--now", NOW, "-o", "json", "--v=1")

    outcome = json.loads(ended.out)
    jsonschema.validate(outcome, json.loads(published_schema("outcome")))
    assert ended.code == 0
    assert cluster.pods() == ["bare"]
    assert outcome["counts"]["evicted"] == 1
    assert '"Evicted pod" pod="default/old"' in ended.err


def test_a_run_that_evicts_warns_of_a_time_that_is_not_that_of_the_clock(
    descheduler: Descheduler, policy: Path, kubeconfig: Path, cluster: FakeApi
) -> None:
    run = ("run", "--config", policy, "--kubeconfig", kubeconfig)
    clock = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"

    dry = descheduler(*run, "--now", NOW, "--dry-run")
    present = descheduler(*run, "--now", clock)
    other = descheduler(*run, "--now", NOW)

    assert [f'now="{NOW}"' in ended.err for ended in (dry, present, other)] == [False, False, True]
    assert "Ages of pods are not those of now" in other.err
    assert cluster.pods() == ["bare"]


def test_outcome_that_cannot_be_written_does_not_turn_evictions_into_a_failure(
    policy: Path,
    kubeconfig: Path,
    cluster: FakeApi,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Exit code 1 would start the Job again, and evict once more."""
    monkeypatch.setattr(sys, "stdout", None)

    code = main(["run", "--config", str(policy), "--kubeconfig", str(kubeconfig), "--now", NOW])

    assert (code, cluster.pods()) == (0, ["bare"])
    assert '"Outcome not written" err="cannot write to standard output: it is closed"' in capsys.readouterr().err


@pytest.mark.parametrize("flag", ["--dry-run", "--dry-run=true", "--dry_run"])
def test_a_dry_run_on_a_cluster_only_reads(
    descheduler: Descheduler, policy: Path, kubeconfig: Path, cluster: FakeApi, flag: str
) -> None:
    ended = descheduler("run", "--config", policy, "--kubeconfig", kubeconfig, "--now", NOW, flag)

    assert "1 pod would be evicted" in ended.out
    assert cluster.pods() == ["old", "bare"]
    assert {request.method for request in cluster.requests} == {"GET"}


def test_a_cluster_that_is_not_there_is_a_failure(descheduler: Descheduler, policy: Path, tmp_path: Path) -> None:
    ended = descheduler("run", "--config", policy, "--kubeconfig", tmp_path / "none")

    assert (ended.code, ended.out) == (1, "")
    assert ended.err.splitlines()[-1].startswith("error: kubeconfig")


def test_a_cluster_becomes_a_dump_that_can_be_judged(
    descheduler: Descheduler, policy: Path, kubeconfig: Path, cluster: FakeApi, tmp_path: Path
) -> None:
    for kind in KINDS.values():
        cluster.add(kind.path)
    file = tmp_path / "taken.jsonl.gz"

    taken = descheduler("snapshot", "-o", file, "--kubeconfig", kubeconfig)

    assert (taken.code, taken.out) == (0, "")
    judged = descheduler("run", "--config", policy, "--snapshot", file, "--now", NOW)
    assert "1 pod would be evicted" in judged.out


def test_a_dump_that_fails_leaves_no_file(
    descheduler: Descheduler, kubeconfig: Path, cluster: FakeApi, tmp_path: Path
) -> None:
    del cluster.objects["/api/v1/pods"]
    folder = tmp_path / "dumps"
    folder.mkdir()

    ended = descheduler("snapshot", "-o", folder / "taken.jsonl.gz", "--kubeconfig", kubeconfig)

    assert ended.code == 1
    assert list(folder.iterdir()) == []
