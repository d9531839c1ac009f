"""Checks of a scheduler that are not modelled, and the pods that they concern."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from descheduler.cluster.snapshot import Snapshot
from descheduler.model.annotations import FEATURE_ANNOTATIONS
from descheduler.model.groups.gangs import COSCHEDULING_LABEL
from descheduler.model.pod import Pod
from descheduler.placement.configuration.kube_scheduler.configuration import SchedulerConfiguration
from descheduler.placement.configuration.kube_scheduler.extenders import Extender
from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
from descheduler.placement.framework.scheduler_model import DoubtOf
from descheduler.placement.framework.scheduling_plugin import SchedulingPlugin

_DOMAIN = "koordinator.sh"
_LABELS = {
    "quota.scheduling.koordinator.sh/name": "elastic quotas",
    "pod-group.scheduling.sigs.k8s.io": "gangs",
    "pod-group.scheduling.sigs.k8s.io/name": "gangs",
    "scheduling.koordinator.sh/reservation-affinity": "reservations",
}
_QOS_LABEL = "koordinator.sh/qosClass"
_PINNED_QOS = frozenset({"LSE", "LSR"})
"""Pods of these classes get CPUs of their own (`AllowUseCPUSet` of `pkg/scheduler/plugins/nodenumaresource`)."""
_DEVICES = "DeviceShare"
_CPUS = "CPU topology requests"
_PLUGINS = {
    "elastic quotas": "ElasticQuota",
    "gangs": "Coscheduling",
    "reservations": "Reservation",
    _CPUS: "NodeNUMAResource",
}


class _KoordinatorFeature(NamedTuple):
    """What a pod uses, in the plural, and the plugin of koord-scheduler that decides about it."""

    words: str
    plugin: str


def _koordinator_features(pod: Pod) -> Iterator[_KoordinatorFeature]:
    """Each such thing that `pod` uses, nothing for a pod that any scheduler understands; some may come twice."""
    for words in _words(pod):
        yield _KoordinatorFeature(words, _PLUGINS.get(words, _DEVICES))


def _words(pod: Pod) -> Iterator[str]:
    for name in pod.spec.requests:
        domain, _, resource = name.partition("/")
        if _DOMAIN in domain:
            kind = resource.partition("-")[0].partition(".")[0]  # gpu-core and gpu-memory-ratio are one kind of device
            yield f"{domain}/{kind} resources"
    yield from (feature for key, feature in _LABELS.items() if key in pod.labels)
    if pod.labels.get(_QOS_LABEL) in _PINNED_QOS:
        yield _CPUS
    if pod.annotations:
        yield from (feature for key, feature in FEATURE_ANNOTATIONS.items() if key in pod.annotations)


class Doubts:
    """What `profile` of `configuration` checks that `plugins` do not model, or not without what `snapshot` lacks."""

    def __init__(
        self,
        profile: SchedulerProfile,
        configuration: SchedulerConfiguration,
        plugins: Mapping[str, SchedulingPlugin],
        snapshot: Snapshot,
    ) -> None:
        self._name = profile.scheduler_name
        self._unknown = [name for name in profile.unknown_plugins if name not in profile.unknown_scorers]
        self._choosers, self._preempters = profile.unknown_choosers, profile.unknown_preempters
        self._sorters = profile.unknown_sorters
        self._extenders = configuration.extenders
        running = [(name, plugins[name]) for name in sorted(profile.running) if name in plugins]
        unread = {name: row.unread(profile, snapshot) for name, row in running if row.unread is not None}
        doubts = [(name, row.doubt(profile)) for name, row in running]
        self._of_all = _first((*doubts, *((name, each.landing) for name, each in unread.items())))
        self._of_choice = _first((name, each.choice) for name, each in unread.items())
        self._known: dict[tuple[int, int, int], tuple[Pod, str]] = {}
        self._modelled = {name for name in profile.running if name in plugins and plugins[name].is_modelled}

    def about(self, pod: Pod, what: DoubtOf = DoubtOf.LANDING) -> str:
        """The checks that concern `pod`, or an empty string: the same words for every pod with the same checks."""
        match what:
            case DoubtOf.LANDING:
                return self._about_landing(pod)
            case DoubtOf.CHOICE:
                uncalled = self._uncalled(pod, lambda extender: extender.prioritizes)
                return _not_modelled(self._choosers) or uncalled or self._of_choice
            case DoubtOf.ORDER:
                return _not_modelled(self._sorters)
            case DoubtOf.PREEMPTION:
                asked = self._uncalled(pod, lambda extender: extender.preempts or extender.filters)
                return _not_modelled(self._preempters) or asked

    def _about_landing(self, pod: Pod) -> str:
        # Replicas share these parts. The pod is kept as well: identities stand for them only as long as they live.
        key = id(pod.spec), id(pod.labels), id(pod.annotations)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = pod, self._found(pod)
        return known[1]

    def _uncalled(self, pod: Pod, is_asked: Callable[[Extender], bool]) -> str:
        """The first extender that is asked about `pod`, as no prediction calls it."""
        for extender in self._extenders:
            if is_asked(extender) and extender.is_interested(pod.spec.requests):
                return f"scheduler extender {extender.url_prefix} is not called"
        return ""

    def _found(self, pod: Pod) -> str:
        if self._unknown:
            return _not_modelled(self._unknown)
        if self._of_all:
            return self._of_all
        if uncalled := self._uncalled(pod, lambda extender: extender.filters):
            return uncalled
        for feature in _koordinator_features(pod):
            if feature.plugin not in self._modelled:
                return f"scheduler {self._name} does not check {feature.words} ({feature.plugin})"
        if COSCHEDULING_LABEL in pod.labels:
            return "pod groups of scheduler-plugins are not modelled (Coscheduling)"
        if pod.spec.has_scheduling_group:
            return "scheduling groups are not modelled (GangScheduling)"
        return ""


def _first(doubts: Iterable[tuple[str, str]]) -> str:
    """The first of `doubts` by plugin, "" without any."""
    return next((f"{doubt} ({name})" for name, doubt in doubts if doubt), "")


def _not_modelled(plugins: Sequence[str]) -> str:
    if not plugins:
        return ""
    names = f"plugin {plugins[0]} is" if len(plugins) == 1 else f"plugins {', '.join(plugins)} are"
    return f"scheduler {names} not modelled"
