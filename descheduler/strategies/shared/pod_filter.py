"""Which listed pods a strategy looks at, by the namespaces and the label selector in its arguments."""

from __future__ import annotations

from collections.abc import Iterator

from descheduler.policy.shared_args import LabelSelectorArg, Namespaces, compile_selector
from descheduler.strategies.shared.rules import Match, Rule

__all__ = ["pod_filter"]


def pod_filter(namespaces: Namespaces | None = None, label_selector: LabelSelectorArg | None = None) -> Iterator[Rule]:
    """The rules of a namespace include list (empty: all), an exclude list, and a label selector, as far as given."""
    include = frozenset(namespaces.include) if namespaces else frozenset[str]()
    exclude = frozenset(namespaces.exclude) if namespaces else frozenset[str]()
    selector = compile_selector(label_selector)
    if include:
        yield Match(
            "namespaces.include",
            lambda pod: pod.namespace in include,
            lambda pod: f"namespace {pod.namespace} is not included (namespaces.include)",
            f"no pod is in an included namespace (namespaces.include: {_listed(include)})",
        )
    if exclude:
        yield Match(
            "namespaces.exclude",
            lambda pod: pod.namespace not in exclude,
            lambda pod: f"namespace {pod.namespace} is excluded (namespaces.exclude)",
            f"every pod is in an excluded namespace (namespaces.exclude: {_listed(exclude)})",
        )
    if selector is not None:
        yield Match(
            "labelSelector",
            lambda pod: selector.matches(pod.labels),
            lambda _: "labels do not match (labelSelector)",
            "no pod has matching labels (labelSelector)",
        )


_MOST_LISTED = 5


def _listed(names: frozenset[str]) -> str:
    more = len(names) - _MOST_LISTED
    return ", ".join(sorted(names)[:_MOST_LISTED]) + (f" and {more} others" if more > 0 else "")
