"""The rules of Volcano one by one: what each has against a pod, at its bounds."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from descheduler.cluster.snapshot import Snapshot
from descheduler.cycle.plugins import REGISTRY
from descheduler.eviction.background import BackgroundEvictions
from descheduler.eviction.checks.volcano import (
    PodGroupPhaseCheck,
    PreemptableCheck,
    QueueStateCheck,
    TaskCooldownCheck,
)
from descheduler.eviction.checks.volcano_jobs import JobBudgetCheck, LifecycleCheck
from descheduler.model.groups.volcano import (
    JOB_KIND,
    QUEUE_KIND,
    LifecyclePolicy,
    VolcanoJob,
    VolcanoPodGroup,
    VolcanoQueue,
    VolcanoTask,
)
from descheduler.model.pod import Pod
from descheduler.model.verdict import Reason
from descheduler.plan.bundles import Bundle, Candidate
from descheduler.plan.moves import Move
from descheduler.policy.load import load_policy
from descheduler.policy.types import Profile
from tests.builders import NOW, Object, ago, make_pod, make_snapshot, owner

PREEMPTABLE, COOLDOWN = "volcano.sh/preemptable", "volcano.sh/cooldown-time"


def profiles(verification: Mapping[str, object] | None = None, *, verifies: bool = True) -> tuple[Profile, ...]:
    """A profile, which verifies landings."""
    config: list[Object] = [{"name": "PodLifeTime", "args": {"maxPodLifeTimeSeconds": 60}}]
    plugins: Object = {"deschedule": {"enabled": ["PodLifeTime"]}}
    if verifies:
        config.append({"name": "PlacementVerification", "args": dict(verification or {})})
        plugins["preevictionfilter"] = {"enabled": ["PlacementVerification"]}
    profile = {"name": "p", "pluginConfig": config, "plugins": plugins}
    document = {"apiVersion": "descheduler/v1alpha2", "kind": "DeschedulerPolicy", "profiles": [profile]}
    return load_policy(document, REGISTRY).profiles


def task(name: str = "p", role: str = "", *, group: str = "train", **facts: Any) -> Pod:
    """A pod of a job of Volcano."""
    annotations = {"scheduling.k8s.io/group-name": group} if group else {}
    annotations |= {"volcano.sh/task-spec": role} if role else {}
    annotations |= facts.pop("annotations", {})
    own = [owner("Job/train", group="batch.volcano.sh/v1alpha1")]
    return replace(make_pod(name, **{"owners": own, **facts}), annotations=annotations)


def group(**facts: Any) -> VolcanoPodGroup:
    """The PodGroup of the job."""
    namespace = facts.pop("namespace", "default")
    return VolcanoPodGroup(namespace, "train", api_group="scheduling.volcano.sh", **facts)


def world(*pods: Pod, groups: tuple[VolcanoPodGroup, ...] = (), **kinds: Any) -> Snapshot:
    """A cluster with these objects."""
    return make_snapshot(pods=pods, other_pod_groups=groups, **kinds)


def bundle(*pods: Pod) -> Bundle:
    return Bundle("p", "PodLifeTime", tuple(map(Candidate, pods)))


@pytest.mark.parametrize(
    ("pod", "groups", "message"),
    [
        pytest.param(task(), (group(),), "", id="nothing is said"),
        pytest.param(task(), (group(labels={PREEMPTABLE: "true"}),), "", id="the group says yes"),
        pytest.param(
            task(), (group(labels={PREEMPTABLE: "no"}),), f"{PREEMPTABLE} of PodGroup default/train is 'no'", id="no"
        ),
        pytest.param(
            task(annotations={PREEMPTABLE: "true"}), (group(labels={PREEMPTABLE: "no"}),), "", id="the pod comes first"
        ),
        pytest.param(
            task(annotations={PREEMPTABLE: "false"}), (), f"{PREEMPTABLE} of the pod is 'false'", id="the pod says no"
        ),
        pytest.param(
            task(group="", labels={PREEMPTABLE: "false"}), (), f"{PREEMPTABLE} of the pod is 'false'", id="of no group"
        ),
        pytest.param(
            task(namespace="kube-system"),
            (),
            "Volcano never evicts pods of namespace kube-system (plugin conformance)",
            id="of the system",
        ),
        pytest.param(
            task(spec={"priorityClassName": "system-cluster-critical"}),
            (),
            "Volcano never evicts pods of class system-cluster-critical (plugin conformance)",
            id="of a critical class",
        ),
        pytest.param(task(group="", namespace="kube-system"), (), "", id="of the system, but not of Volcano"),
        pytest.param(task(spec={"priorityClassName": "system"}), (), "", id="of another class"),
    ],
)
def test_pods_that_volcano_never_preempts_stay(pod: Pod, groups: tuple[VolcanoPodGroup, ...], message: str) -> None:
    verdict = PreemptableCheck(profiles(), world(pod, groups=groups)).refusal(pod)

    assert ("" if verdict is None else verdict.message) == message
    assert verdict is None or verdict.reason is Reason.NOT_PREEMPTABLE


def scheduled(seconds: float, status: str = "True", kind: str = "PodScheduled") -> list[Object]:
    return [{"type": kind, "status": status, "lastTransitionTime": ago(seconds)}]


@pytest.mark.parametrize(
    ("facts", "stays"),
    [
        ({"labels": {COOLDOWN: "10m"}, "conditions": scheduled(599)}, True),
        ({"labels": {COOLDOWN: "10m"}, "conditions": scheduled(600)}, False),
        ({"labels": {COOLDOWN: "10m"}, "conditions": scheduled(1), "phase": "Pending"}, False),
        ({"labels": {COOLDOWN: "10m"}, "conditions": scheduled(1, "False")}, False),
        ({"labels": {COOLDOWN: "10m"}, "conditions": scheduled(1, kind="Initialized")}, False),
        ({"labels": {COOLDOWN: "10m"}}, False),
        ({"labels": {COOLDOWN: "ten"}, "conditions": scheduled(1)}, False),
        ({"labels": {COOLDOWN: ""}, "conditions": scheduled(1)}, False),
        ({"annotations": {COOLDOWN: "10m"}, "conditions": scheduled(1)}, True),
        ({"conditions": scheduled(1)}, False),
    ],
)
def test_task_rests_after_it_was_scheduled(facts: dict[str, Any], stays: bool) -> None:
    pod = task(**facts)

    verdict = TaskCooldownCheck(profiles(), world(pod), NOW).refusal(pod)

    assert (verdict is not None) is stays


def test_refusal_of_a_cooldown_says_how_long_ago_the_task_was_scheduled() -> None:
    pod = task(labels={COOLDOWN: "10m"}, conditions=scheduled(90))

    verdict = TaskCooldownCheck(profiles(), world(pod), NOW + timedelta(seconds=0.9)).refusal(pod)

    assert verdict is not None
    assert verdict.message == f"scheduled 1m30s ago ({COOLDOWN}: 10m)"


@pytest.mark.parametrize(
    ("phase", "stays"), [("", False), ("Running", False), ("Inqueue", True), ("Pending", True), ("Completed", True)]
)
def test_task_of_a_job_that_does_not_run_stays(phase: str, stays: bool) -> None:
    pod = task()

    assert (PodGroupPhaseCheck(profiles(), world(pod, groups=(group(phase=phase),))).refusal(pod) is not None) is stays
    assert PodGroupPhaseCheck(profiles(), world(pod)).refusal(pod) is None


@pytest.mark.parametrize(
    ("queues", "message"),
    [
        pytest.param([], "", id="no queue was read"),
        pytest.param([VolcanoQueue("default")], "", id="a queue that says nothing"),
        pytest.param([VolcanoQueue("default", state="Open")], "", id="an open queue"),
        pytest.param([VolcanoQueue("default", state="Closed")], "queue default is in state Closed", id="closed"),
        pytest.param([VolcanoQueue("other", state="Open")], "queue default does not exist", id="another queue"),
    ],
)
def test_task_stays_unless_its_queue_is_open(queues: list[VolcanoQueue], message: str) -> None:
    pod = task()
    snapshot = world(pod, groups=(group(),), objects={QUEUE_KIND: tuple(queues)})

    verdict = QueueStateCheck(profiles(), snapshot).refusal(pod)

    assert ("" if verdict is None else verdict.message) == message
    assert QueueStateCheck(profiles(), world(pod, objects={QUEUE_KIND: tuple(queues)})).refusal(pod) is None


def test_rules_hold_for_profiles_that_verify_landings() -> None:
    pod = task(annotations={PREEMPTABLE: "false"})

    verdicts = [
        PreemptableCheck(profiles(verifies=verifies), world(pod)).verdict(bundle(pod)) for verifies in (True, False)
    ]

    assert [verdict.is_accepted for verdict in verdicts] == [False, True]


def job(action: str, *, event: str = "PodEvicted", role: str = "", kind: str = "job-train") -> VolcanoJob:
    """The job, on whose evicted pods its controller acts; on those of one task alone where a role is named."""
    policy = (LifecyclePolicy(action, frozenset({event})),)
    tasks = {role: VolcanoTask(policies=policy)} if role else {}
    return VolcanoJob("Job", "default", "train", kind, 1, policies=() if role else policy, tasks=tasks)


ONE, TWO, OTHER = task("one", "worker"), task("two", "worker"), task("other", "driver")
GONE = [task("done", phase="Succeeded"), task("going", deleted=1), task("pending", node="")]
FOREIGN = task("foreign", owners=["Job/else"])


def lifecycle(found: VolcanoJob, on_minimum: str = "refuse", *, verifies: bool = True) -> LifecycleCheck:
    """The check over a job of three running pods and others that do not run."""
    snapshot = world(ONE, TWO, OTHER, FOREIGN, *GONE, objects={JOB_KIND: (found,)})
    return LifecycleCheck(profiles({"onGangMinimum": on_minimum}, verifies=verifies), snapshot)


WORKERS = (ONE, TWO)
ALL = (*WORKERS, OTHER)
RESTARTS = "Job default/train restarts {} of the job when one of its pods is evicted (policies: PodEvicted: {})"


@pytest.mark.parametrize(
    ("found", "on_minimum", "pods", "message"),
    [
        pytest.param(job("RestartPod"), "refuse", [ONE], "", id="the pod alone is created again"),
        pytest.param(job("RestartJob", event="PodFailed"), "refuse", [ONE], "", id="on another event"),
        pytest.param(job("RestartJob"), "refuse", [FOREIGN], "", id="a pod of no such job"),
        pytest.param(
            job("AbortJob"),
            "evictGang",
            ALL,
            "Job default/train ends the job when one of its pods is evicted (policies: PodEvicted: AbortJob)",
            id="the end of the job",
        ),
        pytest.param(
            job("RestartJob"),
            "refuse",
            ALL,
            f"{RESTARTS.format('3 pods', 'RestartJob')} (onGangMinimum: refuse)",
            id="a restart of the job, where gangs stay",
        ),
        pytest.param(
            job("RestartJob"),
            "evictGang",
            WORKERS,
            f"{RESTARTS.format('3 pods', 'RestartJob')} (onGangMinimum: evictGang)",
            id="a restart of more than what leaves",
        ),
        pytest.param(job("RestartJob"), "evictGang", ALL, "", id="a restart of what leaves"),
        pytest.param(job("RestartTask"), "evictGang", WORKERS, "", id="a restart of the task that leaves"),
        pytest.param(
            job("RestartTask"),
            "evictGang",
            [ONE],
            f"{RESTARTS.format('2 pods', 'RestartTask')} (onGangMinimum: evictGang)",
            id="a restart of the task, of which one pod leaves",
        ),
        pytest.param(job("RestartTask", role="worker"), "refuse", [OTHER], "", id="a policy of another task"),
    ],
)
def test_eviction_on_which_a_job_acts_as_a_whole_is_refused(
    found: VolcanoJob, on_minimum: str, pods: list[Pod], message: str
) -> None:
    verdict = lifecycle(found, on_minimum).verdict(bundle(*pods))

    assert verdict.message == message
    assert verdict.reason is (Reason.JOB_LIFECYCLE if message else None)


@pytest.mark.parametrize(
    ("action", "on_minimum", "pods", "mates"),
    [
        ("RestartJob", "evictGang", [ONE], ["other", "two"]),
        ("RestartJob", "evictGang", ALL, []),
        ("RestartTask", "evictGang", [ONE], ["two"]),
        ("RestartTask", "evictGang", [ONE, OTHER], ["two"]),
        ("RestartTask", "evictGang", [OTHER], []),
        ("RestartJob", "refuse", [ONE], []),
        ("AbortJob", "evictGang", [ONE], []),
        ("RestartPod", "evictGang", [ONE], []),
        ("RestartJob", "evictGang", [FOREIGN], []),
    ],
)
def test_pods_that_a_restart_takes_down_leave_together(
    action: str, on_minimum: str, pods: list[Pod], mates: list[str]
) -> None:
    assert [pod.name for pod in lifecycle(job(action), on_minimum).mates(bundle(*pods))] == mates


def test_pod_that_has_left_is_not_taken_down_any_more() -> None:
    check = lifecycle(job("RestartJob"), "evictGang")

    undo = check.charge(bundle(OTHER))
    during = check.verdict(bundle(*WORKERS)).is_accepted, [pod.name for pod in check.mates(bundle(ONE))]
    undo()
    check.adopt([Move(TWO, "p", "q")])

    assert during == (True, ["two"])
    assert [pod.name for pod in check.mates(bundle(ONE))] == ["other"]


def test_jobs_do_not_matter_to_profiles_that_verify_nothing() -> None:
    check = lifecycle(job("AbortJob"), verifies=False)

    assert check.verdict(bundle(ONE)).is_accepted
    assert check.mates(bundle(ONE)) == ()


MINIMUM, MAXIMUM = "volcano.sh/jdb-min-available", "volcano.sh/jdb-max-unavailable"


def budget(annotations: dict[str, str]) -> JobBudgetCheck:
    """The budget of the job of three running pods, of which one more has succeeded and one goes."""
    snapshot = world(*ALL, *GONE[:2], groups=(group(annotations=annotations),))
    return JobBudgetCheck(profiles(), snapshot, BackgroundEvictions(snapshot))


@pytest.mark.parametrize(
    ("annotations", "granted"),
    [
        pytest.param({}, 3, id="no budget"),
        pytest.param({MINIMUM: "2"}, 1, id="two have to run"),
        pytest.param({MINIMUM: "3"}, 0, id="all have to run"),
        pytest.param({MAXIMUM: "2"}, 1, id="two may be away, one of them is"),
        pytest.param({MINIMUM: "1", MAXIMUM: "0"}, 2, id="the minimum comes first"),
    ],
)
def test_budget_of_a_job_lets_so_many_running_pods_go(annotations: dict[str, str], granted: int) -> None:
    check, num_granted = budget(annotations), 0

    for pod in ALL:
        if check.verdict(bundle(pod)).is_accepted:
            check.charge(bundle(pod))
            num_granted += 1

    assert num_granted == granted


def test_budget_of_a_job_concerns_its_running_pods_and_is_given_back() -> None:
    check = budget({MINIMUM: "2"})

    undo = check.charge(bundle(ONE))
    during = [check.verdict(bundle(pod)).reason for pod in (ONE, TWO, GONE[1])]
    undo()
    after = check.verdict(bundle(TWO)).reason
    check.adopt([Move(ONE, "p", "q"), Move(ONE, "p", "q"), Move(GONE[0], "p", "q")])

    assert during == [None, Reason.JOB_DISRUPTION_BUDGET, None]
    assert after is None
    verdict = check.verdict(bundle(TWO))
    assert (verdict.message, verdict.subject) == (
        f"PodGroup default/train has 2 pods running of 5 ({MINIMUM}: 2)",
        "default/train",
    )
