"""The rules between pods, as constraints of a neighbourhood's model."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from descheduler.optimizer.arrangement import Arrangement
from descheduler.optimizer.arrays import PENDING, Ints
from descheduler.optimizer.cp_sat.node_model import NodeModel
from descheduler.optimizer.rules import AtMost, MaxSkew, MinDomains, MoveLimit, Together

if TYPE_CHECKING:
    from ortools.sat.python import cp_model


def state_rules(model: NodeModel, placement: Arrangement) -> None:
    """Adds every rule that the model's pods could break; what is broken already must not get worse."""
    for rule in placement.problem.rules:
        match rule:
            case AtMost():
                _state_at_most(model, placement, rule)
            case MaxSkew():
                _state_max_skew(model, placement, rule)
            case MinDomains():
                _state_min_domains(model, placement, rule)
            case Together():
                _state_together(model, placement, rule)
            case MoveLimit():
                _state_move_limit(model, placement, rule)


_Domained = AtMost | MaxSkew | MinDomains | Together
"""Rules about domains."""


class _Domains:
    """Of one rule: the model's variables for each group and domain, and how many other pods are there.

    `arrivals` are the variables of pods that are in another domain now, `foreign` of those that were before the plan.
    """

    def __init__(self, model: NodeModel, placement: Arrangement, rule: _Domained) -> None:
        self._group, self._domain, self._at = rule.group, rule.domain, placement.at
        self._origins = placement.origins
        self._own = np.zeros(len(placement.at), bool)
        self._own[model.pods] = True
        self.variables: dict[tuple[int, int], list[cp_model.IntVar]] = defaultdict(list)
        self.arrivals: dict[tuple[int, int], list[cp_model.IntVar]] = defaultdict(list)
        self.foreign: dict[tuple[int, int], list[cp_model.IntVar]] = defaultdict(list)
        self._own_now: dict[tuple[int, int], int] = defaultdict(int)
        self._own_before: dict[tuple[int, int], int] = defaultdict(int)
        for pod in model.pods:
            self._add(model, pod)
        self._others: dict[int, dict[int, int]] = {}

    def _add(self, model: NodeModel, pod: int) -> None:
        group, now = int(self._group[pod]), int(self._at[pod])
        if group < 0:
            return
        before = self.domain_of(int(self._origins[pod]))
        self._own_now[group, self.domain_of(now)] += 1
        self._own_before[group, before] += 1
        for node in model.options[pod]:
            domain = self.domain_of(node)
            if domain >= 0:
                self.variables[group, domain].append(model.at[pod, node])
                if domain != self.domain_of(now):
                    self.arrivals[group, domain].append(model.at[pod, node])
                if domain != before:
                    self.foreign[group, domain].append(model.at[pod, node])

    def domain_of(self, node: int) -> int:
        """-1 for pending pods and nodes outside of all domains."""
        return -1 if node == PENDING else int(self._domain[node])

    def others(self, group: int, domain: int) -> int:
        """How many pods of `group` that are not the model's are in `domain`."""
        if group not in self._others:
            self._others[group] = self._count(np.flatnonzero((self._group == group) & ~self._own))
        return self._others[group].get(domain, 0)

    def _count(self, pods: Ints) -> dict[int, int]:
        counts: dict[int, int] = defaultdict(int)
        for node in self._at[pods].tolist():
            counts[self.domain_of(node)] += 1
        return counts

    def count_now(self, group: int, domain: int) -> int:
        """How many pods of `group` are in `domain` now."""
        return self.others(group, domain) + self.own_now(group, domain)

    def own_now(self, group: int, domain: int) -> int:
        """How many of the model's pods of `group` are in `domain` now."""
        return self._own_now.get((group, domain), 0)

    def count_before(self, group: int, domain: int) -> int:
        """How many pods of `group` would be in `domain` with the model's where they were before the plan."""
        return self.others(group, domain) + self._own_before.get((group, domain), 0)

    def has_foreign_others(self, group: int, domain: int) -> bool:
        """Whether a pod of `group` that is not the model's has come to `domain`."""
        pods = np.flatnonzero((self._group == group) & ~self._own)
        return any(
            self.domain_of(now) == domain != self.domain_of(before)
            for now, before in zip(self._at[pods].tolist(), self._origins[pods].tolist(), strict=True)
        )

    def entering(self, model: NodeModel, pods: Iterable[int], domain: int) -> Iterator[cp_model.IntVar]:
        """The variables of `pods` of the model that come to `domain` and were in another one before the plan."""
        for pod in pods:
            if self.domain_of(int(self._origins[pod])) != domain:
                yield from (model.at[pod, node] for node in model.options[pod] if self.domain_of(node) == domain)

    def staying(self, model: NodeModel, pods: Iterable[int], domain: int) -> Iterator[cp_model.IntVar]:
        """Those with which `pods` that are where they were before the plan come to another node of their `domain`."""
        for pod in pods:
            home = int(self._origins[pod])
            if self._at[pod] == home and self.domain_of(home) == domain:
                nodes = (node for node in model.options[pod] if node != home and self.domain_of(node) == domain)
                yield from (model.at[pod, node] for node in nodes)

    def groups(self) -> Iterable[int]:
        """The groups that the model has variables of, ascending."""
        return sorted({group for group, _ in self.variables})

    def domains_of(self, group: int) -> Iterable[int]:
        """The domains that pods of `group` are or can be in, ascending."""
        self.others(group, 0)
        own = {domain for other, domain in self.variables if other == group}
        return sorted(own | {domain for domain, count in self._others[group].items() if count and domain >= 0})


def _state_at_most(model: NodeModel, placement: Arrangement, rule: AtMost) -> None:
    """A domain that had too many pods before the plan may have them again where no other one has come."""
    domains = _Domains(model, placement, rule)
    for group, domain in sorted(domains.arrivals):
        variables = domains.variables[group, domain]
        others = domains.others(group, domain)
        room = max(int(rule.limit[group]) - others, domains.own_now(group, domain))
        if len(variables) <= room:
            continue
        if domains.count_before(group, domain) <= rule.limit[group] or domains.has_foreign_others(group, domain):
            model.model.add(sum(variables) <= room)
        else:
            for variable in domains.foreign[group, domain]:
                model.model.add(sum(variables) <= room).only_enforce_if(variable)


def _state_max_skew(model: NodeModel, placement: Arrangement, rule: MaxSkew) -> None:
    """A variable for the emptiest domain of each group, which the others are compared with.

    In domains of a group that is uneven already nothing arrives where there are too many, and the emptiest one stays as
    it is at least. Where pods are free to make it uneven, only domains count that other pods come to.
    """
    domains, others = _Domains(model, placement, rule), rule.count(np.full(len(placement.at), PENDING))
    for group in domains.groups():
        members = [pod for pod in model.pods if rule.group[pod] == group]
        held = [pod for pod, holds in zip(members, rule.holds_for(np.array(members)).tolist(), strict=True) if holds]
        there, skew = np.flatnonzero(rule.there[group]).tolist(), int(rule.skew[group])
        known = {*there, *domains.domains_of(group)}
        now = {each: domains.count_now(group, each) + int(others[group, each]) for each in known}
        least_now = min((now[each] for each in there), default=0)
        is_kept = len(held) == len(members)
        is_uneven = is_kept and max(now.values()) - least_now > skew
        most = len(placement.at) + int(others[group].max(initial=0))
        least = model.model.new_int_var(least_now if is_uneven else 0, most, "") if there else 0
        for domain, number in sorted(now.items()):
            pods = sum(domains.variables[group, domain]) + domains.others(group, domain) + int(others[group, domain])
            if domain in there:
                model.model.add(pods >= least)
            if is_kept:
                model.model.add(pods <= (number if number - least_now > skew else least + skew))
            else:
                for variable in domains.entering(model, held, domain):
                    model.model.add(pods <= least + skew).only_enforce_if(variable)
            if rule.holds_first and number + 1 - least_now > skew:
                for variable in domains.staying(model, held, domain):
                    model.model.add(pods + 1 <= least + skew).only_enforce_if(variable)


def _state_min_domains(model: NodeModel, placement: Arrangement, rule: MinDomains) -> None:
    domains = _Domains(model, placement, rule)
    for group in domains.groups():
        fixed, covers, now = 0, [], 0
        for domain in domains.domains_of(group):
            is_fixed = domains.others(group, domain) > 0
            fixed += is_fixed
            now += is_fixed or domains.own_now(group, domain) > 0
            if not is_fixed:
                covers.append(_is_present(model, domains.variables[group, domain]))
        model.model.add(sum(covers) >= min(int(rule.minimum[group]), now) - fixed)


def _is_present(model: NodeModel, variables: list[cp_model.IntVar]) -> cp_model.IntVar:
    """A variable that can be 1 only where one of `variables` is."""
    present = model.model.new_bool_var("")
    model.model.add_bool_or([*variables, present.negated()])
    return present


def _state_together(model: NodeModel, placement: Arrangement, rule: Together) -> None:
    domains = _Domains(model, placement, rule)
    touched = set(domains.groups())
    near = np.isin(rule.pairs, sorted(touched)).any(axis=1) & (rule.pairs[:, 0] != rule.pairs[:, 1])
    for group, needed in np.unique(rule.pairs[near], axis=0).tolist():
        for domain in domains.domains_of(group):
            _state_pair(model, domains, group, needed, domain)


def _state_pair(model: NodeModel, domains: _Domains, group: int, needed: int, domain: int) -> None:
    """Where a pod of `group` is in `domain`, one of `needed` is; where none is today, no pod of `group` arrives."""
    if domains.others(needed, domain):
        return
    company = domains.variables.get((needed, domain), [])
    has_company = domains.own_now(needed, domain) > 0
    if domains.others(group, domain) and has_company:
        model.model.add_bool_or(company)
        return
    bound = domains.variables if has_company else domains.arrivals
    for variable in bound.get((group, domain), []):
        model.model.add_bool_or([*company, variable.negated()])


def _state_move_limit(model: NodeModel, placement: Arrangement, rule: MoveLimit) -> None:
    moved = placement.problem.moved(placement.at)
    is_own = np.isin(moved, model.pods)
    outside, inside = rule.count(moved[~is_own]), rule.count(moved[is_own])
    members: dict[int, list[int]] = defaultdict(list)
    for pod in model.pods:
        if rule.group[pod] >= 0 and placement.origins[pod] != PENDING:
            members[int(rule.group[pod])].append(pod)
    for group, pods in members.items():
        room = max(int(rule.limit[group] - outside[group]), int(inside[group]))
        if len(pods) > room:
            model.limit_moves(pods, room)
