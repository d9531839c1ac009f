"""What the API server fills in when it stores a pod of a template."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from descheduler.cluster.decoding.pods.defaults import TemplateSpecWire, set_pod_defaults
from descheduler.cluster.decoding.wire import PodSpecWire
from tests.builders import Object


def defaulted(**spec: object) -> PodSpecWire:
    return set_pod_defaults(msgspec.json.decode(json.dumps(spec), type=TemplateSpecWire))


def container(**fields: object) -> dict[str, Any]:
    """The first container with its defaults; blocks as JSON has them."""
    (found,) = defaulted(containers=[fields]).containers or []
    return {"resources": json.loads(bytes(found.resources)), "ports": json.loads(bytes(found.ports))}


@pytest.mark.parametrize(
    ("resources", "expected"),
    [
        pytest.param(None, None, id="nothing"),
        pytest.param({}, {}, id="no limits"),
        pytest.param({"requests": {"cpu": "1"}}, {"requests": {"cpu": "1"}}, id="requests alone"),
        pytest.param({"limits": {}}, {"limits": {}}, id="empty limits"),
        pytest.param(
            {"limits": {"cpu": "2"}}, {"limits": {"cpu": "2"}, "requests": {"cpu": "2"}}, id="a limit without a request"
        ),
        pytest.param(
            {"limits": {"cpu": "2", "memory": "1"}, "requests": {"cpu": "1"}},
            {"limits": {"cpu": "2", "memory": "1"}, "requests": {"cpu": "1", "memory": "1"}},
            id="one limit without a request",
        ),
        pytest.param(
            {"limits": {"cpu": "2"}, "requests": {"cpu": "1"}},
            {"limits": {"cpu": "2"}, "requests": {"cpu": "1"}},
            id="a limit with a request",
        ),
        pytest.param(
            {"limits": {"b": "2"}, "requests": {"c": "1", "a": "1"}, "claims": [{"name": "x"}]},
            {"limits": {"b": "2"}, "requests": {"a": "1", "b": "2", "c": "1"}, "claims": [{"name": "x"}]},
            id="claims beside a limit",
        ),
    ],
)
def test_container_requests_what_it_is_limited_to(resources: Object | None, expected: Object | None) -> None:
    found = container(resources=resources)["resources"]

    assert json.dumps(found) == json.dumps(expected)


@pytest.mark.parametrize(
    ("network", "ports", "expected"),
    [
        pytest.param(False, [{"containerPort": 80}], [{"containerPort": 80}], id="of its own"),
        pytest.param(True, None, None, id="of the host, without ports"),
        pytest.param(True, [], [], id="of the host, with no ports"),
        pytest.param(True, [{"containerPort": 80}], [{"containerPort": 80, "hostPort": 80}], id="of the host"),
        pytest.param(
            True,
            [{"containerPort": 80, "hostPort": 0}, {"containerPort": 81, "hostPort": 81}],
            [{"containerPort": 80, "hostPort": 80}, {"containerPort": 81, "hostPort": 81}],
            id="of the host, with host ports",
        ),
    ],
)
def test_ports_are_those_of_the_host_on_its_network(network: bool, ports: object, expected: object) -> None:
    wire = {"ports": ports}

    spec = defaulted(hostNetwork=network, containers=[wire], initContainers=[wire])

    found = [json.loads(bytes(each.ports)) for each in (*(spec.containers or ()), *(spec.init_containers or ()))]
    assert found == [expected, expected]


@pytest.mark.parametrize(
    ("whole", "containers", "expected"),
    [
        pytest.param({"requests": {"cpu": "1"}}, [], {"requests": {"cpu": "1"}}, id="no limits"),
        pytest.param(
            {"limits": {"cpu": "4"}}, [], {"limits": {"cpu": "4"}, "requests": {"cpu": "4"}}, id="no containers"
        ),
        pytest.param(
            {"limits": {"cpu": "4"}, "requests": {"cpu": "3"}},
            [{"requests": {"cpu": "1"}}],
            {"limits": {"cpu": "4"}, "requests": {"cpu": "3"}},
            id="a request of its own",
        ),
        pytest.param(
            {"limits": {"cpu": "4"}},
            [{"requests": {"cpu": "1"}}, {"limits": {"cpu": "2"}}],
            {"limits": {"cpu": "4"}, "requests": {"cpu": "3"}},
            id="requests and limits of containers",
        ),
        pytest.param(
            {"limits": {"example.com/x": "1"}},
            [],
            {"limits": {"example.com/x": "1"}, "requests": {}},
            id="a resource that pods as a whole have none of",
        ),
    ],
)
def test_pod_as_a_whole_requests_what_its_containers_do_or_its_limit(
    whole: Object, containers: list[Object], expected: Object
) -> None:
    spec = defaulted(resources=whole, containers=[{"resources": each} for each in containers])

    assert json.loads(bytes(spec.resources)) == expected


def test_sidecars_count_in_what_a_pod_requests_as_a_whole() -> None:
    asking = {"resources": {"requests": {"cpu": "2"}}}
    sidecar = asking | {"restartPolicy": "Always"}

    def requested(*init: Object) -> object:
        spec = defaulted(resources={"limits": {"cpu": "9"}}, containers=[asking], initContainers=init)
        return json.loads(bytes(spec.resources))["requests"]

    assert requested(sidecar) == {"cpu": "4"}
    assert requested(asking) == {"cpu": "2"}
    assert requested() == {"cpu": "2"}


def test_malformed_resources_are_refused() -> None:
    with pytest.raises(ValueError, match="requests"):
        container(resources={"limits": {"cpu": "1"}, "requests": [1]})
