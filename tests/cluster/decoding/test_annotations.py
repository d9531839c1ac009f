"""Which annotations are kept."""

from __future__ import annotations

import msgspec
import pytest

from descheduler.cluster.decoding.annotations import AnnotationReader
from tests.builders import make_node, make_pod


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


def test_key_that_was_dropped_before_hides_no_other() -> None:
    reader = AnnotationReader()
    noise, wanted = {"noise": msgspec.Raw(b'"1"')}, {"kubernetes.io/config.mirror": msgspec.Raw(b"null")}

    kept = [reader.read(found) for found in (noise, noise | wanted, None, noise)]

    assert kept == [{}, {"kubernetes.io/config.mirror": ""}, {}, {}]


def test_wanted_annotation_that_is_no_string_is_refused() -> None:
    with pytest.raises(ValueError, match="Expected `str"):
        AnnotationReader().read({"kubernetes.io/config.mirror": msgspec.Raw(b"{}")})
