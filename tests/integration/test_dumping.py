"""`descheduler snapshot` against the fake API server: what it writes decides as the cluster does."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import IO

import msgspec
import pytest

from descheduler.cli.main import main
from descheduler.cluster.decoding.wire import ObjectHeader
from descheduler.cluster.kind import kind_key
from descheduler.cluster.kinds import KINDS
from tests import process_logging
from tests.builders import Object, node_object
from tests.cluster.dumps.full_metadata import CANARY, IDLE_ANNOTATIONS
from tests.integration.fake_api import FakeApi
from tests.integration.faults import failure
from tests.worlds.generate import generate_cluster

CONFIG = Path(__file__).parents[2] / "config"
NOW = "2026-06-30T12:00:00Z"

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs the command line in this process: exit code, standard output and standard error."""

    def started(*arguments: str | Path) -> tuple[int, str, str]:
        with process_logging.restored():
            code = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return started


def with_secrets(obj: Object) -> Object:
    """`obj` as operators and programs leave it."""
    obj["metadata"]["annotations"] = IDLE_ANNOTATIONS | obj["metadata"].get("annotations", {})
    for spec in (obj.get("spec", {}), obj.get("spec", {}).get("template", {}).get("spec", {})):
        for container in spec.get("containers", ()):
            container |= {"args": [f"--password={CANARY}"], "env": [{"name": CANARY, "value": CANARY}]}
    for condition in obj.get("status", {}).get("conditions", ()):
        condition["message"] = CANARY
    return obj


def serve_generated(api: FakeApi, file: Path) -> None:
    """Lets the server hold a cluster of all kinds, which is written to `file` as it is."""
    kinds = [kind for kind in KINDS.values() if not kind.is_optional]
    for kind in kinds:
        api.objects[kind.path] = []
    for page in generate_cluster(nodes=40, pods=600, seed=3):
        header = msgspec.json.decode(page, type=ObjectHeader)
        kind = KINDS[kind_key((header.kind or "").removesuffix("List"), header.api_version or "")]
        api.add(kind.path, *map(with_secrets, json.loads(page)["items"]))
    lists = [
        {"kind": f"{kind.name}List", "apiVersion": kind.api_version, "items": api.objects[kind.path]} for kind in kinds
    ]
    file.write_text("".join(json.dumps(each) + "\n" for each in lists))


def without_source(text: str) -> Object:
    """A document without the names of the file and of the kinds that it lacks, which only our dumps tell from empty."""
    document: Object = json.loads(text)
    return {name: value for name, value in document.items() if name not in ("snapshot", "warnings")}


@pytest.mark.long
@pytest.mark.parametrize(
    "profile",
    [CONFIG / "policy.yaml", CONFIG / "profiles" / "koordinator-repair.yaml"],
    ids=["DeschedulerPolicy", "DeschedulerConfiguration"],
)
def test_dump_of_a_cluster_gives_the_same_plan_and_holds_no_secret(
    profile: Path, fake_api: FakeApi, kubeconfig: Path, tmp_path: Path, run: Run
) -> None:
    policy, original, dump = tmp_path / "policy.yaml", tmp_path / "original.jsonl", tmp_path / "dump.jsonl.gz"
    # No scheduler of this cluster knows Reservations, so only evictions without one are possible.
    directly = "maxMigratingPerNode: 2\n          defaultJobMode: EvictDirectly"
    policy.write_text(profile.read_text().replace("maxMigratingPerNode: 2", directly))
    serve_generated(fake_api, original)
    judged = ("run", "--policy-config-file", policy, "--now", NOW, "-o", "json", "--snapshot")

    taken = run("snapshot", "-o", dump, "--kubeconfig", kubeconfig)
    before, after = run(*judged, original), run(*judged, dump)

    assert taken[0] == before[0] == after[0] == 0
    assert without_source(after[1]) == without_source(before[1])
    assert json.loads(after[1])["moves"]
    assert CANARY in original.read_text()
    assert CANARY.encode() not in gzip.decompress(dump.read_bytes())
    _assert_same_explanations(run, policy, original, dump, json.loads(after[1])["moves"][0])


def _assert_same_explanations(run: Run, policy: Path, original: Path, dump: Path, move: Object) -> None:
    subjects = [("pod", f"{move['pod']['namespace']}/{move['pod']['name']}"), ("node", move["from"])]
    for subject in subjects:
        asked = ("explain", *subject, "--policy-config-file", policy, "--now", NOW, "-o", "json", "--snapshot")
        before, after = run(*asked, original), run(*asked, dump)
        assert before[0] == after[0] == 0
        assert without_source(after[1]) == without_source(before[1])


def serve_empty(api: FakeApi) -> None:
    """Lets the server hold one node and nothing else."""
    for kind in KINDS.values():
        if not kind.is_optional:
            api.objects[kind.path] = []
    api.add("/api/v1/nodes", node_object("a"))


def snapshot_process(
    kubeconfig: Path, output: str | Path, *, stdout: IO[bytes] | int = subprocess.PIPE
) -> subprocess.CompletedProcess[bytes]:
    """`descheduler snapshot` as a process of its own."""
    command = [sys.executable, "-m", "descheduler", "snapshot", "-o", str(output)]
    environment = {"PATH": os.environ["PATH"], "HOME": "/nonexistent"}
    command += ["--kubeconfig", str(kubeconfig)]
    return subprocess.run(command, env=environment, timeout=120, stdout=stdout, stderr=subprocess.PIPE)


@pytest.mark.long
@pytest.mark.parametrize("output", ["-", "/dev/fd/1"])
def test_dump_goes_to_standard_output(output: str, fake_api: FakeApi, kubeconfig: Path) -> None:
    serve_empty(fake_api)

    ended = snapshot_process(kubeconfig, output)

    assert (ended.returncode, ended.stderr.count(b"Dump written")) == (0, 1)
    assert len(gzip.decompress(ended.stdout).splitlines()) == 3
    assert not Path("-").exists()


def test_dump_to_a_terminal_is_refused(fake_api: FakeApi, kubeconfig: Path) -> None:
    serve_empty(fake_api)
    controller, terminal = os.openpty()

    with os.fdopen(controller), os.fdopen(terminal, "wb") as screen:
        ended = snapshot_process(kubeconfig, "-", stdout=screen)

    assert ended.returncode == 1
    assert ended.stderr.decode() == (
        "error: standard output: cannot be written: it is a terminal and a dump is compressed; "
        "redirect it, or name a file\n"
    )
    assert fake_api.requests == []


@pytest.mark.long
def test_dump_that_finds_no_room_is_one_message(fake_api: FakeApi, kubeconfig: Path) -> None:
    serve_empty(fake_api)

    with Path("/dev/full").open("wb") as full:
        ended = snapshot_process(kubeconfig, "-", stdout=full)

    assert ended.returncode == 1
    assert ended.stderr == b"error: standard output: cannot be written: no space left on device\n"


def test_dump_into_a_folder_that_is_missing_is_one_message(
    fake_api: FakeApi, kubeconfig: Path, tmp_path: Path, run: Run
) -> None:
    output = tmp_path / "none" / "dump"

    ended = run("snapshot", "-o", output, "--kubeconfig", kubeconfig)

    assert (ended[0], ended[2]) == (1, f"error: {output}: cannot be written: no such file or directory\n")
    assert fake_api.requests == []


def test_dump_that_fails_halfway_leaves_no_file(fake_api: FakeApi, kubeconfig: Path, tmp_path: Path, run: Run) -> None:
    serve_empty(fake_api)
    fake_api.fail_always("GET", "/api/v1/services", failure(403, "Forbidden", "no"))
    (tmp_path / "out").mkdir()

    ended = run("snapshot", "-o", tmp_path / "out" / "dump", "--kubeconfig", kubeconfig)

    assert ended[0] == 1
    assert list((tmp_path / "out").iterdir()) == []
