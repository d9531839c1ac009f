"""Objects in protobuf make the same snapshot as the same objects in JSON."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from descheduler.cluster.builder import SnapshotBuilder
from descheduler.cluster.kinds import KINDS
from descheduler.cluster.pod_messages import MessageAdder
from descheduler.cluster.request import SnapshotRequest
from descheduler.cluster.snapshot import Snapshot, SnapshotError
from tests.builders import Object, container_status, pod_object
from tests.cluster.decoding.test_pod_pages import FACTS
from tests.cluster.dumps.full_objects import full_objects
from tests.cluster.dumps.full_pods import full_pod
from tests.cluster.messages.writer import proto_object
from tests.worlds.generate import generate_cluster
from tests.worlds.hostile import WORLDS, HostileWorld

VECTORS = Path(__file__).parents[2] / "conformance" / "vectors"
SAMPLE = Path(__file__).parents[3] / "config" / "samples" / "openb.jsonl.gz"


def from_json(kind: str, objects: Sequence[Object], **options: Any) -> Snapshot:
    builder = SnapshotBuilder(request=SnapshotRequest(**options))
    builder.add_page(KINDS[kind], json.dumps({"kind": f"{kind}List", "apiVersion": "v1", "items": objects}).encode())
    return builder.finish()


def from_messages(kind: str, objects: Iterable[Object], **options: Any) -> Snapshot:
    builder = SnapshotBuilder(request=SnapshotRequest(**options))
    MessageAdder(builder).add(KINDS[kind], [proto_object(kind, each) for each in objects])
    return builder.finish()


def value(snapshot: Snapshot) -> object:
    return json.loads(msgspec.json.encode([snapshot.nodes, snapshot.pods, snapshot.skipped], order="sorted"))


def synthetic(kind: str) -> list[Object]:
    pages = [json.loads(page) for page in generate_cluster(nodes=20, pods=600, seed=3)]
    return [item for page in pages if page["kind"] == f"{kind}List" for item in page["items"]]


def sample(kind: str) -> list[Object]:
    # Every seventh: the writer is not made for speed.
    with gzip.open(SAMPLE) as lines:
        objects = [json.loads(line) for line in lines]
    found = [each for each in objects if each["kind"] == kind]
    found += [each for page in objects if page["kind"] == f"{kind}List" for each in page["items"]]
    return found[::7]


def generation(number: int) -> Object:
    """A pod of that generation, which is 1 until its spec is changed."""
    made = pod_object(f"generation-{number}")
    made["metadata"]["generation"] = number
    return made


def odd_pods() -> list[Object]:
    bare: Object = {"metadata": {"name": "bare"}}
    ephemeral: list[Object] = [
        {"name": name, "ephemeral": {"volumeClaimTemplate": {"spec": {}}}} for name in ("a", "b")
    ]
    resized = pod_object("resized", cpu="1", containers=(container_status(0),))
    status = {**container_status(0), "name": resized["spec"]["containers"][0]["name"]}
    status |= {"resources": {"requests": {"cpu": "2"}}, "allocatedResources": {"cpu": "2"}}
    resized["status"]["containerStatuses"] = [status]
    pending: Object = {"type": "PodResizePending", "status": "True", "reason": "Infeasible"}
    stuck = json.loads(json.dumps(resized))
    stuck["metadata"]["name"] = "stuck"
    stuck["status"]["conditions"] = [pending]
    return [
        full_pod(),
        bare,
        {"metadata": {"name": "empty", "labels": {}}, "spec": {"containers": []}, "status": {}},
        pod_object("claims", volumes=[{"name": "c", "persistentVolumeClaim": {"claimName": "c-0"}}]),
        pod_object("others", volumes=[{"name": "c", "persistentVolumeClaim": {"claimName": "c-1"}}]),
        pod_object("unnamed", volumes=[{"name": "c", "persistentVolumeClaim": {}}]),
        pod_object("ephemeral", volumes=ephemeral),
        pod_object("ephemeral-too", volumes=ephemeral[::-1]),
        pod_object("late", deleted=60),
        pod_object("kept", annotations={"descheduler.alpha.kubernetes.io/evict": "true", "other": "x"}),
        pod_object("ganged", spec={"workloadRef": {"name": "gang", "podGroup": "workers"}}),
        pod_object("grouped", spec={"schedulingGroup": {"podGroupName": "gang"}}),
        pod_object("idle", annotations={"other": "y"}),
        pod_object("proportional", cpu="0.1", memory="1e3"),
        resized,
        stuck,
        *map(generation, (1, 2)),
        *[pod_object(f"ünï-{name}", labels={"app": name}) for name in ("é", "漢")],
    ]


@pytest.mark.long
@pytest.mark.parametrize(
    ("world", "keep_conditions"),
    [
        pytest.param(synthetic, True, id="synthetic"),
        pytest.param(synthetic, False, id="synthetic without conditions"),
        pytest.param(sample, True, id="openb"),
        pytest.param(lambda kind: odd_pods(), True, id="odd"),
        pytest.param(lambda kind: odd_pods(), False, id="odd without conditions"),
    ],
)
def test_pods_in_protobuf_are_those_in_json(world: Callable[[str], list[Object]], keep_conditions: bool) -> None:
    pods = world("Pod")

    found = from_messages("Pod", pods, keep_conditions=keep_conditions)

    assert len(found.pods) == len(pods) > 10
    assert value(found) == value(from_json("Pod", pods, keep_conditions=keep_conditions))


@pytest.mark.parametrize(
    "world", [synthetic, sample, lambda kind: [full_objects()[kind]]], ids=["synthetic", "openb", "odd"]
)
def test_nodes_in_protobuf_are_those_in_json(world: Callable[[str], list[Object]]) -> None:
    nodes = world("Node")

    found = from_messages("Node", nodes)

    assert len(found.nodes) == len(nodes) > 0
    assert value(found) == value(from_json("Node", nodes))


@pytest.mark.parametrize("world", [pytest.param(world, id=world.name) for world in WORLDS])
def test_hostile_objects_in_protobuf_are_those_in_json(world: HostileWorld) -> None:
    objects = list(world.objects(0.01))

    for kind in ("Pod", "Node"):
        found = [each for each in objects if each["kind"] == kind]
        assert value(from_messages(kind, found)) == value(from_json(kind, found))


@pytest.mark.long
@pytest.mark.parametrize("name", ["unit", "differential", "scheduler"])
def test_worlds_of_the_vectors_in_protobuf_are_those_in_json(name: str) -> None:
    # Some of them: the writer is not made for speed.
    with gzip.open(VECTORS / f"{name}.jsonl.gz") as file:
        lines = list(file)[::15]
    # Go omits a list without values, in both formats.
    worlds = [json.loads(line.replace(b', "values": []', b"").replace(b',"values":[]', b"")) for line in lines]

    for world in worlds:
        for kind in ("Pod", "Node"):
            found = world.get(f"{kind.lower()}s", [])
            in_json = from_json(kind, found, skip_broken=True)
            assert value(from_messages(kind, found, skip_broken=True)) == value(in_json), world["id"]


@pytest.mark.long
@given(st.lists(st.fixed_dictionaries({}, optional=FACTS), max_size=6))
def test_neighbours_do_not_change_a_pod(facts: list[dict[str, Any]]) -> None:
    pods = [pod_object(f"p{index}", **each) for index, each in enumerate(facts)]

    assert value(from_messages("Pod", pods)) == value(from_json("Pod", pods))


def test_annotations_that_plugins_declare_are_those_in_json() -> None:
    pods = [pod_object(name, annotations={"devices.example.com/held": name, "note": "x"}) for name in ("a", "b")]
    declared = frozenset({"devices.example.com/"})

    found = from_messages("Pod", pods, annotations=declared)

    assert value(found) == value(from_json("Pod", pods, annotations=declared))
    assert [pod.annotations for pod in found.pods] == [{"devices.example.com/held": name} for name in ("a", "b")]


def test_replicas_share_their_spec() -> None:
    pods = [pod_object(f"p{number}", node=f"n{number}", labels={"app": "x"}) for number in range(2)]

    first, second = from_messages("Pod", pods).pods

    assert first.spec is second.spec
    assert first.labels is second.labels


@pytest.mark.parametrize(
    "bad",
    [
        pytest.param(pod_object("bad", cpu="?"), id="a quantity"),
        pytest.param(pod_object(""), id="no name"),
        pytest.param(pod_object("bad", spec={"overhead": {"cpu": "1x"}}), id="an overhead"),
    ],
)
def test_broken_pod_is_named_as_in_json(bad: Object) -> None:
    pods = [pod_object("good"), bad, pod_object("good-too")]

    found = from_messages("Pod", pods, skip_broken=True)

    assert [pod.name for pod in found.pods] == ["good", "good-too"]
    assert found.skipped == from_json("Pod", pods, skip_broken=True).skipped != ()
    with pytest.raises(SnapshotError, match="is invalid"):
        from_messages("Pod", pods)


@pytest.mark.parametrize(
    "message",
    [
        pytest.param(b"\x0a\x7f", id="cut short"),
        pytest.param(b"\x0a\x03\x0a\x01\xff", id="not UTF-8"),
        pytest.param(b"\x0a\x0e\x0a\x01x\x42\x09\x08" + b"\xff" * 7 + b"\x7f", id="a time beyond all years"),
    ],
)
def test_message_that_is_no_pod_is_refused(message: bytes) -> None:
    builder = SnapshotBuilder(request=SnapshotRequest(skip_broken=True))

    MessageAdder(builder).add(KINDS["Pod"], [message])

    assert builder.pods == []
    assert builder.skipped == ["Pod without a name is invalid: it cannot be read as protobuf"]
