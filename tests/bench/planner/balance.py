"""Balancing: evictions against the cover bound, and against upstream's order on the same snapshot."""

from __future__ import annotations

from collections.abc import Sequence

from descheduler.planner import Balance, Limits, Plan, solve
from tests.bench.planner.upstream_order import Evicted, evict_in_order
from tests.worlds.arrays import ArrayWorld, make_balance_world

__all__ = ["MEAN_RATIOS", "report"]

MEAN_RATIOS = {"loose": 0.50, "tight": 0.62}


def report(*, nodes: int, seeds: Sequence[int], limits: Limits, num_workers: int) -> None:
    """Prints one line a snapshot, and the sums over loose and tight ones."""
    for name, mean_ratio in MEAN_RATIOS.items():
        plans, rivals = [], []
        for seed in seeds:
            world = make_balance_world(nodes=nodes, seed=seed, mean_ratio=mean_ratio)
            plan = solve(world.problem, Balance(world.ceiling), limits, seed=seed, num_workers=num_workers)
            rival = evict_in_order(world, largest_first=False)
            largest = evict_in_order(world, largest_first=True)
            print(f"{nodes} {name} {seed}: {_line(plan, world, rival, largest)}", flush=True)
            plans.append(plan)
            rivals.append(rival)
        print(f"{nodes} {name}: {_sums(plans, rivals)}", flush=True)


def _line(plan: Plan, world: ArrayWorld, rival: Evicted, largest: Evicted) -> str:
    (over_before, _), (over, evictions) = plan.value_before, plan.value
    return (
        f"{world.problem.num_pods:,} pods, nodes over {over_before} -> {over}, evictions {evictions} "
        f"(bound {plan.bound[1]}), first plan {plan.first_seconds:.2f} s of {plan.seconds:.1f} s, "
        f"{len(plan.waves)} waves, {plan.num_bounces} bounces; upstream's order {_evicted(rival)}, "
        f"largest first {_evicted(largest)}"
    )


def _evicted(rival: Evicted) -> str:
    return f"{rival.num_evictions} / {rival.num_over} over / {rival.num_pending} pending"


def _sums(plans: Sequence[Plan], rivals: Sequence[Evicted]) -> str:
    ours = sum(plan.value[1] for plan in plans)
    ratio = ours / max(sum(plan.bound[1] for plan in plans), 1)
    fewer = sum(rival.num_evictions for rival in rivals) / max(ours, 1)
    first = max(plan.first_seconds for plan in plans)
    left = sum(rival.num_over for rival in rivals)
    return (
        f"evictions {ratio:.4f} of the bound, {sum(plan.value[0] for plan in plans)} nodes over "
        f"(bound {sum(plan.bound[0] for plan in plans)}), first plan in {first:.2f} s at most, "
        f"{fewer:.2f} times fewer evictions than upstream's order, which leaves {left} nodes over"
    )
