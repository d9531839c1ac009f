"""Plans out of files: shown in every format, and compared."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from descheduler.report.published_schema import published_schema
from tests.builders import node_object, pod_object
from tests.cli.commands import Descheduler
from tests.integration.fake_api import FakeApi

NOW = "2026-06-30T12:00:00Z"


@pytest.fixture
def plan_file(descheduler: Descheduler, policy: Path, dump: Path, tmp_path: Path) -> Path:
    """A plan file over the dump."""
    file = tmp_path / "plan.json"
    flags = ("--policy-config-file", policy, "--snapshot", dump, "--now", NOW, "--out", file, "-q")
    assert descheduler("plan", *flags).code == 0
    return file


@pytest.mark.parametrize("output", ["table", "wide", "json", "yaml", "name", "csv", "jsonl", "html", "markdown"])
def test_a_plan_from_a_file_is_shown_as_when_it_was_made(
    descheduler: Descheduler, policy: Path, dump: Path, plan_file: Path, output: str
) -> None:
    made = descheduler("run", "--policy-config-file", policy, "--snapshot", dump, "--now", NOW, "-o", output)

    assert descheduler("show", plan_file, "-o", output).out == made.out


def test_the_document_of_a_dry_run_is_shown_too(
    descheduler: Descheduler, policy: Path, dump: Path, tmp_path: Path
) -> None:
    flags = ("--policy-config-file", policy, "--snapshot", dump, "--now", NOW)
    file = tmp_path / "document.json"
    file.write_text(descheduler("run", *flags, "-o", "json").out)

    assert descheduler("show", file).out == descheduler("run", *flags).out


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        pytest.param("{", "is not a plan file", id="cut"),
        pytest.param("[]", "is not a plan file", id="another shape"),
        pytest.param('{"kind": "Plan", "apiVersion": "x/v9"}', "has apiVersion 'x/v9'", id="another version"),
        pytest.param('{"kind": "Plan", "apiVersion": "descheduler.plan/v1"}', "`planId`", id="fields missing"),
        pytest.param('{"kind": "Outcome"}', "is not a plan file", id="another document"),
    ],
)
@pytest.mark.parametrize("command", ["show", "diff"])
def test_a_file_that_is_no_plan_is_one_message(
    descheduler: Descheduler, tmp_path: Path, command: str, content: str, sentence: str
) -> None:
    file = tmp_path / "plan.json"
    file.write_text(content)

    ended = descheduler(command, *[file] * (2 if command == "diff" else 1))

    assert ended.code == 2
    assert f"{file}: " in ended.err
    assert sentence in ended.err
    assert "Traceback" not in ended.err


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        pytest.param(
            lambda plan: plan["workloads"][0]["pods"][0].update(uid="other"),
            "a workload has a pod that is not moved",
            id="a pod of nowhere",
        ),
        pytest.param(
            lambda plan: plan["figures"]["groups"][0]["unchanged"].update(cpu=[10**12] * 21),
            "figures.groups do not hold the nodes of a cluster",
            id="more nodes than there can be",
        ),
        pytest.param(
            lambda plan: plan["figures"]["groups"][0]["unchanged"].update(cpu=[1] * 22),
            "figures.groups do not hold the nodes of a cluster",
            id="a step beyond the last",
        ),
        pytest.param(
            lambda plan: plan["figures"]["nodes"][0]["before"].update(cpuMilli=-1),
            "figures have an amount that no node can have",
            id="less than nothing",
        ),
        pytest.param(
            lambda plan: plan["figures"]["total"]["displaced"].update(memoryBytes=10**400),
            "figures have an amount that no node can have",
            id="more than any float",
        ),
    ],
)
def test_a_plan_that_somebody_has_changed_is_one_message(
    descheduler: Descheduler, plan_file: Path, change: Callable[[Any], None], sentence: str
) -> None:
    content = json.loads(plan_file.read_text())
    change(content["plan"])
    plan_file.write_text(json.dumps(content))

    ended = descheduler("show", plan_file, "-o", "html")

    assert (ended.code, ended.out) == (2, "")
    assert f"{plan_file}: {sentence}" in ended.err


def test_a_plan_with_a_shard_that_cannot_be_is_one_message(descheduler: Descheduler, plan_file: Path) -> None:
    content = json.loads(plan_file.read_text())
    content["plan"]["snapshot"]["shard"] = {"index": 4, "count": 4, "label": "", "turn": "", "numNodes": 1}
    plan_file.write_text(json.dumps(content))

    ended = descheduler("show", plan_file)

    assert (ended.code, ended.out) == (2, "")
    assert f"{plan_file}: shard index 4 is not between 0 and 3; the file was changed" in ended.err


def test_plans_of_two_shards_are_said_to_be_of_different_shards(
    descheduler: Descheduler, policy: Path, dump: Path, plan_file: Path, tmp_path: Path
) -> None:
    flags = ("--policy-config-file", policy, "--snapshot", dump, "--now", NOW, "-q", "--shards", "2")
    files = [tmp_path / f"shard-{index}.json" for index in range(2)]
    for index, file in enumerate(files):
        descheduler("plan", *flags, "--shard-index", str(index), "--out", file)

    of_shards, of_all, same = (descheduler("diff", *pair).out for pair in (files, (plan_file, files[0]), files[:1] * 2))

    assert "differs: shard 0 of 2 by node pool and shard 1 of 2 by node pool" in of_shards
    assert "differs: the whole cluster and shard 0 of 2 by node pool" in of_all
    assert "Shard" not in same


def test_a_plan_differs_from_itself_in_nothing(descheduler: Descheduler, plan_file: Path) -> None:
    ended = descheduler("diff", plan_file, plan_file, "--detailed-exitcode")

    assert ended.code == 0
    assert ended.out.splitlines()[2] == "Both plans do the same"


def test_plans_over_two_states_of_a_cluster_are_compared(
    descheduler: Descheduler, policy: Path, plan_file: Path, tmp_path: Path
) -> None:
    """`old` has another target once node b is cordoned, and `newcomer` is in the later plan alone."""
    objects = [
        node_object("a"),
        node_object("b", unschedulable=True),
        node_object("c"),
        pod_object("old", cpu="500m"),
        pod_object("newcomer", node="b"),
    ]
    dump, later = tmp_path / "later-dump.json", tmp_path / "later.json"
    dump.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
    descheduler("plan", "--policy-config-file", policy, "--snapshot", dump, "--now", NOW, "--out", later, "-q")

    shown = descheduler("diff", plan_file, later, "--detailed-exitcode")
    document = json.loads(descheduler("diff", plan_file, later, "-o", "json").out)

    assert shown.code == 5
    assert "Only in the new plan: 1 pod" in shown.out
    assert "target b → a" in shown.out
    assert "1 added, 0 gone, 1 changed" in shown.out
    assert [move["pod"]["name"] for move in document["added"]] == ["newcomer"]
    assert document["changed"][0]["changed"] == ["to"]
    jsonschema.validate(document, json.loads(published_schema("difference")))


@pytest.mark.parametrize("output", ["html", "markdown"])
def test_a_run_that_would_evict_has_no_pictures(
    descheduler: Descheduler, policy: Path, kubeconfig: Path, fake_api: FakeApi, output: str
) -> None:
    """Said before anything is read: afterwards the evictions would be done."""
    ended = descheduler("run", "--policy-config-file", policy, "--kubeconfig", kubeconfig, "-o", output)

    assert ended.code == 2
    assert f"-o {output} shows plans, and this run would evict pods; add --dry-run" in ended.err
    assert fake_api.requests == []


def test_a_plan_is_asked_about_a_pod_without_policy_and_cluster(descheduler: Descheduler, plan_file: Path) -> None:
    ended = descheduler("explain", "pod", "old", "--plan", plan_file)

    assert ended.code == 0
    assert "default     old   a      b        1      PodLifeTime   1 h old (maxPodLifeTimeSeconds: 60)" in ended.out
    assert ended.out.splitlines()[-1] == "pod default/old: 1 pod evicted in wave 1"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        pytest.param(["queue/q"], "plans say nothing about a queue", id="a type that plans do not name"),
        pytest.param(["pod", "old", "--snapshot", "x"], "leave out --policy-config-file and --snapshot", id="a dump"),
    ],
)
def test_a_question_that_no_plan_answers_is_refused(
    descheduler: Descheduler, plan_file: Path, words: list[str], sentence: str
) -> None:
    ended = descheduler("explain", *words, "--plan", plan_file)

    assert (ended.code, ended.out) == (2, "")
    assert sentence in " ".join(ended.err.split())


def test_all_commands_count_the_same_pods(descheduler: Descheduler, policy: Path, dump: Path, plan_file: Path) -> None:
    """A run, the plan from the file, its comparison with itself, and the answers about each of its nodes."""
    made = json.loads(
        descheduler("run", "--policy-config-file", policy, "--snapshot", dump, "--now", NOW, "-o", "json").out
    )
    shown = json.loads(descheduler("show", plan_file, "-o", "json").out)
    compared = json.loads(descheduler("diff", plan_file, plan_file, "-o", "json").out)
    nodes = {move["from"] for move in made["moves"]} | {refusal["node"] for refusal in made["refusals"]}
    answers = [
        json.loads(descheduler("explain", f"node/{node}", "--plan", plan_file, "-o", "json").out) for node in nodes
    ]

    counts = [
        (len(made["moves"]), len(made["refusals"])),
        (len(shown["moves"]), len(shown["refusals"])),
        (compared["unchanged"], compared["old"]["refused"]),
        (compared["new"]["evictions"], compared["new"]["refused"]),
        (sum(len(each["moves"]) for each in answers), sum(len(each["refusals"]) for each in answers)),
    ]
    assert set(counts) == {(1, 1)}


def test_apply_takes_the_policy_as_an_argument(
    descheduler: Descheduler, policy: Path, plan_file: Path, tmp_path: Path
) -> None:
    nowhere = ("--kubeconfig", tmp_path / "none")

    ends = [descheduler("apply", plan_file, *named, *nowhere) for named in ([policy], ["--config", policy])]

    assert [end.err.splitlines()[-1] for end in ends] == [ends[0].err.splitlines()[-1]] * 2
    assert str(nowhere[1]) in ends[0].err
    assert "or the policy as an argument" in descheduler("apply", plan_file).err
