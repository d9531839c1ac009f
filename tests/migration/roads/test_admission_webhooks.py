"""Placeholders that a mutating admission webhook has changed: they hold nothing, and none of them is left behind."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from descheduler.cycle.options import RunResult
from descheduler.migration.room.labels import labels_of
from descheduler.plan.outcome import OutcomeCode
from tests.faults.faults import Act, Delivery, Fault
from tests.faults.rooms.kinds import OWNER
from tests.living.api.server import Call
from tests.living.builders import pod, priority_class
from tests.living.cluster import LivingCluster
from tests.living.faults import AnyFault, FaultyWay, Killed
from tests.migration.roads.test_look_alikes import edit, left_alone, placeholders, uids
from tests.migration.roads.whole_runs import LEASE_SECONDS, WAYS, live_run, policy_of, world

Object = dict[str, Any]
PLACEHOLDERS, RESERVATIONS = WAYS["placeholders"], WAYS["reservations"]
POLICY = policy_of(PLACEHOLDERS)


def add_sidecar(pod: Object) -> None:
    pod["spec"]["containers"].append({"name": "proxy", "image": "proxy:1"})


def drop_labels(pod: Object) -> None:
    pod["metadata"]["labels"] = {"team": "a"}


CHANGES: dict[str, Callable[[Object], None]] = {
    "a sidecar": add_sidecar,
    "an init container": edit("spec.initContainers", [{"name": "a", "image": "b"}]),
    "another image": edit("spec.containers.0.image", "mirror/pause@sha256:abc"),
    "another class": edit("spec.priorityClassName", "high"),
    "a command": edit("spec.containers.0.command", ["/init"]),
    "a grace period": edit("spec.terminationGracePeriodSeconds", 30),
    "a token": edit("spec.automountServiceAccountToken", True),
    "other labels": drop_labels,
}
UNCLEAR: dict[str, AnyFault] = {
    "504": Fault(Act.AT_ONCE, 504),
    "reset": Fault(Act.AT_ONCE, delivery=Delivery.RESET),
    "504, then the effect": Fault(Act.LATE, 504, late_seconds=20.0),
}
EVERY = pytest.mark.parametrize("change", CHANGES)


def with_webhook(change: str) -> LivingCluster:
    """A cluster in which each placeholder is changed so on creation."""
    cluster = world(PLACEHOLDERS)
    cluster.add(priority_class("high", 1000))

    def mutate(created: Object) -> None:
        if created["kind"] == "Pod" and created["metadata"]["name"].startswith("placeholder-"):
            CHANGES[change](created)

    cluster.api.mutating.append(mutate)
    return cluster


def run(cluster: LivingCluster, passage: FaultyWay) -> RunResult:
    result = live_run(cluster, POLICY, passage)
    assert cluster.api.sent("POST", "/eviction") == []
    return result


def met(method: str, part: str, fault: AnyFault) -> Callable[[Call], AnyFault | None]:
    """Has every such call meet `fault`."""
    return lambda call: fault if call.request.method == method and part in call.request.path else None


def calls(cluster: LivingCluster) -> list[tuple[int, str]]:
    """Number and subject of each call of a run."""
    found: list[tuple[int, str]] = []
    way = FaultyWay(cluster.api)
    way = FaultyWay(cluster.api, lambda call: found.append((way.num_calls, call.subject)))
    live_run(cluster, POLICY, way)
    return found


@EVERY
def test_a_changed_placeholder_is_given_back_at_once(change: str) -> None:
    cluster = with_webhook(change)

    result = run(cluster, FaultyWay(cluster.api))

    assert placeholders(cluster) == []
    assert {outcome.code for outcome in result.outcomes} == {OutcomeCode.NO_ROOM}
    assert all("(admission webhook)" in outcome.message for outcome in result.outcomes)


@pytest.mark.parametrize("effect", UNCLEAR)
@EVERY
def test_a_changed_placeholder_without_a_clear_answer_is_given_back(change: str, effect: str) -> None:
    cluster = with_webhook(change)

    run(cluster, FaultyWay(cluster.api, met("POST", "/namespaces/shop/pods", UNCLEAR[effect])))

    assert placeholders(cluster) == []


@EVERY
def test_a_changed_placeholder_is_given_back_where_its_deletion_has_no_effect_at_first(change: str) -> None:
    cluster = with_webhook(change)
    left = [1]

    def choose(call: Call) -> AnyFault | None:
        if call.request.method != "DELETE" or "/placeholder-" not in call.request.path or not left[0]:
            return None
        left[0] -= 1
        return Fault(Act.NEVER, 504)

    run(cluster, FaultyWay(cluster.api, choose))

    assert placeholders(cluster) == []


@EVERY
def test_a_changed_placeholder_of_a_killed_run_is_removed_by_the_next(change: str) -> None:
    cluster = with_webhook(change)
    number = next(n for n, subject in calls(with_webhook(change)) if subject.startswith("DELETE"))
    with pytest.raises(Killed):
        live_run(cluster, POLICY, FaultyWay(cluster.api, kill_at=number))
    assert placeholders(cluster)
    cluster.clock.sleep(LEASE_SECONDS + 20.0)

    result = live_run(cluster, POLICY)

    assert placeholders(cluster) == []
    assert left_alone(result) == []


def test_a_look_alike_beside_a_job_of_ours_is_left_alone() -> None:
    """Whoever reads jobs knows the name and the labels, but the API server says that he has created the pod."""
    cluster = world(PLACEHOLDERS)
    way = FaultyWay(cluster.api)

    def come_first() -> None:
        for job in (found for found in cluster.all("configmaps") if "descheduler-job-" in found["metadata"]["name"]):
            uid = job["metadata"]["uid"]
            if cluster.get("pods", f"placeholder-{uid}", "shop") is None:
                alike = pod(f"placeholder-{uid}", on="n2")
                alike["metadata"]["labels"] |= labels_of(uid, OWNER)
                body = json.dumps({name: alike[name] for name in ("metadata", "spec")}).encode()
                cluster.client(agent="tenant").send("POST", "/api/v1/namespaces/shop/pods", body=body)

    way.before("POST", "/namespaces/shop/pods", come_first)
    way.before("POST", "/namespaces/shop/pods", come_first)
    live_run(cluster, POLICY, way)
    alike = uids(cluster) & {found["metadata"]["uid"] for found in placeholders(cluster)}
    assert len(alike) == 2

    cluster.clock.sleep(60.0)
    live_run(cluster, POLICY)

    assert alike <= uids(cluster)


ROOM_CHANGES: dict[str, Callable[[Object], None]] = {
    "for several pods": edit("spec.allocateOnce", False),
    "other labels": drop_labels,
}


@pytest.mark.parametrize("effect", [*UNCLEAR, "none"])
@pytest.mark.parametrize("change", ROOM_CHANGES)
def test_a_changed_reservation_is_given_back(change: str, effect: str) -> None:
    cluster = world(RESERVATIONS)
    cluster.api.mutating.append(
        lambda created: ROOM_CHANGES[change](created) if created["kind"] == "Reservation" else None
    )
    faults = met("POST", "/reservations", UNCLEAR[effect]) if effect in UNCLEAR else lambda call: None

    live_run(cluster, policy_of(RESERVATIONS), FaultyWay(cluster.api, faults))

    assert cluster.api.sent("POST", "/eviction") == []
    assert cluster.all("reservations.scheduling.koordinator.sh") == []
