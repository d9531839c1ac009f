"""Which gang a pod belongs to, and the settings of a gang as pods and PodGroups give them (koordinator 1.8).

Follows `apis/extension/coscheduling.go` and `pkg/scheduler/plugins/coscheduling/core/gang.go` of
koordinator-sh/koordinator: values that cannot be read fall back to the defaults.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from enum import Enum

import msgspec

from descheduler.model.pod import Pod
from descheduler.model.text.duration import parse_duration

POD_GROUP_LABEL = "pod-group.scheduling.sigs.k8s.io"
"""Names the PodGroup that the pod is a member of."""
_LIGHT_NAME_LABEL = f"{POD_GROUP_LABEL}/name"
_LIGHT_MIN_LABEL = f"{POD_GROUP_LABEL}/min-available"
_DOMAIN = "gang.scheduling.koordinator.sh/"
_MATCH_POLICY_ALIAS = f"{POD_GROUP_LABEL}/match-policy"
_NAME, _MIN, _TOTAL = f"{_DOMAIN}name", f"{_DOMAIN}min-available", f"{_DOMAIN}total-number"
_MODE, _GROUPS, _MATCH_POLICY = f"{_DOMAIN}mode", f"{_DOMAIN}groups", f"{_DOMAIN}match-policy"
_WAITING_TIME = f"{_DOMAIN}waiting-time"

GANG_ANNOTATIONS = (_DOMAIN, _MATCH_POLICY_ALIAS)
"""Keys of annotations of pods and PodGroups that say anything of a gang; the first stands for a whole domain."""
DEFAULT_WAITING_TIME = timedelta(seconds=600)
"""How long members wait for each other at Permit, unless CoschedulingArgs say otherwise (`defaultTimeout`)."""

_INTEGER = re.compile(r"[+-]?0*[0-9]{1,10}")
_INT32 = 2**31


class GangMode(Enum):
    """What becomes of the members that wait when another one fits nowhere."""

    STRICT = "Strict"
    NON_STRICT = "NonStrict"


class MatchPolicy(Enum):
    """Which members count when a gang asks whether it has enough of them."""

    ONCE_SATISFIED = "once-satisfied"
    """Those that wait; once one was bound, nothing is counted any more and members are scheduled like other pods."""
    ONLY_WAITING = "only-waiting"
    """Those that wait."""
    WAITING_AND_RUNNING = "waiting-and-running"
    """Those that wait or are bound."""


_MODES = {mode.value: mode for mode in GangMode}
_POLICIES = {policy.value: policy for policy in MatchPolicy}


class PodGroup(msgspec.Struct, frozen=True):
    """A PodGroup, by default of Koordinator. `annotations` holds only the keys that some rule reads.

    `min_task_member` says how many pods of each task have to run; only Volcano's has it. `leaves_whole` says that its
    pods can be disrupted together only; of Kubernetes' own one, which states that as `disruptionMode`.
    """

    namespace: str
    name: str
    min_member: int = 0
    schedule_timeout_seconds: int | None = None
    annotations: Mapping[str, str] = msgspec.field(default_factory=dict)
    created_at: datetime | None = None
    api_group: str = "scheduling.sigs.k8s.io"
    min_task_member: Mapping[str, int] = msgspec.field(default_factory=dict)
    leaves_whole: bool = False

    @property
    def gang_id(self) -> str:
        """`namespace/name`."""
        return f"{self.namespace}/{self.name}"


class GangSettings(msgspec.Struct, frozen=True):
    """A gang, by its id `namespace/name`: at least `min_available` of its pods are bound together.

    `total_number` is the size that is declared; `group` are the ids of all gangs that are satisfied together, sorted.
    """

    gang_id: str
    min_available: int
    total_number: int
    mode: GangMode
    match_policy: MatchPolicy
    group: tuple[str, ...]
    waiting_time: timedelta
    group_id: str = ""
    """The name of the group, made of it; that of the gang where it is alone."""

    def __post_init__(self) -> None:
        msgspec.structs.force_setattr(self, "group_id", ",".join(self.group))


def gang_id_of(pod: Pod) -> str:
    """The id of the gang that `pod` says it belongs to; empty without any."""
    labels = pod.labels
    name = labels.get(POD_GROUP_LABEL) or labels.get(_LIGHT_NAME_LABEL) or pod.annotations.get(_NAME)
    return f"{pod.namespace}/{name}" if name else ""


def settings_of_pod(pod: Pod) -> GangSettings | None:
    """The settings that a member gives to its gang where no PodGroup does; None when its minimum cannot be read.

    A member that names a PodGroup by label gives none, even if there is no such PodGroup.
    """
    if POD_GROUP_LABEL in pod.labels:
        return None
    minimum = _integer(pod.labels.get(_LIGHT_MIN_LABEL) or pod.annotations.get(_MIN, ""))
    if minimum is None:
        return None
    return _settings(gang_id_of(pod), minimum, pod.annotations, _waiting_time(pod.annotations.get(_WAITING_TIME, "")))


def settings_of_pod_group(group: PodGroup) -> GangSettings:
    """The settings of the gang that a PodGroup stands for."""
    seconds = group.schedule_timeout_seconds or 0
    waiting_time = timedelta(seconds=seconds) if 0 < seconds < _INT32 else DEFAULT_WAITING_TIME
    return _settings(group.gang_id, group.min_member, group.annotations, waiting_time)


def _settings(gang_id: str, minimum: int, annotations: Mapping[str, str], waiting_time: timedelta) -> GangSettings:
    total = _integer(annotations.get(_TOTAL, ""))
    policy = annotations.get(_MATCH_POLICY) or annotations.get(_MATCH_POLICY_ALIAS, "")
    return GangSettings(
        gang_id=gang_id,
        min_available=minimum,
        total_number=minimum if total is None else total and max(total, minimum),
        mode=_MODES.get(annotations.get(_MODE, ""), GangMode.STRICT),
        match_policy=_POLICIES.get(policy, MatchPolicy.ONCE_SATISFIED),
        group=_group(annotations.get(_GROUPS, "")) or (gang_id,),
        waiting_time=waiting_time,
    )


def _integer(text: str) -> int | None:
    """What Go's `strconv.ParseInt` reads as 32 bits; None for what it refuses."""
    if not _INTEGER.fullmatch(text):
        return None
    number = int(text)
    return number if -_INT32 <= number < _INT32 else None


def _waiting_time(text: str) -> timedelta:
    try:
        waiting_time = parse_duration(text)
    except ValueError:
        return DEFAULT_WAITING_TIME
    return waiting_time if waiting_time > timedelta(0) else DEFAULT_WAITING_TIME


def _group(text: str) -> tuple[str, ...]:
    """The gangs of a JSON list, sorted; as Go reads it, an item that is no string is an empty name."""
    try:
        items = json.loads(text)
    except (ValueError, RecursionError):
        return ()
    if not isinstance(items, list):
        return ()
    return tuple(sorted(item if isinstance(item, str) else "" for item in items))


_LAST = datetime.max.replace(tzinfo=UTC)


class Gangs:
    """What koord-scheduler knows of gangs when it starts over `pods` and `pod_groups`.

    A PodGroup decides about its gang. Of a gang without one the oldest member decides whose minimum can be read.
    """

    def __init__(self, pods: Iterable[Pod], pod_groups: Iterable[PodGroup]) -> None:
        self._members: dict[str, list[Pod]] = defaultdict(list)
        for pod in pods:
            if gang_id := gang_id_of(pod):
                self._members[gang_id].append(pod)
        self._settings = {group.gang_id: settings_of_pod_group(group) for group in pod_groups}
        for gang_id, members in self._members.items():
            if gang_id not in self._settings:
                self._learn(gang_id, sorted(members, key=_age_order))

    def __bool__(self) -> bool:
        return bool(self._settings or self._members)

    @property
    def members(self) -> Mapping[str, list[Pod]]:
        """Gang id → the pods that were there at first, of any phase."""
        return self._members

    def settings(self, gang_id: str) -> GangSettings | None:
        """The settings of a gang; None while none are given that can be read."""
        return self._settings.get(gang_id)

    def settings_for(self, pod: Pod) -> GangSettings | None:
        """The settings of the gang that `pod` belongs to, which a new gang takes from it; None as above."""
        gang_id = gang_id_of(pod)
        if gang_id and gang_id not in self._settings:
            self._learn(gang_id, (pod,))
        return self._settings.get(gang_id)

    def _learn(self, gang_id: str, members: Iterable[Pod]) -> None:
        settings = next(filter(None, map(settings_of_pod, members)), None)
        if settings is not None:
            self._settings[gang_id] = settings


def _age_order(pod: Pod) -> tuple[datetime, str]:
    return pod.created_at or _LAST, pod.key
