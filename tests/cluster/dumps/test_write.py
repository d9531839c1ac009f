"""Dumps that are written: what is in them, what never is, and that reading them gives the same cluster."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from descheduler.cluster.decoding.small_objects import decode_namespace
from descheduler.cluster.dumps.read import read_dump
from descheduler.cluster.dumps.write import REFUSED_KINDS, DumpWriter, redact
from descheduler.cluster.kind import Kind, NamedObject, unshared
from descheduler.cluster.kinds import KINDS
from descheduler.cluster.request import SnapshotRequest
from descheduler.cluster.snapshot import SnapshotError
from tests.builders import Object, node_object, pod_object
from tests.worlds.dumps import write_dump

TAKEN_AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def page(kind: Kind[Any], *items: Object, **metadata: object) -> bytes:
    return json.dumps({"kind": f"{kind.name}List", "apiVersion": "v1", "metadata": metadata, "items": items}).encode()


def dump_of(nodes: Sequence[Object], pods: Sequence[Object]) -> bytes:
    out = io.BytesIO()
    write_dump(
        [(KINDS["Node"], [page(KINDS["Node"], *nodes)]), (KINDS["Pod"], [page(KINDS["Pod"], *pods)])],
        out,
        taken_at=TAKEN_AT,
    )
    return out.getvalue()


def written_lines(raw: bytes) -> list[Object]:
    return [json.loads(line) for line in gzip.decompress(raw).splitlines()]


def test_annotations_that_plugins_declare_go_into_a_dump() -> None:
    out, pod = io.BytesIO(), KINDS["Pod"]
    writer = DumpWriter(out, TAKEN_AT, [pod], annotations=frozenset({"devices.example.com/"}))
    writer.begin(pod)
    writer.add_page(page(pod, pod_object("x", annotations={"devices.example.com/held": "d0", "note": "s3cr3t"})))
    writer.end("42")
    writer.finish()

    [items] = [line["items"] for line in written_lines(out.getvalue()) if "items" in line]
    assert items[0]["metadata"]["annotations"] == {"devices.example.com/held": "d0"}


def test_written_dump_reads_back_with_its_time_and_version() -> None:
    out = io.BytesIO()
    writer = DumpWriter(out, TAKEN_AT, [KINDS["Node"], KINDS["Pod"], KINDS["PodDisruptionBudget.policy"]], "v1.36.0")
    writer.begin(KINDS["Node"])
    writer.add_page(page(KINDS["Node"], node_object("a")))
    writer.end("41")
    writer.begin(KINDS["Pod"])
    writer.add_page(page(KINDS["Pod"], pod_object("x"), **{"continue": "next"}))
    writer.add_page(page(KINDS["Pod"], pod_object("y")))
    writer.end("42")
    writer.begin(KINDS["PodDisruptionBudget.policy"])
    writer.add_page(page(KINDS["PodDisruptionBudget.policy"]))
    writer.end("43")
    writer.absent(KINDS["NodeMetrics.metrics.k8s.io"])
    writer.finish()

    snapshot = read_dump(
        ["-"],
        SnapshotRequest({"PodDisruptionBudget.policy", "NodeMetrics.metrics.k8s.io"}),
        stdin=io.BytesIO(out.getvalue()),
    )

    assert [pod.name for pod in snapshot.pods] == ["x", "y"]
    assert snapshot.taken_at == TAKEN_AT
    assert snapshot.resource_version == "42"
    assert snapshot.kinds == {"Node", "Pod", "PodDisruptionBudget.policy"}
    assert snapshot.warnings == ("the cluster of the dump does not serve NodeMetrics, which an enabled plugin reads",)


def test_pages_of_a_list_that_expired_are_forgotten() -> None:
    out = io.BytesIO()
    writer = DumpWriter(out, TAKEN_AT, [KINDS["Node"]])
    writer.begin(KINDS["Node"])
    writer.add_page(page(KINDS["Node"], node_object("gone"), node_object("a")))
    writer.restart()
    writer.add_page(page(KINDS["Node"], node_object("a")))
    writer.end("2")
    writer.finish()

    snapshot = read_dump(["-"], stdin=io.BytesIO(out.getvalue()))

    assert [node.name for node in snapshot.nodes] == ["a"]


def test_same_objects_give_the_same_bytes() -> None:
    assert dump_of([node_object("a")], [pod_object("x")]) == dump_of([node_object("a")], [pod_object("x")])


def test_dump_without_its_last_line_is_known_as_cut_short() -> None:
    text = gzip.decompress(dump_of([node_object("a")], [pod_object("x")]))
    cut = b"".join(text.splitlines(keepends=True)[:-1])

    with pytest.raises(SnapshotError, match="the last line is missing: the dump is truncated"):
        read_dump(["-"], stdin=io.BytesIO(cut))


def test_dump_that_lost_a_line_is_known_as_incomplete() -> None:
    header, _, pods, trailer = gzip.decompress(dump_of([node_object("a")], [pod_object("x")])).splitlines()

    with pytest.raises(SnapshotError, match="the dump holds 1 objects where 2 were written"):
        read_dump(["-"], stdin=io.BytesIO(b"\n".join((header, pods, trailer))))


def test_dump_of_a_later_version_is_refused() -> None:
    text = gzip.decompress(dump_of([node_object("a")], [])).replace(b"descheduler.dump/v1", b"descheduler.dump/v9")

    with pytest.raises(SnapshotError, match=r"was written by another version of descheduler"):
        read_dump(["-"], stdin=io.BytesIO(text))


def test_secrets_and_config_maps_are_never_asked_for() -> None:
    assert not {kind.name for kind in KINDS.values()} & REFUSED_KINDS


@pytest.mark.parametrize("name", ["Secret", "ConfigMap"])
def test_secrets_and_config_maps_cannot_be_written(name: str) -> None:
    kind: Kind[NamedObject] = Kind(name, "v1", f"{name.lower()}s", decoder=unshared(decode_namespace))
    writer = DumpWriter(io.BytesIO(), TAKEN_AT, [])

    with pytest.raises(ValueError, match=f"a {name} never goes into a dump"):
        writer.begin(kind)
    with pytest.raises(ValueError, match="never goes into a dump"):
        redact(KINDS["Pod"], {"kind": name, "data": {"password": "aHVudGVyMg=="}})


def test_page_of_another_kind_is_refused() -> None:
    writer = DumpWriter(io.BytesIO(), TAKEN_AT, [])
    writer.begin(KINDS["Pod"])

    with pytest.raises(SnapshotError, match="a 'SecretList' where a PodList was expected"):
        writer.add_page(b'{"kind":"SecretList","apiVersion":"v1","items":[{"data":{"a":"b"}}]}')


SECRET = "hunter2"
CONTAINER = {
    "name": "main",
    "image": "app:1",
    "command": ["sh", "-c", f"login {SECRET}"],
    "args": [f"--password={SECRET}"],
    "env": [
        {"name": "PASSWORD", "value": SECRET},
        {"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": "tokens", "key": "main"}}},
    ],
    "envFrom": [{"secretRef": {"name": "all"}}],
    "livenessProbe": {"httpGet": {"httpHeaders": [{"name": "Authorization", "value": SECRET}]}},
    "lifecycle": {"preStop": {"exec": {"command": ["logout", SECRET]}}},
    "resources": {"requests": {"cpu": "1"}},
}


def test_redacted_pod_decodes_to_the_same_values(tmp_path: Path) -> None:
    pods = [
        pod_object("x", cpu="1", containers=[CONTAINER], volumes=[{"name": "s", "emptyDir": {}}], claims=["data"]),
        pod_object("y", phase="Failed", annotations={"descheduler.alpha.kubernetes.io/evict": ""}, priority=7),
    ]
    plain = "".join(json.dumps(obj) + "\n" for obj in (node_object("a"), *pods)).encode()

    before = read_dump(["-"], stdin=io.BytesIO(plain))
    after = read_dump(["-"], stdin=io.BytesIO(dump_of([node_object("a")], pods)))

    assert [repr(pod) for pod in after.pods] == [repr(pod) for pod in before.pods]
    assert [repr(node) for node in after.nodes] == [repr(node) for node in before.nodes]


def test_redacted_objects_about_placement_decode_to_the_same_values() -> None:
    template = {
        "metadata": {"labels": {"app": "x"}},
        "spec": {"hostNetwork": True, "containers": [CONTAINER | {"ports": [{"containerPort": 80}]}]},
    }
    status = {"images": [{"names": ["app:1"], "sizeBytes": 5}], "declaredFeatures": ["New"]}
    node = node_object("a")
    node["status"] |= status
    resized = pod_object("x", spec={"schedulingGates": [{"name": "g"}], "resources": {"requests": {"cpu": "1"}}})
    resized["status"] |= {"nominatedNodeName": "a", "resources": {"requests": {"cpu": "2"}}}
    specs: dict[str, Object] = {
        "ReplicaSet.apps": {"selector": {"matchLabels": {"app": "x"}}, "template": template},
        "Job.batch": {"parallelism": 2, "podReplacementPolicy": "Failed", "template": template},
        "Service": {"selector": {"app": "x"}},
        "PersistentVolume": {"csi": {"driver": "d", "volumeHandle": "h", "volumeAttributes": {"key": SECRET}}},
        "CSINode.storage.k8s.io": {"drivers": [{"name": "d", "allocatable": {"count": 3}}]},
        "VolumeAttachment.storage.k8s.io": {"attacher": "d", "nodeName": "a", "source": {"persistentVolumeName": "x"}},
        "ResourceQuota": {"hard": {"pods": "5"}},
        "LimitRange": {"limits": [{"type": "Container", "default": {"cpu": "1"}}]},
    }
    objects = {"Node": node, "Pod": resized} | {
        kind: {"metadata": {"name": "x", "namespace": "shop", "uid": kind}, "spec": spec}
        for kind, spec in specs.items()
    }
    plain = "".join(json.dumps(_whole(kind, obj)) + "\n" for kind, obj in objects.items()).encode()
    out = io.BytesIO()

    write_dump([(KINDS[kind], [_list_of(kind, obj)]) for kind, obj in objects.items()], out, taken_at=TAKEN_AT)

    before = read_dump(["-"], SnapshotRequest(keep_templates=True), stdin=io.BytesIO(plain))
    after = read_dump(["-"], SnapshotRequest(keep_templates=True), stdin=io.BytesIO(out.getvalue()))
    assert SECRET.encode() not in gzip.decompress(out.getvalue())
    for name in ("nodes", "pods", "workloads", "services", "volumes", "csi_nodes", "attachments", "quotas"):
        assert repr(getattr(after, name)) == repr(getattr(before, name))
        assert getattr(after, name)
    assert after.limit_ranges == before.limit_ranges


def _whole(kind: str, obj: Object) -> Object:
    return {"kind": KINDS[kind].name, "apiVersion": KINDS[kind].api_version, **obj}


def _list_of(kind: str, obj: Object) -> bytes:
    page = {"kind": f"{KINDS[kind].name}List", "apiVersion": KINDS[kind].api_version, "items": [dict(obj)]}
    return json.dumps(page).encode()


@pytest.mark.parametrize(
    ("items", "what"),
    [
        pytest.param(b', "items": [{"metadata": {"name": "a"}, "x": %s}]', "a", id="an object"),
        pytest.param(b', "metadata": {"x": %s}, "items": []', "the list", id="the metadata of a list"),
        pytest.param(b', "x": %s', "the list", id="a list without items"),
    ],
)
def test_answer_that_is_nested_too_deeply_for_a_dump_is_refused(items: bytes, what: str) -> None:
    writer, kind = DumpWriter(io.BytesIO(), TAKEN_AT, [KINDS["Node"]]), KINDS["Node"]
    writer.begin(kind)

    with pytest.raises(SnapshotError, match=f"^/api/v1/nodes: {what} is nested too deeply for a dump$"):
        writer.add_page(b'{"kind": "NodeList"' + items % (b'{"a":' * 1200 + b"1" + b"}" * 1200) + b"}")
