"""Nodes that hold the images of a pod."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from descheduler.model.kube_version import KubeVersion
from descheduler.model.node import Node
from descheduler.placement.plugins.image_locality import ImageLocality
from tests.builders import make_node, make_pod
from tests.placement.clusters import make_cluster, scores

MIB = 2**20


def _holding(name: str, **images: int) -> Node:
    """A node with images of these sizes in MiB, tagged `latest`."""
    return msgspec.structs.replace(
        make_node(name), images={f"{key}:latest": size * MIB for key, size in images.items()}
    )


def _scores(*nodes: Node, version: KubeVersion | None = None, **facts: Any) -> list[int] | None:
    answer = scores(ImageLocality, make_cluster(nodes, version=version), make_pod("new", node="", **facts))
    return None if answer is None else answer[1]


def test_size_counts_by_the_share_of_nodes_that_hold_the_image() -> None:
    assert _scores(_holding("a", app=800), _holding("b"), images=["app"]) == [38, 0]


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        pytest.param(23, 0, id="small images count nothing"),
        pytest.param(1000, 100, id="1000 MiB a container are all that counts"),
        pytest.param(5000, 100, id="and more is no better"),
    ],
)
def test_sizes_count_between_bounds(size: int, expected: int) -> None:
    assert _scores(_holding("a", app=size), images=["app"]) == [expected]


def test_each_container_raises_the_upper_bound_and_counts_its_image() -> None:
    nodes = _holding("a", app=1000), _holding("b", app=1000)

    assert _scores(*nodes, images=["app", "other"]) == [49, 49]
    assert _scores(*nodes, images=["app", "app"]) == [100, 100]


def test_init_containers_and_image_volumes_count() -> None:
    init = {"initContainers": [{"name": "i", "image": "app"}]}
    volume = {"volumes": [{"name": "v", "image": {"reference": "app"}}]}

    assert _scores(_holding("a", app=1000), images=["other"], spec=init) == [49]
    assert _scores(_holding("a", app=1000), images=["other"], spec=volume) == [49]


def test_image_volumes_raise_no_bound_before_1_37() -> None:
    volume = {"volumes": [{"name": "v", "image": {"reference": "app"}}]}
    old = KubeVersion.parse("1.36")

    assert _scores(_holding("a", app=1000), images=["other"], spec=volume, version=old) == [100]


def test_image_volumes_do_not_count_before_1_36() -> None:
    volume = {"volumes": [{"name": "v", "image": {"reference": "app"}}]}
    old = KubeVersion.parse("1.35")

    assert _scores(_holding("a", app=1000), images=["other"], spec=volume, version=old) is None


@pytest.mark.parametrize(
    ("image", "held", "is_found"),
    [
        pytest.param("app", "app:latest", True, id="a tag is implied"),
        pytest.param("app:2", "app:2", True, id="a tag is kept"),
        pytest.param("host:5000/app", "host:5000/app:latest", True, id="the port of a registry is no tag"),
        pytest.param("app@sha256:1f", "app@sha256:1f", True, id="nor is one added to a digest"),
        pytest.param("app", "app", False, id="names that nodes hold are taken as they are"),
    ],
)
def test_image_names_are_made_complete(image: str, held: str, is_found: bool) -> None:
    node = msgspec.structs.replace(make_node("a"), images={held: 1000 * MIB})

    assert _scores(node, images=[image]) == ([100] if is_found else None)


def test_pod_whose_images_nobody_holds_is_not_scored() -> None:
    assert _scores(_holding("a", app=800), images=["other"]) is None
