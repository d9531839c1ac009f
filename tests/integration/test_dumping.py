"""`descheduler snapshot` against the fake API server: what it writes decides as the cluster does."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from descheduler.cli.main import main
from descheduler.cluster.dump_kinds import DUMP_KINDS
from descheduler.cluster.generate import generate_cluster
from descheduler.cluster.kinds import KINDS
from descheduler.cluster.wire import ObjectHeader
from tests import process_logging
from tests.builders import Object
from tests.cluster.full_pods import CANARY, IDLE_ANNOTATIONS
from tests.integration.fake_api import FakeApi

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
    kinds = [kind for kind in DUMP_KINDS if not kind.is_optional]
    for kind in kinds:
        api.objects[kind.path] = []
    for page in generate_cluster(nodes=40, pods=600, seed=3):
        kind = KINDS[(msgspec.json.decode(page, type=ObjectHeader).kind or "").removesuffix("List")]
        api.add(kind.path, *map(with_secrets, json.loads(page)["items"]))
    lists = [
        {"kind": f"{kind.name}List", "apiVersion": f"{kind.group}/v1".lstrip("/"), "items": api.objects[kind.path]}
        for kind in kinds
    ]
    file.write_text("".join(json.dumps(each) + "\n" for each in lists))


def without_source(text: str) -> Object:
    """A document without the names of the file and of the kinds that it lacks, which only our dumps tell from empty."""
    document: Object = json.loads(text)
    return {name: value for name, value in document.items() if name not in ("snapshot", "warnings")}


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
