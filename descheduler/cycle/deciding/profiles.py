"""Runs the plugins of a policy's profiles over one view of the cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from functools import partial
from itertools import groupby
from typing import cast

import msgspec

from descheduler.cycle.deciding.round import Operation, Round, RunSetting
from descheduler.cycle.foreign.specs import guarded_spec
from descheduler.eviction.cluster_view import ClusterView
from descheduler.eviction.evictor import Evictor
from descheduler.eviction.handle import Handle
from descheduler.eviction.migration_controller.profiles import dry_profiles
from descheduler.eviction.placement_verification.gains import SelectsAgain
from descheduler.eviction.plugin_evictor import EvictorPlugin, PluginEvictor
from descheduler.eviction.strategy_handle import StrategyHandle
from descheduler.model.held_room import HeldRoom, HeldRooms
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.model.selection.labels import EVERYTHING
from descheduler.model.text.counted import counted
from descheduler.model.verdict import Reason, Verdict, refuse
from descheduler.plan.bundles import Candidate
from descheduler.plan.decisions import Failure
from descheduler.plan.facts import PluginFacts
from descheduler.plan.moves import EarlierPlan, Move
from descheduler.policy.plugin_faults import PluginFault, collected_faults, note_fault
from descheduler.policy.types import Policy, memory_key
from descheduler.strategies.framework import (
    BalancePlugin,
    DeschedulePlugin,
    RememberingPlugin,
    ReportingPlugin,
    SearchingPlugin,
    StrategyError,
    keeps_selection,
    selects_again_of,
)


class ProfilesRun(msgspec.Struct):
    """How the plugins fared: those that could not work, by (profile, plugin) what the others saw.

    `notes` are what they remember, by `memory_key`.
    """

    failures: list[Failure] = msgspec.field(default_factory=list)
    facts: dict[tuple[str, str], PluginFacts] = msgspec.field(default_factory=dict)
    notes: dict[str, bytes] = msgspec.field(default_factory=dict)
    ends_round: bool = False
    """Whether a plugin could not work in a way that ends a round of koord-descheduler."""
    has_put_ahead: bool = False
    """Whether something was granted in an earlier wave than what was granted before."""

    def note_faults(self, profile: str, faults: Iterable[PluginFault]) -> None:
        """Notes the faults of plugins of other packages, each once, in the name of a profile."""
        known = {failure.message for failure in self.failures}
        new = {str(fault): fault.plugin for fault in faults if str(fault) not in known}
        self.failures.extend(Failure(profile, plugin, message) for message, plugin in new.items())


class ProfileSurroundings(msgspec.Struct, frozen=True):
    """What all profiles of one round of a run share. Without `nodes` no strategy is run.

    With `puts_ahead` what finds no room may have it in an earlier wave than what was granted before.
    """

    handle: Handle
    evictor: Evictor
    setting: RunSetting = RunSetting()
    this_round: Round = Round()
    nodes: Sequence[Node] = ()
    puts_ahead: bool = False

    @property
    def policy(self) -> Policy:
        """The policy whose profiles they are."""
        return self.handle.policy


def run_profiles(around: ProfileSurroundings) -> ProfilesRun:
    """Hands the nodes to all `deschedule` plugins of all profiles, then to all `balance` plugins.

    Those that search ask for their moves of an earlier plan, where the round has one, and tell nothing.

    A failing plugin does not stop the others of its profile; under Koordinator's kind one that cannot work ends the
    round after its profile, as koord-descheduler 1.8 has it.
    """
    outcome, policy = ProfilesRun(), around.policy
    profiles = _made(around, outcome)
    for run in _running_order(profiles, dry_profiles(policy), around):
        run(outcome)
        if outcome.ends_round and policy.kind == "DeschedulerConfiguration":
            break
    return outcome


def request_chosen(around: ProfileSurroundings, chosen: Sequence[Move]) -> ProfilesRun:
    """Asks for the moves that were chosen before, in their order, in the names of their plugins, which do not run.

    What has no pod in the cluster, or no such plugin in the policy, is not asked for.
    """
    outcome = ProfilesRun()
    profiles = _made(around, outcome)
    pods = _ChosenPods(around.handle.view.snapshot.pods, chosen)
    for bundle in _bundles(chosen):
        name, plugin = bundle[0].profile, bundle[0].plugin
        profile = next((each for each in profiles if each.name == name and each.runs(plugin)), None)
        if profile is not None:
            with collected_faults() as faults:
                pods.request(bundle, profile.evictor_of(plugin))
            outcome.note_faults(name, faults)
    for name, plugin in dict.fromkeys((move.profile, move.plugin) for move in chosen):
        around.evictor.end_turn(profile=name, plugin=plugin)
    return outcome


def measure_profiles(around: ProfileSurroundings) -> ProfilesRun:
    """The figures of plugins that search, as things are booked; nothing is asked for."""
    outcome = ProfilesRun()
    for profile in _made(around, outcome):
        profile.measure(outcome)
    return outcome


def _made(around: ProfileSurroundings, outcome: ProfilesRun) -> list[_RunningProfile]:
    """All profiles; `outcome` gets what failed when their filters were built."""
    made = []
    for index, profile in enumerate(around.policy.profiles):
        with collected_faults() as faults:
            made.append(_RunningProfile(around, index))
        outcome.note_faults(profile.name, faults)
    return made


def _bundles(chosen: Sequence[Move]) -> Iterator[Sequence[Move]]:
    """Those together that leave together, in order."""
    for _, bundle in groupby(enumerate(chosen), key=lambda move: move[1].bundle or -1 - move[0]):
        yield [move for _, move in bundle]


class _ChosenPods:
    """The pods of a snapshot that moves chosen before are about."""

    def __init__(self, pods: Sequence[Pod], chosen: Sequence[Move]) -> None:
        leaving = {move.pod.uid for move in chosen}
        self._pods = {pod.uid: pod for pod in pods}
        self._awaited = {uid: pod for uid, pod in self._pods.items() if uid in leaving or not pod.node_name}
        """Those for which room may be held."""

    def request(self, bundle: Sequence[Move], evictor: PluginEvictor) -> None:
        """Asks for the pods of `bundle` that the filters pass; what has no pod in the cluster is left out."""
        known = [(move, self._pods[move.pod.uid]) for move in bundle if move.pod.uid in self._pods]
        going = [self._candidate(move, pod) for move, pod in known if evictor.lets_go(pod, move.reason)]
        if going:
            evictor.request_all(going)

    def keep(self, move: Move, verdict: Verdict, evictor: PluginEvictor) -> None:
        """Notes why the plugin does not ask for a move."""
        if move.pod.uid in self._pods:
            evictor.keep(self._pods[move.pod.uid], verdict, move.reason)

    def _candidate(self, move: Move, pod: Pod) -> Candidate:
        awaited = self._awaited
        rooms = (HeldRoom(awaited[room.pod.uid], room.node) for room in move.rooms if room.pod.uid in awaited)
        held = HeldRooms(move.held_on, tuple(rooms))
        return Candidate(pod, move.reason, wave=move.wave, cost=move.cost).holding(held)


def _running_order(
    profiles: Sequence[_RunningProfile], dry: AbstractSet[str], around: ProfileSurroundings
) -> Iterator[Callable[[ProfilesRun], None]]:
    """All `deschedule`, then all `balance`; dry profiles last, as others must not count on moves that are not made.

    Between both, what the former were refused for want of room is asked about ahead of what they were granted. At last
    those that search see what others have made of their figures.
    """
    for group in ([p for p in profiles if p.name not in dry], [p for p in profiles if p.name in dry]):
        around.evictor.hold_places()
        yield from (profile.deschedule for profile in group)
        if around.puts_ahead:
            yield partial(_put_ahead, group, around)
        yield from (profile.balance for profile in group)
        yield from (profile.look_again for profile in group)


def _put_ahead(group: Sequence[_RunningProfile], around: ProfileSurroundings, outcome: ProfilesRun) -> None:
    """Grants in an earlier wave what has room there alone, where a plugin selects it whatever else it was granted."""
    keeping = {(profile.name, name) for profile in group for name in profile.keeping}
    with collected_faults() as faults:
        if around.evictor.put_ahead(lambda bundle: (bundle.profile, bundle.plugin) in keeping):
            outcome.has_put_ahead = True
            around.this_round.observer.reordered(around.evictor.book.moves)
    outcome.note_faults(around.policy.profiles[0].name, faults)


class _FilterAsPreEvictionFilter:
    """Koordinator's bridge asks the filter again where upstream's plugins ask the pre-eviction filter."""

    def __init__(self, plugin: EvictorPlugin) -> None:
        self._plugin = plugin

    def filter(self, pod: Pod) -> Verdict:
        return self._plugin.filter(pod)

    def pre_eviction_filter(self, pod: Pod) -> Verdict:
        return self._plugin.filter(pod)


def _balance(nodes: Sequence[Node], plugin: object) -> None:
    cast(BalancePlugin, plugin).balance(nodes)


class _RunningProfile:
    """One profile with its filters built; a strategy is built once, also when it is listed several times."""

    def __init__(self, around: ProfileSurroundings, index: int) -> None:
        self._around = around
        self._index = index
        self._profile = profile = around.policy.profiles[index]
        self.name = profile.name
        selector = profile.node_selector or EVERYTHING
        self._nodes = tuple(node for node in around.nodes if selector.matches(node.labels))
        self._all_nodes = self._nodes
        if not around.handle.view.snapshot.shard.is_whole:
            of_all = around.handle.view.ready_nodes_of_all_shards(around.policy.node_selector or EVERYTHING)
            self._all_nodes = tuple(node for node in of_all if selector.matches(node.labels))
        self._node_names = frozenset(node.name for node in self._nodes)
        names = dict.fromkeys((*profile.filter, *profile.pre_eviction_filter))
        built = {name: cast(EvictorPlugin, self._build(name, around.handle)) for name in names}
        self._filters = [built[name] for name in profile.filter]
        self._pre_eviction_filters = [built[name] for name in profile.pre_eviction_filter]
        if around.policy.kind == "DeschedulerConfiguration" and around.policy.compatibility == "upstream":
            self._pre_eviction_filters = [_FilterAsPreEvictionFilter(plugin) for plugin in self._filters]
        self._strategies: dict[str, object] = {}
        self._used: dict[str, object] = {}
        """By name, as they were first built: what they saw before anything was moved is what they remember."""

    @property
    def keeping(self) -> Iterator[str]:
        """The plugins that have run and whose pods stay selected whatever else they are granted."""
        return (name for name, strategy in self._strategies.items() if keeps_selection(strategy))

    def deschedule(self, outcome: ProfilesRun) -> None:
        for name in self._profile.deschedule:
            self._run(
                "deschedule", name, lambda plugin: cast(DeschedulePlugin, plugin).deschedule(self._nodes), outcome
            )

    def balance(self, outcome: ProfilesRun) -> None:
        for name in self._profile.balance:
            nodes = self._all_nodes if self._around.setting.registry[name].counts_all_shards else self._nodes
            self._run("balance", name, partial(_balance, nodes), outcome)

    def measure(self, outcome: ProfilesRun) -> None:
        """Asks plugins that search for their figures alone. Raises StrategyError."""
        for name in self._profile.balance:
            strategy = self._strategy(name) if self._around.setting.registry[name].searches else None
            if isinstance(strategy, SearchingPlugin):
                outcome.facts[self.name, name] = PluginFacts("", 0, 0, figures=tuple(strategy.figures(self._nodes)))

    def look_again(self, outcome: ProfilesRun) -> None:
        """Has plugins that searched tell of what later ones have made of their figures. One that fails is named."""
        with collected_faults() as faults:
            for name in self._profile.balance:
                strategy = self._strategies.get(name) if self._around.setting.registry[name].searches else None
                if isinstance(strategy, SearchingPlugin) and (self.name, name) in outcome.facts:
                    try:
                        strategy.look_again()
                    except StrategyError as error:
                        outcome.failures.append(Failure(self.name, name, str(error)))
                    except PluginFault as fault:
                        faults.append(fault)
                    self._ask_for_more(name, strategy, outcome)
        outcome.note_faults(self.name, faults)

    def _run(self, operation: Operation, name: str, call: Callable[[object], None], outcome: ProfilesRun) -> None:
        earlier = self._around.this_round.earlier if self._around.setting.registry[name].searches else None
        with collected_faults() as faults:
            try:
                with self._around.this_round.observer.plugin_run(self._profile.name, name, operation):
                    strategy = self._strategy(name)
                    if earlier is None:
                        call(strategy)
                    else:
                        self._ask_again(name, strategy, earlier)
                if earlier is None:
                    self._ask_for_more(name, strategy, outcome)
            except StrategyError as error:
                outcome.failures.append(Failure(self._profile.name, name, str(error)))
                outcome.ends_round = True
            except PluginFault as fault:
                faults.append(fault)
            self._note_used(outcome)
        outcome.note_faults(self._profile.name, faults)
        self._around.evictor.end_turn(profile=self._profile.name, plugin=name)

    def _ask_for_more(self, name: str, strategy: object, outcome: ProfilesRun) -> None:
        """What a strategy tells that has run."""
        if isinstance(strategy, ReportingPlugin):
            outcome.facts[self._profile.name, name] = self._of_its_nodes(name, strategy.facts())
        if isinstance(strategy, RememberingPlugin):
            outcome.notes[self._memory_key(name)] = strategy.note()

    def _of_its_nodes(self, name: str, facts: PluginFacts) -> PluginFacts:
        """`facts`, of which a sentence about all nodes says that it is about those of the shard, where it is."""
        is_whole = self._around.handle.view.snapshot.shard.is_whole
        if is_whole or not facts.why_nothing or self._around.setting.registry[name].counts_all_shards:
            return facts
        number = len(self._nodes)
        examined = f"only this shard's {counted(number, 'node')} {'is' if number == 1 else 'are'} examined"
        return msgspec.structs.replace(facts, why_nothing=f"{facts.why_nothing}; {examined}")

    def _ask_again(self, name: str, strategy: object, earlier: EarlierPlan) -> None:
        """Asks for the moves of an earlier plan of a strategy that searches, as long as that has something to do."""
        moves = [move for move in earlier.moves if (move.profile, move.plugin) == (self.name, name)]
        pods, evictor = _ChosenPods(self._around.handle.view.snapshot.pods, moves), self.evictor_of(name)
        is_checked = earlier.is_checked and bool(moves) and isinstance(strategy, SearchingPlugin)
        why_idle = cast(SearchingPlugin, strategy).why_idle(self._nodes) if is_checked else ""
        if why_idle:
            for move in moves:
                pods.keep(move, refuse(Reason.NOT_SELECTED, f"{name} has nothing to do: {why_idle}"), evictor)
            return
        for bundle in _bundles(moves):
            pods.request(bundle, evictor)

    def _strategy(self, name: str) -> object:
        if name not in self._strategies:
            handle, evictor = self._around.handle, self.evictor_of(name)
            memory = self._around.setting.memory.of(self._memory_key(name))
            strategy_handle = StrategyHandle(
                handle.policy,
                handle.view,
                handle.node_fit,
                handle.now,
                evictor,
                memory,
                self._around.setting.search,
                self._build_used,
            )
            strategy = self._strategies[name] = self._build(name, strategy_handle)
            self._around.evictor.landings.gains.register(
                self._index, name, partial(self._selects_again, selects_again_of(strategy))
            )
        return self._strategies[name]

    def _selects_again(self, ask: SelectsAgain, pod: Pod, arrival: Pod, after: ClusterView) -> str:
        """What a strategy says of a replacement; on nodes that it is not given it selects nothing."""
        return ask(pod, arrival, after) if arrival.node_name in self._node_names else ""

    def _build_used(self, name: str, handle: StrategyHandle) -> object:
        """A strategy that another one runs."""
        strategy = self._build(
            name, msgspec.structs.replace(handle, memory=self._around.setting.memory.of(self._memory_key(name)))
        )
        self._used.setdefault(name, strategy)
        return strategy

    def _note_used(self, outcome: ProfilesRun) -> None:
        for name, strategy in self._used.items():
            if isinstance(strategy, RememberingPlugin):
                try:
                    outcome.notes.setdefault(self._memory_key(name), strategy.note())
                except PluginFault as fault:
                    note_fault(fault)

    def evictor_of(self, plugin: str) -> PluginEvictor:
        """The evictor that speaks in the name of `plugin`."""
        return PluginEvictor(
            self._around.evictor,
            profile=self._profile.name,
            plugin=plugin,
            filters=self._filters,
            pre_eviction_filters=self._pre_eviction_filters,
            profile_index=self._index,
        )

    def runs(self, plugin: str) -> bool:
        """Whether `plugin` selects pods in this profile."""
        return plugin in self._profile.deschedule or plugin in self._profile.balance

    def _memory_key(self, name: str) -> str:
        return memory_key(self._around.handle.policy, self._profile, name)

    def _build(self, name: str, handle: Handle) -> object:
        return guarded_spec(self._around.setting.registry[name]).factory(self._profile.args[name], handle)
