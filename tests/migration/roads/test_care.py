"""Verified plans without jobs: waves, one pod of a workload at a time, and a look before each eviction."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from msgspec.structs import replace

from descheduler.cluster.objects import snapshot_from_objects
from descheduler.cluster.snapshot import Snapshot
from descheduler.kube.evict import EvictionClient
from descheduler.migration.roads.care import Care, plain_care
from descheduler.migration.roads.plain import execute
from descheduler.migration.settings import DispatchSettings
from descheduler.placement.landings.landing import Landing, LandingVerdict
from descheduler.placement.replacements.replacement import ReplacementMaker
from descheduler.plan.outcome import Outcome, OutcomeCode, OutcomeKind
from descheduler.plan.planned import PlannedEviction
from tests.faults.faults import Answer
from tests.faults.wire import json_answer
from tests.living.acting.kubelet import NEVER_READY, READY_SECONDS
from tests.living.api.server import Call
from tests.living.builders import budget, deployment, living_cluster, node
from tests.living.cluster import LivingCluster
from tests.living.transport import Passage
from tests.migration.roads.playing import Play

SETTINGS = DispatchSettings(qps=1000.0, burst=1000)
TAINTED = "gone=soon:NoSchedule"


@dataclass
class Watched(Passage):
    """Notes what is there when an eviction is asked for; may do something then, or fail reads."""

    cluster: LivingCluster
    at_eviction: Callable[[], object] = lambda: None
    fails: Callable[[Call], bool] = lambda call: False
    seen: list[list[str]] = field(default_factory=list)
    """At each eviction the apps of all pods that serve on another node than n1."""

    def answer(self, call: Call, carry_out: Callable[[], Answer]) -> Answer:
        """As the server answers, or 403 for what fails."""
        if self.fails(call):
            return json_answer(403, {"kind": "Status", "status": "Failure", "code": 403, "message": "no"})
        if call.request.path.endswith("/eviction"):
            self.seen.append(sorted(_app(pod) for pod in self.cluster.pods() if _serves_away(pod)))
            self.at_eviction()
        return carry_out()


def _app(pod: dict[str, Any]) -> str:
    return str(pod["metadata"]["labels"]["app"])


def _serves_away(pod: dict[str, Any]) -> bool:
    conditions = {each["type"]: each["status"] for each in pod["status"].get("conditions", ())}
    return pod["spec"].get("nodeName") not in ("n1", None) and conditions.get("Ready") == "True"


class Run:
    """Plain evictions of a plan over `cluster` as it is now."""

    def __init__(self, cluster: LivingCluster, *, is_careful: bool = True) -> None:
        self.cluster = cluster
        self.way = Watched(cluster)
        self.snapshot = snapshot_of(cluster)
        self._play = Play(cluster).through(self.way)
        self._is_careful = is_careful
        self._care: Care | None = None

    def evict(self, *evictions: PlannedEviction, settings: DispatchSettings = SETTINGS) -> list[OutcomeCode]:
        """What became of them."""
        return [outcome.code for outcome in self.outcomes(*evictions, settings=settings)]

    def outcomes(self, *evictions: PlannedEviction, settings: DispatchSettings = SETTINGS) -> Sequence[Outcome]:
        """Their outcomes."""
        self._play.settings = settings
        around, objects = self._play.surroundings(), self._play.objects
        port = EvictionClient(self._play.client)
        if not self._is_careful:
            return execute(evictions, port, settings, around)
        care = self._care = self._care or plain_care(objects, self.snapshot, settings, around)
        return execute(evictions, port, settings, around, lambda: care)

    def move(self, app: str, to: str = "", *, wave: int = 1, bundle: int = 0) -> PlannedEviction:
        """The eviction of the only pod of `app`, whose replacement is expected on `to`, if that is said."""
        (pod,) = self.cluster.pods(app, node="n1") or self.cluster.pods(app)
        return self.leave(pod, to, wave=wave, bundle=bundle)

    def leave(self, pod: dict[str, Any], to: str = "", *, wave: int = 1, bundle: int = 0) -> PlannedEviction:
        """The same of this pod."""
        where = pod["spec"]["nodeName"]
        planned = replace(self._play.task(pod).eviction, node=where, wave=wave, bundle=bundle)
        return replace(planned, landing=self._landing(planned.uid, to)) if to else planned

    def _landing(self, uid: str, to: str) -> Landing:
        victim, lands = next(pod for pod in self.snapshot.pods if pod.uid == uid), LandingVerdict.LANDS
        replacement = ReplacementMaker(self.snapshot).replacement_of(victim)
        return Landing(victim, replacement, lands, lands, node=to)

    @property
    def num_reads(self) -> int:
        """How many reads were made."""
        return len(self.cluster.api.sent("GET"))


def snapshot_of(cluster: LivingCluster) -> Snapshot:
    """All that a plan needs to see."""
    kinds = ("nodes", "pods", "replicasets.apps", "deployments.apps")
    return snapshot_from_objects(found for kind in kinds for found in cluster.all(kind))


def one_each(*apps: str, taints: Sequence[str] = (TAINTED,), **facts: Any) -> LivingCluster:
    """A pod of each of `apps` on the node n1, and two free nodes."""
    workloads = [deployment(app, 1, on=["n1"], grace_seconds=5, **facts) for app in apps]
    return living_cluster([node("n1", taints=taints), node("n2"), node("n3")], workloads)


def test_a_wave_begins_once_the_pods_of_the_last_are_gone_and_replaced() -> None:
    run = Run(one_each("a", "b", "c", "d"))

    codes = run.evict(run.move("d", wave=3), run.move("a"), run.move("b"), run.move("c", wave=2))

    assert codes == [OutcomeCode.DONE] * 4
    assert run.way.seen == [[], [], ["a", "b"], ["a", "b", "c"]]


def test_without_care_all_waves_leave_at_once() -> None:
    run = Run(one_each("a", "b", "c"), is_careful=False)

    run.evict(run.move("a"), run.move("b", wave=2), run.move("c", wave=3))

    assert run.way.seen == [[], [], []]
    assert run.num_reads == 0


def test_one_pod_of_a_workload_leaves_at_a_time() -> None:
    workloads = [deployment("a", 3, on=["n1"] * 3, grace_seconds=5), deployment("b", 1, on=["n1"], grace_seconds=5)]
    run = Run(living_cluster([node("n1", taints=[TAINTED]), node("n2"), node("n3")], workloads))

    codes = run.evict(*[run.leave(pod) for pod in run.cluster.pods("a")], run.move("b"))

    assert codes == [OutcomeCode.DONE] * 4
    assert [seen.count("a") for seen in run.way.seen] == [0, 0, 1, 2]


def test_a_wave_of_a_later_round_waits_for_those_of_the_rounds_before() -> None:
    run = Run(one_each("a", "b"))
    first, second = run.move("a"), run.move("b", wave=2)

    run.evict(first)
    run.evict(second)

    assert run.way.seen == [[], ["a"]]


def test_nobody_waits_where_nothing_is_left_to_begin() -> None:
    run = Run(one_each("a", "b"))
    began = run.cluster.clock.monotonic()

    run.evict(run.move("a"), run.move("b"))

    assert run.cluster.clock.monotonic() - began < 1.0


def test_what_comes_after_a_replacement_without_a_node_stays_after_a_while() -> None:
    workloads = [deployment("c", 2, on=["n1"] * 2), *(deployment(app, 1, on=["n1"]) for app in ("b", "d"))]
    run = Run(living_cluster([node("n1", taints=[TAINTED]), node("n2")], workloads))
    run.cluster.pause_scheduling()
    first, second = run.cluster.pods("c")
    began = run.cluster.clock.monotonic()

    outcomes = run.outcomes(run.leave(first), run.leave(second), run.move("d"), run.move("b", wave=2))

    name = first["metadata"]["name"]
    assert [(each.kind, each.code, each.num_attempts) for each in outcomes] == [
        (OutcomeKind.EVICTED, OutcomeCode.DONE, 1),
        (OutcomeKind.NOT_ATTEMPTED, OutcomeCode.REPLACEMENT_PENDING, 0),
        (OutcomeKind.EVICTED, OutcomeCode.DONE, 1),
        (OutcomeKind.NOT_ATTEMPTED, OutcomeCode.REPLACEMENT_PENDING, 0),
    ]
    assert outcomes[3].message == f"the replacement of pod shop/{name} was not scheduled within 120 s"
    assert 115 < run.cluster.clock.monotonic() - began < 130


def test_a_wave_of_a_later_round_stays_too() -> None:
    run = Run(one_each("a", "b", "c"))
    run.cluster.pause_scheduling()
    evictions = run.move("a"), run.move("b", wave=2), run.move("c", wave=3)

    run.evict(*evictions[:2])

    assert run.evict(evictions[2]) == [OutcomeCode.REPLACEMENT_PENDING]


def test_the_next_wave_begins_after_a_while_where_the_replacements_are_scheduled() -> None:
    run = Run(one_each("a", "b", annotations={READY_SECONDS: NEVER_READY}))
    began = run.cluster.clock.monotonic()

    codes = run.evict(run.move("a"), run.move("b", wave=2))

    assert codes == [OutcomeCode.DONE] * 2
    assert 115 < run.cluster.clock.monotonic() - began < 130


def test_a_replacement_that_is_known_not_to_come_is_not_waited_for() -> None:
    run = Run(one_each("a", "b"))
    run.cluster.pause_scheduling()
    lost = run.move("a", "n2")
    assert lost.landing is not None
    none = replace(lost.landing, node=None, replacement=replace(lost.landing.replacement, pod=None))
    began = run.cluster.clock.monotonic()

    codes = run.evict(replace(lost, landing=none), run.move("b", wave=2))

    assert codes == [OutcomeCode.DONE] * 2
    assert 1 <= run.cluster.clock.monotonic() - began < 15


def test_a_refused_eviction_holds_no_wave_back() -> None:
    cluster = one_each("a", "b")
    cluster.add(budget("a", minAvailable=1))
    cluster.clock.sleep(5)
    run = Run(cluster)
    began = cluster.clock.monotonic()

    codes = run.evict(run.move("a"), run.move("b", wave=2))

    assert codes == [OutcomeCode.BUDGET, OutcomeCode.DONE]
    assert cluster.clock.monotonic() - began < 5.0


def test_pods_whose_node_has_lost_its_taint_since_the_plan_stay() -> None:
    run = Run(one_each("a", "b"))
    evictions = [run.move("a"), run.move("b")]
    run.cluster.store.edit("nodes", "n1", "", lambda found: found["spec"].pop("taints"))

    outcomes = run.outcomes(*evictions)

    assert [(each.kind, each.code, each.num_attempts) for each in outcomes] == [
        (OutcomeKind.REFUSED, OutcomeCode.CHANGED, 0)
    ] * 2
    assert outcomes[0].message == "node n1, which the pod was to leave, has lost the taint gone"
    assert run.way.seen == []


def test_a_pod_whose_target_is_full_by_now_stays_and_the_others_leave() -> None:
    run = Run(one_each("a", "b", cpu="3"))
    evictions = [run.move("a", "n2"), run.move("b", "n3")]
    for part in deployment("newcomer", 1, on=["n2"], cpu="3"):
        run.cluster.add(part)
    run.cluster.clock.sleep(5)

    codes = run.evict(*evictions)

    # The replacement of the first can go to n3, which the second counts on.
    assert codes == [OutcomeCode.DONE, OutcomeCode.CHANGED]
    run.cluster.clock.sleep(60)
    assert run.cluster.nodes_of("a") == ["n3"]


def test_a_move_that_nobody_has_verified_goes_without_room() -> None:
    run = Run(one_each("a", cpu="3"))
    evictions = [run.move("a")]
    for name in ("n2", "n3"):
        for part in deployment(f"on-{name}", 1, on=[name], cpu="3"):
            run.cluster.add(part)

    assert run.evict(*evictions) == [OutcomeCode.DONE]


def test_a_move_counts_on_the_room_of_those_that_leave_before() -> None:
    """The plan moves b where a was, in one wave."""
    workloads = [deployment("a", 1, on=["n1"], cpu="3"), deployment("b", 1, on=["n2"], cpu="3")]
    run = Run(living_cluster([node("n1"), node("n2"), node("n3")], workloads))

    codes = run.evict(run.move("a", "n3"), run.move("b", "n1"))

    assert codes == [OutcomeCode.DONE] * 2


def test_room_of_a_pod_that_is_refused_is_not_counted_on_whenever_the_answer_comes() -> None:
    workloads = [deployment("a", 1, on=["n1"], cpu="3"), deployment("b", 1, on=["n2"], cpu="3800m")]
    cluster = living_cluster([node("n1"), node("n2", taints=[TAINTED]), node("n3", cpu="3500m")], workloads)
    cluster.add(budget("a", minAvailable=1))
    cluster.clock.sleep(5)
    run = Run(cluster)
    second = threading.Event()
    run.way.at_eviction = lambda: second.set() if len(run.way.seen) > 1 else second.wait(0.5)

    codes = run.evict(run.move("a", "n3"), run.move("b", "n1"))

    assert codes == [OutcomeCode.BUDGET, OutcomeCode.CHANGED]
    assert len(run.way.seen) == 1


def test_what_cannot_be_looked_at_is_not_evicted() -> None:
    run = Run(one_each("a", "b"))
    run.way.fails = lambda call: call.request.method == "GET"

    outcomes = run.outcomes(run.move("a"), run.move("b"))

    assert [(each.kind, each.code) for each in outcomes] == [(OutcomeKind.NOT_ATTEMPTED, OutcomeCode.SERVER_ERROR)] * 2
    assert outcomes[0].message.startswith("not checked again before the eviction: ")
    assert run.way.seen == []


def test_a_look_that_fails_is_made_five_times() -> None:
    run, looks = Run(one_each("a")), list[str]()

    def fails(call: Call) -> bool:
        looks.extend([call.request.path] if call.request.method == "GET" else ())
        return call.request.method == "GET"

    run.way.fails = fails
    run.outcomes(run.move("a"))

    assert len(looks) == 5 * len(set(looks))


def test_a_bundle_of_which_one_does_not_hold_any_more_stays_whole() -> None:
    run = Run(one_each("a", "b"))
    evictions = [run.move("a", bundle=1), run.move("b", bundle=1)]
    run.cluster.store.edit("pods", evictions[1].name, "shop", lambda found: found["metadata"]["labels"].update(x="y"))

    codes = run.evict(*evictions)

    assert codes == [OutcomeCode.BUNDLE, OutcomeCode.CHANGED]
    assert run.way.seen == []


def test_a_move_that_waits_long_for_the_pace_is_looked_at_again() -> None:
    run = Run(one_each("a", "b"))
    evictions = [run.move("a"), run.move("b")]
    run.way.at_eviction = lambda: run.cluster.store.edit("nodes", "n1", "", lambda found: found["spec"].clear())

    codes = run.evict(*evictions, settings=replace(SETTINGS, qps=0.18, burst=1))

    assert codes == [OutcomeCode.DONE, OutcomeCode.CHANGED]


def test_pace_of_a_careful_run_is_that_of_its_settings() -> None:
    run = Run(one_each("a", "b", "c", "d"))
    evictions = [run.move(app) for app in "abcd"]

    run.evict(*evictions, settings=replace(SETTINGS, qps=2.0, burst=1))

    times = [call.at for call in run.cluster.api.sent("POST", "/eviction")]
    assert [round(later - earlier, 1) for earlier, later in pairwise(times)] == [0.5, 0.5, 0.5]
