"""StatefulSets recreate pods by ordinal: in which order, of which revision, and which not at all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from descheduler.model.requests import CPU
from descheduler.placement.replacements.answer import Returns
from descheduler.placement.replacements.owners import Owners
from descheduler.placement.replacements.replacement import ReplacementMaker
from tests.builders import NOW, Object, ago, pod_object
from tests.placement.replacements.controllers.answers import answer
from tests.placement.workloads import cluster_of, pod_named, workload_object

MILLI = 10**6


def member(ordinal: int, revision: str = "db-1", **facts: Any) -> Object:
    """A pod of the StatefulSet `db`."""
    labels = {"controller-revision-hash": revision}
    return pod_object(f"db-{ordinal}", owners=["StatefulSet/db"], labels=labels, **facts)


def stateful_set(*, replicas: int = 3, status: Object | None = None, cpu: str = "100m", **spec: Any) -> Object:
    """The StatefulSet `db`, whose present template asks for so much."""
    template = pod_object("t", cpu=cpu)
    return workload_object("StatefulSet/db", replicas=replicas, template=template, **spec) | {"status": status or {}}


@pytest.mark.parametrize(
    "lower",
    [
        pytest.param({"ready": False}, id="not ready"),
        pytest.param({"deleted": 5}, id="terminating"),
        pytest.param({"phase": "Failed", "ready": False}, id="failed"),
        pytest.param({"node": "", "phase": "Pending", "ready": False}, id="pending"),
    ],
)
def test_pod_waits_for_one_of_a_lower_ordinal(lower: Object) -> None:
    made = answer(member(0, **lower), member(1), member(2), stateful_set(), of="db-2")

    assert made.returns is Returns.LATER
    assert made.conditions == ("StatefulSet db waits until pod db-0 is ready",)


def test_pod_waits_for_one_that_is_missing() -> None:
    made = answer(member(1), stateful_set(), of="db-1")

    assert made.conditions == ("StatefulSet db waits until pod db-0 is ready",)


def test_pod_waits_for_one_that_is_evicted_before_it() -> None:
    made = answer(member(0), member(1), stateful_set(), of="db-1", gone=("db-0",))

    assert made.conditions == ("StatefulSet db waits until pod db-0, which is evicted as well, is ready again",)


def test_pod_waits_for_a_broken_one_above_one_that_is_evicted_before_it() -> None:
    pods = member(0), member(1, ready=False), member(2)

    made = answer(*pods, stateful_set(), of="db-2", gone=("db-0",))

    assert made.conditions == ("StatefulSet db waits until pod db-1 is ready",)


def test_pod_has_others_wait_that_are_evicted_before_it() -> None:
    made = answer(member(0), member(1), member(2), stateful_set(), of="db-0", gone=("db-2", "db-1"))

    assert made.returns is Returns.WHEN_GONE
    assert made.conditions == (
        "pod db-1, which is evicted as well, waits until this pod of StatefulSet db is ready again",
    )


@pytest.mark.parametrize(
    "spec",
    [
        pytest.param({"podManagementPolicy": "Parallel"}, id="nobody waits"),
        pytest.param({"replicas": 1}, id="the other one does not come back"),
    ],
)
def test_pod_comes_without_a_condition_where_none_waits_for_it(spec: Object) -> None:
    made = answer(member(0), member(1), stateful_set(**spec), of="db-0", gone=("db-1",))

    assert (made.returns, made.conditions) == (Returns.WHEN_GONE, ())


def test_first_pod_that_is_not_ready_comes_and_higher_ordinals_do_not_matter() -> None:
    made = answer(member(0, ready=False), member(1, ready=False), stateful_set(), of="db-0")

    assert made.returns is Returns.WHEN_GONE


def test_parallel_stateful_set_waits_for_nothing() -> None:
    parallel = stateful_set(podManagementPolicy="Parallel")

    assert answer(member(0, ready=False), member(1), parallel, of="db-1").returns is Returns.WHEN_GONE


@pytest.mark.parametrize(
    ("seconds", "returns"), [(10, Returns.LATER), (20, Returns.WHEN_GONE), (30, Returns.WHEN_GONE)]
)
def test_pod_waits_for_one_that_is_ready_for_less_than_min_ready_seconds(seconds: int, returns: Returns) -> None:
    lower = member(0)
    lower["status"]["conditions"] = [{"type": "Ready", "status": "True", "lastTransitionTime": ago(seconds)}]

    made = answer(lower, member(1), stateful_set(minReadySeconds=20), of="db-1")

    waits = "StatefulSet db waits until pod db-0 has been ready for 20 s (minReadySeconds)"
    assert made.returns is returns
    assert made.conditions == ((waits,) if returns is Returns.LATER else ())


@pytest.mark.parametrize(("now", "knows_since"), [(None, True), (NOW, False)], ids=["the time", "since when it is"])
def test_pod_that_is_ready_is_available_where_nobody_knows(now: datetime | None, knows_since: bool) -> None:
    lower = member(0)
    lower["status"].pop("startTime", None)
    ready = {"type": "Ready", "status": "True"}
    lower["status"]["conditions"] = [ready | ({"lastTransitionTime": ago(5)} if knows_since else {})]
    snapshot = cluster_of(lower, member(1), stateful_set(minReadySeconds=20))

    made = Owners(snapshot, now).answer(pod_named(snapshot, "db-1"))

    assert (made.returns, made.conditions) == (Returns.WHEN_GONE, ())


@pytest.mark.parametrize(("ordinal", "is_created"), [(4, False), (5, True), (7, True), (8, False)])
def test_wanted_ordinals_count_from_the_first(ordinal: int, is_created: bool) -> None:
    parallel = stateful_set(ordinals={"start": 5}, podManagementPolicy="Parallel")

    assert answer(member(ordinal), parallel, of=f"db-{ordinal}").is_created is is_created


class TestRevisions:
    """Which template the pod comes from while two are in use."""

    STATUS = {"currentRevision": "db-1", "updateRevision": "db-2"}  # noqa: RUF012 - not changed

    def cpu_milli(self, ordinal: int, *others: Object, **spec: Any) -> int:
        """What the replacement of `db-ORDINAL` asks for; the present template asks for 900."""
        parallel = stateful_set(cpu="900m", status=self.STATUS, podManagementPolicy="Parallel", **spec)
        snapshot = cluster_of(member(ordinal, cpu="300m"), parallel, *others)
        made = ReplacementMaker(snapshot).replacement_of(pod_named(snapshot, f"db-{ordinal}"))
        assert made.pod is not None
        return made.pod.spec.requests[CPU] // MILLI

    def revision(self) -> Object:
        """What the StatefulSet has kept of its earlier template."""
        template = {"metadata": {}, "spec": pod_object("t", cpu="200m")["spec"]}
        return {
            "apiVersion": "apps/v1",
            "kind": "ControllerRevision",
            "metadata": {"name": "db-1", "namespace": "default"},
            "revision": 1,
            "data": {"spec": {"template": template}},
        }

    def test_ordinals_below_the_partition_come_back_as_they_were(self) -> None:
        partition = {"type": "RollingUpdate", "rollingUpdate": {"partition": 2}}

        found = [self.cpu_milli(ordinal, self.revision(), updateStrategy=partition) for ordinal in (1, 2)]

        assert found == [200, 900]

    def test_partition_counts_from_the_first_ordinal(self) -> None:
        spec = {"updateStrategy": {"rollingUpdate": {"partition": 1}}, "ordinals": {"start": 5}, "replicas": 3}

        assert [self.cpu_milli(ordinal, self.revision(), **spec) for ordinal in (5, 6)] == [200, 900]

    def test_revision_that_is_not_in_the_snapshot_is_read_from_a_pod_that_has_it(self) -> None:
        partition = {"rollingUpdate": {"partition": 2}}

        assert self.cpu_milli(1, updateStrategy=partition) == 300

    def test_on_delete_gives_the_newest_template(self) -> None:
        assert self.cpu_milli(1, self.revision(), updateStrategy={"type": "OnDelete"}) == 900


def test_revision_that_no_pod_has_leaves_a_doubt() -> None:
    status = {"currentRevision": "db-1", "updateRevision": "db-2"}
    kept = stateful_set(status=status, updateStrategy={"rollingUpdate": {"partition": 3}})

    assert "is not in the snapshot" in answer(member(0, "db-2"), kept, of="db-0").doubt


def test_revision_without_a_template_is_read_from_a_pod_that_has_it() -> None:
    status = {"currentRevision": "db-1", "updateRevision": "db-2"}
    kept = stateful_set(status=status, updateStrategy={"rollingUpdate": {"partition": 3}})
    metadata = {"name": "db-1", "namespace": "default"}
    revision = {"apiVersion": "apps/v1", "kind": "ControllerRevision", "metadata": metadata, "revision": 1, "data": {}}

    made = answer(member(0, "db-2"), member(1, "db-1"), kept, revision, of="db-0")

    assert made.revision is None
    assert made.like is not None
    assert made.like.name == "db-1"


def test_set_that_its_controller_has_not_seen_yet_keeps_no_revision() -> None:
    fresh = stateful_set(status={"observedGeneration": 1}, updateStrategy={"rollingUpdate": {"partition": 3}})
    fresh["metadata"]["generation"] = 2

    assert answer(member(0), fresh, of="db-0").doubt == ""


def test_orphan_keeps_the_name_that_its_former_stateful_set_needs() -> None:
    orphan = pod_object("db-0", owners=[])

    assert answer(orphan, stateful_set(), of="db-0").returns is Returns.LATER


def test_numbers_beyond_any_set_take_no_longer() -> None:
    """Ordinals are what a pod's name and the set's `replicas` say: both can be the largest number there is."""
    most = 2**31 - 1

    made = answer(member(most - 1), stateful_set(replicas=most), of=f"db-{most - 1}")

    assert made.conditions == ("StatefulSet db waits until pod db-0 is ready",)


@given(seed=st.integers(0, 2**16))
def test_random_sets_wait_for_what_the_rules_say(seed: int) -> None:
    """Questions follow one another about different pods that have left, of one snapshot."""
    generator = Random(seed)
    first, replicas = generator.choice((0, 4)), generator.randint(1, 6)
    ordinals = [number for number in range(first, first + replicas) if generator.random() < 0.9]
    since_ready = {number: generator.choice((None, 10, 30)) for number in ordinals}
    snapshot = cluster_of(
        stateful_set(replicas=replicas, minReadySeconds=20, ordinals={"start": first}),
        *(_member_ready_for(number, seconds) for number, seconds in since_ready.items()),
    )
    owners, pods = Owners(snapshot, NOW), {number: pod_named(snapshot, f"db-{number}") for number in ordinals}
    for _ in range(8 if ordinals else 0):
        left = generator.sample(ordinals, generator.randrange(len(ordinals)))
        asked = generator.choice([number for number in ordinals if number not in left])

        made = owners.answer(pods[asked], [pods[number] for number in left])

        waits = _what_it_waits_for(range(first, asked), since_ready, left)
        above = min((number for number in left if number > asked), default=None)
        waiting = f"pod db-{above}, which is evicted as well, waits until this pod of StatefulSet db is ready again"
        by_rule = f"StatefulSet db waits until pod {waits}" if waits else waiting if above is not None else ""
        assert made.conditions == ((by_rule,) if by_rule else ())


def _member_ready_for(ordinal: int, seconds: int | None) -> Object:
    """A pod that has been ready for so long; None for one that is not."""
    found = member(ordinal, ready=seconds is not None)
    if seconds is not None:
        found["status"]["conditions"] = [{"type": "Ready", "status": "True", "lastTransitionTime": ago(seconds)}]
    return found


def _what_it_waits_for(lower: range, since_ready: Mapping[int, int | None], left: Sequence[int]) -> str:
    """Rule 15 of the recorded cases, ordinal by ordinal; one that is not ready comes before all others."""
    for number in lower:
        if number not in left and since_ready.get(number) is None:
            return f"db-{number} is ready"
    for number in lower:
        if number in left:
            return f"db-{number}, which is evicted as well, is ready again"
        if since_ready[number] == 10:
            return f"db-{number} has been ready for 20 s (minReadySeconds)"
    return ""


@pytest.mark.parametrize(
    ("replicas", "start", "ordinals"),
    [(2, 0, "ordinals 0 to 1"), (3, 5, "ordinals 5 to 7"), (0, 0, "no ordinals")],
)
def test_pod_beyond_the_ordinals_is_not_created(replicas: int, start: int, ordinals: str) -> None:
    made = answer(member(9), stateful_set(replicas=replicas, ordinals={"start": start}), of="db-9")

    assert made.cause == f"StatefulSet db has {ordinals} (replicas: {replicas})"
