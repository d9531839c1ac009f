"""Pods that may be evicted although no node takes a replacement: they go nowhere, which is one node more.

They are disposable, or their owner creates no pod for them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np

from descheduler.eviction.placement_verification.placement_verification import verification_args
from descheduler.eviction.strategy_handle import StrategyHandle
from descheduler.model.pod import Pod
from descheduler.optimizer.rules import MoveLimit, Rule
from descheduler.plan.moves import identity_of
from descheduler.planner.problem.cluster_problem import ClusterProblem
from descheduler.policy.shared_args import compile_selector

NOWHERE = ""
"""The name of the node that stands for none."""
_AMPLE = 100
"""How many times all that can go nowhere has room there: shares of it, such as a `maxUtilization`, are enough."""


def disposable_pods(handle: StrategyHandle) -> Callable[[Pod], bool]:
    """Which pods the profile evicts although their replacements cannot be scheduled (`disposablePods`)."""
    args = verification_args(handle.policy.profiles[handle.evictor.profile_index])
    selector = None if args is None else compile_selector(args.disposable_pods)
    return lambda pod: selector is not None and selector.matches(pod.labels)


def with_nowhere(cluster: ClusterProblem) -> ClusterProblem:
    """`cluster` with the node NOWHERE after all others, open to pods that go nowhere; as it is where it has none."""
    if not cluster.goes_nowhere:
        return cluster
    problem = cluster.problem
    found = np.flatnonzero([identity_of(pod) in cluster.goes_nowhere for pod in cluster.pods])
    classes, of_found = np.unique(problem.pod_class[found], return_inverse=True)
    rows = problem.allowed[classes]
    allowed = np.block(
        [
            [problem.allowed, np.zeros((len(problem.allowed), 1), bool)],
            [rows, np.ones((len(rows), 1), bool)],
        ]
    )
    pod_class = problem.pod_class.copy()
    pod_class[found] = len(problem.allowed) + of_found.reshape(-1)
    room = _AMPLE * problem.need[found].sum(axis=0, keepdims=True)
    extended = dataclasses.replace(
        problem,
        capacity=np.vstack((problem.capacity, room)),
        pod_class=pod_class,
        allowed=allowed,
        rules=tuple(map(_with_no_domain, problem.rules)),
    )
    return ClusterProblem(
        extended,
        cluster.pods,
        [*cluster.nodes, NOWHERE],
        cluster.resources,
        np.vstack((cluster.allocatable, cluster.units.amounts(room))),
        cluster.unasked,
        cluster.goes_nowhere,
        held=np.vstack((cluster.held, np.zeros_like(room))),
        units=cluster.units,
    )


def _with_no_domain(rule: Rule) -> Rule:
    """The rule with one node more, which is in none of its domains."""
    return rule if isinstance(rule, MoveLimit) else dataclasses.replace(rule, domain=np.append(rule.domain, -1))
