"""Volcano as a scheduler of the shadow cluster: which node a task gets in the next cycle, and what refuses it."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from functools import cmp_to_key, partial, reduce
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from descheduler.model.pod import Pod
from descheduler.model.requests import CPU, MEMORY, PODS
from descheduler.placement.configuration.kube_scheduler.configuration import nodes_to_find
from descheduler.placement.configuration.volcano import VolcanoConfiguration
from descheduler.placement.framework.evaluation import Choice, PluginScores, PodEvaluation, ScoreTable
from descheduler.placement.framework.extension_points import ReasonBits
from descheduler.placement.framework.obstacle import Code, Fact, Obstacle, Said, Shortage
from descheduler.placement.framework.scheduler_model import DoubtOf, EvictedFor, SchedulerModel, Unit
from descheduler.placement.framework.scheduling_plugin import Compares
from descheduler.placement.plugins.scheduling_gates import waiting_for_gates
from descheduler.placement.shadow.node_masks import BoolMask
from descheduler.placement.shadow.shadow_cluster import Company, Cycle, ShadowCluster
from descheduler.placement.volcano.admission import VolcanoInterplay, barred, gang_shortage
from descheduler.placement.volcano.jobs import Task
from descheduler.placement.volcano.live_session import AskedTask, LiveSession, job_id_of
from descheduler.placement.volcano.plugins.kube_scheduler import KubeFilters
from descheduler.placement.volcano.plugins.table import VOLCANO_PLUGINS
from descheduler.placement.volcano.resources import QUANTUM
from descheduler.placement.volcano.session import Session
from descheduler.placement.volcano.tiers import OPEN

_NAME = "volcano"
_ROOM = "allocate"
"""The action that compares what nodes have with what tasks ask for; no plugin does."""
_PREDICATES = "predicates"
_THOUSANDTHS = 1000
_ORDER = "Volcano orders queues and jobs by what they hold at that moment"
_ASSUMED = (
    "the pods of scheduler volcano are checked by the default configuration of Volcano; name its volcano-scheduler.conf"
    " in schedulerConfigFile of PlacementVerification"
)
_RELEASE_ASSUMED = (
    "the pods of scheduler volcano are checked as Volcano 1.10 schedules them; name the release of the cluster in"
    " schedulerVersions of PlacementVerification"
)
_VOLUMES = "how Volcano binds volumes is not modelled"
_CLAIMS = "how Volcano allocates resource claims is not modelled"


_NOT_READY = Said("node(s) were not ready", "not ready")
"""Volcano leaves nodes out that are not ready."""


class _Question(NamedTuple):
    """The pod that was asked about, and its task as it was then: by now its job and its queue may have changed."""

    pod: Pod
    asked: AskedTask


class VolcanoScheduler(VolcanoInterplay, SchedulerModel):
    """Places the pods of Volcano, as `configuration` says.

    What is said of a pod is what the next cycle does once jobs are admitted: its queue, its gang, its nodes. Pods that
    others would have to make room for are refused: whom Volcano evicts for them is told, and is no landing.
    """

    name = _NAME
    reorders = True
    holds_nominated = False
    """A cycle nominates pods for room that others are to leave; the next cycle decides again (volcano 1.10.0)."""
    evaluation_cost = 4
    """Each opens a cycle, in which queues get their shares (measured: `python -m tests.bench.volcano --dry-run`)."""

    def __init__(self, cluster: ShadowCluster, configuration: VolcanoConfiguration) -> None:
        self.cluster = cluster
        self.configuration = configuration
        # One of its own, as the shadow cluster may be asked by several configurations.
        super().__init__(cluster.follow(partial(LiveSession, configuration=configuration, plugins=VOLCANO_PLUGINS)))
        self.num_nodes_to_find = nodes_to_find(len(cluster.table), 0)

    def doubt(self, pod: Pod, about: DoubtOf = DoubtOf.LANDING) -> str:
        """The part of Volcano that is not modelled, or depends on what was not read."""
        if about is DoubtOf.ORDER:
            return _ORDER
        if about is not DoubtOf.LANDING:
            return ""
        if pod.claim_names or pod.ephemeral_volumes:
            return _VOLUMES
        if pod.spec.has_resource_claims:
            return _CLAIMS
        job = self._live.job_of(pod)
        return self.configuration.doubt_about({} if job is None else job.group.annotations)

    def assumed(self) -> tuple[str, ...]:
        """The default configuration where no file was named, and the measured release where none was."""
        facts = self.configuration
        found = ((_ASSUMED, facts.is_assumed), (_RELEASE_ASSUMED, not facts.is_release_named))
        return tuple(sentence for sentence, holds in found if holds)

    def order(self, units: Iterable[Unit]) -> Sequence[Unit]:
        """The best job of the best queue first, as they are now."""
        return sorted(units, key=cmp_to_key(partial(_compared, self._live.opened())))

    def next_of(self, units: Sequence[Unit]) -> Unit:
        """The best of the best queue; where it is overused nothing of it is placed, and the next one has its turn."""
        session = self._live.opened()
        by_queue: dict[str, list[Unit]] = {}
        for unit in units:
            job = session.jobs.get(job_id_of(unit.pods[0]))
            by_queue.setdefault("" if job is None else job.queue, []).append(unit)
        queues = [session.queues[name] for name in by_queue if name]
        is_less = session.tiers.queue_is_less
        best = reduce(lambda left, right: right if is_less(right, left) else left, queues).name if queues else ""
        return min(by_queue[best], key=cmp_to_key(partial(_compared, session)))

    def opened(self) -> Session:
        """The next session as it is once it has admitted jobs; valid until something changes."""
        return self._live.opened()

    def unit_of(self, pod: Pod) -> str:
        """Its job, where that is bound from a number of tasks on."""
        job = self._live.job_of(pod)
        return "" if job is None or max(job.min_available, job.role_minimum_total) <= 1 else job.id

    def held_back(self, pods: Sequence[Pod]) -> tuple[Obstacle, ...]:
        """That there are too few tasks, even if each of `pods` finds a node."""
        asked = self._live.asked_together(pods)
        return gang_shortage(asked[0], (each.task for each in asked))

    def permits(self, cycle: Cycle, node: int) -> tuple[Obstacle, ...]:
        """That further tasks of the job have to find a node first."""
        if self._is_complete(cycle.pod.pod):
            return ()
        asked = self._live.asked(self._question(cycle).pod, cycle.company)
        return gang_shortage(asked, (asked.task,))

    def conditions(self, cycle: Cycle, node: int) -> tuple[str, ...]:
        """What a pod waits for that is tried without the others of its job."""
        waits = self.permits(cycle, node) if cycle.company is None else ()
        return tuple(f"{reason}: others have to find nodes" for obstacle in waits for reason in obstacle.reasons)

    def evaluate(self, pod: Pod, company: Company | None = None) -> PodEvaluation:
        """What the next cycle says of each node: job and queue, then filters and room."""
        cycle = Cycle(self.cluster.placement_class(pod), self.cluster, company=company)
        gates = waiting_for_gates(pod.spec.scheduling_gates)
        if gates is not None:
            return self.refused(cycle, (gates,), is_queued=False)
        asked = self._live.asked(pod, company)
        cycle.scratch[_NAME] = _Question(pod, asked)
        barrier = barred(asked)
        if barrier is not None:
            is_undecided = barrier.code is Code.UNDECIDED
            return self.refused(cycle, (barrier,), is_queued=not is_undecided)
        return self._filtered(cycle, asked)

    def _filtered(self, cycle: Cycle, asked: AskedTask) -> PodEvaluation:
        session, task = asked.session, asked.task
        predicates = dict(chain.from_iterable(session.tiers.named("predicate")))
        filters = session.accounts.get(_PREDICATES) if _PREDICATES in predicates else None
        found = filters.evaluate(task) if isinstance(filters, KubeFilters) else None
        bits: dict[str, ReasonBits] = {} if found is None else dict(found.bits)
        feasible = session.nodes.is_there.copy() if found is None else found.feasible & session.nodes.is_there
        if isinstance(filters, KubeFilters) and not filters.is_proportional:
            del predicates[_PREDICATES]  # which says no more than its filters
        for plugin, predicate in predicates.items():
            codes = predicate(task)
            if isinstance(codes, np.ndarray):
                against = (codes != OPEN) & feasible
                if against.any():
                    bits[plugin] = against.astype(np.uint32)
                    feasible = feasible & ~against
        short = self._short(session, task)
        if short.any():
            bits[_ROOM] = short
            feasible = feasible & (short == 0)
        if not session.nodes.is_there.all():
            bits[_NAME] = (~session.nodes.is_there).astype(np.uint32)
        return PodEvaluation(
            self,
            cycle,
            bits=bits,
            feasible=feasible,
            refusals=() if found is None else found.refusals,
            narrowing=None if found is None else found.narrowing,
            undecided=() if found is None else found.undecided,
        )

    @staticmethod
    def _short(session: Session, task: Task) -> ReasonBits:
        """For each node a bit for each resource, in the order of the request, of which it has too little."""
        nodes = session.nodes
        bits = np.zeros(len(nodes.is_there), dtype=np.uint32)
        for place, (name, amount) in enumerate(task.request.items()):
            is_short = nodes.idle[nodes.rows[name]] <= amount - QUANTUM
            if is_short.any():
                bits[is_short] |= np.uint32(1 << place)
        return bits

    @staticmethod
    def _question(cycle: Cycle) -> _Question:
        question = cycle.scratch[_NAME]
        assert isinstance(question, _Question)  # noqa: S101 - put there by `evaluate`
        return question

    def choose(self, evaluation: PodEvaluation) -> Choice | None:
        """A node of the best score: any of them."""
        if not evaluation.fits:
            return None
        scores = self._scores(evaluation)
        best = scores.max()
        ties = evaluation.nodes[scores == best]
        others = scores[scores < best]
        return Choice(
            int(ties[0]),
            int(best),
            tuple(ties.tolist()),
            int(np.ceil(best - others.max())) if others.size else None,
            is_sampled=evaluation.is_sampled,
        )

    def scores(self, evaluation: PodEvaluation) -> ScoreTable:
        """The sum that each feasible node is given, rounded down."""
        totals = self._scores(evaluation).astype(np.int64)
        return ScoreTable(evaluation.nodes, {_NAME: PluginScores(totals, None)}, totals)

    def _scores(self, evaluation: PodEvaluation) -> NDArray[np.float64]:
        asked = self._question(evaluation.cycle).asked
        return asked.session.tiers.scores(asked.task, evaluation.feasible)[evaluation.nodes]

    def obstacle(self, plugin: str, cycle: Cycle, node: int, bits: int) -> Obstacle:
        """In the words of kube-scheduler where Volcano runs its filter."""
        asked = self._question(cycle).asked
        if plugin == _ROOM:
            return Obstacle.of(plugin, Code.UNSCHEDULABLE, *_shortages(asked, node, bits))
        if plugin == _NAME:
            return Obstacle.of(plugin, Code.UNRESOLVABLE, _NOT_READY)
        filters = asked.session.accounts.get(_PREDICATES)
        if isinstance(filters, KubeFilters) and plugin in filters.names:
            return filters.obstacle(plugin, cycle, node, bits)
        said = Said(f"plugin {plugin} of Volcano refuses the node", f"refused by plugin {plugin} of Volcano")
        return Obstacle.of(plugin, Code.UNSCHEDULABLE, said)

    def evicted_for(self, refused: PodEvaluation) -> EvictedFor | None:
        """What actions preempt and reclaim do, as far as they are configured."""
        return self._live.evicted_for(self._question(refused.cycle).pod, refused.cycle.company)

    def openable(self, evaluation: PodEvaluation) -> BoolMask:
        """Any where the pod is refused as a whole, or where filters may be appeased; others of its job open no node."""
        is_open = bool(evaluation.refusals) or self._nodes.can_be_helped(evaluation.cycle.pod.pod)
        return np.ones_like(evaluation.feasible) if is_open else evaluation.feasible

    def open_but_for(self, evaluation: PodEvaluation, compared: Container[Compares]) -> BoolMask | None:
        """The nodes that are open, or that lack nothing but what the pod requests where requests are compared."""
        if evaluation.refusals or evaluation.cause:
            return None
        mask = evaluation.asked()
        for name, against in evaluation.bits.items():
            if name != _ROOM or Compares.REQUESTS not in compared:
                mask &= against == 0
        return mask

    def lasting_bits(self, plugin: str) -> np.uint32:
        """See the protocol; a filter of kube-scheduler has such bits, and no other plugin."""
        filters = self._live.opened_last.accounts.get(_PREDICATES)
        if isinstance(filters, KubeFilters) and plugin in filters.names:
            return filters.lasting_bits(plugin)
        return super().lasting_bits(plugin)

    def origin_of(self, plugin: str) -> str:
        """The plugin of Volcano and its tier."""
        filters = self._live.opened_last.accounts.get(_PREDICATES)
        name = _PREDICATES if isinstance(filters, KubeFilters) and plugin in filters.names else plugin
        for number, tier in enumerate(self.configuration.tiers, start=1):
            if any(option.name == name for option in tier):
                return f"plugin {name} in tier {number}"
        return ""

    def runs(self, plugin: str, point: str = "") -> bool:
        """Whether the configuration names the plugin."""
        return any(option.name == plugin for option in self.configuration.plugins)


def _compared(session: Session, left: Unit, right: Unit) -> int:
    """Negative where `left` comes first."""
    jobs = [session.jobs.get(job_id_of(unit.pods[0])) for unit in (left, right)]
    if jobs[0] is None or jobs[1] is None:
        return (jobs[0] is None) - (jobs[1] is None)
    queues = [session.queues[job.queue] for job in jobs if job is not None]
    tiers = session.tiers
    if queues[0] is not queues[1]:
        return -1 if tiers.queue_is_less(*queues) else 1
    if jobs[0] is not jobs[1]:
        return -1 if tiers.job_is_less(jobs[0], jobs[1]) else 1
    return right.priority - left.priority


def _shortages(asked: AskedTask, node: int, bits: int) -> Iterator[Fact]:
    nodes = asked.session.nodes
    for place, (name, amount) in enumerate(asked.task.request.items()):
        if bits >> place & 1:
            row, scale = nodes.rows[name], 1 if name in (CPU, MEMORY, PODS) else _THOUSANDTHS
            idle, all_of_it = float(nodes.idle[row, node]), float(nodes.allocatable[row, node])
            yield Shortage(name, int(amount / scale), int(idle / scale), int(all_of_it / scale))
