"""One pod through the plugins of one scheduler profile: which nodes pass, what the others have against it, who wins.

The order of steps is that of `k8s.io/kubernetes/pkg/scheduler/schedule_one.go` (1.36), except that every filter looks
at every node, because an operator wants all obstacles and not only the first.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from functools import partial, reduce
from itertools import takewhile
from operator import or_
from typing import Any, TypeVar

import numpy as np

from descheduler.model.pod import Pod
from descheduler.placement.configuration.kube_scheduler.configuration import SchedulerConfiguration
from descheduler.placement.configuration.kube_scheduler.profile import SchedulerProfile
from descheduler.placement.framework.doubts import Doubts
from descheduler.placement.framework.evaluation import Choice, Narrowing, PodEvaluation, ScoreTable
from descheduler.placement.framework.extension_points import (
    ConcludingPlugin,
    CountingTransformer,
    FilterPlugin,
    InteractingPlugin,
    OpeningPlugin,
    PatchPlugin,
    PermitPlugin,
    Plugin,
    PreBindPlugin,
    PreemptingPlugin,
    PreEnqueuePlugin,
    PreFilterTransformer,
    ReasonBits,
    ReservePlugin,
    SpreadConstraint,
    SpreadPlugin,
    StartPlugin,
    UnboundPlugin,
    UnitPlugin,
    lasting_bits,
)
from descheduler.placement.framework.foreign.plugin import ForeignPlugin
from descheduler.placement.framework.foreign.rows import guarded_row
from descheduler.placement.framework.interactions import Interactions, JoinedInteractions
from descheduler.placement.framework.matched_reservations import NomineePlugin, call_nominee_plugins
from descheduler.placement.framework.obstacle import Code, Obstacle
from descheduler.placement.framework.scheduler_model import DoubtOf, SchedulerModel
from descheduler.placement.framework.scheduling_plugin import Compares, Preference, SchedulingPlugin, check_annotations
from descheduler.placement.framework.scoring import Scoring
from descheduler.placement.framework.static_answers import Asked, KeptAnswers
from descheduler.placement.shadow.node_masks import BoolMask
from descheduler.placement.shadow.roles import implements, those_of
from descheduler.placement.shadow.shadow_cluster import Company, Cycle, Ledger, Placed, ShadowCluster, Takings
from descheduler.policy.plugin_faults import PluginFault

_NEVER = "Never"
_UNPREPARED = "runs at filter without its preFilter, which fails every pod"
ArgsType = TypeVar("ArgsType")


class Scheduler(JoinedInteractions, SchedulerModel):
    """The plugins of `profile`, out of the table `plugins`, over one shadow cluster.

    `configuration` is the one that the profile is part of; without it nothing else is configured. Raises ValueError
    when a plugin reads annotations by which the cluster does not tell pods apart.
    """

    quotas = frozenset({"ElasticQuota"})

    def __init__(
        self,
        cluster: ShadowCluster,
        profile: SchedulerProfile,
        *,
        plugins: Mapping[str, SchedulingPlugin],
        configuration: SchedulerConfiguration | None = None,
    ) -> None:
        self.cluster = cluster
        self.name = profile.scheduler_name
        self.profile, self._plugins = profile, plugins
        made = _made(cluster, profile, plugins)
        self._guards = [each for each in made.values() if isinstance(each, ForeignPlugin)]
        check_annotations(cluster, {name: plugins[name] for name in made})
        self._pre_enqueue = those_of(PreEnqueuePlugin, _those(made, profile.pre_enqueue))
        filtering = _those(made, (*profile.filters, *profile.pre_filters))
        self._pre_filters = {plugin.name: plugin for plugin in those_of(FilterPlugin, filtering)}
        # A plugin that is disabled as a filter alone still answers before nodes are looked at.
        self._only_before = frozenset(self._pre_filters) - {*profile.filters}
        self._first_asked = {name: place for place, name in enumerate(profile.pre_filters)}
        self.filters = {name: each for name, each in self._pre_filters.items() if name not in self._only_before}
        self._lasting = {name: lasting_bits(each) for name, each in self.filters.items()}
        self._concluding = {name: each for name, each in self.filters.items() if implements(each, ConcludingPlugin)}
        self._spreaders = those_of(SpreadPlugin, self.filters.values())
        self._ledgers = [each.ledger for each in those_of(ReservePlugin, _those(made, profile.reserves))]
        self._permitters = those_of(PermitPlugin, _those(made, profile.permits))
        self._uniters = those_of(UnitPlugin, self._permitters)
        self._pre_binders = those_of(PreBindPlugin, _those(made, profile.pre_binds))
        self._unbinders = those_of(UnboundPlugin, self._pre_binders)
        self._patchers = those_of(PatchPlugin, _those(made, profile.pre_binds))
        self._starters = those_of(StartPlugin, self.filters.values())
        self._transformers = those_of(PreFilterTransformer, made.values())
        self._counting = those_of(CountingTransformer, self._transformers)
        self._nominee_plugins = those_of(NomineePlugin, made.values())
        super().__init__(
            {name: _interactions(plugin, guarded_row(name, plugins[name]), profile) for name, plugin in made.items()},
            frozenset(each.name for each in self._transformers),
            frozenset(name for name, each in made.items() if not implements(each, FilterPlugin) or each.is_static),
        )
        self._is_preempting = any(plugins[name].preempts for name in profile.post_filters if name in plugins)
        self._preempters = {each.name: each for each in those_of(PreemptingPlugin, _those(made, profile.post_filters))}
        self._failures = tuple(Obstacle(name, Code.UNRESOLVABLE, (_UNPREPARED,)) for name in profile.unprepared_filters)
        self._configuration = configuration or SchedulerConfiguration((profile,))
        self._doubts = Doubts(profile, self._configuration, plugins, cluster.snapshot)
        self.num_nodes_to_find = self._configuration.nodes_to_find(profile, len(cluster.table))
        self._scoring = Scoring(cluster, profile, plugins, self.num_nodes_to_find)
        self._guards += self._scoring.guards
        self._kept_answers = KeptAnswers(self._pre_filters, only_before=self._only_before, num_nodes=len(cluster.table))

    def doubt(self, pod: Pod, about: DoubtOf = DoubtOf.LANDING) -> str:
        """What the scheduler checks of `pod` that is not modelled, or an empty string."""
        return self._doubts.about(pod, about)

    def preempts(self, pod: Pod) -> bool:
        """Whether a plugin at PostFilter does it, for a pod that allows it."""
        return self._is_preempting and pod.spec.preemption_policy != _NEVER

    def unit_of(self, pod: Pod) -> str:
        """What pods share that are placed together, as the cluster is now; empty for a pod that is placed alone."""
        for plugin in self._uniters:
            if unit := plugin.unit_of(pod):
                return unit
        return ""

    def held_back(self, pods: Sequence[Pod]) -> tuple[Obstacle, ...]:
        """What keeps pods from being bound that are placed together, even if all of them find a node."""
        answers = (plugin.holds_back(pods) for plugin in self._uniters)
        return tuple(obstacle for obstacle in answers if obstacle is not None)

    def evaluate(self, pod: Pod, company: Company | None = None) -> PodEvaluation:
        """Asks every filter about `pod`, as the cluster is now; `company` are the pods that it is tried with."""
        return self._guarded(pod, company) if self._guards else self._evaluated(pod, company)

    def _guarded(self, pod: Pod, company: Company | None) -> PodEvaluation:
        """The same where some plugins are not of this program: one that fails is left out, and what it says unknown."""
        while True:
            try:
                evaluation = self._evaluated(pod, company)
            except PluginFault:  # its plugin has no say any more, so this ends
                continue
            failed = [guard.undecided for guard in self._guards]
            evaluation.undecided += tuple([each for each in failed if each is not None])
            return evaluation

    def _evaluated(self, pod: Pod, company: Company | None) -> PodEvaluation:
        cycle = Cycle(self.cluster.placement_class(pod), self.cluster, company=company)
        barred = self._barred(cycle)
        if barred is not None:
            return barred
        if self._nominee_plugins:
            call_nominee_plugins(cycle, self._nominee_plugins)
        for transformer in self._transformers:
            transformer.before_pre_filter(cycle)
        with cycle.view():
            return self._filtered(cycle)

    def num_changes_seen(self) -> int | None:
        """As transformers count it; None where one does not."""
        if len(self._counting) < len(self._transformers):
            return None
        return sum(each.num_changes for each in self._counting)

    def _filtered(self, cycle: Cycle) -> PodEvaluation:
        """What PreFilter and Filter say, in the cluster as the scheduler sees it."""
        static = self._kept_answers.of(cycle)
        refusals: list[Obstacle] = []
        undecided: list[Obstacle] = []
        narrowing = Narrowing()
        asked: list[Asked] = []
        idle: list[Asked] = []
        for each in static.asked:
            result = each.result or each.plugin.pre_filter(cycle)
            obstacle = result.obstacle
            if obstacle is None and result.nodes is not None:
                obstacle = narrowing.add(each.name, result.nodes, result.names)
            if obstacle is not None:
                (undecided if obstacle.code is Code.UNDECIDED else refusals).append(obstacle)
                continue
            if not result.is_skipped:
                asked.append(each)
            elif result.is_for_good:
                idle.append(each)
        if idle:
            self._kept_answers.drop(cycle.pod, idle)
        if refusals:
            refusals.sort(key=lambda obstacle: self._first_asked.get(obstacle.plugin, 0))
            return self.refused(cycle, tuple(refusals))
        bits = {}
        feasible = static.is_open.copy() if narrowing.nodes is None else narrowing.nodes & static.is_open
        for name, plugin, _, known in asked:
            if plugin.is_static:
                if known is not None:
                    bits[name] = known
            elif name not in self._only_before:
                against = plugin.filter(cycle)
                if against is not None:
                    bits[name] = against
                    feasible &= against == 0
        has_brief = False
        for each in asked:
            if each.name in self._concluding:
                plugin = self._concluding[each.name]
                has_brief |= self._conclude(plugin, cycle, narrowing.nodes, bits, feasible, undecided)
        return PodEvaluation(
            self,
            cycle,
            bits=bits,
            feasible=feasible,
            narrowing=narrowing,
            undecided=tuple(undecided),
            has_brief=has_brief,
        )

    def _conclude(
        self,
        plugin: ConcludingPlugin,
        cycle: Cycle,
        narrowed: BoolMask | None,
        bits: dict[str, ReasonBits],
        feasible: BoolMask,
        undecided: list[Obstacle],
    ) -> bool:
        """Lets `plugin` end the attempt, or say that it cannot tell; changes the last three accordingly.

        Whether some of its obstacles are states of seconds.
        """
        reached = np.ones(len(feasible), dtype=bool) if narrowed is None else narrowed.copy()
        for name in takewhile(lambda name: name != plugin.name, bits):
            reached &= bits[name] == 0
        is_sampled = int(np.count_nonzero(feasible)) > self.num_nodes_to_find
        conclusion = plugin.conclude(cycle, reached, is_sampled=is_sampled)
        if conclusion is None:
            return False
        if conclusion.doubt is not None:
            undecided.append(conclusion.doubt)
        if conclusion.ending_bit:
            bits[plugin.name][feasible] |= np.uint32(conclusion.ending_bit)
            feasible[:] = False
        return conclusion.is_brief

    def scores(self, evaluation: PodEvaluation) -> ScoreTable:
        """Scores of all feasible nodes of `evaluation`, of which there must be one. Raises ScoreError."""
        return self._scoring.scores(evaluation)

    def choose(self, evaluation: PodEvaluation) -> Choice | None:
        """The node that is taken after `evaluation`; None when no node passes, or when the pod cannot be scored."""
        choice = self._scoring.choose(evaluation)
        if choice is None:
            return None
        cause = self.doubt(evaluation.cycle.pod.pod, DoubtOf.CHOICE)
        return self._scoring.opened(choice, evaluation, cause) if cause else choice

    def place(self, evaluation: PodEvaluation, node: int, *ledgers: Ledger[Any]) -> Placed:
        """Puts the evaluated pod on `node`, with what it takes out of `ledgers` and then out of those of plugins."""
        cycle = evaluation.cycle
        patch = partial(self._patch, cycle, node) if self._patchers else None
        return self.cluster.place(cycle, node, (*ledgers, *self._ledgers), patch)

    def _patch(self, cycle: Cycle, node: int, takings: Takings) -> Mapping[str, str]:
        """The annotations that the plugins write on the pod of `cycle`, the last one's where two write the same."""
        written: dict[str, str] = {}
        for plugin in self._patchers:
            written |= plugin.patch(cycle, node, takings)
        return written

    def permits(self, cycle: Cycle, node: int) -> tuple[Obstacle, ...]:
        """What keeps the pod of `cycle` from being bound to `node`, although there is room; each plugin's word."""
        answers = (plugin.permit(cycle, node) for plugin in self._permitters)
        return tuple(obstacle for obstacle in answers if obstacle is not None)

    def conditions(self, cycle: Cycle, node: int) -> tuple[str, ...]:
        """On what it hangs that the pod of `cycle` is bound to `node` and starts there; each plugin's sentences.

        What a pod waits for in company is no condition: it is bound with its company, or not at all.
        """
        found = [sentence for plugin in self._starters for sentence in plugin.before_start(cycle, node)]
        found += [sentence for plugin in self._pre_binders for sentence in plugin.pre_bind(cycle, node)]
        if cycle.company is None:
            found += [reason for obstacle in self.permits(cycle, node) for reason in obstacle.reasons]
        return tuple(found)

    def why_unbound(self, evaluation: PodEvaluation) -> Obstacle | None:
        """What makes binding fail on every node that passes; None where it succeeds on one."""
        for plugin in self._unbinders:
            fault: Obstacle | None = None
            for node in map(int, evaluation.nodes):  # mostly the first one is enough
                fault = plugin.why_unbound(evaluation.cycle, node)
                if fault is None:
                    break
            if fault is not None:
                return fault
        return None

    def may_preempt(self, refused: PodEvaluation, other: Pod) -> bool:
        """Whether `other`, of lower priority, may be evicted for a pod that is `refused` before nodes are looked at.

        A plugin whose refusal no preemption changes has none evicted.
        """
        preempters = [self._preempters.get(refusal.plugin) for refusal in refused.refusals]
        return all(each is not None and each.may_preempt(refused.cycle.pod.pod, other) for each in preempters)

    def _barred(self, cycle: Cycle) -> PodEvaluation | None:
        """The answer for a pod that never gets as far as PreFilter."""
        for gate in self._pre_enqueue:
            obstacle = gate.pre_enqueue(cycle)
            if obstacle is not None:
                return self.refused(cycle, (obstacle,), is_queued=False)
        return self.refused(cycle, self._failures) if self._failures else None

    def openable(self, evaluation: PodEvaluation) -> BoolMask:
        """The nodes that none refuses but plugins which others may appease."""
        helpers = self.helpers(evaluation.cycle.pod.pod)
        if not helpers:
            return evaluation.feasible
        return evaluation.open_for_good() & ~evaluation.closed_by_others(helpers)

    def open_but_for(self, evaluation: PodEvaluation, compared: Container[Compares]) -> BoolMask | None:
        """The nodes that are open beside what plugins say that compare any of `compared`."""
        if evaluation.refusals or evaluation.cause:
            return None
        mask = evaluation.asked()
        for name, against in evaluation.bits.items():
            if self._plugins[name].compares not in compared:
                mask &= against == 0
            elif implements(opening := self.filters.get(name), OpeningPlugin):
                mask &= (against == 0) | opening.may_open(evaluation.cycle)
        return mask

    def compares(self, what: Compares) -> bool:
        """Whether one of its filters compares it."""
        return any(self._plugins[name].compares is what for name in self.filters)

    def spread(self, pod: Pod) -> Sequence[SpreadConstraint]:
        """The constraints of its filters."""
        return [constraint for plugin in self._spreaders for constraint in plugin.spread(pod)]

    def preference(self) -> Preference:
        """The preference of all plugins, by their arguments in the profile."""
        given = (row.prefers(self.profile) for row in self._plugins.values() if row.prefers is not None)
        return reduce(or_, given, Preference())

    def lasting_bits(self, plugin: str) -> np.uint32:
        """See the protocol."""
        return self._lasting[plugin]

    def obstacle(self, plugin: str, cycle: Cycle, node: int, bits: int) -> Obstacle:
        """In the words of the plugin."""
        return self.filters[plugin].obstacle(cycle, node, bits)

    def runs(self, plugin: str, point: str = "") -> bool:
        """Whether the profile enables the plugin at this of its fields, or at any point."""
        return plugin in (getattr(self.profile, point) if point else self.profile.running)

    def args_of(self, in_use: type[ArgsType]) -> ArgsType:
        """The arguments of the profile."""
        return self.profile.args.of(in_use)


def _made(
    cluster: ShadowCluster, profile: SchedulerProfile, plugins: Mapping[str, SchedulingPlugin]
) -> dict[str, Plugin]:
    """The plugins that `profile` enables at any point but Score, each of them once."""
    names = dict.fromkeys(
        (
            *profile.pre_enqueue,
            *profile.filters,
            *profile.pre_filters,
            *profile.reserves,
            *profile.permits,
            *profile.pre_binds,
        )
    )
    rows = ((name, plugins.get(name)) for name in names)
    known = ((name, guarded_row(name, row)) for name, row in rows if row is not None)
    return {name: row.plugin(cluster, profile) for name, row in known if row.plugin is not None}


def _interactions(plugin: Plugin, row: SchedulingPlugin, profile: SchedulerProfile) -> Interactions:
    return plugin.interactions if implements(plugin, InteractingPlugin) else row.interactions(profile)


def _those(made: Mapping[str, Plugin], names: Iterable[str]) -> list[Plugin]:
    """The plugins of these names that there are, in order."""
    return [made[name] for name in names if name in made]
