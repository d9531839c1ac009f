"""Answers that are kept while devices come and go are those of a search that has kept none."""

from __future__ import annotations

import random

import pytest

from descheduler.model.pod import Pod
from descheduler.placement.framework.attempt import put_on_node
from descheduler.placement.framework.scheduler import Scheduler
from descheduler.placement.plugins.dynamic_resources import usage
from descheduler.placement.plugins.dynamic_resources.grants import ClaimLedger
from tests.builders import Object, make_pod, node_object
from tests.placement.plugins.dynamic_resources.worlds import (
    GPU,
    claim,
    claiming,
    device,
    device_class,
    devices_on,
    on_nodes,
    request,
    scheduler_of,
    slice_of,
)

NODES = ("a", "b", "c")
NUM_PODS = 8
DEPTH = 4


def world(drawn: random.Random) -> tuple[Scheduler, list[Pod]]:
    """Three nodes with three devices each, one of which several can see, and pods that ask for one or two."""
    names = [f"claim-{number}" for number in range(NUM_PODS)]
    objects = [
        device_class("gpu"),
        *(node_object(name) for name in NODES),
        *(slice_of(name, *(device(f"gpu-{n}", {"m": "AB"[n % 2]}) for n in range(3))) for name in NODES),
        slice_of("", device("shared"), pool="everywhere", allNodes=True),
        *_parts_of_one_card(),
        *(claim(name, request("r", *_drawn_selector(drawn), count=drawn.choice([1, 2]))) for name in names),
    ]
    return scheduler_of(*objects), [claiming(f"pod-of-{name}", name) for name in names]


def _parts_of_one_card() -> list[Object]:
    """One for each node, and two of them use the card up."""
    counters = [{"name": "card", "counters": {"parts": {"value": "2"}}}]
    use = [{"counterSet": "card", "counters": {"parts": {"value": "1"}}}]
    parts = [
        slice_of(name, device(f"part-{name}", {"m": "A"}, consumesCounters=use), pool="card", name=f"card-{name}")
        for name in NODES
    ]
    pieces = [slice_of("", pool="card", name="card", allNodes=True, sharedCounters=counters), *parts]
    del pieces[0]["spec"]["devices"]
    for piece in pieces:
        piece["spec"]["pool"]["resourceSliceCount"] = len(pieces)
    return pieces


def _drawn_selector(drawn: random.Random) -> list[str]:
    return drawn.choice([[], [f"'m' in device.attributes['{GPU}'] && device.attributes['{GPU}'].m == 'A'"]])


@pytest.mark.parametrize("longest", [1, 3, 10_000], ids=lambda each: f"epochs of {each}")
@pytest.mark.parametrize("seed", range(8))
def test_kept_answers_are_those_of_a_search_that_has_kept_none(
    monkeypatch: pytest.MonkeyPatch, seed: int, longest: int
) -> None:
    monkeypatch.setattr(usage, "_LONGEST_EPOCH", longest)
    drawn = random.Random(seed)
    scheduler, pods = world(drawn)
    claims = scheduler.cluster.ledger(ClaimLedger).claims

    def compare() -> None:
        pod = drawn.choice(pods)
        kept = devices_on(scheduler, pod)
        claims.usage.epoch += 1
        assert kept == devices_on(scheduler, pod)

    def play(depth: int) -> None:
        """Places pods, looks, and takes them back, some of them within what others have changed."""
        compare()
        with scheduler.cluster.what_if():
            for pod in drawn.sample(pods, 2):
                evaluation = scheduler.evaluate(pod)
                if evaluation.num_nodes:
                    put_on_node(evaluation, drawn.choice(evaluation.nodes.tolist()))
                compare()
            if depth:
                play(depth - 1)
        compare()

    before = claims.fingerprint()
    play(DEPTH)

    assert claims.fingerprint() == before


@pytest.mark.parametrize("seed", range(8))
def test_no_device_is_taken_twice(seed: int) -> None:
    drawn = random.Random(seed)
    scheduler, pods = world(drawn)
    taken: list[str] = []
    for pod in drawn.sample(pods, len(pods)):
        evaluation = scheduler.evaluate(pod)
        if evaluation.num_nodes:
            node = drawn.choice(evaluation.nodes.tolist())
            found = devices_on(scheduler, pod)[NODES[node]]
            taken += [name.partition("=")[2] + ("" if "shared" in name else NODES[node]) for name in found]
            put_on_node(evaluation, node)

    assert len(taken) >= 3
    assert len({*taken}) == len(taken)


def test_state_differs_by_a_further_consumer_of_a_claim() -> None:
    shared = claim("c", request("r"), devices=["x"], consumers=["other"])
    scheduler = scheduler_of(device_class(), node_object("a"), slice_of("a", device("x")), shared)
    claims = scheduler.cluster.ledger(ClaimLedger).claims
    before = claims.fingerprint()

    with scheduler.cluster.what_if():
        put_on_node(scheduler.evaluate(claiming("p", "c")), 0)
        within = claims.fingerprint()

    assert within != before
    assert claims.fingerprint() == before


def test_claim_for_extended_resources_is_kept_once_for_all_verdicts() -> None:
    resource = "example.com/gpu"
    world = node_object("a"), device_class(extendedResourceName=resource), slice_of("a", device("x"))
    scheduler = scheduler_of(*world)
    pod = make_pod("p", node="", phase="Pending", requests={resource: "1"})

    first, second = (on_nodes(scheduler.evaluate(pod)).made_for(0) for _ in range(2))

    assert first is not None
    assert second is not None
    assert first.spec is second.spec


def test_selectors_tell_devices_apart_whose_attributes_are_of_another_type() -> None:
    devices = [device("x", {"m": True}), device("y", {"m": 1})]
    wanted = claim("c", request("r", "device.attributes['gpu.example.com'].m == 1"))

    scheduler = scheduler_of(device_class(), node_object("a"), slice_of("a", *devices), wanted)

    assert devices_on(scheduler, claiming("p", "c")) == {"a": ["r=y"]}
