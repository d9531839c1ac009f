"""Which CPUs a pod gets, by the rules of koord-scheduler (koordinator 1.8 `cpu_accumulator.go`).

Whether there are enough does not hang on it; what is left for the next pod does, as whole cores run out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import msgspec

from descheduler.placement.plugins.node_numa_resource.cpu_cache import FULL_CORES, CpuMap

CORE_EXCLUSIVE, NUMA_EXCLUSIVE = "PCPULevel", "NUMANodeLevel"
"""Policies of pods that would rather not share a core, or a NUMA node, with others of the same policy."""


class CpuChoice(msgspec.Struct, frozen=True):
    """`number` CPUs to choose, by `policy`; `exclusive` is empty or one of the exclusive policies.

    With `fills` they are taken where the fewest are left, else where the most are.
    """

    number: int
    policy: str
    exclusive: str = ""
    fills: bool = False


def choose_cpus(
    cpus: CpuMap, free: frozenset[int], held: Iterable[tuple[int, str]], choice: CpuChoice
) -> frozenset[int] | None:
    """The CPUs of `free` that are taken, None where they are too few.

    `held` are the CPUs of other pods, each with the exclusive policy of its pod.
    """
    if choice.number > len(free):
        return None
    chooser = _Chooser(cpus, free, held, choice)
    chooser.run()
    return frozenset(chooser.taken)


class _Chooser:
    def __init__(self, cpus: CpuMap, free: frozenset[int], held: Iterable[tuple[int, str]], choice: CpuChoice) -> None:
        self._cpus = cpus
        self._choice = choice
        self._free = set(free)
        self._needed = choice.number
        self.taken: set[int] = set()
        known = [(cpu, policy) for cpu, policy in held if cpu in cpus.core and policy == choice.exclusive]
        is_core, is_numa = choice.exclusive == CORE_EXCLUSIVE, choice.exclusive == NUMA_EXCLUSIVE
        self._closed_cores = {cpus.core[cpu] for cpu, _ in known if is_core}
        self._closed_numa_nodes = {cpus.numa_node[cpu] for cpu, _ in known if is_numa}

    def run(self) -> None:
        """Takes the CPUs, first all of them close together, then from wherever some are."""
        is_full = self._choice.policy == FULL_CORES
        if self._needed < 1 or ((is_full or self._cpus.per_core == 1) and self._take_cores()):
            return
        if not is_full and self._take_in_one_place():
            return
        for avoids in (True, False):
            for cpu in self._spread(self._in_order_of_cores(avoids)):
                self._take([cpu])
                if self._needed < 1:
                    return

    def _take_cores(self) -> bool:
        """Takes whole cores: in one NUMA node, in one socket, else of as few sockets as possible."""
        if self._needed <= self._cpus.per_numa_node:
            for avoids in (True, False):
                if self._take_first(self._cores_by_numa_node(avoids)):
                    return True
        if self._needed <= self._cpus.per_socket and self._take_first(self._cores_by_socket()):
            return True
        left = []
        for cpus in sorted(self._cores_by_socket(), key=len, reverse=True):
            if self._needed < len(cpus):
                left.append(cpus)
                continue
            self._take(cpus)
            if self._needed < 1:
                return True
        return self._needed >= self._cpus.per_core and self._take_cores_of(sorted(left, key=len))

    def _take_cores_of(self, sockets: Iterable[list[int]]) -> bool:
        """Takes core by core. Of each socket it is one at least, which may be one too many, as in the original."""
        step = self._cpus.per_core
        for cpus in sockets:
            for start in range(0, len(cpus), step):
                self._take(cpus[start : start + step])
                if self._needed < 1:
                    return True
                if self._needed < step:
                    break
        return False

    def _take_in_one_place(self) -> bool:
        """Takes CPUs of one NUMA node, or of one socket, where that can be, spread over its cores."""
        if self._needed <= self._cpus.per_numa_node:
            for avoids in (True, False):
                if self._take_first(self._by_numa_node(avoids), self._spread):
                    return True
        if self._needed <= self._cpus.per_socket:
            for avoids in (True, False):
                if self._take_first(self._by_socket(avoids), self._spread):
                    return True
        return False

    def _take_first(
        self, places: Iterable[list[int]], order: Callable[[list[int]], list[int]] = lambda cpus: cpus
    ) -> bool:
        """Takes all from the first place that has enough."""
        for cpus in places:
            if len(cpus) >= self._needed:
                self._take(order(cpus)[: self._needed])
                return True
        return False

    def _take(self, cpus: Iterable[int]) -> None:
        for cpu in cpus:
            self.taken.add(cpu)
            self._free.discard(cpu)
            self._needed -= 1
            if self._choice.exclusive == CORE_EXCLUSIVE:
                self._closed_cores.add(self._cpus.core[cpu])
            elif self._choice.exclusive == NUMA_EXCLUSIVE:
                self._closed_numa_nodes.add(self._cpus.numa_node[cpu])

    def _fewest_first(self, number: int) -> int:
        """The key of a place with this many free CPUs: full places first, or empty ones."""
        return number if self._choice.fills else -number

    def _avoided(self, cpu: int) -> bool:
        return self._cpus.core[cpu] in self._closed_cores or self._cpus.numa_node[cpu] in self._closed_numa_nodes

    def _candidates(self, avoids: bool) -> list[int]:
        return sorted(cpu for cpu in self._free if not (avoids and self._avoided(cpu)))

    def _cores_by_numa_node(self, avoids: bool) -> list[list[int]]:
        """The CPUs of whole free cores, NUMA node by NUMA node; only exclusive NUMA nodes are avoided."""
        closed = self._closed_numa_nodes if avoids else set()
        free = [cpu for cpu in self._free if self._cpus.numa_node[cpu] not in closed]
        return self._ranked_numa_nodes(self._whole_cores(free), _counted(self._cpus.socket, free))

    def _cores_by_socket(self) -> list[list[int]]:
        by_socket = _grouped(self._cpus.socket, self._whole_cores(self._free))
        return [by_socket[socket] for socket in sorted(by_socket, key=lambda s: self._socket_key(s, by_socket[s]))]

    def _whole_cores(self, free: Iterable[int]) -> list[int]:
        """The CPUs of cores that are free as a whole, core by core."""
        by_core = self._cpus.by_core(free)
        return [cpu for core in sorted(by_core) if len(by_core[core]) == self._cpus.per_core for cpu in by_core[core]]

    def _by_numa_node(self, avoids: bool) -> list[list[int]]:
        free = self._candidates(avoids)
        ranked = self._ranked_numa_nodes(free, _counted(self._cpus.socket, free))
        return [self._one_of_each_core(cpus) for cpus in ranked] if avoids else ranked

    def _by_socket(self, avoids: bool) -> list[list[int]]:
        """As they are offered, one of each core at first; exclusive NUMA nodes are not avoided here."""
        closed = self._closed_cores if avoids else set()
        free = sorted(cpu for cpu in self._free if self._cpus.core[cpu] not in closed)
        by_socket = _grouped(self._cpus.socket, free)
        if avoids:
            by_socket = {socket: self._one_of_each_core(cpus) for socket, cpus in by_socket.items()}
        return [by_socket[socket] for socket in sorted(by_socket, key=lambda s: self._socket_key(s, by_socket[s]))]

    def _socket_key(self, socket: int, cpus: list[int]) -> tuple[int, int]:
        return self._fewest_first(len(cpus)), socket

    def _ranked_numa_nodes(self, cpus: Iterable[int], per_socket: Mapping[int, int]) -> list[list[int]]:
        """`cpus` by NUMA node, in the order in which these are tried."""
        by_node = _grouped(self._cpus.numa_node, cpus)

        def key(node: int) -> tuple[int, int, int]:
            socket = self._cpus.socket[by_node[node][0]]
            return self._fewest_first(len(by_node[node])), self._fewest_first(per_socket[socket]), node

        return [by_node[node] for node in sorted(by_node, key=key)]

    def _one_of_each_core(self, cpus: list[int]) -> list[int]:
        return [core[0] for core in self._in_first_seen_order(cpus)]

    def _in_order_of_cores(self, avoids: bool) -> list[int]:
        """Free CPUs core by core: sockets that CPUs were taken from first, then by what is free, fuller cores first."""
        free, cpus = self._candidates(avoids), self._cpus
        per_socket, per_node = _counted(cpus.socket, free), _counted(cpus.numa_node, free)
        taken = _counted(cpus.socket, self.taken)
        by_core = cpus.by_core(free)

        def key(core: int) -> tuple[int, ...]:
            first = by_core[core][0]
            socket, node = cpus.socket[first], cpus.numa_node[first]
            rooms = self._fewest_first(per_socket[socket]), self._fewest_first(per_node[node])
            return -taken.get(socket, 0), *rooms, len(by_core[core]), socket, core

        return [cpu for core in sorted(by_core, key=key) for cpu in by_core[core]]

    def _spread(self, cpus: list[int]) -> list[int]:
        """In rounds, each with one CPU of every core."""
        if len(cpus) <= self._cpus.per_core:
            return cpus
        found: list[int] = []
        while cpus:
            first = {core[0] for core in self._in_first_seen_order(cpus)}
            found += [cpu for cpu in cpus if cpu in first]
            cpus = [cpu for cpu in cpus if cpu not in first]
        return found

    def _in_first_seen_order(self, cpus: list[int]) -> list[list[int]]:
        return list(_grouped(self._cpus.core, cpus).values())


def _grouped(places: Mapping[int, int], cpus: Iterable[int]) -> dict[int, list[int]]:
    """Place → its CPUs, in order."""
    found: dict[int, list[int]] = {}
    for cpu in cpus:
        found.setdefault(places[cpu], []).append(cpu)
    return found


def _counted(places: Mapping[int, int], cpus: Iterable[int]) -> dict[int, int]:
    return {place: len(found) for place, found in _grouped(places, cpus).items()}
