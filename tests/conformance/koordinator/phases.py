"""Recorded scripts of one PodMigrationJob each: the phases, conditions and reasons that it went through, and its room.

A user's job is carried out on the living cluster as runs of the program do it, a second after each other, while the
steps of the script come by the cluster's clock. `DEPARTURES` are the scripts in which koord-descheduler has a defect
that is not copied: there what the program does instead is compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from descheduler.cluster.objects import snapshot_from_objects
from descheduler.cycle.plugins import REGISTRY
from descheduler.eviction.migration_controller.args import EVICTION_POLICIES, MigrationControllerArgs
from descheduler.kube.evict import EvictionClient
from descheduler.kube.objects import ObjectCalls
from descheduler.migration.controller.surroundings import Surroundings
from descheduler.migration.open_calls import OpenCalls
from descheduler.migration.paces import Paces
from descheduler.migration.providers.labels import labels_of
from descheduler.migration.settings import ExecutorSettings
from descheduler.migration.setup.choice import choose
from descheduler.migration.setup.job_execution import JobExecution
from descheduler.migration.setup.job_settings import JobProfile, JobStorage
from descheduler.migration.setup.offer import ClusterOffer
from descheduler.model.koordinator.eviction_annotations import EVICT_POLICY_LABEL
from descheduler.model.text.duration import parse_duration
from descheduler.plan.outcome import OutcomeCode
from descheduler.policy.load import load_policy
from tests.living.recorded import RecordedScript
from tests.migration.controller.playing import AtOnce

__all__ = ["DEPARTURES", "PASSING", "Departure", "check", "conditions_of", "departure_of", "words_of"]

Case = Mapping[str, Any]
_SOFT_EVICTION = "scheduling.koordinator.sh/soft-eviction"
_READ = ("nodes", "pods", "replicasets.apps", "statefulsets.apps", "deployments.apps", "poddisruptionbudgets.policy")
_OBSERVED_SECONDS = 60.0
"""So long after its last step a script was observed at least."""


@dataclass(frozen=True, slots=True)
class Departure:
    """Why the program does otherwise, and the end that its job has: phase, status and reason."""

    why: str
    end: tuple[str, str, str]


PASSING = frozenset(
    {
        ("Running", "PodBoundReservation", "WaitForPodBindReservation"),
        ("Running", "ReservationBound", ""),
        ("Running", "BoundPodReady", "WaitForBoundPodReady"),
    }
)
"""States that last no longer than from one look at a job to the next, so that a recording may have missed them."""

_WAITS_FOR_EVER = "no time limit holds while a job waits for arbitration"
DEPARTURES: Mapping[str, Departure] = {
    "wrong-uid": Departure("the UID that the user gave is overwritten", ("Failed", "", "MissingPod")),
    "other-scheduler": Departure(_WAITS_FOR_EVER, ("Failed", "", "Timeout")),
}
"""By the name of the script."""


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
        execution.carry_out_users(snapshot_from_objects(objects))
        clock.sleep(1.0)


def _execution(script: RecordedScript, args: MigrationControllerArgs, ends_at: float) -> JobExecution:
    clock, client = script.cluster.clock, script.cluster.client()
    settings = ExecutorSettings(qps=100.0, burst=100)
    around = Surroundings(
        calls=AtOnce(),
        paces=Paces(settings, now=clock.monotonic),
        open_calls=OpenCalls(settings.effect_seconds, now=clock.monotonic),
        halted=lambda: (OutcomeCode.DEADLINE, "observation has ended") if clock.monotonic() >= ends_at else None,
        may_call=lambda: "",
        clock=clock.monotonic,
        now=clock.now,
        sleep=clock.sleep,
    )
    profile = JobProfile(args, choose("p", args, ClusterOffer(has_jobs=True, has_reservations=True), ""))
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
    if departure is not None:
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
    return DEPARTURES.get(case["name"])


def words_of(entry: Mapping[str, str]) -> tuple[str, ...]:
    """Phase, status and reason of one recorded state, "" for what is not set."""
    return tuple(entry.get(part) or "" for part in ("phase", "status", "reason"))


def _facts(script: RecordedScript, case: Case) -> dict[str, Any]:
    """What was recorded of the end, in the same words; None for what is not so."""
    cluster, job = script.cluster, script.last_job
    (namespace,) = {pod["metadata"]["namespace"] for pod in case["pods"]} or {""}
    old = next((pod for pod in case["pods"] if pod["metadata"]["name"] == case["target"]), None)
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


def conditions_of(listed: Sequence[Mapping[str, str]]) -> dict[str, tuple[str, str]]:
    """Type → status and reason; their order is that of the first writing, and says nothing."""
    return {each["type"]: (each["status"], each.get("reason") or "") for each in listed}


def _reservation(found: Mapping[str, Any] | None, job_uid: str, spec: Mapping[str, Any]) -> dict[str, Any] | None:
    """The Reservation of the job; its labels but for those by which the program finds its own."""
    if found is None:
        return {"exists": False} if spec.get("reservationOptions", {}).get("reservationRef") else None
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
