"""For whom --for makes room: what it takes for a file, for requests, and for devices of a class."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from descheduler.cli.flags.room import RoomFlags, takes_room
from tests.cli.flags.taking import refusal, taken


def room(text: str) -> RoomFlags:
    found: RoomFlags = taken(takes_room, "--for", text)["room"]
    return found


def requests(text: str) -> dict[str, Any]:
    (pod,) = room(text).pods
    found: dict[str, Any] = pod["spec"]["containers"][0]["resources"].get("requests", {})
    return found


def devices(text: str) -> tuple[str, int]:
    """The class and the number of devices that the claim of the pod asks for."""
    found = room(text)
    (template,) = found.beside
    (request,) = template["spec"]["spec"]["devices"]["requests"]
    assert found.is_of_requests
    return request["exactly"]["deviceClassName"], request["exactly"]["count"]


def test_no_room_is_made_where_nobody_asks() -> None:
    assert taken(takes_room)["room"] is None


def test_pending_pods_are_those_of_the_cluster() -> None:
    assert room("pending") == RoomFlags()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("cpu=4", {"cpu": "4"}, id="one resource"),
        pytest.param("nvidia.com/gpu=8, cpu = 4 ,", {"nvidia.com/gpu": "8", "cpu": "4"}, id="several"),
        pytest.param("hugepages-2Mi=1Gi", {"hugepages-2Mi": "1Gi"}, id="hugepages"),
    ],
)
def test_requests_are_those_of_one_pod(text: str, expected: dict[str, str]) -> None:
    assert requests(text) == expected
    assert room(text).is_of_requests
    assert room(text).names == ["default/wanted"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("gpu.example.com=4", ("gpu.example.com", 4), id="a name with a dot"),
        pytest.param("deviceclass/gpu=1", ("gpu", 1), id="a name without"),
        pytest.param("gpu.example.com = 32", ("gpu.example.com", 32), id="as many as a claim may have"),
    ],
)
def test_devices_are_those_of_a_class(text: str, expected: tuple[str, int]) -> None:
    assert devices(text) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("gpu.example.com=33", "33 is not a number of devices from 1 to 32", id="too many devices"),
        pytest.param("gpu.example.com=0", "0 is not a number of devices from 1 to 32", id="no device"),
        pytest.param("gpu.example.com=x", "x is not a number of devices from 1 to 32", id="no number"),
        pytest.param("gpu.example.com=500m", "500m is not a number of devices", id="half a device"),
        pytest.param("cpu=0", "'cpu=0': 0 is not above 0", id="nothing"),
        pytest.param("cpu=-1", "'cpu=-1': -1 is not above 0", id="less than nothing"),
        pytest.param("cpu=1,cpu=2", "'cpu=2': the resource is named twice", id="twice"),
        pytest.param("=1", "'=1': the resource has no name", id="no name"),
        pytest.param("cpu=1x", "write it like nvidia.com/gpu=8,cpu=4", id="no amount"),
        pytest.param("gpu.example.com=4,cpu=1", "gpu.example.com", id="a class among resources"),
        pytest.param("missing.yaml", "'missing.yaml': no such file; name a manifest file", id="no file"),
    ],
)
def test_what_makes_no_sense_is_refused(text: str, message: str) -> None:
    assert message in refusal(takes_room, "--for", text)


def test_file_is_read_even_where_its_name_looks_like_requests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cpu=4").write_text(
        "{apiVersion: v1, kind: Pod, metadata: {name: web, namespace: shop}, spec: {containers: [{name: c}]}}"
    )

    found = room("cpu=4")

    assert (found.names, found.is_of_requests) == (["shop/web"], False)


def test_file_without_pods_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "empty.yaml"
    file.write_text("{apiVersion: v1, kind: Namespace, metadata: {name: shop}}")

    assert str(file) in refusal(takes_room, "--for", str(file))


def test_file_that_is_no_manifest_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "broken.yaml"
    file.write_text("{")

    assert str(file) in refusal(takes_room, "--for", str(file))
