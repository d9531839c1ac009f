"""Carries a plan out on paper, wave by wave, and names what breaks. It shares no code with what makes plans.

Sums are Python integers and counts dictionaries, so that a slip in the arrays of the search does not repeat here.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from descheduler.optimizer.arrays import Ints
from descheduler.optimizer.order.waves import Reassignment
from descheduler.optimizer.problem import Problem
from descheduler.optimizer.rules import AtMost, MaxSkew, MinDomains, MoveLimit, Rule, Together

_Counts = Counter[tuple[int, int]]


def replay(problem: Problem, waves: Sequence[Sequence[Reassignment]], assignment: Ints) -> list[str]:
    """What is wrong with a plan that is said to lead to `assignment`: nothing, in a sound one.

    During a wave every moving pod counts on both of its nodes; capacity and limits a domain must hold then, all rules
    after it. What is broken before a wave may stay broken, but not get worse.
    """
    return _Replay(problem).run(waves, assignment)


class _Replay:
    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._at: list[int] = problem.assignment.tolist()
        self._need: list[list[int]] = problem.need.tolist()
        parts = problem.parts
        self._machine: list[int] = list(range(problem.num_nodes)) if parts is None else parts.machine.tolist()
        self._parts = [[node] for node in self._machine] if parts is None else _named(parts.taken.tolist())
        self._capacity: list[list[int]] = (problem.capacity if parts is None else parts.capacity).tolist()
        self._used = [[0] * problem.num_resources for _ in self._capacity]
        for pod, node in enumerate(self._at):
            if node >= 0:
                self._charge(pod, node, 1)
        self._faults: list[str] = []

    @property
    def _name(self) -> str:
        return "node" if self._problem.parts is None else "part"

    def _charge(self, pod: int, node: int, sign: int) -> None:
        for part in self._parts[node]:
            for resource, amount in enumerate(self._need[pod]):
                self._used[part][resource] += sign * amount

    def run(self, waves: Sequence[Sequence[Reassignment]], assignment: Ints) -> list[str]:
        """The faults of all waves, of the end, and of what is held to the end."""
        for number, wave in enumerate(waves):
            self._run_wave(number, wave)
        for pod, node in enumerate(assignment.tolist()):
            if self._at[pod] != node:
                self._faults.append(f"pod {pod} ends on node {self._at[pod]}, expected {node}")
        self._check_both_ends()
        self._check_move_limits()
        return self._faults

    def _run_wave(self, number: int, wave: Sequence[Reassignment]) -> None:
        before = {id(rule): _broken(rule, self._at) for rule in self._problem.rules}
        for move in wave:
            self._check_move(number, move)
            self._charge(move.pod, move.target, 1)
        self._check_capacity(number, wave)
        self._check_limits_during(number, wave)
        self._check_skew_during(number, wave)
        for move in wave:
            if move.source >= 0:
                self._charge(move.pod, move.source, -1)
            self._at[move.pod] = move.target
        for rule in self._problem.rules:
            free = _groups_of_free(rule, wave)
            worse = {key for key in _broken(rule, self._at) - before[id(rule)] if key[0] not in free}
            self._faults.extend(f"wave {number}: {type(rule).__name__} broken for {key}" for key in sorted(worse))

    def _check_move(self, number: int, move: Reassignment) -> None:
        problem = self._problem
        if self._at[move.pod] != move.source:
            self._faults.append(f"wave {number}: pod {move.pod} is on node {self._at[move.pod]}, not {move.source}")
        if not problem.evictable[move.pod]:
            self._faults.append(f"wave {number}: pod {move.pod} is not evictable")
        if not problem.allowed[problem.pod_class[move.pod], move.target]:
            self._faults.append(f"wave {number}: pod {move.pod} is not allowed on node {move.target}")
        home = int(problem.assignment[move.pod])
        if home >= 0 and move.target != home and self._machine[move.target] == self._machine[home]:
            self._faults.append(f"wave {number}: pod {move.pod} does not leave its machine")

    def _check_capacity(self, number: int, wave: Sequence[Reassignment]) -> None:
        arriving: dict[int, list[int]] = defaultdict(list)
        for move in wave:
            for part in self._parts[move.target]:
                arriving[part].append(move.pod)
        for part, pods in sorted(arriving.items()):
            for resource, used in enumerate(self._used[part]):
                if used > self._capacity[part][resource] and any(self._need[pod][resource] for pod in pods):
                    self._faults.append(
                        f"wave {number}: {self._name} {part} holds {used} of resource {resource}, "
                        f"capacity {self._capacity[part][resource]}"
                    )

    def _check_limits_during(self, number: int, wave: Sequence[Reassignment]) -> None:
        """Limits a domain with each moving pod in both of its domains, where one arrives."""
        for rule in self._problem.rules:
            if not isinstance(rule, AtMost):
                continue
            counts = _count(rule.group.tolist(), rule.domain.tolist(), self._at)
            entered = set()
            for move in wave:
                key = int(rule.group[move.pod]), int(rule.domain[move.target])
                same = move.source >= 0 and rule.domain[move.source] == rule.domain[move.target]
                if key[0] >= 0 and key[1] >= 0 and not same:
                    counts[key] += 1
                    entered.add(key)
            for group, domain in sorted(entered):
                if counts[group, domain] > rule.limit[group]:
                    self._faults.append(f"wave {number}: group {group} has too many pods in domain {domain} meanwhile")

    def _check_skew_during(self, number: int, wave: Sequence[Reassignment]) -> None:
        """Pods that are spread evenly stay so in whatever order the moves of a wave end."""
        for rule in self._problem.rules:
            if not isinstance(rule, MaxSkew):
                continue
            domains = [*rule.domain.tolist(), -1]
            fewest = _count_with_others(rule, self._at)
            most, moving = fewest.copy(), Counter(int(rule.group[move.pod]) for move in wave)
            for move in wave:
                group, left, entered = int(rule.group[move.pod]), domains[move.source], domains[move.target]
                most[group, entered] += 1
                # A single move within a domain: the pod leaves when another one is there.
                fewest[group, left] -= moving[group] > 1 or left != entered
            held = [move for move in wave if rule.free is None or not rule.free[move.pod]]
            for group, domain in sorted({(int(rule.group[move.pod]), domains[move.target]) for move in held}):
                is_single = moving[group] == 1 and not rule.holds_first
                stays = is_single and any(domains[m.source] == domain for m in wave if rule.group[m.pod] == group)
                if group < 0 or domain < 0 or stays:
                    continue
                if most[group, domain] - _emptiest(rule, group, fewest) > rule.skew[group]:
                    self._faults.append(f"wave {number}: domain {domain} may have too many pods of group {group}")

    def _check_both_ends(self) -> None:
        """Of resources that are held at both ends to the end of the plan; pods that were pending come after it."""
        for resource in self._problem.both_ends.nonzero()[0].tolist():
            held = [row[resource] for row in self._used]
            arrived: set[int] = set()
            for pod, (node, home) in enumerate(zip(self._at, self._problem.assignment.tolist(), strict=True)):
                if node == home or not self._need[pod][resource]:
                    continue
                if home < 0:
                    for part in self._parts[node]:
                        held[part] -= self._need[pod][resource]
                    continue
                for part in self._parts[home]:
                    held[part] += self._need[pod][resource]
                arrived.update(self._parts[node] if node >= 0 else [])
            for part in sorted(arrived):
                if held[part] > self._capacity[part][resource]:
                    self._faults.append(
                        f"{self._name} {part} holds {held[part]} of resource {resource} with all that moves"
                    )

    def _check_move_limits(self) -> None:
        for rule in self._problem.rules:
            if not isinstance(rule, MoveLimit):
                continue
            homes = self._problem.assignment.tolist()
            moved = Counter(
                int(rule.group[pod]) for pod, home in enumerate(homes) if home >= 0 and self._at[pod] != home
            )
            for group, count in sorted(moved.items()):
                if group >= 0 and count > rule.limit[group]:
                    self._faults.append(f"group {group} has {count} moved pods, limit {rule.limit[group]}")


def _named(taken: list[list[int]]) -> list[list[int]]:
    return [[part for part in parts if part >= 0] for parts in taken]


def _count(group: list[int], domain: list[int], at: list[int]) -> _Counts:
    return Counter((group[pod], domain[node]) for pod, node in enumerate(at) if node >= 0 and group[pod] >= 0)


def _count_with_others(rule: MaxSkew, at: list[int]) -> _Counts:
    counts = _count(rule.group.tolist(), rule.domain.tolist(), at)
    for group, row in enumerate([] if rule.others is None else rule.others.tolist()):
        for domain, number in enumerate(row):
            counts[group, domain] += number
    return counts


def _groups_of_free(rule: Rule, wave: Sequence[Reassignment]) -> set[int]:
    """The groups that a rule of even spread lets moves of a wave make uneven: of pods that are free or go to no domain.

    No scheduler looks at what such a pod leaves behind.
    """
    if not isinstance(rule, MaxSkew):
        return set()
    free = [move for move in wave if rule.domain[move.target] < 0 or (rule.free is not None and rule.free[move.pod])]
    return {int(rule.group[move.pod]) for move in free}


def _emptiest(rule: MaxSkew, group: int, counts: _Counts) -> int:
    """How many pods the emptiest domain has that is there."""
    return min((counts[group, domain] for domain, there in enumerate(rule.there[group].tolist()) if there), default=0)


def _broken(rule: Rule, at: list[int]) -> set[tuple[int, ...]]:
    """The parts of the rule that are broken, with how much, so that worse is not the same as before."""
    if isinstance(rule, MoveLimit):
        return set()
    plain = _count(rule.group.tolist(), rule.domain.tolist(), at)
    counts = _count_with_others(rule, at) if isinstance(rule, MaxSkew) else plain
    present = {key for key, count in counts.items() if count and key[1] >= 0}
    match rule:
        case AtMost():
            return {
                (group, domain, extra)
                for (group, domain), count in counts.items()
                if domain >= 0
                for extra in range(int(rule.limit[group]), count)
            }
        case MaxSkew():
            return {
                (group, domain, extra)
                for (group, domain), count in counts.items()
                if domain >= 0
                for extra in range(int(rule.skew[group]), count - _emptiest(rule, group, counts))
            }
        case MinDomains():
            covered = Counter(group for group, _ in present)
            return {
                (group, missing)
                for group, minimum in enumerate(rule.minimum.tolist())
                for missing in range(covered[group], minimum)
            }
        case Together():
            domains_of: dict[int, set[int]] = defaultdict(set)
            for group, domain in present:
                domains_of[group].add(domain)
            return {
                (group, needed, domain, alone)
                for group, needed in rule.pairs.tolist()
                for domain in domains_of[group] - domains_of[needed]
                for alone in range(counts[group, domain])
            }
