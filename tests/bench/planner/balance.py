"""Balancing: evictions against the cover bound, and against upstream's order on the same snapshots."""

from __future__ import annotations

from collections.abc import Sequence

from descheduler.optimizer import BalanceUtilization, Limits, Solution, solve
from tests.bench.planner.outcomes import Outcome, outcome_of, table
from tests.bench.planner.scheduling import evict_one_by_one
from tests.bench.planner.upstream_order import evict_in_order
from tests.worlds.arrays import ArrayWorld, make_balance_world

MEAN_RATIOS = {"loose": 0.50, "tight": 0.62}
_PLANNED, _SCHEDULED, _UPSTREAM = "planner, room held", "planner, scheduler chooses", "upstream's order"


def report(*, nodes: int, seeds: Sequence[int], limits: Limits, num_workers: int) -> None:
    """Prints one line a snapshot, and a table and the ratios for loose and tight ones."""
    for name, mean_ratio in MEAN_RATIOS.items():
        plans: list[Solution] = []
        tools: dict[str, list[Outcome]] = {}
        for seed in seeds:
            world = make_balance_world(nodes=nodes, seed=seed, mean_ratio=mean_ratio)
            plan = solve(world.problem, BalanceUtilization(world.ceiling), limits, seed=seed, num_workers=num_workers)
            print(f"{nodes} {name} {seed}: {_line(plan, world)}", flush=True)
            plans.append(plan)
            for tool, outcome in _outcomes(world, plan).items():
                tools.setdefault(tool, []).append(outcome)
        print(table(f"{nodes} nodes, {name}", tools))
        print(f"{nodes} {name}: {_ratios(plans, tools)}", flush=True)


def _line(plan: Solution, world: ArrayWorld) -> str:
    (over_before, _), (over, evictions) = plan.value_before, plan.value
    return (
        f"{world.problem.num_pods:,} pods, nodes over {over_before} -> {over}, evictions {evictions} "
        f"(bound {plan.bound[1]}), first plan {plan.first_seconds:.2f} s of {plan.seconds:.1f} s, "
        f"{len(plan.waves)} waves"
    )


def _outcomes(world: ArrayWorld, plan: Solution) -> dict[str, Outcome]:
    """Of the planner once on its own targets, and once as any descheduler: evicted, and placed by the scheduler."""
    order = list(dict.fromkeys(move.pod for move in plan.moves))
    scheduled = evict_one_by_one(world.problem, order, most_allocated=False)
    return {
        _PLANNED: outcome_of(world, plan.assignment, len(plan.moves)),
        _SCHEDULED: outcome_of(world, scheduled, len(order)),
        _UPSTREAM: evict_in_order(world, largest_first=False),
        f"{_UPSTREAM}, largest first": evict_in_order(world, largest_first=True),
    }


def _ratios(plans: Sequence[Solution], tools: dict[str, list[Outcome]]) -> str:
    ours = sum(plan.value[1] for plan in plans)
    ratio = ours / max(sum(plan.bound[1] for plan in plans), 1)
    fewer = sum(outcome.num_evictions for outcome in tools[_UPSTREAM]) / max(ours, 1)
    first = max(plan.first_seconds for plan in plans)
    return (
        f"evictions {ratio:.4f} of the bound, {sum(plan.value[0] for plan in plans)} nodes over "
        f"(bound {sum(plan.bound[0] for plan in plans)}), first plan in {first:.2f} s at most, "
        f"{fewer:.2f} times fewer evictions than upstream's order"
    )
