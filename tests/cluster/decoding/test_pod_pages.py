"""Whole pages of pods: they say what each of their pods says by itself."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from descheduler.cluster.builder import SnapshotBuilder
from descheduler.cluster.decoding.decode import PodDecoder, PodPageReader
from descheduler.cluster.decoding.wire import PodWire
from descheduler.cluster.kinds import KINDS
from descheduler.cluster.request import SnapshotRequest
from descheduler.model.pod import Pod
from tests.builders import Object, container_status, pod_object


def page(*pods: Object) -> bytes:
    return json.dumps({"kind": "PodList", "apiVersion": "v1", "items": list(pods)}, separators=(",", ":")).encode()


def value(pod: Pod) -> object:
    return msgspec.structs.astuple(msgspec.structs.replace(pod, spec=msgspec.structs.astuple(pod.spec)))


FACTS: dict[str, st.SearchStrategy[Any]] = {
    "node": st.sampled_from(["a", "b"]),
    "cpu": st.sampled_from(["1", "2"]),
    "labels": st.sampled_from([{"app": "x"}, {"app": "y"}]),
    "annotations": st.dictionaries(st.sampled_from(["noise", "kubernetes.io/config.mirror"]), st.text(), max_size=2),
    "owners": st.sampled_from([(), ("ReplicaSet/a",), ("ReplicaSet/b",)]),
    "claims": st.lists(st.sampled_from(["c", "d"]), max_size=2, unique=True),
    "volumes": st.sampled_from([(), ({"name": "e", "emptyDir": {}},), ({"name": "i", "image": {"reference": "r"}},)]),
    "ready": st.booleans(),
    "tolerations": st.sampled_from([(), ({"operator": "Exists"},)]),
    "containers": st.sampled_from([(), (container_status(1),), (container_status(0, waiting="x"),)]),
    "spec": st.sampled_from([{}, {"hostNetwork": True}, {"containers": None}, {"overhead": {"cpu": "1m"}}]),
}


@pytest.mark.long
@given(st.lists(st.fixed_dictionaries({}, optional=FACTS), max_size=6))
def test_neighbours_on_a_page_do_not_change_a_pod(facts: list[dict[str, Any]]) -> None:
    objects = [pod_object(f"p{index}", **each) for index, each in enumerate(facts)]
    pods: list[Pod] = []

    PodPageReader(PodDecoder(), pods).read(page(*objects))

    alone = [PodDecoder().decode(msgspec.json.decode(json.dumps(obj), type=PodWire)) for obj in objects]
    assert [value(pod) for pod in pods] == [value(pod) for pod in alone]


@pytest.mark.parametrize(
    "bad",
    [
        pytest.param(pod_object("bad", cpu="?"), id="a quantity"),
        pytest.param(pod_object(""), id="no name"),
        pytest.param(pod_object("bad") | {"spec": []}, id="a list for an object"),
    ],
)
def test_pods_beside_a_broken_one_are_there_once(bad: Object) -> None:
    builder = SnapshotBuilder("server", SnapshotRequest(skip_broken=True))

    builder.add_page(KINDS["Pod"], page(pod_object("a"), bad, pod_object("b")))

    snapshot = builder.finish()
    assert [pod.name for pod in snapshot.pods] == ["a", "b"]
    assert len(snapshot.skipped) == 1


def test_list_that_only_mentions_pod_lists_adds_nothing_twice() -> None:
    builder = SnapshotBuilder("dump")
    mixed = {"note": "PodList", "kind": "List", "apiVersion": "v1", "items": [pod_object("a")]}

    builder.add_object(json.dumps(mixed).replace('"note": "PodList"', '"PodList": 1').encode())

    assert [pod.name for pod in builder.finish().pods] == ["a"]
