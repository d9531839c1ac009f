"""The gangs of a cluster: their settings and their members."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

from descheduler.model.koordinator.gang_settings import (
    GangSettings,
    PodGroup,
    gang_id_of,
    settings_of_pod,
    settings_of_pod_group,
)
from descheduler.model.pod import Pod

__all__ = ["Gangs"]

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
