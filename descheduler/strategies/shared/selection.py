"""Which pods a strategy selects, and what each of its rules left out.

Strategies of kubernetes-sigs/descheduler that go node by node react to refusals alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from descheduler.eviction.cluster_view import ClusterView
from descheduler.eviction.plugin_evictor import PluginEvictor
from descheduler.eviction.strategy_handle import StrategyHandle
from descheduler.model.pod import Pod
from descheduler.model.text.counted import counted
from descheduler.model.verdict import EvictionLimit
from descheduler.plan.facts import PluginFacts
from descheduler.strategies.shared.rules import Rule

_NO_PODS = "no pod runs on the nodes that the plugin examines"


class Selection:
    """The pods that meet all of `rules`; counts, as it goes, those that the first rule not met left out."""

    def __init__(self, rules: Iterable[Rule] = ()) -> None:
        self.rules = tuple(rules)
        self._num_left_out = [0] * len(self.rules)
        self.num_examined = 0

    @property
    def num_selected(self) -> int:
        """How many pods met all rules."""
        return self.num_examined - sum(self._num_left_out)

    def of(self, pods: Sequence[Pod]) -> Sequence[Pod]:
        """The `pods` that meet all rules, in order."""
        self.num_examined += len(pods)
        for index, rule in enumerate(self.rules):
            if not pods:
                break
            kept = rule.kept(pods)
            self._num_left_out[index] += len(pods) - len(kept)
            pods = kept
        return pods

    def reason(self, pod: Pod) -> str:
        """Why a selected pod is to leave: the reasons of all rules that have one."""
        return ", ".join(filter(None, (rule.reason(pod) for rule in self.rules)))

    def why_not(self, pod: Pod) -> str:
        """Why `pod` is not selected: the words of the first rule that it does not meet; empty when it meets all."""
        return next(filter(None, (rule.why_not(pod) for rule in self.rules)), "")

    def facts(self) -> PluginFacts:
        """What was seen so far."""
        return facts_of(self)

    def left_out(self) -> list[tuple[Rule, int]]:
        """The rules with the number of pods that each left out, without those that left out none."""
        return [pair for pair in zip(self.rules, self._num_left_out, strict=True) if pair[1]]


class SelectedByState:
    """What strategies have in common that select a pod by its own state, such as its age, which no new pod is in."""

    JUDGES_PODS_ALONE = True

    def __init__(self, handle: StrategyHandle) -> None:
        self._now = handle.now
        self._view = handle.view
        self._evictor = handle.evictor
        self._selection = Selection()

    def facts(self) -> PluginFacts:
        """How many pods each rule left out, and what came nearest to being selected."""
        return self._selection.facts()

    def why_not(self, pod: Pod) -> str:
        """The first rule that `pod` does not meet."""
        return self._selection.why_not(pod)

    def selects_again(self, pod: Pod, arrival: Pod, after: ClusterView) -> str:
        """Nothing: the state of a new pod is another one."""
        return ""


def facts_of(*stages: Selection) -> PluginFacts:
    """What selections saw of which each went on with what the one before had selected."""
    num_examined, num_selected = stages[0].num_examined, stages[-1].num_selected
    left_out = [pair for stage in stages for pair in stage.left_out()]
    rules = (rule for stage in stages for rule in stage.rules)
    return PluginFacts(
        why_nothing="" if num_selected else _why_nothing(num_examined, left_out),
        pods_examined=num_examined,
        pods_selected=num_selected,
        left_out={rule.key: number for rule, number in left_out},
        nearest=tuple(nearest for rule in rules if (nearest := rule.nearest) is not None),
    )


def _why_nothing(num_examined: int, left_out: Sequence[tuple[Rule, int]]) -> str:
    """The sentence of the last rule that left pods out, and how many the others had left out before."""
    if not left_out:
        return _NO_PODS
    *before, (last, _) = left_out
    others = ", ".join(f"{number:,} by {rule.key}" for rule, number in before)
    return f"{last.nobody}; {counted(num_examined, 'pod')} examined{f', left out {others}' if others else ''}"


def evict_from_node(evictor: PluginEvictor, victims: Iterable[Pod], reason_of: Callable[[Pod], str]) -> bool:
    """Asks for the eviction of `victims`, all of one node, in order; returns whether the strategy goes on after it.

    The node's limit ends the node, the run's limit ends the strategy, and any other refusal only concerns its pod.
    """
    for pod in victims:
        verdict = evictor.request(pod, reason_of(pod))
        if verdict.limit is EvictionLimit.TOTAL:
            return False
        if verdict.limit is EvictionLimit.NODE:
            return True
    return True
