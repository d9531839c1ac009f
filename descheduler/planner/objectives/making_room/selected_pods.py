"""The pending pods that the arguments of makeRoom select, and why they do not select others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from descheduler.model.pod import Pod
from descheduler.model.text.counted import counted
from descheduler.plan.moves import identity_of
from descheduler.planner.objective_args import PENDING_PODS, MakeRoomArgs
from descheduler.policy.shared_args import Namespaces, compile_selector

_MOST_NAMED = 3
"""Names of `for` up to which it is said why each is not selected."""


class SelectedPods:
    """The pods that `args` select among `pods`, which are all of a snapshot."""

    def __init__(self, args: MakeRoomArgs, pods: Iterable[Pod]) -> None:
        pods = tuple(pods)
        self._names = None if args.pods == PENDING_PODS else dict.fromkeys(args.pods)
        self._namespaces = args.namespaces or Namespaces()
        self._selector = compile_selector(args.label_selector)
        self.pods = {identity_of(pod): pod for pod in pods if not self.why_not(pod)}
        self._num_pending = sum(not _why_not_pending(pod) for pod in pods)
        self.fault = self._fault(pods)
        """Of names of `for` that select no pod, why; empty where each selects one."""

    def why_not(self, pod: Pod) -> str:
        """Why `pod` is not selected, without its name, such as `has finished`; empty for one that is."""
        if self._names is not None and pod.key not in self._names:
            return "is not listed in makeRoom.for"
        if not_pending := _why_not_pending(pod):
            return not_pending
        include, exclude = self._namespaces.include, self._namespaces.exclude
        if include and pod.namespace not in include:
            return f"is in namespace {pod.namespace}, which is not included (makeRoom.namespaces.include)"
        if pod.namespace in exclude:
            return f"is in namespace {pod.namespace}, which is excluded (makeRoom.namespaces.exclude)"
        if self._selector is not None and not self._selector.matches(pod.labels):
            return "does not match makeRoom.labelSelector"
        return ""

    @property
    def unmatched(self) -> str:
        """Such as `0 of 2 pending pods match makeRoom.namespaces`, if none is selected; empty if none is pending."""
        if not self._num_pending:
            return ""
        stated = {"namespaces": self._namespaces != Namespaces(), "labelSelector": self._selector is not None}
        filters = " and ".join(f"makeRoom.{key}" for key, is_stated in stated.items() if is_stated)
        verb = "matches" if self._num_pending == 1 else "match"
        return f"0 of {counted(self._num_pending, 'pending pod')} {verb} {filters}"

    def _fault(self, pods: Iterable[Pod]) -> str:
        faults = list(self._faults(pods))
        num_others = len(faults) - _MOST_NAMED
        if num_others > 0:
            verb = "is" if num_others == 1 else "are"
            faults[_MOST_NAMED:] = [f"{counted(num_others, 'other')} {verb} not selected"]
        return f"makeRoom.for: {', '.join(faults)}" if faults else ""

    def _faults(self, pods: Iterable[Pod]) -> Iterator[str]:
        """A clause for each name of `for` that selects none of `pods`, in their order."""
        named = {pod.key: pod for pod in pods if pod.key in self._names} if self._names else {}
        for name in self._names or ():
            pod = named.get(name)
            why = "does not exist" if pod is None else self.why_not(pod)
            if why:
                yield f"{name} {why}"


def _why_not_pending(pod: Pod) -> str:
    """Why `pod` does not wait for a node."""
    if pod.is_terminal:
        return "has finished"
    if pod.is_terminating:
        return "is terminating"
    if pod.node_name:
        return f"is already scheduled onto {pod.node_name}"
    return "has scheduling gates" if pod.spec.scheduling_gates else ""
