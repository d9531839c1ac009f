"""Volumes that pods state themselves."""

from __future__ import annotations

import json

import msgspec
import pytest

from descheduler.cluster.decoding.volume_blocks import (
    ClaimSpecWire,
    ClaimTemplateWire,
    claim_template,
    decode_ephemeral_volume,
    decode_inline_disk,
    decode_volume_image,
    is_managed_disk,
    requested_bytes,
)
from descheduler.cluster.decoding.wire import VolumeWire
from descheduler.model.pod import EphemeralVolume, InlineDisk
from descheduler.model.selection.labels import EVERYTHING, LabelSelector, Requirement
from descheduler.model.volume_sources import ClaimTemplate
from tests.builders import Object

SPEC = {
    "storageClassName": "fast",
    "accessModes": ["ReadWriteOnce"],
    "resources": {"requests": {"storage": "1500m"}},
    "volumeMode": "Block",
    "volumeAttributesClassName": "gold",
    "selector": {"matchLabels": {"a": "b"}},
    "volumeName": "v",
}
CLAIM = ClaimTemplate(
    name="data",
    storage_class="fast",
    access_modes=frozenset({"ReadWriteOnce"}),
    request_bytes=2,
    volume_mode="Block",
    attributes_class="gold",
    selector=LabelSelector((Requirement("a", "In", frozenset({"b"})),)),
    volume_name="v",
    labels={"c": "d"},
)


def template(obj: Object) -> ClaimTemplate:
    return claim_template(msgspec.json.decode(json.dumps(obj), type=ClaimTemplateWire))


def test_template_of_a_claim_says_what_is_claimed() -> None:
    assert template({"metadata": {"name": "data", "labels": {"c": "d"}}, "spec": SPEC}) == CLAIM


@pytest.mark.parametrize("obj", [{}, {"metadata": None, "spec": None}, {"metadata": {}, "spec": {"selector": None}}])
def test_template_that_says_nothing_claims_any_volume(obj: Object) -> None:
    assert template(obj) == ClaimTemplate("", storage_class=None, volume_mode="Filesystem", selector=EVERYTHING)


@pytest.mark.parametrize(
    ("resources", "number"),
    [(None, 0), ({}, 0), ({"requests": {"cpu": "1"}}, 0), ({"requests": {"storage": "1Ki"}}, 1024)],
)
def test_storage_that_is_claimed_is_counted_in_bytes(resources: Object | None, number: int) -> None:
    wire = msgspec.json.decode(json.dumps({"resources": resources}), type=ClaimSpecWire)

    assert requested_bytes(wire) == number


def test_ephemeral_volume_brings_a_claim() -> None:
    whole = {"volumeClaimTemplate": {"metadata": {"name": "data", "labels": {"c": "d"}}, "spec": SPEC}}

    assert decode_ephemeral_volume("v", json.dumps(whole).encode(), 2) == EphemeralVolume("v", CLAIM, 2)
    assert decode_ephemeral_volume("v", b"null", 2) is None
    bare = decode_ephemeral_volume("v", b"{}", 0)
    assert bare == EphemeralVolume("v", template({}), 0)


@pytest.mark.parametrize(("block", "image"), [(b"null", ""), (b"{}", ""), (b'{"reference": "i:1"}', "i:1")])
def test_image_of_a_volume_is_its_reference(block: bytes, image: str) -> None:
    assert decode_volume_image(block) == image


def disk(**volume: object) -> InlineDisk | None:
    return decode_inline_disk(msgspec.json.decode(json.dumps({"name": "d", **volume}), type=VolumeWire))


@pytest.mark.parametrize(
    ("volume", "value"),
    [
        ({}, None),
        ({"gcePersistentDisk": None}, None),
        ({"gcePersistentDisk": {}}, InlineDisk("gcePersistentDisk", ("",), False)),
        ({"gcePersistentDisk": {"pdName": "p", "readOnly": True}}, InlineDisk("gcePersistentDisk", ("p",), True)),
        ({"awsElasticBlockStore": {"volumeID": "v"}}, InlineDisk("awsElasticBlockStore", ("v",), False)),
        ({"iscsi": {"iqn": "q", "readOnly": True}}, InlineDisk("iscsi", ("q",), True)),
        (
            {"rbd": {"pool": "p", "image": "i", "monitors": ["m"]}},
            InlineDisk("rbd", ("p", "i"), False, frozenset({"m"})),
        ),
        ({"rbd": {}}, InlineDisk("rbd", ("rbd", ""), False)),
        ({"azureDisk": {"diskURI": "u"}}, InlineDisk("azureDisk", ("u",))),
        ({"azureDisk": {"diskURI": "u", "kind": "Dedicated"}}, None),
        ({"cinder": {"volumeID": "v"}}, InlineDisk("cinder", ("v",))),
        ({"portworxVolume": {"volumeID": "v"}}, InlineDisk("portworxVolume", ("v",))),
    ],
)
def test_disk_of_a_volume_is_known_by_what_tells_it_apart(volume: Object, value: InlineDisk | None) -> None:
    assert disk(**volume) == value


@pytest.mark.parametrize(("kind", "is_managed"), [(None, True), ("Managed", True), ("Shared", False), ("", False)])
def test_azure_disk_is_managed_unless_it_says_otherwise(kind: str | None, is_managed: bool) -> None:
    assert is_managed_disk(kind) is is_managed
