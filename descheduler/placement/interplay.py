"""How pods that are placed one after another bear on each other, as far as their specs alone tell."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from descheduler.model.affinity import PodAffinityTerm
from descheduler.model.labels import LabelSelector
from descheduler.model.pod import Pod, PodSpec

__all__ = ["bear_widely", "can_be_helped", "has_anti_affinity", "is_local"]

_HARD = "DoNotSchedule"
_HOSTNAME = "kubernetes.io/hostname"


def can_be_helped(spec: PodSpec) -> bool:
    """Whether a pod that no node takes may find one once others are placed.

    Others can only give it a pod to be near to, or raise the lowest count of a spread constraint; all else that they
    do takes room away.
    """
    return _attracts(spec) or any(constraint.when_unsatisfiable == _HARD for constraint in spec.topology_spread)


def has_anti_affinity(spec: PodSpec) -> bool:
    """Whether the pod keeps others away from its domains."""
    return spec.affinity is not None and bool(spec.affinity.anti_required)


def is_local(pod: Pod) -> bool:
    """Whether `pod` asks for nothing that pods on other nodes could give it or take from it."""
    return not (can_be_helped(pod.spec) or _has_claims(pod) or _wide_terms(pod.spec))


def bear_widely(pods: Sequence[tuple[Pod, int]]) -> bool:
    """Whether some of `pods`, given with how many there are of each, once placed bear on others on other nodes.

    They do where one has a term or a constraint that means another, other than anti-affinity on host names, or where
    both have claims. Host names are taken to be unique, which is for the caller to check.
    """
    if sum(number for pod, number in pods if _has_claims(pod)) > 1:
        return True
    for index, (pod, number) in enumerate(pods):
        for selector, namespaces in _meanings(pod):
            for other_index, (other, _) in enumerate(pods):
                if (
                    (other_index != index or number > 1)
                    and (namespaces is None or other.namespace in namespaces)
                    and selector.matches(other.labels)
                ):
                    return True
    return False


def _attracts(spec: PodSpec) -> bool:
    return spec.affinity is not None and bool(spec.affinity.pod_required)


def _has_claims(pod: Pod) -> bool:
    return bool(pod.claim_names or pod.ephemeral_volumes)


def _wide_terms(spec: PodSpec) -> tuple[PodAffinityTerm, ...]:
    affinity = spec.affinity
    if affinity is None:
        return ()
    anti = (term for term in affinity.anti_required if term.topology_key != _HOSTNAME)
    return (*affinity.pod_required, *anti)


def _meanings(pod: Pod) -> Iterator[tuple[LabelSelector, frozenset[str] | None]]:
    """The pods that terms and constraints of `pod` mean, by labels and namespaces; None stands for any namespace."""
    own = frozenset((pod.namespace,))
    for constraint in pod.spec.topology_spread:
        if constraint.when_unsatisfiable == _HARD:
            yield constraint.selector, own
    for term in _wide_terms(pod.spec):
        yield term.selector, None if term.namespace_selector is not None else term.namespaces or own
