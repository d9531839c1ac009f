from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
import yaml

from descheduler.cluster.kinds import KINDS
from descheduler.report.published_schema import published_schema
from tests.builders import node_object, pod_object
from tests.cli.commands import Descheduler
from tests.cli.loaded_modules import HEAVY, modules_of
from tests.integration.fake_api import FakeApi
from tests.strategies.runs import policy_with

NOW = "2026-06-30T12:00:00Z"


@pytest.fixture
def balancing(tmp_path: Path) -> Path:
    """A policy that takes pods off nodes that are more than half full."""
    thresholds = {"thresholds": {"cpu": 33, "pods": 100}, "targetThresholds": {"cpu": 50, "pods": 100}}
    file = tmp_path / "balancing.yaml"
    file.write_text(yaml.safe_dump(policy_with("LowNodeUtilization", args=thresholds)))
    return file


@pytest.fixture
def crowded(tmp_path: Path) -> Path:
    """A dump of three nodes, on one of which all pods run."""
    objects = [node_object(name) for name in "abc"] + [pod_object(f"p{number}", cpu="1") for number in range(4)]
    file = tmp_path / "crowded.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
    return file


def test_every_cycle_has_a_row_and_the_sentence_comes_last(
    descheduler: Descheduler, balancing: Path, crowded: Path
) -> None:
    ended = descheduler("simulate", "--policy-config-file", balancing, "--snapshot", crowded, "--now", NOW)

    assert ended.code == 0
    lines = ended.out.splitlines()
    assert [line.split() for line in lines[4:6]] == [
        ["start", "-", "-", "0", "1", "100%", "47.1%", "0%", "0%"],
        ["1", "2", "2", "0", "0", "50%", "11.8%", "0%", "0%"],
    ]
    assert lines[-1].endswith("converges after 1 cycle: 2 evictions, 0 pods pending, 0 nodes over target")


def test_wide_output_names_every_eviction(descheduler: Descheduler, balancing: Path, crowded: Path) -> None:
    ended = descheduler("simulate", "--config", balancing, "--snapshot", crowded, "--now", NOW, "-o", "wide")

    rows = [line.split() for line in ended.out.splitlines() if line.startswith("1 ") and "LowNodeUtilization" in line]
    assert [(row[0], row[1], row[3]) for row in rows] == [("1", "default", "a")] * 2


def test_one_shard_is_simulated_where_others_are_named(
    descheduler: Descheduler, balancing: Path, crowded: Path
) -> None:
    flags = ("--config", balancing, "--snapshot", crowded, "--now", NOW, "--shards", "2", "-o", "json")

    documents = [json.loads(descheduler("simulate", *flags, "--shard-index", index).out) for index in "01"]

    assert [each["snapshot"]["shard"]["index"] for each in documents] == [0, 1]
    assert any(
        "only shard 0 of 2 is simulated: the other shards evict nothing" in warning
        for warning in documents[0]["policies"][0]["warnings"]
    )
    # Node a has all pods and belongs to one of the shards; the other has nothing to do.
    assert 0 in [each["policies"][0]["evictions"] for each in documents]


def test_document_obeys_its_schema(descheduler: Descheduler, balancing: Path, crowded: Path) -> None:
    arguments = ("--config", balancing, "--snapshot", crowded, "--now", NOW, "-o", "json")

    ended = descheduler("simulate", *arguments, "--cycles", "3", "--every", "1h")

    document = json.loads(ended.out)
    jsonschema.validate(document, json.loads(published_schema("simulation")))
    assert document["everySeconds"] == 3600
    assert document["policies"][0]["ending"] == "converges"


def test_two_policies_are_compared(descheduler: Descheduler, balancing: Path, policy: Path, crowded: Path) -> None:
    arguments = ("--snapshot", crowded, "--now", NOW, "--cycles", "2")

    ended = descheduler("simulate", "--config", balancing, "--compare", policy, *arguments)

    assert ended.code == 0
    rows = [" ".join(line.split()) for line in ended.out.splitlines()]
    assert "evictions 2 8 +6" in rows
    assert [str(balancing) in ended.out, str(policy) in ended.out] == [True, True]


@pytest.mark.parametrize("dump", [[], ["--snapshot", "-"]], ids=["a cluster", "standard input"])
def test_what_cannot_be_read_twice_is_not_compared(
    descheduler: Descheduler, balancing: Path, policy: Path, dump: list[str]
) -> None:
    ended = descheduler("simulate", "--config", balancing, "--compare", policy, *dump)

    assert ended.code == 2
    assert "--compare needs a dump in a file (--snapshot)" in ended.err


def test_plugin_that_fails_fails_the_simulation(descheduler: Descheduler, tmp_path: Path, crowded: Path) -> None:
    args = {
        "thresholds": {"cpu": 33},
        "targetThresholds": {"cpu": 50},
        "metricsUtilization": {"source": "KubernetesMetrics"},
    }
    file = tmp_path / "measured.yaml"
    file.write_text(yaml.safe_dump(policy_with("LowNodeUtilization", args=args)))

    ended = descheduler("simulate", "--config", file, "--snapshot", crowded, "--now", NOW)

    assert ended.code == 1
    assert "Failed: p/LowNodeUtilization in cycle 1: " in ended.out


@pytest.mark.parametrize("flags", [["--cycles", "0"], ["--every", "0s"], ["--every", "5"]])
def test_bad_values_are_refused(descheduler: Descheduler, balancing: Path, crowded: Path, flags: list[str]) -> None:
    ended = descheduler("simulate", "--config", balancing, "--snapshot", crowded, *flags)

    assert ended.code == 2
    assert flags[0] in ended.err


@pytest.mark.parametrize(
    "flags",
    [
        pytest.param(["--now", "9999-12-31T23:59:59Z"], id="that begins in the last second there is"),
        pytest.param(["--now", NOW, "--every", "2562047h", "--cycles", "100"], id="of centuries"),
    ],
)
def test_simulation_beyond_the_calendar_is_refused(
    descheduler: Descheduler, balancing: Path, crowded: Path, flags: list[str]
) -> None:
    ended = descheduler("simulate", "--config", balancing, "--snapshot", crowded, *flags)

    assert ended.code == 2
    assert "would end after the year 9999; choose a shorter --every, fewer --cycles or an earlier --now" in ended.err


def test_cluster_is_only_read(descheduler: Descheduler, balancing: Path, fake_api: FakeApi, kubeconfig: Path) -> None:
    for kind in KINDS.values():
        fake_api.add(kind.path)
    fake_api.add("/api/v1/nodes", *map(node_object, "abc"))
    fake_api.add("/api/v1/pods", *(pod_object(f"p{number}", cpu="1") for number in range(4)))

    ended = descheduler("simulate", "--config", balancing, "--kubeconfig", kubeconfig, "--now", NOW)

    assert ended.code == 0
    assert "converges after 1 cycle: 2 evictions" in ended.out
    assert {request.method for request in fake_api.requests} == {"GET"}


@pytest.mark.long
def test_simulation_of_a_dump_loads_neither_client_nor_solver(balancing: Path, crowded: Path) -> None:
    loaded = modules_of("simulate", "--config", balancing, "--snapshot", crowded, "--now", NOW)

    assert loaded & (HEAVY - {"numpy"}) == set()


@pytest.mark.parametrize(
    ("flags", "now"),
    [
        pytest.param((), "2026-06-30T12:00:00Z", id="of the dump"),
        pytest.param(("--now", "2026-07-01T00:00:00Z"), "2026-07-01T00:00:00Z", id="of the flag"),
    ],
)
def test_first_cycle_is_at_the_time_of_the_flag_or_else_of_the_dump(
    descheduler: Descheduler, balancing: Path, tmp_path: Path, flags: tuple[str, ...], now: str
) -> None:
    header = {"apiVersion": "descheduler.dump/v1", "kind": "DumpHeader", "takenAt": NOW, "kinds": ["Node"]}
    trailer = {"apiVersion": "descheduler.dump/v1", "kind": "DumpTrailer", "numObjects": {"Node": 2}}
    file = tmp_path / "dump.jsonl"
    file.write_text("\n".join(json.dumps(line) for line in (header, node_object("a"), node_object("b"), trailer)))

    ended = descheduler("simulate", balancing, "--snapshot", file, "-o", "json", *flags)

    assert json.loads(ended.out)["now"] == now
