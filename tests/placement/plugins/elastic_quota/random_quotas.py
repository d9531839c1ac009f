"""`python -m tests.placement.plugins.elastic_quota.random_quotas [--worlds N]`: laws of quotas in random worlds.

Of each world, for koord-scheduler 1.8.0:

1. a quota gets at least what it wants of its scaled min, and no more than it wants, or keeps, within max;
2. with `enableMinQuotaScale`, and without the gate ElasticQuotaGuaranteeUsage, the children of a parent get together
   no more than it has, but for rounding: in a round of the water filling each hungry child may get half a unit (a
   thousandth of a cpu, a byte) more than its share, and each round but the last satisfies a child, so that n children
   get at most n(n+1)/4 units too much. Among the children of the root is the default quota, whose share of cpu is
   negative;
3. an admitted pod leaves its quota within its limit, counted from nothing;
4. placing and taking off, in any order, leads back to the digest of before;
5. where no other pod waits, a plan of moves that are proven to land leaves every quota within its limit that was within
   it before. A pod that waits may be admitted while a pod of the default quota is gone, whose replacement takes from
   what all quotas share: then a quota may use more than it is given from then on, as with koord-scheduler.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import replace
from random import Random

import numpy as np

from descheduler.model.koordinator.elastic_quota import ElasticQuota
from descheduler.model.kube_version import KubeVersion
from descheduler.model.pod import Pod
from descheduler.placement.configuration.kube_scheduler.configuration import SchedulerConfiguration
from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
from descheduler.placement.framework.scheduler import Scheduler
from descheduler.placement.landings.landing import LandingVerdict
from descheduler.placement.plugins.elastic_quota.admission import QuotaAdmission
from descheduler.placement.plugins.elastic_quota.elastic_quota import ElasticQuotaArgs, make_admission, usage_of
from descheduler.placement.plugins.elastic_quota.quota_forest import QuotaForest, QuotaPlace
from descheduler.placement.plugins.elastic_quota.quota_tree import NO_PARENT
from descheduler.placement.plugins.table import PLUGINS
from descheduler.placement.prover import LandingProver
from descheduler.placement.shadow.shadow_cluster import Placed, ShadowCluster
from tests.builders import make_node
from tests.placement.plugins.elastic_quota.quotas import koordinated, make_quota, quota_pod, with_quotas

_RESOURCES = ("cpu", "memory")
_GATES = ("ElasticQuotaGuaranteeUsage",)


def broken_laws(seed: int) -> list[str]:
    """What of the laws does not hold in the world of this seed."""
    random = Random(seed)
    return list(_broken_laws(random))


def _broken_laws(random: Random) -> Iterator[str]:
    quotas = _quotas(random)
    names = [quota.name for quota in quotas]
    pods = [_pod(random, f"old-{number}", names, node="a") for number in range(random.randint(0, 6))]
    waiting = [_pod(random, f"wait-{number}", names, node="") for number in range(random.randint(0, 3))]
    scales, gate = random.random() < 0.8, random.random() < 0.2
    version = KubeVersion().with_gates(dict.fromkeys(_GATES, gate))
    nodes = [make_node("a", cpu=f"{random.randint(1, 40)}", memory="40Gi"), make_node("b", cpu="1m", memory="7Ki")]
    cluster = ShadowCluster(with_quotas(quotas, nodes, [*pods, *waiting]), version=version)
    profile = koordinated(enableMinQuotaScale=scales, enableCheckParentQuota=random.random() < 0.3).profiles[0]
    scheduler = Scheduler(cluster, profile, plugins=PLUGINS)
    args = profile.args.of(ElasticQuotaArgs)
    admission = make_admission(cluster, args)
    yield from _broken_shares(admission.usage.forest, is_strict=scales and not gate)
    yield from _broken_ledger(random, scheduler, args, names)
    yield from _broken_plan(random, cluster, profile)


def _broken_plan(random: Random, cluster: ShadowCluster, profile: SchedulerProfile) -> Iterator[str]:
    """That evicting pods whose replacement lands takes a quota over its limit."""
    configuration = SchedulerConfiguration((profile,))
    placed = tuple(pod for pod in cluster.snapshot.pods if pod.node_name)
    prover = LandingProver(replace(cluster.snapshot, pods=placed), configuration=configuration, version=cluster.version)
    args = profile.args.of(ElasticQuotaArgs)
    before = _over_limit(prover.cluster, args)
    for pod in random.sample(placed, len(placed)):
        if prover.consider(pod).verdict is LandingVerdict.LANDS:
            prover.book(pod)
    new = _over_limit(prover.cluster, args) - before
    if new:
        yield f"the plan takes {sorted(new)} over their limits"


def _over_limit(cluster: ShadowCluster, args: ElasticQuotaArgs) -> set[str]:
    admission = make_admission(cluster, args)
    admission.usage.settle()
    over = set()
    for place in admission.usage.forest.places:
        used, limit = admission.used(place), admission.limit(place)
        if any(used.get(name, 0) > most for name, most in limit.items()):
            over.add(place.quota.name)
    return over


def _broken_ledger(random: Random, scheduler: Scheduler, args: ElasticQuotaArgs, names: list[str]) -> Iterator[str]:
    cluster = scheduler.cluster
    for pod in cluster.snapshot.pods:
        scheduler.evaluate(pod)
    before = cluster.digest()
    placed: list[Placed] = []
    for number in range(6):
        pod = _pod(random, f"new-{number}", names, node="")
        evaluation = scheduler.evaluate(pod)
        if evaluation.refusals:
            continue
        placed.append(scheduler.place(evaluation, 0))
        yield from _broken_limit(cluster, args, pod, placed)
    random.shuffle(placed)
    for each in placed:
        cluster.take_off(each)
    if cluster.digest() != before:
        yield "the digest is another one after all was taken off"


def _broken_limit(cluster: ShadowCluster, args: ElasticQuotaArgs, pod: Pod, placed: list[Placed]) -> Iterator[str]:
    """That the quota of an admitted pod is over its limit, with everything counted again from nothing."""
    usage = usage_of(args, cluster.version).over(cluster.snapshot)
    for old, node in cluster.placed_pods:
        usage.pod_added(old, node, is_terminating=False)
    for each in placed:
        usage.pod_added(each.pod, each.node, is_terminating=False)
    usage.settle()
    place = usage.forest.place_of(pod)
    assert place is not None
    fresh = QuotaAdmission(usage)
    used, limit = fresh.used(place), fresh.limit(place)
    over = [name for name, most in limit.items() if used.get(name, 0) > most]
    if over:
        yield f"{pod.name} took {place.quota.name} over its limit of {over}: {used}, {limit}"


def _broken_shares(forest: QuotaForest, *, is_strict: bool) -> Iterator[str]:
    for place in forest.places:
        if not place.is_built_in:
            yield from _broken_share(place)
    tree, runtime = forest.trees[""]
    for parent in {NO_PARENT, *tree.parents}:
        children = [index for index, each in enumerate(tree.parents) if each == parent]
        had = runtime.total if parent == NO_PARENT else runtime.of(parent)
        given = sum((runtime.of(child) for child in children), np.zeros_like(had))
        slack = len(children) * (len(children) + 1) / 4
        if is_strict and (given > np.maximum(had, 0) + slack).any():
            yield f"children of {parent} get {given.tolist()} of {had.tolist()}"


def _broken_share(place: QuotaPlace) -> Iterator[str]:
    tree, index = place.tree, place.index
    got, wanted = place.runtime.of(index), tree.limited[index]
    floor = np.minimum(place.runtime.scaled_min(index), wanted)
    if (got < floor).any():
        yield f"{place.quota.name} gets {got.tolist()}, less than {floor.tolist()}"
    most = np.maximum(wanted, np.maximum(place.runtime.scaled_min(index), tree.guaranteed[index]))
    if (got > most).any():
        yield f"{place.quota.name} gets {got.tolist()}, more than {most.tolist()}"


def _quotas(random: Random) -> list[ElasticQuota]:
    quotas: list[ElasticQuota] = []
    for number in range(random.randint(1, 7)):
        parents = [quota.name for quota in quotas if quota.parent == "koordinator-root-quota"]
        labels = {"parent": random.choice(parents)} if parents and random.random() < 0.5 else {}
        if random.random() < 0.25:
            labels["allow_lent_resource"] = "false"
        quotas.append(
            make_quota(
                f"q{number}",
                most={"cpu": f"{random.randint(1, 30)}", "memory": f"{random.randint(1, 30)}Gi"},
                least={"cpu": f"{random.randint(0, 9000)}m", "memory": f"{random.randint(0, 9 << 30)}"},
                weight={name: str(random.randint(0, 50)) for name in _RESOURCES} if random.random() < 0.7 else None,
                **labels,
            )
        )
    return quotas


def _pod(random: Random, name: str, quotas: list[str], *, node: str) -> Pod:
    quota = random.choice([*quotas, *quotas, None])
    cpu, memory = f"{random.randint(0, 6000)}m", f"{random.randint(0, 6 << 30)}"
    return quota_pod(name, quota, node=node, cpu=cpu, memory=memory, is_fixed=random.random() < 0.15)


def main() -> int:
    """Tries as many worlds as asked for, and returns 1 when a law is broken in any."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worlds", type=int, default=10_000)
    num_worlds = parser.parse_args().worlds
    broken = {seed: found for seed in range(num_worlds) if (found := broken_laws(seed))}
    for seed, found in broken.items():
        print(f"world {seed}: {'; '.join(found)}")
    print(f"{num_worlds} worlds, laws broken in {len(broken)}")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
