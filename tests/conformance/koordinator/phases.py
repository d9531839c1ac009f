"""Recorded scripts of one PodMigrationJob each: the phases, conditions and reasons that it went through, and its room.

A user's job is carried out on the living cluster as runs of the program do it, a second after each other, while the
steps of the script come by the cluster's clock. `DEPARTURES` are the kinds of scripts in which koord-descheduler has a
defect that is not copied: there what the program does instead is compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from descheduler.cluster.objects import snapshot_from_objects
from descheduler.cycle.plugins import REGISTRY
from descheduler.eviction.checks.scope import EVERYWHERE
from descheduler.eviction.migration_controller.args import EVICTION_POLICIES, MigrationControllerArgs
from descheduler.eviction.migration_controller.room_provider import RoomProvider
from descheduler.kube.evict import EvictionClient
from descheduler.kube.objects import ObjectCalls
from descheduler.migration.dispatch.pace import Paces
from descheduler.migration.dispatch.surroundings import OpenCalls, Surroundings
from descheduler.migration.roads.execution import JobExecution
from descheduler.migration.room.labels import labels_of
from descheduler.migration.room.table import ClusterOffer, JobProfile, choose
from descheduler.migration.settings import DispatchSettings, JobStorage
from descheduler.model.koordinator.eviction_annotations import EVICT_POLICY_LABEL
from descheduler.model.text.duration import parse_duration
from descheduler.plan.outcome import OutcomeCode
from descheduler.policy.load import load_policy
from tests.living.recorded import RecordedScript
from tests.migration.stand_ins import AtOnce

Case = Mapping[str, Any]
_SOFT_EVICTION = "scheduling.koordinator.sh/soft-eviction"
_READ = ("nodes", "pods", "replicasets.apps", "statefulsets.apps", "deployments.apps", "poddisruptionbudgets.policy")
_GONE = {"exists": False}
_OBSERVED_SECONDS = 60.0
"""So long after its last step a script was observed at least."""


PASSING = frozenset(
    {
        ("Running", "PodBoundReservation", "WaitForPodBindReservation"),
        ("Running", "ReservationBound", ""),
        ("Running", "BoundPodReady", "WaitForBoundPodReady"),
    }
)
"""States that last no longer than from one look at a job to the next, so that a recording may have missed them."""


def _states_another_uid(case: Case) -> bool:
    stated = case["job"]["spec"]["podRef"].get("uid")
    return bool(stated) and all(pod["metadata"]["uid"] != stated for pod in case["pods"])


def _has_another_scheduler(case: Case) -> bool:
    target = _target(case)
    return target is not None and target["spec"]["schedulerName"] != "koord-scheduler"


def _brings_its_reservation(case: Case) -> bool:
    """Whether a user has created the Reservation, and not the job."""
    named = (case["job"]["spec"].get("reservationOptions") or {}).get("reservationRef") or {}
    return any(found["metadata"]["name"] == named.get("name") for found in case["reservations"])


@dataclass(frozen=True, slots=True)
class Departure:
    """Where the program does otherwise than koord-descheduler, and why.

    `end` is how the job ends then: phase, status and reason. Where it is None, the job goes the recorded way, and a
    Reservation that was recorded as gone is still there.
    """

    what: str
    why: str
    is_of: Callable[[Case], bool]
    end: tuple[str, str, str] | None = None


DEPARTURES = (
    Departure(
        "a job states a UID that its pod does not have",
        "the UID that the user gave is overwritten",
        _states_another_uid,
        ("Failed", "", "MissingPod"),
    ),
    Departure(
        "a job waits whose pod is of a scheduler without Reservations",
        "no time limit holds while a job waits for arbitration",
        _has_another_scheduler,
        ("Failed", "", "Timeout"),
    ),
    Departure(
        "the time limit of a job passes that names a Reservation of its user",
        "the Reservation of the user is deleted; this program deletes only what it has created",
        _brings_its_reservation,
    ),
)


def check(case: Case) -> str | None:
    """The first difference, None where there is none."""
    script = RecordedScript(case)
    _carry_out(script, case)
    return next(_differences(script, case), None)


def _carry_out(script: RecordedScript, case: Case) -> None:
    """Runs of the program follow each other until the job has ended or nothing more is known of it."""
    clock = script.cluster.clock
    last_step = max((step["at"] for step in case["steps"]), default=0)
    ends_at = clock.monotonic() + last_step + _OBSERVED_SECONDS
    while not script.is_over and clock.monotonic() < ends_at:
        execution = _execution(script, _args(case), ends_at)
        execution.take_up()
        objects = [found for kind in _READ for found in script.cluster.all(kind)]
        objects += script.cluster.all("podmigrationjobs.scheduling.koordinator.sh")
        execution.carry_out_users(snapshot_from_objects(objects), EVERYWHERE)
        clock.sleep(1.0)


def _execution(script: RecordedScript, args: MigrationControllerArgs, ends_at: float) -> JobExecution:
    clock, client = script.cluster.clock, script.cluster.client()
    settings = DispatchSettings(qps=100.0, burst=100)
    around = Surroundings(
        calls=AtOnce(),
        paces=Paces(settings, now=clock.monotonic),
        open_calls=OpenCalls(settings.effect_seconds, now=clock.monotonic),
        halted=lambda: (OutcomeCode.DEADLINE, "observation has ended") if clock.monotonic() >= ends_at else None,
        why_not_call=lambda: "",
        clock=clock.monotonic,
        now=clock.now,
        sleep=clock.sleep,
    )
    offer = ClusterOffer(has_jobs=True, providers=frozenset({RoomProvider.KOORDINATOR}))
    profile = JobProfile(args, choose("p", args, offer))
    storage = JobStorage("descheduler", "kube-system", in_objects=True)
    return JobExecution(ObjectCalls(client), {"p": profile}, storage, EvictionClient(client), settings, around)


def _args(case: Case) -> MigrationControllerArgs:
    """The arguments as a policy file has them, with defaults filled in.

    In koord-descheduler a label always chooses how a pod leaves; here where the policy allows it.
    """
    objects = [case["job"], *case["pods"]]
    is_labelled = any(EVICT_POLICY_LABEL in (each["metadata"].get("labels") or {}) for each in objects)
    allowed = {"allowedEvictionPolicies": list(EVICTION_POLICIES)} if is_labelled else {}
    policy = {
        "apiVersion": "descheduler/v1alpha2",
        "kind": "DeschedulerConfiguration",
        "profiles": [
            {"name": "p", "pluginConfig": [{"name": "MigrationController", "args": {**case["args"], **allowed}}]}
        ],
    }
    args = load_policy(policy, REGISTRY).profiles[0].args["MigrationController"]
    assert isinstance(args, MigrationControllerArgs)
    return args


def _differences(script: RecordedScript, case: Case) -> Iterator[str]:
    expected, got = case["expect"], [words_of(entry) for entry in script.sequence]
    departure = departure_of(case)
    if departure is not None and departure.end is not None:
        if got[-1] != departure.end:
            yield f"ended as {got[-1]}, and not as {departure.end} ({departure.why})"
        return
    wanted = [words_of(entry) for entry in expected["sequence"] if "phase" in entry]
    if [entry for entry in got if entry not in PASSING] != [entry for entry in wanted if entry not in PASSING]:
        yield f"sequence {got}, recorded {wanted}"
    if script.is_deleted is not any("deleted" in entry for entry in expected["sequence"]):
        yield f"the job is {'gone' if script.is_deleted else 'there'}"
    for name, value in _facts(script, case).items():
        recorded = _recorded(name, expected[name])
        if departure is not None and recorded == _GONE:
            value = _GONE if value is not None and value["exists"] else None
        if value != recorded:
            yield f"{name}: {value}, recorded {recorded}"


def _recorded(name: str, value: Any) -> Any:
    """What was recorded, as `_facts` tells it."""
    if name == "conditions":
        return conditions_of(value)
    if name == "reservation" and value and value["exists"]:
        return {**value, "ttl": parse_duration(value["ttl"])}
    return value or None


def departure_of(case: Case) -> Departure | None:
    """Where the program does otherwise than was recorded, None where it does not."""
    return next((departure for departure in DEPARTURES if departure.is_of(case)), None)


def words_of(entry: Mapping[str, str]) -> tuple[str, ...]:
    """Phase, status and reason of one recorded state, "" for what is not set."""
    return tuple(entry.get(part) or "" for part in ("phase", "status", "reason"))


def _facts(script: RecordedScript, case: Case) -> dict[str, Any]:
    """What was recorded of the end, in the same words; None for what is not so."""
    cluster, job = script.cluster, script.last_job
    (namespace,) = {pod["metadata"]["namespace"] for pod in case["pods"]} or {""}
    old = _target(case)
    pod = cluster.get("pods", case["target"], namespace)
    is_same = pod is not None and old is not None and pod["metadata"]["uid"] == old["metadata"]["uid"]
    status = job.get("status") or {}
    replacement = status.get("podRef") or {}
    found = cluster.get("pods", replacement.get("name", ""), namespace)
    annotations = (pod or {}).get("metadata", {}).get("annotations") or {}
    return {
        "conditions": conditions_of(status.get("conditions") or ()),
        "node_name_is_other": status["nodeName"] != old["spec"]["nodeName"] if old and status.get("nodeName") else None,
        "pod_replaced_or_gone": (old is not None and not is_same) or None,
        "replacement_recorded": bool(replacement) or None,
        "replacement_on_node": (found is not None and found["spec"].get("nodeName") == status.get("nodeName")) or None,
        "soft_eviction_annotation": _SOFT_EVICTION in annotations or None,
        "reservation": _reservation(script.reservation, job["metadata"]["uid"], job["spec"]),
    }


def _target(case: Case) -> Mapping[str, Any] | None:
    """The pod of the job as it was, None where it names none."""
    return next((pod for pod in case["pods"] if pod["metadata"]["name"] == case["target"]), None)


def conditions_of(listed: Sequence[Mapping[str, str]]) -> dict[str, tuple[str, str]]:
    """Type → status and reason; their order is that of the first writing, and says nothing."""
    return {each["type"]: (each["status"], each.get("reason") or "") for each in listed}


def _reservation(found: Mapping[str, Any] | None, job_uid: str, spec: Mapping[str, Any]) -> dict[str, Any] | None:
    """The Reservation of the job; its labels but for those by which the program finds its own."""
    if found is None:
        return _GONE if spec.get("reservationOptions", {}).get("reservationRef") else None
    labels = sorted(key for key in found["metadata"].get("labels") or {} if key not in labels_of("", ""))
    return {
        "exists": True,
        "allocate_once": found["spec"].get("allocateOnce", True),
        "has_node": bool((found.get("status") or {}).get("nodeName")),
        "labels": labels,
        "name_is_job_uid": found["metadata"]["name"] == job_uid,
        "owners": found["spec"]["owners"],
        "phase": found["status"]["phase"],
        "ttl": parse_duration(found["spec"]["ttl"]),
    }
