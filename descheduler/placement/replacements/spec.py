"""Specs and labels of replacements: what the owner's template says, and what admission will add to it again.

Admission is not run here. What the live pod has and its template lacks came from there (sidecars of a service mesh,
tolerations, the defaults of a LimitRange, the overhead of a runtime class), and is taken to come again. Sizes that
both state are the template's, since resizing a running pod changes no template.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, TypeVar

import msgspec

from descheduler.model.objects import LimitRange, RuntimeClass
from descheduler.model.pod import Pod, PodSpec
from descheduler.model.requests import (
    ContainerResources,
    ResourceList,
    incoming_scoring_requests,
    pod_requests,
    qos_class,
    scoring_requests,
)
from descheduler.model.selection.affinity import Affinity, NodeSelectorTerm, PodAffinityTerm
from descheduler.model.selection.labels import LabelSelector, Requirement
from descheduler.model.selection.taints import Toleration
from descheduler.placement.shadow.placement_class import PER_POD_LABELS

_KEPT = PER_POD_LABELS | {"controller-revision-hash", "pod-template-hash", "pod-template-generation"}
"""Labels that controllers add to what their template says."""

_COPY_LABELS = frozenset({"apps.kruise.io/cloneset-instance-id"})
"""Labels that no two pods ever share, not even one and its replacement."""


def replacement_labels(victim: Pod, template: Pod | None) -> Mapping[str, str]:
    """The labels of the pod that comes back for `victim`: those of the template and those that identify the pod.

    Without a template they are those of the victim.
    """
    if template is None:
        if _COPY_LABELS.isdisjoint(victim.labels):
            return victim.labels
        return {key: value for key, value in victim.labels.items() if key not in _COPY_LABELS}
    kept = {key: value for key, value in victim.labels.items() if key in _KEPT and key not in template.labels}
    return {**template.labels, **kept} if kept else template.labels


def with_label_keys(affinity: Affinity | None, labels: Mapping[str, str]) -> Affinity | None:
    """`affinity` with `matchLabelKeys` and `mismatchLabelKeys` written into the selectors of its terms.

    The API server does so once, with the labels of the pod that is created
    (`k8s.io/kubernetes/pkg/registry/core/pod/strategy.go`, 1.36). A template's affinity is without; doing it again
    changes nothing.
    """
    if affinity is None or not label_keys(affinity):
        return affinity
    return msgspec.structs.replace(
        affinity,
        pod_required=tuple(_expanded(term, labels) for term in affinity.pod_required),
        anti_required=tuple(_expanded(term, labels) for term in affinity.anti_required),
        pod_preferred=tuple(
            msgspec.structs.replace(weighted, term=_expanded(weighted.term, labels))
            for weighted in affinity.pod_preferred
        ),
        anti_preferred=tuple(
            msgspec.structs.replace(weighted, term=_expanded(weighted.term, labels))
            for weighted in affinity.anti_preferred
        ),
    )


def label_keys(affinity: Affinity | None) -> tuple[str, ...]:
    """The label keys of the pod that go into the selectors of `affinity`."""
    if affinity is None:
        return ()
    weighted = (*affinity.pod_preferred, *affinity.anti_preferred)
    terms = (*affinity.pod_required, *affinity.anti_required, *(each.term for each in weighted))
    return tuple(key for term in terms for key in (*term.match_label_keys, *term.mismatch_label_keys))


def _expanded(term: PodAffinityTerm, labels: Mapping[str, str]) -> PodAffinityTerm:
    wanted = (
        *_requirements(term.match_label_keys, "In", labels),
        *_requirements(term.mismatch_label_keys, "NotIn", labels),
    )
    return msgspec.structs.replace(term, selector=_narrowed(term.selector, wanted)) if wanted else term


def _requirements(keys: Sequence[str], operator: str, labels: Mapping[str, str]) -> list[Requirement]:
    return [Requirement(key, operator, frozenset((labels[key],))) for key in keys if key in labels]


def _narrowed(selector: LabelSelector, wanted: Sequence[Requirement]) -> LabelSelector:
    return selector.with_requirements([each for each in wanted if each not in selector.requirements])


Item = TypeVar("Item")

_NO_RUNTIME_CLASS = RuntimeClass("")
_DEFAULT_SCHEDULERS = ("", "default-scheduler")


class Defaults(NamedTuple):
    """What admission makes of a pod, as far as it is known from objects. `priority` is that of its class."""

    limit_ranges: Sequence[LimitRange] = ()
    priority: int | None = None
    runtime_class: RuntimeClass | None = None


NO_DEFAULTS = Defaults()


class MergedSpec(NamedTuple):
    """The spec of a replacement, and what an operator should know of it, each a sentence."""

    spec: PodSpec
    notes: tuple[str, ...]


class _Containers(NamedTuple):
    resources: tuple[ContainerResources, ...]
    images: tuple[str, ...]
    num_added: int


def merge_specs(template: PodSpec, live: PodSpec, admission: Defaults = NO_DEFAULTS) -> MergedSpec:
    """What the API server will store for a pod made from `template` whose predecessor it stored as `live`."""
    defaults = admission.limit_ranges
    containers = _merged(template.containers, template.images, live.containers, live.images, defaults)
    init = _merged(template.init_containers, template.init_images, live.init_containers, live.init_images, defaults)
    num_added = containers.num_added + init.num_added
    runtime = admission.runtime_class or _NO_RUNTIME_CLASS
    sized = _with_sizes(
        template,
        containers,
        init,
        pod_level=template.pod_level_requests or live.pod_level_requests,
        overhead=runtime.overhead or template.overhead or live.overhead,
    )
    priority = live.priority if admission.priority is None else admission.priority
    spec = msgspec.structs.replace(
        sized,
        node_selector=_union(template.node_selector, live.node_selector, runtime.node_selector),
        affinity=live.affinity if template.affinity is None else template.affinity,
        tolerations=_joined(template.tolerations, runtime.tolerations, live.tolerations),
        topology_spread=template.topology_spread or live.topology_spread,
        priority=priority if template.priority is None else template.priority,
        preemption_policy=template.preemption_policy or live.preemption_policy,
        scheduler_name=_scheduler_name(template, live),
        has_local_storage=template.has_local_storage or live.has_local_storage,
        has_resource_claims=template.has_resource_claims or live.has_resource_claims,
        resource_claims=template.resource_claims or live.resource_claims,
        scheduling_group=template.scheduling_group or live.scheduling_group,
        has_scheduling_group=template.has_scheduling_group or live.has_scheduling_group,
        host_ports=_joined(template.host_ports, live.host_ports) if num_added else template.host_ports,
    )
    return MergedSpec(spec, tuple(_notes(spec, live, num_added)))


def for_node(spec: PodSpec, node: str, tolerations: tuple[Toleration, ...]) -> PodSpec:
    """`spec` for this node and no other, with further tolerations: node affinity that is required is replaced.

    So DaemonSets do (`ReplaceDaemonSetPodNodeNameNodeAffinity` of `pkg/controller/daemon/util`, 1.36).
    """
    here = NodeSelectorTerm(fields=(Requirement("metadata.name", "In", frozenset((node,))),))
    affinity = msgspec.structs.replace(spec.affinity or Affinity(), has_node_affinity=True, node_required=(here,))
    return msgspec.structs.replace(spec, affinity=affinity, tolerations=_joined(spec.tolerations, tolerations))


def _with_sizes(
    template: PodSpec, containers: _Containers, init: _Containers, *, pod_level: ResourceList, overhead: ResourceList
) -> PodSpec:
    resources = containers.resources, init.resources
    return msgspec.structs.replace(
        template,
        containers=containers.resources,
        images=containers.images,
        init_containers=init.resources,
        init_images=init.images,
        requests=pod_requests(*resources, pod_level=pod_level, overhead=overhead),
        qos_class=qos_class((*containers.resources, *init.resources)),
        scoring_requests=scoring_requests(
            *resources, pod_level=pod_level, overhead=overhead, has_pod_level=bool(pod_level)
        ),
        incoming_scoring_requests=incoming_scoring_requests(*resources, overhead=overhead),
        pod_level_requests=pod_level,
        overhead=overhead,
    )


def _notes(spec: PodSpec, live: PodSpec, num_added: int) -> Iterable[str]:
    if num_added:
        containers = "1 container" if num_added == 1 else f"{num_added} containers"
        yield f"{containers} beyond the owner's pod template; assumed to be injected again"
    if spec.requests != live.requests:
        yield "the owner's pod template requests other resources than the running pod"


def _union(stated: Mapping[str, str], *others: Mapping[str, str]) -> Mapping[str, str]:
    """All of the pairs; of a key with several values the first."""
    joined = {key: value for pairs in reversed(others) for key, value in pairs.items()} | dict(stated)
    return stated if joined == stated else joined


def _joined(stated: tuple[Item, ...], *others: tuple[Item, ...]) -> tuple[Item, ...]:
    """All of the items, each once."""
    return tuple(dict.fromkeys((*stated, *(item for items in others for item in items))))


def _scheduler_name(template: PodSpec, live: PodSpec) -> str:
    """A webhook may send pods to a scheduler of its own, but none sends them back to the default one."""
    return live.scheduler_name if template.scheduler_name in _DEFAULT_SCHEDULERS else template.scheduler_name


def _merged(
    stated: Sequence[ContainerResources],
    stated_images: Sequence[str],
    live: Sequence[ContainerResources],
    live_images: Sequence[str],
    limit_ranges: Sequence[LimitRange],
) -> _Containers:
    counterparts = _counterparts(stated_images, live_images)
    filled = tuple(
        _filled(container, limit_ranges, None if counterpart is None else live[counterpart])
        for container, counterpart in zip(stated, counterparts, strict=True)
    )
    num_added = max(0, len(live) - len(stated))
    # Injected containers mostly stand last, behind those of the template.
    strangers = [index for index in range(len(live)) if index not in counterparts]
    added = strangers[len(strangers) - num_added :]
    return _Containers(
        (*filled, *(live[index] for index in added)),
        (*stated_images, *(live_images[index] for index in added)),
        num_added,
    )


def _counterparts(stated: Sequence[str], live: Sequence[str]) -> list[int | None]:
    """For each container of a template the running one: that of the same image, else the one in the same place."""
    free = dict.fromkeys(range(len(live)))
    found: list[int | None] = []
    for index, image in enumerate(stated):
        place = index if index in free and live[index] == image else None
        if place is None:
            place = next((other for other in free if live[other] == image), None)
        if place is not None:
            del free[place]
        found.append(place)
    for index, place in enumerate(found):
        if place is None and index in free:
            del free[index]
            found[index] = index
    return found


def _filled(
    container: ContainerResources, limit_ranges: Sequence[LimitRange], live: ContainerResources | None
) -> ContainerResources:
    limits = container.limits
    requests = _with_missing(container.requests, limits)  # the API server's default for pods, which templates lack
    for limit_range in limit_ranges:
        requests = _with_missing(requests, limit_range.default_requests)
        limits = _with_missing(limits, limit_range.default_limits)
    if live is not None:
        requests, limits = _with_missing(requests, live.requests), _with_missing(limits, live.limits)
    if requests is container.requests and limits is container.limits:
        return container
    return ContainerResources(requests, limits, container.is_sidecar)


def _with_missing(stated: ResourceList, defaults: ResourceList) -> ResourceList:
    return stated if all(name in stated for name in defaults) else {**defaults, **stated}
