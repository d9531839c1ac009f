"""Which listed pods a strategy looks at, by the namespaces and the label selector in its arguments."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from descheduler.model.text.counted import first_names
from descheduler.policy.plugin import ArgsProblem
from descheduler.policy.shared_args import (
    Args,
    LabelSelectorArg,
    Namespaces,
    check_namespaces,
    check_selector,
    compile_selector,
)
from descheduler.strategies.shared.rules import Match, Rule

_MOST_LISTED = 5
"""Namespaces that a sentence names."""


class PodFilterArgs(Args, frozen=True):
    """The first arguments of many strategies."""

    namespaces: Namespaces | None = None
    """Only pods of these namespaces are examined."""
    label_selector: LabelSelectorArg | None = None
    """Only pods with these labels are examined."""

    def filter_problems(self) -> list[ArgsProblem]:
        """What is wrong with them."""
        return [*check_namespaces(self.namespaces), *check_selector("labelSelector", self.label_selector)]


def pod_filter(namespaces: Namespaces | None = None, label_selector: LabelSelectorArg | None = None) -> Iterator[Rule]:
    """The rules of a namespace include list (empty: all), an exclude list, and a label selector, as far as given."""
    yield from _in_namespaces("namespaces", namespaces)
    selector = compile_selector(label_selector)
    if selector is not None:
        yield Match(
            "labelSelector",
            lambda pod: selector.matches(pod.labels),
            lambda _: "labels do not match (labelSelector)",
            "no pod has matching labels (labelSelector)",
        )


def evictable_pods(
    namespaces: Namespaces | None = None, selectors: Iterable[LabelSelectorArg | None] = ()
) -> Iterator[Rule]:
    """The rules of `evictableNamespaces` and `podSelectors` of Koordinator's plugins, as far as given.

    A pod has to match one of the selectors, if there are any; an entry without a selector does not count. Raises
    LabelError when one is not valid.
    """
    yield from _in_namespaces("evictableNamespaces", namespaces)
    compiled = [each for selector in selectors if (each := compile_selector(selector)) is not None]
    if compiled:
        yield Match(
            "podSelectors",
            lambda pod: any(selector.matches(pod.labels) for selector in compiled),
            lambda _: "labels match no selector (podSelectors)",
            "no pod has matching labels (podSelectors)",
        )


def _in_namespaces(key: str, namespaces: Namespaces | None) -> Iterator[Rule]:
    include = frozenset(namespaces.include) if namespaces else frozenset[str]()
    exclude = frozenset(namespaces.exclude) if namespaces else frozenset[str]()
    if include:
        yield Match(
            f"{key}.include",
            lambda pod: pod.namespace in include,
            lambda pod: f"namespace {pod.namespace} is not included ({key}.include)",
            f"no pod is in an included namespace ({key}.include: {first_names(sorted(include), _MOST_LISTED)})",
        )
    if exclude:
        yield Match(
            f"{key}.exclude",
            lambda pod: pod.namespace not in exclude,
            lambda pod: f"namespace {pod.namespace} is excluded ({key}.exclude)",
            f"every pod is in an excluded namespace ({key}.exclude: {first_names(sorted(exclude), _MOST_LISTED)})",
        )
