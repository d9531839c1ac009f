"""Which listed pods a strategy looks at, by the namespaces and the label selector in its arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from descheduler.model.pod import Pod
from descheduler.policy.shared_args import LabelSelectorArg, Namespaces, compile_selector

__all__ = ["PodFilter"]


class PodFilter:
    """A namespace include list (empty: all), an exclude list, and a label selector, all of exact names."""

    def __init__(self, namespaces: Namespaces | None = None, label_selector: LabelSelectorArg | None = None) -> None:
        self._include = frozenset(namespaces.include) if namespaces else frozenset()
        self._exclude = frozenset(namespaces.exclude) if namespaces else frozenset()
        self._selector = compile_selector(label_selector)
        self._accepts_all = not self._include and not self._exclude and self._selector is None

    def accepts(self, pod: Pod) -> bool:
        """Whether the strategy looks at `pod` at all."""
        if self._accepts_all:
            return True
        if (self._include and pod.namespace not in self._include) or pod.namespace in self._exclude:
            return False
        return self._selector is None or self._selector.matches(pod.labels)

    def select(self, pods: Iterable[Pod], wanted: Callable[[Pod], bool]) -> Iterator[Pod]:
        """The pods that are looked at and `wanted`, in order."""
        return (pod for pod in pods if self.accepts(pod) and wanted(pod))
