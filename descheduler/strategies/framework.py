"""The two extension points of strategies, and what they tell of their work."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, runtime_checkable

from descheduler.eviction.cluster_view import ClusterView
from descheduler.model.node import Node
from descheduler.model.pod import Pod
from descheduler.plan.facts import PluginFacts


class StrategyError(Exception):
    """A strategy cannot work in this cycle; the others go on. The message names what is missing."""


class DeschedulePlugin(Protocol):
    """Asks for the eviction of pods that break a rule by themselves."""

    def deschedule(self, nodes: Sequence[Node]) -> None:
        """Looks at `nodes`, in their order. Raises StrategyError."""


class BalancePlugin(Protocol):
    """Asks for the eviction of pods so that the rest is spread better."""

    def balance(self, nodes: Sequence[Node]) -> None:
        """Looks at `nodes`, in their order. Raises StrategyError."""


@runtime_checkable
class ReportingPlugin(Protocol):
    """A strategy that tells what it saw when it ran last. None has to; those of this program all do."""

    def facts(self) -> PluginFacts:
        """What it examined, what its rules left out, and why it selects nothing if so. Asked after each run."""

    def why_not(self, pod: Pod) -> str:
        """Why it does not select `pod`, in few words that name the policy's key; empty when nothing speaks against it.

        Asked after the run, about pods of the nodes that it was given.
        """


@runtime_checkable
class PlacingPlugin(Protocol):
    """A strategy that can evict pods so that pending ones find a node."""

    def about_pending(self, pod: Pod) -> str:
        """What it does for a pod without a node, or why nothing; empty where it looks at no such pods.

        Asked after the run.
        """


@runtime_checkable
class RememberingPlugin(Protocol):
    """A strategy that leaves something for its next run, which finds it as `memory` of its handle."""

    def note(self) -> bytes:
        """What the next run has to know, in JSON; empty for nothing. Asked after each run."""


@runtime_checkable
class SearchingPlugin(Protocol):
    """A strategy whose row says that it `searches`: an earlier plan of its can be asked for in place of a search."""

    def why_idle(self, nodes: Sequence[Node]) -> str:
        """Why it has nothing to do on `nodes`, found without a search; empty where it would search.

        Asked before anything of the earlier plan is requested. Raises StrategyError.
        """

    def figures(self, nodes: Sequence[Node]) -> Sequence[int]:
        """The figure of each objective as things are booked, found without a search. Raises StrategyError."""

    def look_again(self) -> None:
        """Has `facts` tell what evictions by plugins that ran after it have made of its figures. Raises StrategyError.

        Asked once all plugins have run.
        """


@runtime_checkable
class ConvergingPlugin(Protocol):
    """A strategy that can tell whether one more eviction comes of an eviction. Those of this program all do."""

    def selects_again(self, pod: Pod, arrival: Pod, after: ClusterView) -> str:
        """Why it would select `arrival`, for the cause for which it asks for `pod` now; empty where it would not.

        `after` is the cluster once everything booked has settled: `pod` is gone, and `arrival`, which is bound to one
        of the nodes that the strategy was given, is not there yet. Asked before each eviction whose replacement is
        known to land (PlacementVerification, `requireGain`), about each of what may be thousands of nodes of equal
        score, so it has to be quick. Whether filters accept the replacement does not matter: it gets older.
        """


_UNTOLD = "it is the node of the pod itself, and the plugin has no method selects_again that says otherwise"


def selects_again_of(strategy: object) -> Callable[[Pod, Pod, ClusterView], str]:
    """What `strategy` says as a ConvergingPlugin.

    Of one that says nothing it is taken that it selects the replacement on the node that the pod leaves, and on no
    other.
    """
    return strategy.selects_again if isinstance(strategy, ConvergingPlugin) else _returns


def _returns(pod: Pod, arrival: Pod, _after: ClusterView) -> str:
    return _UNTOLD if arrival.node_name == pod.node_name else ""


def judges_pods_alone(strategy: object) -> bool:
    """Whether `strategy` selects each pod for what the pod and its node are, whatever becomes of others.

    It says so by the attribute `JUDGES_PODS_ALONE`; one that says nothing may compare pods.
    """
    return bool(getattr(strategy, "JUDGES_PODS_ALONE", False))


def keeps_selection(strategy: object) -> bool:
    """Whether a pod that `strategy` selects stays selected whatever else it is granted.

    It says so by the attribute `KEEPS_SELECTION`, or by `JUDGES_PODS_ALONE`; one that says nothing may select fewer.
    """
    return judges_pods_alone(strategy) or bool(getattr(strategy, "KEEPS_SELECTION", False))
