"""NodePorts, InterPodAffinity and PodTopologySpread: which other pods are in the way."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from descheduler.explanation.details.site import Site
from descheduler.model.affinity import PodAffinityTerm
from descheduler.model.node import Node
from descheduler.model.pod import HostPort, Pod
from descheduler.placement.framework.extension_points import Obstacle
from descheduler.placement.plugins.inter_pod_affinity.filter import AffinityFault
from descheduler.placement.plugins.inter_pod_affinity.term_holders import HeldTerm, TermHolders
from descheduler.placement.plugins.inter_pod_affinity.terms import AffinityTerms
from descheduler.placement.plugins.pod_topology_spread.constraints import SpreadConstraint, SpreadConstraints
from descheduler.placement.shadow.pod_counts import PodCounts

__all__ = ["explain_pod_affinity", "explain_ports", "explain_spread"]

_ANY_ADDRESS = "0.0.0.0"  # noqa: S104 - the API's way to say every address; nothing listens here
_MOST_PODS = 3


def explain_ports(site: Site, obstacle: Obstacle) -> Iterator[str]:
    """Who holds the wanted ports."""
    del obstacle
    for wanted in site.pod.spec.host_ports:
        holders = [pod.key for pod in site.pods_here() if any(_clashes(wanted, held) for held in pod.spec.host_ports)]
        if holders:
            yield f"host port {wanted.port}/{wanted.protocol} is held by {_listed(holders)}"


def explain_pod_affinity(site: Site, obstacle: Obstacle) -> Iterator[str]:
    """Which pods it must not meet, or that none of those is near that it has to be with."""
    affinity = site.pod.spec.affinity
    if AffinityFault.EXISTING_ANTI_AFFINITY in obstacle.facts:
        yield from _repelled(site)
    elif affinity is not None and AffinityFault.ANTI_AFFINITY in obstacle.facts:
        yield from _avoided(site, affinity.anti_required)
    elif affinity is not None:
        yield from _lonely(site, affinity.pod_required)


def explain_spread(site: Site, obstacle: Obstacle) -> Iterator[str]:
    """The domain of the node that would hold too many pods, and how many the emptiest one holds."""
    del obstacle
    cluster = site.cycle.cluster
    constraints = SpreadConstraints(cluster, site.profile.args.pod_topology_spread)
    for constraint in constraints.of(site.pod, "DoNotSchedule"):
        if constraint.topology_key not in site.node.labels:
            yield f"has no label {constraint.topology_key}, which pods are to be spread by"
        else:
            yield from _crowded(site, constraint)


def _crowded(site: Site, constraint: SpreadConstraint) -> Iterator[str]:
    counted = constraint.counted
    sums = counted.sums(site.cycle.cluster.follow(PodCounts).counts(constraint.query))
    is_enough = bool(counted.num) and counted.num >= constraint.min_domains
    least = counted.least(sums) if is_enough else 0
    held = int(sums[counted.domains.ids[site.node_index]])
    if held + constraint.is_self_matching - least <= constraint.max_skew:
        return
    domain = f"{constraint.topology_key}={site.node.labels[constraint.topology_key]}"
    other = f"the emptiest domain {least}" if is_enough else f"there are fewer than {constraint.min_domains} domains"
    yield f"such pods in {domain}: {held} already; {other}, and maxSkew is {constraint.max_skew}"


def _repelled(site: Site) -> Iterator[str]:
    for term in site.cycle.cluster.follow(TermHolders).matching(site.cycle.pod).repelling:
        near = site.pods_around(term.topology_key) if term.holders else ()
        holders = [_placed(pod, node, site) for pod, node in near if _holds(pod, term)]
        if holders:
            yield f"{_listed(holders)} keeps such pods away by anti-affinity ({_domain(site, term.topology_key)})"


def _avoided(site: Site, terms: Iterable[PodAffinityTerm]) -> Iterator[str]:
    queries = AffinityTerms(site.cycle.cluster)
    for term in terms:
        query = queries.query(site.pod, (term,))
        met = [
            _placed(pod, node, site)
            for pod, node in site.pods_around(term.topology_key)
            if query.covers(pod.namespace, pod.labels)
        ]
        if met:
            yield f"the pod keeps away from {_listed(met)} by anti-affinity ({_domain(site, term.topology_key)})"


def _lonely(site: Site, terms: Iterable[PodAffinityTerm]) -> Iterator[str]:
    queries = AffinityTerms(site.cycle.cluster)
    terms = tuple(terms)
    company = queries.query(site.pod, terms)
    for key in dict.fromkeys(term.topology_key for term in terms):
        if key not in site.node.labels:
            yield f"has no label {key}, by which the pod's affinity finds its company"
        elif not any(company.covers(pod.namespace, pod.labels) for pod, _ in site.pods_around(key)):
            yield f"no pod that the affinity asks for is in {_domain(site, key)}"


def _holds(pod: Pod, term: HeldTerm) -> bool:
    affinity = pod.spec.affinity
    return affinity is not None and any(
        held.topology_key == term.topology_key and held.selector == term.selector for held in affinity.anti_required
    )


def _clashes(wanted: HostPort, held: HostPort) -> bool:
    is_same_port = (wanted.protocol, wanted.port) == (held.protocol, held.port)
    return is_same_port and (wanted.ip == held.ip or _ANY_ADDRESS in (wanted.ip, held.ip))


def _placed(pod: Pod, node: Node, site: Site) -> str:
    return pod.key if node is site.node else f"{pod.key} on {node.name}"


def _domain(site: Site, key: str) -> str:
    return f"{key}={site.node.labels.get(key, '')}"


def _listed(names: list[str]) -> str:
    more = len(names) - _MOST_PODS
    return ", ".join(names[:_MOST_PODS]) + (f" and {more} more" if more > 0 else "")
