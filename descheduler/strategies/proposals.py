"""What a strategy would evict, without anything being booked: candidates for whoever plans on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from msgspec.structs import replace

from descheduler.eviction.plugin_evictor import PluginEvictor
from descheduler.eviction.strategy_handle import StrategyHandle
from descheduler.eviction.wrapped_evictor import WrappedEvictor
from descheduler.model.node import Node
from descheduler.model.verdict import Verdict
from descheduler.plan.bundles import Candidate
from descheduler.strategies.framework import BalancePlugin, DeschedulePlugin

__all__ = ["propose"]


def propose(
    build: Callable[[StrategyHandle], DeschedulePlugin | BalancePlugin], handle: StrategyHandle, nodes: Sequence[Node]
) -> list[Candidate]:
    """The pods that the strategy which `build` makes would ask for on `nodes`, each once, in the order of asking.

    It is answered as in a run, so that it stops where it would stop; a pod that a limit, a budget or a landing keeps is
    a candidate all the same. In the end all of it is taken back, notes included. Raises StrategyError as the strategy
    does.
    """
    recorder = _Recorder(handle.evictor)
    with handle.evictor.what_if():
        strategy = build(replace(handle, evictor=recorder))
        for point in ("deschedule", "balance"):
            run: Callable[[Sequence[Node]], None] | None = getattr(strategy, point, None)
            if run is not None:
                run(nodes)
    return list(recorder.asked.values())


class _Recorder(WrappedEvictor):
    """Keeps what was asked for."""

    def __init__(self, inner: PluginEvictor) -> None:
        super().__init__(inner)
        self.asked: dict[str, Candidate] = {}

    def request_all(self, candidates: Iterable[Candidate]) -> Verdict:
        bundle = tuple(candidates)
        for candidate in bundle:
            self.asked.setdefault(candidate.pod.uid, candidate)
        return super().request_all(bundle)
