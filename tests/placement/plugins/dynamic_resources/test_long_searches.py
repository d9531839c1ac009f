"""Claims for which the search for devices takes too long: nothing is told of them, in a time that is bounded."""

from __future__ import annotations

import pytest

from descheduler.placement.plugins.dynamic_resources import device_world
from tests.builders import Object, node_object
from tests.placement.considered import LIKELY, consider
from tests.placement.plugins.dynamic_resources.test_replacements import X_ON_A, A, B, pod_with_own_claim, world
from tests.placement.plugins.dynamic_resources.worlds import (
    GPU,
    claim,
    claiming,
    device,
    device_class,
    evaluate,
    request,
    scheduler_of,
    slice_of,
    template,
)
from tests.work_counts import num_calls

NUMBER = f"has(device.attributes['{GPU}'].number) && device.attributes['{GPU}'].number"
ASKED = request("r", f"{NUMBER} < 90", count=6), request("s", f"{NUMBER} == 99")
"""Any six of thirty devices, of which none is like another, and a seventh that hardly a node has."""
DISTINCT = [{"distinctAttribute": f"{GPU}/number"}]


def devices_of(node: str, *, has_seventh: bool = False) -> Object:
    numbers = [*range(30), *([99] if has_seventh else [])]
    return slice_of(node, *(device(f"d{number}", {"number": number}) for number in numbers))


@pytest.mark.long
def test_landing_is_likely_where_a_node_is_not_searched_to_the_end() -> None:
    asked = template("gpus", *ASKED)
    asked["spec"]["spec"]["devices"]["constraints"] = DISTINCT

    landing = consider(
        world(
            A,
            B,
            X_ON_A,
            devices_of("b"),
            *(node_object("c"), devices_of("c", has_seventh=True)),
            *pod_with_own_claim("victim", "a"),
            asked,
        )
    )

    assert landing.verdict is LIKELY
    assert landing.cause.startswith("the search for devices takes too many steps")


@pytest.mark.long
def test_no_more_than_some_nodes_are_searched_that_far(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device_world, "_MOST_STEPS", 5_000)

    def work(number: int) -> int:
        names = [f"n{place}" for place in range(number)]
        asked = claim("c", *ASKED, constraints=DISTINCT)
        scheduler = scheduler_of(device_class(), *map(node_object, names), *map(devices_of, names), asked)
        return num_calls(lambda: evaluate(scheduler, claiming("p", "c")))

    assert work(20) < 1.5 * work(4)
