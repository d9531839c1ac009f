"""The claim that the scheduler makes for resources of a pod that a device class serves."""

from __future__ import annotations

from descheduler.model.resource_claims import DeviceClass
from descheduler.placement.plugins.dynamic_resources.device_world import claim_of_extended_resources
from tests.builders import Object, make_pod

GPU = "example.com/gpu"


def container(name: str, number: int) -> Object:
    return {"name": name, "image": "i", "resources": {"requests": {GPU: str(number)}, "limits": {GPU: str(number)}}}


def asked(*, init: int, main: tuple[int, ...]) -> dict[str, int]:
    """Name of each request → devices, for a pod with one init container and these containers."""
    containers = [container(f"main-{index}", number) for index, number in enumerate(main)]
    spec = make_pod("p", spec={"initContainers": [container("init", init)], "containers": containers}).spec
    claim = claim_of_extended_resources(spec, [GPU], {GPU: DeviceClass("gpus", extended_resource=GPU)})
    return {request.name: request.choices[0].number for request in claim.requests}


def test_init_container_has_the_devices_of_the_containers_after_it() -> None:
    each = {"container-1-request-0": 1, "container-2-request-0": 1}

    assert asked(init=2, main=(1, 1)) == each
    assert asked(init=3, main=(1, 1)) == {"container-0-request-0": 1, **each}
