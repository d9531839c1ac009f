"""Four shards as processes at once against one API server, and what they leave there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from descheduler.model.shard import Shard
from tests.builders import make_node, node_object, pod_object
from tests.integration.fake_api import FakeApi
from tests.integration.live_processes import PATIENCE_SECONDS, Cli, cli
from tests.integration.live_runs import asked_for, serve, taint_policy
from tests.policy.builders import koordinator

__all__ = ["cli"]

pytestmark = pytest.mark.long

COUNT = 4
FLAGS = ("--lease-name=d", "--lease-namespace=kube-system", f"--shards={COUNT}", "--shard-by=rack")
RACKS = tuple(f"bay-{number}" for number in range(12))
REMEMBERING = koordinator(
    """\
    profiles:
    - name: p
      pluginConfig:
      - {name: MigrationController, args: {defaultJobMode: EvictDirectly, moveHistory: {cooldown: 10m}}}
      plugins:
        deschedule: {enabled: [{name: RemovePodsViolatingNodeTaints}]}
        filter: {enabled: [{name: MigrationController}]}
    """
)
"""A policy whose runs remember which workloads they moved."""
PODS = tuple(f"{rack}-{number}" for rack in RACKS for number in range(2))


@pytest.fixture
def racks(fake_api: FakeApi) -> None:
    """In every rack a tainted node with two pods that do not tolerate the taint, and a free node."""
    for rack in RACKS:
        nodes = [
            node_object(f"{rack}-full", labels={"rack": rack}, taints=["gone=soon:NoSchedule"]),
            node_object(f"{rack}-free", labels={"rack": rack}),
        ]
        serve(fake_api, *nodes, *(pod_object(f"{rack}-{number}", node=f"{rack}-full") for number in range(2)))


def run_all(cli: Cli) -> list[tuple[int, str]]:
    """Starts all shards at once and waits for them; exit code and standard output of each."""
    started = [cli.start(*FLAGS, f"--shard-index={index}") for index in range(COUNT)]
    outputs = [process.communicate(timeout=PATIENCE_SECONDS)[0] for process in started]
    return [(process.returncode, output) for process, output in zip(started, outputs, strict=True)]


@pytest.mark.usefixtures("racks")
def test_shards_at_once_evict_every_pod_once(fake_api: FakeApi, cli: Cli) -> None:
    ended = run_all(cli)

    assert [code for code, _ in ended] == [0] * COUNT
    assert asked_for(fake_api) == sorted(PODS)


@pytest.mark.usefixtures("racks")
def test_shards_at_once_stay_within_the_limit_of_all(fake_api: FakeApi, cli: Cli) -> None:
    cli.policy.write_text(taint_policy("maxNoOfPodsToEvictTotal: 5"))

    run_all(cli)

    assert len(asked_for(fake_api)) == 5


@pytest.mark.usefixtures("racks")
def test_each_shard_has_a_lease_and_a_status_of_its_own(fake_api: FakeApi, cli: Cli) -> None:
    run_all(cli)

    names = {f"d-shard-{index}" for index in range(COUNT)}
    assert {name for _, name in fake_api.leases.objects} == names
    assert {name for _, name in fake_api.config_maps.objects} == {f"{name}-status" for name in names}


@pytest.mark.usefixtures("racks")
def test_status_says_which_shard_has_left_it(cli: Cli) -> None:
    cli.run(*FLAGS, "--shard-index=1")

    looked_for = ("--lease-name=d-shard-1", "--lease-namespace=kube-system")
    _, shown, _ = cli.run(*looked_for, command="status")
    _, document, _ = cli.run(*looked_for, "-o", "json", command="status")

    assert "; shard 1 of 4 by label rack; " in shown.splitlines()[0]
    assert json.loads(document)["runs"][0]["shard"]["index"] == 1


@pytest.mark.usefixtures("racks")
def test_outcome_and_events_say_which_shard_evicted(fake_api: FakeApi, cli: Cli) -> None:
    _, out, _ = cli.run(*FLAGS, "--shard-index=1", "-o", "json")

    shard = json.loads(out)["plan"]["snapshot"]["shard"]
    assert shard == {"index": 1, "count": COUNT, "label": "rack", "turn": "", "numNodes": 2 * len(racks_of(shard))}
    notes = {request.body["note"] for request in fake_api.sent("POST", "/events")}
    assert notes
    assert all(note.endswith("(shard 1 of 4 by label rack)") for note in notes)


def racks_of(shard: dict[str, Any]) -> list[str]:
    """The racks that a shard of a document owns."""
    owner = Shard(shard["index"], shard["count"], shard["label"])
    return [rack for rack in RACKS if owner.owns(make_node("a", labels={"rack": rack}))]


@pytest.mark.usefixtures("racks")
def test_plan_of_a_shard_is_applied_as_that_shard(fake_api: FakeApi, cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "plan.json"
    cli.run(*FLAGS, "--shard-index=1", "--out", str(file), command="plan")
    content = json.loads(file.read_text())

    code, out, err = cli.run(str(file), *FLAGS[:2], "-o", "json", command="apply")

    assert code == 0, err
    own = sorted(f"{rack}-{number}" for rack in racks_of(content["plan"]["snapshot"]["shard"]) for number in range(2))
    assert asked_for(fake_api) == own
    assert json.loads(out)["plan"]["snapshot"]["shard"] == content["plan"]["snapshot"]["shard"]
    assert {name for _, name in fake_api.leases.objects} == {"d-shard-1"}


@pytest.mark.usefixtures("racks")
@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        pytest.param({"turn": "d"}, "maxNoOfPodsToEvictTotal (5, 1 for shard 1 of 4)", id="a smaller share"),
        pytest.param({"index": 2}, "belongs to another shard; this run evicts for shard 2 of 4", id="other nodes"),
    ],
)
def test_plan_is_refused_where_its_shard_may_not_do_it(
    fake_api: FakeApi, cli: Cli, tmp_path: Path, change: dict[str, Any], sentence: str
) -> None:
    cli.policy.write_text(taint_policy("maxNoOfPodsToEvictTotal: 5"))
    turn = next(turn for turn in "abcdefgh" if Shard(1, COUNT, turn=turn).share(5) == 2)
    file = tmp_path / "plan.json"
    cli.run(*FLAGS, "--shard-index=1", "--shard-turn", turn, "--out", str(file), command="plan")
    content = json.loads(file.read_text())
    assert len(content["plan"]["moves"]) == 2
    content["plan"]["snapshot"]["shard"].update(change)
    file.write_text(json.dumps(content))

    code, _, err = cli.run(str(file), *FLAGS[:2], "--no-reselect", command="apply")

    assert (code, asked_for(fake_api)) == (1, [])
    assert sentence in err


@pytest.mark.usefixtures("racks")
@pytest.mark.parametrize(
    ("command", "words"),
    [pytest.param("explain", ("pod/bay-0-0",), id="explain"), pytest.param("simulate", (), id="simulate")],
)
def test_what_only_looks_ahead_reads_the_memory_of_its_shard(
    fake_api: FakeApi, cli: Cli, command: str, words: tuple[str, ...]
) -> None:
    cli.policy.write_text(REMEMBERING)

    code, _, err = cli.run(*words, *FLAGS, "--shard-index=1", command=command)

    assert code == 0, err
    read = {request.path.rpartition("/")[2] for request in fake_api.requests if "/configmaps/" in request.path}
    assert read == {"d-shard-1-memory"}


def test_apply_takes_no_other_shard(cli: Cli, tmp_path: Path) -> None:
    code, _, err = cli.run(str(tmp_path / "plan.json"), "--shards=4", command="apply")

    assert code == 2
    assert "no such option '--shards'" in err
