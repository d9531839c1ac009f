"""Which devices pods get for extended resources that a DeviceClass serves."""

from __future__ import annotations

from typing import Any

import pytest

from tests.builders import Object, make_pod, node_object
from tests.placement.plugins.dynamic_resources.worlds import device, device_class, on_nodes, scheduler_of, slice_of


class TestExtendedResources:
    """A DeviceClass and a device plugin serve the same resource, each on nodes of its own."""

    NAME = "example.com/gpu"
    WORLD = (
        device_class(extendedResourceName=NAME),
        node_object("dra"),
        node_object("none"),
        node_object("plugin", allocatable={NAME: "2"}),
        node_object("zero", allocatable={NAME: "0"}),
        slice_of("dra", device("x"), device("y")),
        slice_of("zero", device("x")),
    )

    @pytest.mark.parametrize(("number", "expected"), [(1, ["dra", "plugin", "zero"]), (2, ["dra", "plugin"]), (3, [])])
    def test_pod_goes_where_one_of_them_has_enough(self, number: int, expected: list[str]) -> None:
        scheduler = scheduler_of(*self.WORLD)

        evaluation = scheduler.evaluate(make_pod("p", node="", requests={self.NAME: str(number)}))

        assert [scheduler.cluster.table.names[node] for node in evaluation.nodes.tolist()] == expected

    @pytest.mark.parametrize(
        ("init", "containers", "expected"),
        [
            pytest.param([(1, False)], [2], {"container-1-request-0": 2}, id="init container has what is idle"),
            pytest.param(
                [(3, False)], [2], {"container-0-request-0": 1, "container-1-request-0": 2}, id="it needs one more"
            ),
            pytest.param(
                [(1, True)], [2], {"container-0-request-0": 1, "container-1-request-0": 2}, id="a sidecar keeps its own"
            ),
            pytest.param(
                [(1, True), (3, False)],
                [2],
                {"container-0-request-0": 1, "container-1-request-0": 1, "container-2-request-0": 2},
                id="an init container has nothing of a sidecar before it",
            ),
        ],
    )
    def test_init_containers_use_what_later_containers_hold(
        self, init: list[tuple[int, bool]], containers: list[int], expected: dict[str, int]
    ) -> None:
        def container(name: str, number: int, **fields: Any) -> Object:
            return {"name": name, "image": "i", "resources": {"requests": {self.NAME: str(number)}}, **fields}

        spec = {
            "initContainers": [
                container(f"i{place}", number, **({"restartPolicy": "Always"} if is_sidecar else {}))
                for place, (number, is_sidecar) in enumerate(init)
            ],
            "containers": [container(f"c{place}", number) for place, number in enumerate(containers)],
        }
        scheduler = scheduler_of(*self.WORLD)

        made = on_nodes(scheduler.evaluate(make_pod("p", node="", spec=spec))).made_for(0)

        assert made is not None
        assert {each.name: each.choices[0].number for each in made.spec.requests} == expected
