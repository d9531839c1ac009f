"""Objects and answers that are nested a thousand levels deep, as one tenant can store them in a custom resource."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import msgspec
import pytest

from descheduler import evaluate
from descheduler.cli.main import main
from descheduler.cluster.snapshot import SnapshotError
from descheduler.kube.answers import decode_status
from descheduler.transport.answer import RawResponse
from tests import process_logging
from tests.builders import Object, node_object, pod_object
from tests.integration.fake_api import FakeApi
from tests.integration.faults import Answer
from tests.integration.live_runs import taint_policy

_DEEP = b'{"a":' * 1200 + b"1" + b"}" * 1200
_BROKEN = "Pod default/deep is invalid: it is nested too deeply"


def deep_pod() -> bytes:
    """A pod that is fine but for a field that nobody knows."""
    return msgspec.json.encode(pod_object("deep") | {"future": msgspec.Raw(_DEEP)})


def dumps() -> Mapping[str, bytes]:
    """Forms of one dump with a deep pod."""
    objects = [json.dumps(node_object("a")).encode(), deep_pod(), json.dumps(pod_object("fine")).encode()]
    return {
        "lines": b"\n".join(objects),
        "list": b'{"kind":"List","apiVersion":"v1","items":[' + b",\n".join(objects) + b"]}",
        "pods": objects[0] + b'\n{"kind":"PodList","apiVersion":"v1","items":[' + b",".join(objects[1:]) + b"]}",
        "array": b"[" + b",".join(objects) + b"]",
    }


def run(*arguments: str | Path) -> int:
    """The exit code of the command line in this process."""
    with process_logging.restored():
        return main([str(argument) for argument in arguments])


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    file = tmp_path / "policy.yaml"
    file.write_text(taint_policy())
    return file


@pytest.mark.parametrize("form", dumps())
def test_deep_object_of_a_dump_is_named(
    form: str, policy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "dump").write_bytes(dumps()[form])

    code = run("run", "--config", policy, "--snapshot", tmp_path / "dump")

    error = capsys.readouterr().err.splitlines()[-1]
    assert code == 2
    assert error.startswith(f"error: {tmp_path / 'dump'}:")
    assert _BROKEN in error


@pytest.mark.parametrize("form", dumps())
def test_deep_object_of_a_dump_is_skipped_on_request(
    form: str, policy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "dump").write_bytes(dumps()[form])

    code = run("run", "--config", policy, "--snapshot", tmp_path / "dump", "--skip-broken-objects", "-o", "json")

    snapshot = json.loads(capsys.readouterr().out)["snapshot"]
    assert (code, snapshot["numPods"], snapshot["skippedObjects"]) == (0, 1, [_BROKEN])


@pytest.mark.parametrize("is_last", [False, True], ids=["metadata first", "metadata last"])
def test_deep_object_of_a_live_cluster_is_named_or_skipped(
    is_last: bool, policy: Path, fake_api: FakeApi, kubeconfig: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Lists of custom resources name their metadata behind the items."""
    metadata, items = b'"metadata":{"resourceVersion":"7"}', b'"items":[' + deep_pod() + b"]"
    parts = [items, metadata] if is_last else [metadata, items]
    page = b'{"kind":"PodList","apiVersion":"v1",' + b",".join(parts) + b"}"
    fake_api.fail_always("GET", "/api/v1/pods", Answer(200, page))
    fake_api.add("/api/v1/nodes", node_object("a"))
    for path in ("namespaces", "persistentvolumeclaims"):
        fake_api.objects[f"/api/v1/{path}"] = []
    for path in ("policy/v1/poddisruptionbudgets", "scheduling.k8s.io/v1/priorityclasses"):
        fake_api.objects[f"/apis/{path}"] = []
    flags = ("--config", policy, "--kubeconfig", kubeconfig, "--dry-run", "-o", "json")

    refused, skipped = run("run", *flags), run("run", *flags, "--skip-broken-objects")

    captured = capsys.readouterr()
    assert (refused, skipped) == (1, 0)
    assert f"{_BROKEN}; " in captured.err
    assert json.loads(captured.out)["snapshot"]["skippedObjects"] == [_BROKEN]


def test_deep_object_is_named_when_it_is_given_as_a_dict() -> None:
    deep: Object = {}
    for _ in range(1200):
        deep = {"a": deep}

    with pytest.raises(SnapshotError, match=_BROKEN):
        evaluate(taint_policy(), [node_object("a"), pod_object("deep") | {"future": deep}])


def test_deep_status_is_an_answer_without_words() -> None:
    answer = RawResponse(429, "Too Many Requests", {}, b'{"kind":"Status","details":' + _DEEP + b"}")

    status = decode_status(answer)

    assert (status.code, status.causes) == (429, ())
