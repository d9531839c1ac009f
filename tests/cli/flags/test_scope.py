"""-n, -A and -l as an operator types them."""

from __future__ import annotations

from pathlib import Path

import pytest

from descheduler.cli.flags.scope import takes_scope, takes_shard, takes_subject_namespace
from descheduler.model.shard import Shard
from tests.cli.commands import Descheduler
from tests.cli.flags.taking import refusal, taken


@pytest.mark.parametrize(
    ("flags", "moves"),
    [
        pytest.param(["-n", "default"], True, id="the pod's namespace"),
        pytest.param(["-n", "blog", "--namespace=default"], True, id="one of two namespaces"),
        pytest.param(["-n", "blog"], False, id="another namespace"),
        pytest.param(["-A"], True, id="all namespaces"),
        pytest.param(["-l", "app!=web"], True, id="labels that match"),
        pytest.param(["--selector", "app"], False, id="labels that do not match"),
    ],
)
def test_run_is_limited_to_pods_in_scope(
    descheduler: Descheduler, policy: Path, dump: Path, flags: list[str], moves: bool
) -> None:
    ended = descheduler("run", "--config", policy, "--snapshot", dump, *flags)

    assert ended.code == 0
    assert ("1 pod would be evicted" in ended.out) is moves
    assert ("OutOfScope" in ended.out) is not moves


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        pytest.param(["-n", "a", "-A"], "-n and -A cannot be used together", id="one and all namespaces"),
        pytest.param(["-n", ""], "-n is empty; use -A for all namespaces", id="an empty variable"),
        pytest.param(
            ["-n", "a,b"],
            "-n: 'a,b' is not a namespace name: only lowercase letters, digits and '-' are allowed",
            id="two at once",
        ),
        pytest.param(["-l", " "], "-l is empty; omit it to select pods with any labels", id="no labels"),
        pytest.param(["-l", "a in b"], "-l: label selector 'a in b': expected '(' after in or notin", id="no selector"),
    ],
)
def test_scope_that_makes_no_sense_is_one_message(
    descheduler: Descheduler, policy: Path, dump: Path, flags: list[str], message: str
) -> None:
    ended = descheduler("run", "--config", policy, "--snapshot", dump, *flags)

    assert (ended.code, ended.out) == (2, "")
    assert ended.err == f"error: {message} (see 'descheduler run --help')\n"


def test_namespace_of_a_subject_is_told_from_those_of_the_run() -> None:
    def found(*arguments: str) -> tuple[object, ...]:
        flags = taken(takes_subject_namespace, *arguments)
        return flags["namespace"], flags["all_namespaces"], sorted(flags["scope"].namespaces)

    assert found() == (None, False, [])
    assert found("-n", "shop", "--run-namespace", "a", "--run-namespace", "b") == ("shop", False, ["a", "b"])
    assert found("-A", "--run-namespace", "a") == (None, True, ["a"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-n", "shop", "-A"], "-n and -A cannot be used together"),
        (["-n", ""], "-n is empty; use -A for all namespaces"),
        (["-n", "Shop"], "-n: 'Shop' is not a namespace name"),
        (["--run-namespace", ""], "--run-namespace is empty; use -A for all namespaces"),
        (["--run-namespace", "-a"], "--run-namespace: '-a' is not a namespace name"),
        (["-l", ""], "-l is empty; omit it to select pods with any labels"),
    ],
)
def test_namespace_that_makes_no_sense_is_refused(arguments: list[str], message: str) -> None:
    assert message in refusal(takes_subject_namespace, *arguments)


@pytest.mark.parametrize("name", ["a" * 63, "a-b", "0"])
def test_names_of_namespaces_are_taken(name: str) -> None:
    assert taken(takes_scope, "-n", name)["scope"].namespaces == {name}
    assert "is not a namespace name" in refusal(takes_scope, "-n", name + "x" * 63)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], Shard()),
        (["--shards", "1"], Shard()),
        (["--shards", "3", "--shard-index", "0"], Shard(0, 3)),
        (
            ["--shards", "3", "--shard-index", "2", "--shard-by", "rack", "--shard-turn", "t"],
            Shard(2, 3, label="rack", turn="t"),
        ),
    ],
)
def test_shard_is_that_of_the_flags(arguments: list[str], expected: Shard) -> None:
    assert taken(takes_shard, *arguments)["shard"] == expected


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--shards", "3"], "--shards needs --shard-index"),
        (["--shards", "3", "--shard-index", "3"], "--shard-index 3 is not below --shards 3"),
        (["--shard-index", "0"], "need --shards"),
        (["--shard-turn", "t"], "need --shards"),
        (["--shard-by", "rack"], "need --shards"),
    ],
)
def test_flags_of_a_shard_go_together(arguments: list[str], message: str) -> None:
    assert message in refusal(takes_shard, *arguments)


def test_variables_that_every_pod_of_a_job_has_mean_nothing_without_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JOB_COMPLETION_INDEX", "7")
    monkeypatch.setenv("DESCHEDULER_SHARD_TURN", "t")

    assert taken(takes_shard)["shard"] == Shard()
    assert taken(takes_shard, "--shards", "9")["shard"] == Shard(7, 9, turn="t")
