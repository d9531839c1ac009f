"""Spread that keeps all pods of a group in their domains, since no single move to another one is open."""

from __future__ import annotations

import dataclasses

import numpy as np

from descheduler.optimizer.arrays import Bools
from descheduler.optimizer.problem import Problem
from descheduler.optimizer.rule_counts import SkewCounts
from descheduler.optimizer.rules import MaxSkew


def with_kept_domains(problem: Problem) -> Problem:
    """`problem` without the moves to other domains that topology spread closes in every order of moves.

    Where no pod of a group may be the first to change its domain, none ever may: moves within domains change no count.
    Rules alone would let such pods change places, all at once.
    """
    rows, number = list(problem.allowed), dict[bytes, int]()
    pod_class = problem.pod_class.copy()
    for rule in [rule for rule in problem.rules if isinstance(rule, MaxSkew)]:
        known: dict[tuple[int, int], int] = {}
        for pod in np.flatnonzero(_stays(problem, rule)).tolist():
            key = int(pod_class[pod]), int(rule.domain[problem.assignment[pod]])
            if key not in known:  # most pods are like another one, and rows are as long as there are nodes
                row = rows[key[0]] & (rule.domain == key[1])
                known[key] = number.setdefault(row.tobytes(), len(rows))
                if known[key] == len(rows):
                    rows.append(row)
            pod_class[pod] = known[key]
    return dataclasses.replace(problem, pod_class=pod_class, allowed=np.array(rows)) if number else problem


def _stays(problem: Problem, rule: MaxSkew) -> Bools:
    """bool[P]: the evictable pods of groups in which no count can change."""
    may_change = SkewCounts(rule, problem.assignment, problem.assignment).may_change()
    is_held = rule.holds_for(np.arange(problem.num_pods))
    # Pods that have no domain, or may go to where none is, or that the rule leaves free, change counts all the same.
    has_none = np.append(rule.domain, -1)[problem.assignment] < 0
    to_none = np.asarray(problem.allowed[:, rule.domain < 0].any(axis=1))[problem.pod_class]
    np.logical_or.at(may_change, rule.group, problem.evictable & (has_none | to_none | ~is_held))
    return np.asarray(problem.evictable & is_held & ~may_change[rule.group])
