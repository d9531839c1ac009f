"""Labels of replacements, and what follows from them: the selectors that the API server makes of `matchLabelKeys`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from descheduler.model.pod import Pod
from descheduler.model.selection.affinity import Affinity, PodAffinityTerm
from descheduler.model.selection.labels import LabelSelector, Requirement
from descheduler.placement.shadow.placement_forms import PER_POD_LABELS

__all__ = ["COPY_LABELS", "label_keys", "replacement_labels", "with_label_keys"]

_KEPT = PER_POD_LABELS | {"controller-revision-hash", "pod-template-hash", "pod-template-generation"}
"""Labels that controllers add to what their template says."""

COPY_LABELS = frozenset({"apps.kruise.io/cloneset-instance-id"})
"""Labels that no two pods ever share, not even one and its replacement."""


def replacement_labels(victim: Pod, template: Pod | None) -> Mapping[str, str]:
    """The labels of the pod that comes back for `victim`: those of the template and those that identify the pod.

    Without a template they are those of the victim.
    """
    if template is None:
        if COPY_LABELS.isdisjoint(victim.labels):
            return victim.labels
        return {key: value for key, value in victim.labels.items() if key not in COPY_LABELS}
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
