"""Random Jobs in all their settings, each with as many pods as it is to run."""

from __future__ import annotations

from tests.builders import Object, ago, container_status
from tests.simulation.owners.jobs import INDEX, INDEX_FAILURES
from tests.simulation.owners.making import Maker

_DISRUPTED = [{"type": "DisruptionTarget", "status": "True"}]
_CONDITIONS = (_DISRUPTED, [{"type": "DisruptionTarget", "status": "False"}], [{"type": "DisruptionTarget"}])
_CODES = (
    {"operator": "In", "values": [143]},
    {"operator": "NotIn", "values": [0]},
    {"operator": "In", "values": [1, 2]},
    {"operator": "NotIn", "values": [1, 143]},
)
_LATE, _SOON, _OVER = 86_400, 5, -5


def add_job(maker: Maker) -> None:
    """A Job that is at work, about to end, paused or out of time."""
    is_indexed = maker.chance(0.4)
    completions = maker.random.randint(1, 5) if is_indexed or maker.chance(0.7) else None
    parallelism = min(maker.random.randint(1, 3), completions or 3)
    spec: Object = {"parallelism": parallelism, "completionMode": "Indexed" if is_indexed else "NonIndexed"}
    if completions is not None:
        spec["completions"] = completions
    spec |= _limits(maker, is_indexed=is_indexed)
    num_done = (
        maker.random.randint(0, max(0, completions - 1)) if completions is not None else maker.random.randint(0, 1)
    )
    num_failed = maker.random.randint(0, 2)
    status: Object = {"startTime": ago(3600), "secondsRun": 3600, "failed": num_failed, "succeeded": num_done}
    if is_indexed:
        status["completedIndexes"] = _span(num_done)
    _state(maker, spec, status)
    namespace, template = maker.namespace(), maker.template()
    job = maker.workload("Job", namespace, template, spec, status=status)
    _finished(maker, job, template, num_failed, num_done)
    _running(maker, job, template, num_done)


def _limits(maker: Maker, *, is_indexed: bool) -> Object:
    """Limits of failures, and what is made of them."""
    spec: Object = {}
    if maker.chance(0.6):
        spec["backoffLimit"] = maker.random.choice((0, 0, 1, 2, 3, 6))
    if is_indexed and maker.chance(0.5):
        spec["backoffLimitPerIndex"] = maker.random.randint(0, 2)
        if maker.chance(0.4):
            spec["maxFailedIndexes"] = maker.random.randint(0, 2)
    if maker.chance(0.3):
        actions = ["Ignore", "FailJob", "Count", *(["FailIndex"] if "backoffLimitPerIndex" in spec else [])]
        rules = [_rule(maker, maker.random.choice(actions)) for _ in range(maker.random.randint(1, 2))]
        spec["podFailurePolicy"] = {"rules": rules}
        spec["podReplacementPolicy"] = "Failed"
    elif maker.chance(0.2):
        spec["podReplacementPolicy"] = maker.random.choice(("Failed", "TerminatingOrFailed"))
    return spec


def _rule(maker: Maker, action: str) -> Object:
    if maker.chance(0.5):
        return {"action": action, "onPodConditions": maker.random.choice(_CONDITIONS)}
    return {"action": action, "onExitCodes": maker.random.choice(_CODES)}


def _state(maker: Maker, spec: Object, status: Object) -> None:
    """Now and then something because of which nothing comes."""
    match maker.random.randint(0, 14):
        case 0:
            spec["suspend"] = True
        case 1:
            status["conditions"] = [
                {"type": maker.random.choice(("SuccessCriteriaMet", "FailureTarget")), "status": "True"}
            ]
        case 2 | 3:
            spec["activeDeadlineSeconds"] = 3600 + maker.random.choice((_LATE, _SOON, _OVER))


def _finished(maker: Maker, job: Object, template: Object, num_failed: int, num_done: int) -> None:
    """The pods that failed and succeeded before, in any order; the Job keeps them."""
    phases = ["Failed"] * num_failed + ["Succeeded"] * num_done
    maker.random.shuffle(phases)
    for number, phase in enumerate(phases):
        since = 600.0 - 60 * number
        made = maker.pod(job, f"x-done-{number}", template, phase=phase, ready=False, age=since + 30)
        made["status"]["conditions"] = [{"type": "Ready", "status": "False", "lastTransitionTime": ago(since)}]
        code = 0 if phase == "Succeeded" else 1
        made["status"]["containerStatuses"] = [container_status(0, terminated="Error", exit_code=code)]


def _running(maker: Maker, job: Object, template: Object, num_done: int) -> None:
    spec = job["spec"]
    left = 9 if "completions" not in spec else spec["completions"] - num_done
    is_over = "completions" not in spec and num_done
    for number in range(min(spec["parallelism"], left)):
        if spec["completionMode"] != "Indexed":
            if not is_over or maker.chance(0.6):
                maker.pod(job, f"x-{number}", template)
            continue
        index = str(num_done + number)
        notes = {INDEX: index}
        if "backoffLimitPerIndex" in spec:
            notes[INDEX_FAILURES] = str(maker.random.randint(0, spec["backoffLimitPerIndex"]))
        maker.pod(job, f"x-{index}-abcde", template, labels={INDEX: index}, annotations=notes)


def _span(number: int) -> str:
    return "" if not number else f"0-{number - 1}" if number > 1 else "0"
