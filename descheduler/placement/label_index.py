"""Pods grouped by equal labels, so that a selector is asked once a group and not once a pod."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from descheduler.model.labels import LabelSelector, Requirement
from descheduler.model.pod import Pod

__all__ = ["LabelGroup", "LabelIndex"]


class LabelGroup:
    """The pods that carry `labels`, and the place of each in the listing; `position` is the group's among groups."""

    __slots__ = ("labels", "places", "pods", "position")

    def __init__(self, position: int, labels: Mapping[str, str]) -> None:
        self.position = position
        self.labels = labels
        self.pods: list[Pod] = []
        self.places: list[int] = []


class LabelIndex:
    """Pods of one namespace in the order given. Equal labels are one object in a snapshot, so identity groups them."""

    def __init__(self, pods: Iterable[Pod]) -> None:
        self._groups: dict[int, LabelGroup] = {}
        self._by_value: dict[str, dict[str, list[LabelGroup]]] = {}
        for place, pod in enumerate(pods):
            group = self._groups.get(id(pod.labels))
            if group is None:
                group = self._groups[id(pod.labels)] = LabelGroup(len(self._groups), pod.labels)
            group.pods.append(pod)
            group.places.append(place)

    def __iter__(self) -> Iterator[LabelGroup]:
        """All groups, in order of their first pod."""
        return iter(self._groups.values())

    def groups(self, selector: LabelSelector) -> list[LabelGroup]:
        """The groups that `selector` selects, in order of their first pod."""
        if selector.nothing:
            return []
        return [group for group in self._likely(selector) if selector.matches(group.labels)]

    def pods(self, selector: LabelSelector) -> list[Pod]:
        """The pods that `selector` selects, in listing order."""
        groups = self.groups(selector)
        if len(groups) == 1:
            return list(groups[0].pods)
        by_place = {place: pod for group in groups for place, pod in zip(group.places, group.pods, strict=True)}
        return [by_place[place] for place in sorted(by_place)]

    def group_of(self, pod: Pod) -> LabelGroup:
        """The group that `pod`, one of this index, belongs to."""
        return self._groups[id(pod.labels)]

    def _likely(self, selector: LabelSelector) -> list[LabelGroup]:
        """Groups that meet the rarest of the requirements that name values; all groups without such a requirement."""
        choices = [self._with_value(r) for r in selector.requirements if r.operator == "In"]
        return min(choices, key=len) if choices else list(self._groups.values())

    def _with_value(self, requirement: Requirement) -> list[LabelGroup]:
        by_value = self._by_value.get(requirement.key)
        if by_value is None:
            by_value = self._by_value[requirement.key] = {}
            for group in self._groups.values():
                value = group.labels.get(requirement.key)
                if value is not None:
                    by_value.setdefault(value, []).append(group)
        if len(requirement.values) == 1:
            return by_value.get(next(iter(requirement.values)), [])
        found = [group for value in requirement.values for group in by_value.get(value, ())]
        return sorted(found, key=lambda group: group.position)
