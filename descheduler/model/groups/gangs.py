"""Gangs of all schedulers: pods whose work needs a number of them to run, whoever places them.

Koordinator's are known by its labels and annotations, Volcano's by the annotation of its webhooks and controllers
(volcano 1.14, `scheduling.k8s.io/group-name`), those of scheduler-plugins by the label of its Coscheduling
(scheduler-plugins 0.34, `scheduling.x-k8s.io/pod-group`), and those of Kubernetes by `spec.schedulingGroup` (1.37).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

import msgspec

from descheduler.model.groups.volcano import GROUP_NAME_ANNOTATION, VolcanoPodGroup
from descheduler.model.koordinator.gang_settings import Gangs, GangSettings, PodGroup, gang_id_of
from descheduler.model.pod import Pod

_KOORDINATOR = "scheduling.sigs.k8s.io"
_VOLCANO, _SCHEDULER_PLUGINS, _KUBERNETES = "scheduling.volcano.sh", "scheduling.x-k8s.io", "scheduling.k8s.io"
_OTHERS = (_VOLCANO, _SCHEDULER_PLUGINS, _KUBERNETES)
POD_GROUP_API_GROUPS = (_KOORDINATOR, *_OTHERS)
"""The API groups of the PodGroups that a snapshot holds."""
_PREFIXES = tuple(f"{group}:" for group in _OTHERS)
"""What keys of gangs begin with that are not Koordinator's; no namespace has a dot or a colon."""
OTHER_POD_GROUPS = tuple(f"PodGroup.{group}" for group in _OTHERS)
"""The kinds PodGroup beside Koordinator's, by their keys in the table of kinds."""
COSCHEDULING_LABEL = f"{_SCHEDULER_PLUGINS}/pod-group"
"""Names the PodGroup of scheduler-plugins that the pod is a member of."""
_TASK = "volcano.sh/task-spec"
OTHER_GANG_ANNOTATIONS = (GROUP_NAME_ANNOTATION, _TASK)
"""Keys of annotations of pods that say anything of a gang which is not Koordinator's."""


class GangMinimum(msgspec.Struct, frozen=True):
    """How many pods of a gang, or of one task of it, have to run.

    `key` is one of `gangs_of`, `name` the `namespace/name` for people. `group` are the keys of all gangs that are
    useless without each other. `task` is empty for the gang as a whole; `setting` is the field that states the number.
    With `leaves_whole` all of its pods go at once or none, whatever the number.
    """

    key: str
    name: str
    least: int
    group: tuple[str, ...]
    task: str = ""
    setting: str = "minMember"
    leaves_whole: bool = False


def gangs_of(pod: Pod) -> tuple[str, ...]:
    """The keys of what `pod` says it belongs to: gangs, and its task of a gang of Volcano. Mostly there are none."""
    gang_id = gang_id_of(pod)
    group, label = pod.annotations.get(GROUP_NAME_ANNOTATION), pod.labels.get(COSCHEDULING_LABEL)
    found = [gang_id] if gang_id else []
    if group:
        key = _key(_VOLCANO, pod.namespace, group)
        task = pod.annotations.get(_TASK) or pod.labels.get(_TASK)
        found += [key, _task_key(key, task)] if task else [key]
    if label:
        found.append(_key(_SCHEDULER_PLUGINS, pod.namespace, label))
    if pod.spec.scheduling_group:
        found.append(_key(_KUBERNETES, pod.namespace, pod.spec.scheduling_group))
    return tuple(found)


def volcano_gang_of(pod: Pod) -> str:
    """The key of the gang of Volcano that `pod` says it belongs to; empty without one."""
    group = pod.annotations.get(GROUP_NAME_ANNOTATION)
    return _key(_VOLCANO, pod.namespace, group) if group else ""


def gang_name_of(pod: Pod) -> str:
    """The `namespace/name` of the first gang that `pod` says it belongs to; empty without any."""
    return next(map(name_of_gang, gangs_of(pod)), "")


def name_of_gang(key: str) -> str:
    """The `namespace/name` in the key of a gang."""
    return key.partition(":")[2] if key.startswith(_PREFIXES) else key


def api_group_of(key: str) -> str:
    """The API group of the PodGroup of a gang."""
    return key.partition(":")[0] if key.startswith(_PREFIXES) else _KOORDINATOR


def pod_group_kind_of(pod: Pod) -> str:
    """The kind of PodGroup, one of `OTHER_POD_GROUPS`, that `pod` names; empty without any."""
    keys = (key for key in gangs_of(pod) if key.startswith(_PREFIXES))
    return next((f"PodGroup.{key.partition(':')[0]}" for key in keys), "")


class AllGangs:
    """The gangs of `pods`, as these, Koordinator's `pod_groups` and the `others` describe them."""

    def __init__(self, pods: Iterable[Pod], pod_groups: Iterable[PodGroup], others: Iterable[PodGroup]) -> None:
        pods = list(pods)
        self.koordinator = Gangs(pods, pod_groups)
        self._members: dict[str, list[Pod]] = defaultdict(list)
        for pod in pods:
            for key in gangs_of(pod):
                self._members[key].append(pod)
        others = list(others)
        self._stated = {each.key: each for group in others for each in _minimums(group)}
        self._of_volcano = {
            _key(group.api_group, group.namespace, group.name): group
            for group in others
            if isinstance(group, VolcanoPodGroup)
        }

    @property
    def members(self) -> Mapping[str, list[Pod]]:
        """Key of a gang, or of a task of it → its pods, of any phase."""
        return self._members

    def minimum(self, key: str) -> GangMinimum | None:
        """What a gang, or a task of it, needs; None where that is not stated."""
        settings = self.koordinator.settings(key)
        return self._stated.get(key) if settings is None else _of_koordinator(settings)

    def volcano_group(self, pod: Pod) -> VolcanoPodGroup | None:
        """The PodGroup of Volcano that `pod` names; None where it names none, or one that is not there."""
        return self._of_volcano.get(volcano_gang_of(pod)) if self._of_volcano else None

    def tasks(self, key: str) -> Iterator[GangMinimum]:
        """What the tasks of a gang need, by name."""
        return (each for each in self._stated.values() if each.task and each.key == _task_key(key, each.task))

    @property
    def keys(self) -> frozenset[str]:
        """The keys of all gangs that have pods, or a PodGroup that is not Koordinator's."""
        return frozenset(key for key in (*self._members, *self._stated) if not _is_task(key))


def _minimums(group: PodGroup) -> Iterator[GangMinimum]:
    """What the gang needs, and its tasks: those only where their sum is no more than the whole (volcano 1.14,
    `pkg/scheduler/api/job_info.go`, CheckTaskReady)."""
    key = _key(group.api_group, group.namespace, group.name)
    setting = "minCount" if group.api_group == _KUBERNETES else "minMember"
    yield GangMinimum(key, group.gang_id, group.min_member, (key,), setting=setting, leaves_whole=group.leaves_whole)
    if sum(group.min_task_member.values()) <= group.min_member:
        for task, least in sorted(group.min_task_member.items()):
            yield GangMinimum(_task_key(key, task), group.gang_id, least, (key,), task, "minTaskMember")


def _of_koordinator(settings: GangSettings) -> GangMinimum:
    return GangMinimum(settings.gang_id, settings.gang_id, settings.min_available, settings.group)


def _key(api_group: str, namespace: str, name: str) -> str:
    return f"{api_group}:{namespace}/{name}"


def _is_task(key: str) -> bool:
    return key.startswith(_PREFIXES) and "#" in key


def _task_key(key: str, task: str) -> str:
    return f"{key}#{task}"
