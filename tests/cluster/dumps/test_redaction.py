"""What a dump keeps of objects: all that the decoders read, and no string besides."""

from __future__ import annotations

import importlib
import inspect
import json
import pkgutil
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from descheduler import cluster
from descheduler.cluster.dumps.write import redact
from descheduler.cluster.kept.shapes import ByName, Leaf, Shape
from descheduler.cluster.kind import AnyKind
from descheduler.cluster.kinds import KINDS
from descheduler.cluster.objects import snapshot_from_objects
from descheduler.cluster.request import SnapshotRequest
from descheduler.model.annotations import KNOWN_ANNOTATIONS, READ_ANNOTATIONS
from descheduler.model.volume_sources import MIGRATED_DRIVERS
from tests.builders import Object, make_node, make_pod, node_object
from tests.cluster.dumps.full_metadata import CANARY
from tests.cluster.dumps.full_objects import full_objects

ANY_KEY = "*"
READ = list(KINDS.values())
POD, NODE = KINDS["Pod"], KINDS["Node"]


def decoded(obj: Object) -> str:
    """Everything that is read of an object, templates included."""
    snapshot = snapshot_from_objects([obj], SnapshotRequest(keep_templates=True))
    return repr({name: value for name, value in vars(snapshot).items() if value})


def with_unknown_fields(value: Any, shape: Shape | None) -> Any:
    """A copy with fields that nobody knows in every object but those that hold any keys."""
    if isinstance(value, list):
        return [with_unknown_fields(item, shape) for item in value]
    if not isinstance(value, dict) or shape in (Leaf.MAP, Leaf.ANNOTATIONS):
        return value
    if isinstance(shape, ByName):
        return {name: with_unknown_fields(member, shape.fields) for name, member in value.items()}
    fields = shape if isinstance(shape, Mapping) else {}
    known = {name: with_unknown_fields(member, fields.get(name)) for name, member in value.items()}
    return {"future": CANARY, **known, "tomorrow": {"args": [CANARY], "deep": [[{"env": CANARY}]]}}


@pytest.mark.parametrize("kind", READ, ids=lambda kind: kind.key)
def test_full_object_loses_every_string_that_no_rule_reads(kind: AnyKind) -> None:
    obj = with_unknown_fields(full_objects()[kind.key], kind.kept)

    redacted = redact(kind, obj)

    assert json.dumps(obj).count(CANARY) > 10
    assert CANARY not in json.dumps(redacted)


@pytest.mark.parametrize("kind", READ, ids=lambda kind: kind.key)
def test_redacted_full_object_decodes_to_the_same_values(kind: AnyKind) -> None:
    obj = full_objects()[kind.key]

    redacted = redact(kind, obj)

    assert decoded(redacted) == decoded(obj)
    assert redact(kind, redacted) == redacted


def paths(shape: Shape, before: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The way to each field that a shape lists."""
    if isinstance(shape, Mapping):
        for name, inner in shape.items():
            yield (*before, name)
            yield from paths(inner, (*before, name))
    elif isinstance(shape, ByName):
        yield from paths(shape.fields, (*before, ANY_KEY))


def holds(value: object, path: tuple[str, ...]) -> bool:
    if isinstance(value, list):
        return any(holds(item, path) for item in value)
    if path[:1] == (ANY_KEY,) and isinstance(value, dict):
        return any(holds(member, path[1:]) for member in value.values())
    return not path or (isinstance(value, dict) and path[0] in value and holds(value[path[0]], path[1:]))


def test_full_objects_hold_every_field_that_a_dump_keeps() -> None:
    """Else the two tests above would say nothing about it. Workloads have one table for the fields of all."""
    objects = full_objects()

    missing = {(kind.key, *path) for kind in READ for path in paths(kind.kept) if not holds(objects[kind.key], path)}

    assert missing == set()


def decoded_fields() -> Iterator[tuple[str, str]]:
    """The struct and the JSON name of each field that the decoders of objects read."""
    for module in pkgutil.walk_packages(cluster.__path__, "descheduler.cluster."):
        for _, struct in inspect.getmembers(importlib.import_module(module.name), inspect.isclass):
            if (
                issubclass(struct, msgspec.Struct)
                and struct.__module__ == module.name
                and not struct.__struct_config__.frozen
            ):
                for each in msgspec.structs.fields(struct):
                    yield f"{module.name}.{struct.__name__}", each.encode_name


_NOT_OF_OBJECTS = {
    *("ListMetadataWire", "PodPageWire", "ObjectHeader", "_Page", "_Kinded", "DumpHeader", "DumpTrailer"),
    # texts of annotations
    *("_ReservationWire", "_AllocatedWire", "_ExtensionWire", "_HintWire", "_JointWire"),
    *("_PartitionWire", "_PartitionSpecWire", "_ResourceStatusWire", "_CpuSpecWire", "_NumaSpecWire"),
    *("_CpuWire", "_CpuTopologyWire", "_PodCpusWire", "_CpuPolicyWire", "_SystemCpusWire"),
}
_PASSED_ON = {("descheduler.cluster.decoding.pods.defaults._ResourcesWire", "claims")}
"""What is copied from one place of an object to another, unseen."""


def test_every_field_that_is_decoded_is_in_the_table() -> None:
    listed = {name for kind in KINDS.values() for path in paths(kind.kept) for name in path}

    unlisted = {
        (struct, name)
        for struct, name in decoded_fields()
        if name not in listed and struct.rpartition(".")[2] not in _NOT_OF_OBJECTS
    }

    assert unlisted - _PASSED_ON == set()


_KEY = re.compile(r'"((?:[a-z0-9-]+\.)+[a-z]+/[A-Za-z0-9._-]+)"')


def test_decoders_spell_no_key_of_an_annotation_themselves() -> None:
    """What they hand on to rules is of the table, which dumps keep."""
    readers = [
        file
        for file in Path(cluster.__path__[0]).rglob("*.py")
        if "annotations" in file.read_text().replace("import annotations", "")
    ]

    spelled = {key for file in readers for key in _KEY.findall(file.read_text())} - MIGRATED_DRIVERS.keys()

    assert {"storage_objects", "workload_objects"} < {file.stem for file in readers}
    assert spelled == set()


def test_pods_and_nodes_have_only_annotations_of_the_table() -> None:
    annotations = dict.fromkeys((*KNOWN_ANNOTATIONS, "kubernetes.io/change-cause"), "1")

    assert make_pod("x", annotations=annotations).annotations.keys() == KNOWN_ANNOTATIONS
    assert make_node("a", annotations=annotations).annotations.keys() == KNOWN_ANNOTATIONS
    assert READ_ANNOTATIONS < KNOWN_ANNOTATIONS


@pytest.mark.parametrize("key", sorted(KNOWN_ANNOTATIONS))
def test_annotation_of_the_table_is_kept(key: str) -> None:
    redacted = redact(POD, {"metadata": {"annotations": {key: "1", "other": CANARY}}})

    assert redacted == {"metadata": {"annotations": {key: "1"}}}


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        pytest.param(f"https://user:{CANARY}@host/disk", "https://host/disk", id="of a URL"),
        pytest.param(f"user:{CANARY}@host:3260", "host:3260", id="of an address"),
        pytest.param(f"//user:pa/{CANARY}@host/share", "//host/share", id="of a share, with a slash in it"),
        pytest.param(f"smb://u:{CANARY}@x@host/share", "smb://host/share", id="of a share, with an @ in it"),
        pytest.param(f"https://{CANARY}@host/disk", "https://host/disk", id="of a URL, a token alone"),
        pytest.param("pool/disk@snapshot", "pool/disk@snapshot", id="not there: a snapshot"),
        pytest.param("host#share#", "host#share#", id="not there: a share"),
    ],
)
def test_user_and_password_of_a_volume_are_dropped(text: str, kept: str) -> None:
    volumes = [{"name": "x", "portworxVolume": {"volumeID": text}}, {"name": "y", "rbd": {"monitors": [text]}}]

    redacted: Object = redact(POD, {"spec": {"volumes": volumes}})

    assert redacted["spec"]["volumes"] == [
        {"name": "x", "portworxVolume": {"volumeID": kept}},
        {"name": "y", "rbd": {"monitors": [kept]}},
    ]


def test_volume_of_which_nothing_is_read_is_dropped_whole() -> None:
    volumes: list[Object] = [{"name": "a", "emptyDir": {}}, {"name": "b", "secret": {"secretName": CANARY}}]

    redacted = redact(POD, {"spec": {"volumes": volumes}})

    assert redacted == {"spec": {"volumes": [{"name": "a", "emptyDir": {}}]}}


@pytest.mark.parametrize("value", [CANARY, {"a": CANARY}, [CANARY], [{"a": CANARY}]])
def test_value_of_a_wrong_type_stays_wrong_without_its_text(value: object) -> None:
    """A broken object is as broken in its dump, and says no more."""
    field = "name" if not isinstance(value, str) else "labels"
    node = node_object("a")
    node["metadata"][field] = value

    redacted: Object = redact(NODE, node)

    assert type(redacted["metadata"][field]) is type(value)


def test_labels_keep_whatever_name_they_bear() -> None:
    labels = dict.fromkeys(("env", "args", "command", "message", "volumes", "containers", "conditions"), "x")

    redacted = redact(POD, {"metadata": {"labels": dict(labels)}, "spec": {"nodeSelector": dict(labels)}})

    assert redacted == {"metadata": {"labels": labels}, "spec": {"nodeSelector": labels}}
