"""--shards and the flags that go with it, as an operator or an Indexed Job gives them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.commands import Descheduler


def test_one_of_the_shards_evicts_the_pod(descheduler: Descheduler, policy: Path, dump: Path) -> None:
    texts = [
        descheduler("run", "--config", policy, "--snapshot", dump, "--shards", "2", "--shard-index", index).out
        for index in "01"
    ]

    assert sorted("1 pod would be evicted" in text for text in texts) == [False, True]
    assert ["shard 0 of 2" in texts[0], "shard 1 of 2" in texts[1]] == [True, True]


def test_index_of_an_indexed_job_says_which_shard(
    descheduler: Descheduler, policy: Path, dump: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JOB_COMPLETION_INDEX", "1")

    ended = descheduler("run", "--config", policy, "--snapshot", dump, "--shards", "2")

    assert ended.code == 0
    assert "shard 1 of 2" in ended.out


def test_index_of_any_job_means_nothing_without_shards(
    descheduler: Descheduler, policy: Path, dump: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JOB_COMPLETION_INDEX", "1")

    ended = descheduler("run", "--config", policy, "--snapshot", dump)

    assert "1 pod would be evicted" in ended.out
    assert "shard" not in ended.out


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        pytest.param(["--shards", "2"], "--shards needs --shard-index, or JOB_COMPLETION_INDEX", id="no index"),
        pytest.param(
            ["--shards", "2", "--shard-index", "2"], "--shard-index 2 is not below --shards 2", id="an index too high"
        ),
        pytest.param(["--shard-index", "0"], "need --shards", id="an index without a number"),
        pytest.param(["--shard-by", "rack"], "need --shards", id="a label without a number"),
        pytest.param(["--shards", "0", "--shard-index", "0"], "0 is not in the range", id="no shard at all"),
    ],
)
def test_flags_that_do_not_go_together_are_wrong_usage(
    descheduler: Descheduler, policy: Path, dump: Path, flags: list[str], message: str
) -> None:
    ended = descheduler("run", "--config", policy, "--snapshot", dump, *flags)

    assert ended.code == 2
    assert message in " ".join(ended.err.split())
