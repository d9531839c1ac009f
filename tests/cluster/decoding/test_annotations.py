"""Which annotations are kept."""

from __future__ import annotations

import msgspec
import pytest

from descheduler.cluster.decoding.blocks import AnnotationReader
from descheduler.cluster.objects import snapshot_from_objects
from descheduler.cluster.request import SnapshotRequest
from descheduler.model.annotations import AnnotationKeys
from tests.builders import make_node, make_pod, node_object, pod_object


@pytest.mark.parametrize(
    "key",
    [
        "descheduler.alpha.kubernetes.io/evict",
        "kubernetes.io/config.mirror",
        "controller.kubernetes.io/pod-deletion-cost",
        "scheduling.koordinator.sh/device-allocated",
        "scheduling.volcano.sh/queue-name",
        "scheduling.k8s.io/group-name",
    ],
)
def test_annotation_that_a_rule_reads_is_kept(key: str) -> None:
    pod = make_pod("x", annotations={"prometheus.io/scrape": "true", key: "1"})

    assert pod.annotations == {key: "1"}


def test_annotation_that_no_rule_reads_is_dropped_from_pods_and_nodes() -> None:
    annotations = {"cni.projectcalico.org/podIP": "10.0.0.1/32", "note": "koordinator.sh"}

    assert make_pod("x", annotations=annotations).annotations == {}
    assert make_node("a", annotations=annotations).annotations == {}


def test_annotations_that_plugins_declare_are_kept_too() -> None:
    declared = frozenset({"example.com/wants", "devices.example.com/"})
    annotations = {"example.com/wants": "2", "devices.example.com/held": "d0", "example.com/note": "x"}
    objects = [pod_object("x", annotations=annotations), node_object("a", annotations=annotations)]

    snapshot = snapshot_from_objects(objects, SnapshotRequest(annotations=declared))

    kept = {"example.com/wants": "2", "devices.example.com/held": "d0"}
    assert (snapshot.pods[0].annotations, snapshot.nodes[0].annotations) == (kept, kept)


def test_key_that_was_dropped_before_hides_no_other() -> None:
    reader = AnnotationReader(AnnotationKeys(["kubernetes.io/config.mirror"]))
    noise, wanted = {"noise": msgspec.Raw(b'"1"')}, {"kubernetes.io/config.mirror": msgspec.Raw(b"null")}

    kept = [reader.read(found) for found in (noise, noise | wanted, None, noise)]

    assert kept == [{}, {"kubernetes.io/config.mirror": ""}, {}, {}]


def test_wanted_annotation_that_is_no_string_is_refused() -> None:
    with pytest.raises(ValueError, match="Expected `str"):
        AnnotationReader(AnnotationKeys(["kubernetes.io/config.mirror"])).read(
            {"kubernetes.io/config.mirror": msgspec.Raw(b"{}")}
        )
