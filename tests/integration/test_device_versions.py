"""Devices and claims are read in the newest version of their group that the server has, and say the same in each."""

from __future__ import annotations

import io
from datetime import UTC, datetime

import pytest

from descheduler.cluster.dumps.read import read_dump
from descheduler.cluster.dumps.write import DumpWriter
from descheduler.cluster.kind import kind_key
from descheduler.cluster.kinds import KINDS
from descheduler.cluster.live import dump_live, read_live
from descheduler.cluster.request import SnapshotRequest
from descheduler.cluster.snapshot import Snapshot
from descheduler.kube.client import KubeClient
from descheduler.model.resource_claims import CLAIM_KIND, DEVICE_KINDS, SLICE_KIND, TAINT_RULE_KIND
from descheduler.placement.prover import LandingProver
from tests.builders import Object, node_object, pod_object
from tests.integration.fake_api import FakeApi
from tests.integration.live_runs import serve
from tests.placement.plugins.dynamic_resources.worlds import (
    claim,
    claiming_object,
    device,
    device_class,
    request,
    slice_of,
    template,
)

GROUP = "/apis/resource.k8s.io"
PENDING = claiming_object("p", "c")
OBJECTS = [
    device_class(),
    slice_of("a", device("x", {"model": "A"}), device("y", {"model": "B"})),
    claim("c", request("r", "device.attributes['gpu.example.com'].model == 'B'")),
    template("t", request("r", count=2)),
]
VERSIONS = ["v1", "v1beta2", "v1beta1"]


def in_version(item: Object, version: str) -> Object:
    """`item` as a server of that version sends it; v1beta1 has `basic` devices and requests without `exactly`."""
    made = {**item, "apiVersion": f"resource.k8s.io/{version}"}
    if version == "v1beta1" and item["kind"] == "ResourceSlice":
        named = [{"name": each["name"], "basic": {**each, "name": None}} for each in item["spec"]["devices"]]
        made["spec"] = {**item["spec"], "devices": named}
    if version == "v1beta1" and item["kind"] == "ResourceClaim":
        requests = [{"name": each["name"], **each["exactly"]} for each in item["spec"]["devices"]["requests"]]
        made["spec"] = {"devices": {"requests": requests}}
    return made


def served_in(fake_api: FakeApi, *versions: str) -> None:
    """A node, a pending pod with a claim, and the objects of devices in `versions` and no others."""
    serve(fake_api, node_object("a"), PENDING)
    for version in versions:
        for item in OBJECTS:
            plural = KINDS[kind_key(item["kind"], item["apiVersion"])].plural
            fake_api.add(f"{GROUP}/{version}/{plural}", in_version(item, version))


def read(client: KubeClient) -> Snapshot:
    return read_live(client, SnapshotRequest({"Node", "Pod"} | DEVICE_KINDS), git_version="v1.36.0")


@pytest.mark.parametrize("version", VERSIONS)
def test_pending_pod_gets_its_device_whatever_the_version(fake_api: FakeApi, client: KubeClient, version: str) -> None:
    served_in(fake_api, version)

    snapshot = read(client)

    assert [(pod.name, node) for pod, node in LandingProver(snapshot).pending_nodes()] == [("p", "a")]
    (slices,), (claims,) = snapshot.objects[SLICE_KIND], snapshot.objects[CLAIM_KIND]
    assert [(each.name, each.attributes) for each in slices.devices] == [("x", {"model": "A"}), ("y", {"model": "B"})]
    assert [each.selectors for each in claims.spec.requests[0].choices] == [
        ("device.attributes['gpu.example.com'].model == 'B'",)
    ]


def test_versions_are_tried_from_the_newest_on(fake_api: FakeApi, client: KubeClient) -> None:
    served_in(fake_api, "v1beta2", "v1beta1")

    read(client)

    paths = [request.path for request in fake_api.sent("GET", "/resourceclaims")]
    assert paths == [f"{GROUP}/v1/resourceclaims", f"{GROUP}/v1beta2/resourceclaims"]


def test_taint_rules_are_read_in_their_own_older_versions(fake_api: FakeApi, client: KubeClient) -> None:
    served_in(fake_api, "v1")
    rule = {"deviceSelector": {"driver": "gpu.example.com"}, "taint": {"key": "broken", "effect": "NoSchedule"}}
    fake_api.add(f"{GROUP}/v1alpha3/devicetaintrules", {"metadata": {"name": "r"}, "spec": rule})

    (found,) = read(client).objects[TAINT_RULE_KIND]

    assert (found.name, found.taint.key, found.driver) == ("r", "broken", "gpu.example.com")


def test_server_without_the_group_leaves_the_landing_open(fake_api: FakeApi, client: KubeClient) -> None:
    served_in(fake_api)

    snapshot = read(client)

    assert DEVICE_KINDS.isdisjoint(snapshot.kinds)
    assert LandingProver(snapshot).undecided == {
        "uses resource claims, and the snapshot has no ResourceClaim objects (DynamicResources)": 1
    }


@pytest.mark.parametrize("version", VERSIONS)
def test_dump_of_an_older_version_says_the_same(fake_api: FakeApi, client: KubeClient, version: str) -> None:
    served_in(fake_api, version)
    out, kinds = io.BytesIO(), [KINDS[key] for key in ("Node", "Pod", *sorted(DEVICE_KINDS))]

    dump_live(client, kinds, DumpWriter(out, datetime(2026, 1, 2, tzinfo=UTC), kinds), git_version="v1.36.0")

    dumped = read_dump(["-"], stdin=io.BytesIO(out.getvalue()))
    assert dumped.objects[SLICE_KIND] == read(client).objects[SLICE_KIND]
    assert [(pod.name, node) for pod, node in LandingProver(dumped).pending_nodes()] == [("p", "a")]


def test_pods_in_protobuf_and_in_json_name_the_same_claims(fake_api: FakeApi, client: KubeClient) -> None:
    pod = pod_object("q", node="a")
    pod["status"] |= {
        "resourceClaimStatuses": [{"name": "gpu", "resourceClaimName": "q-gpu"}],
        "extendedResourceClaimStatus": {"resourceClaimName": "q-extended", "requestMappings": []},
    }
    serve(fake_api, node_object("a"), pod)

    in_protobuf = read(client)
    fake_api.speaks_protobuf = False
    in_json = read(client)

    names = {"gpu": "q-gpu", "<extended-resources>": "q-extended"}
    assert [pod.generated_claims for snapshot in (in_protobuf, in_json) for pod in snapshot.pods] == [names, names]
