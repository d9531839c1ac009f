"""Which pods strategies look at by namespace and labels, and what they say of the others."""

from __future__ import annotations

import pytest

from descheduler.policy.shared_args import LabelSelectorArg, Namespaces
from descheduler.strategies.shared.pod_filter import evictable_pods, pod_filter
from descheduler.strategies.shared.selection import Selection
from tests.builders import make_pod

WEB, DB = (LabelSelectorArg(match_labels={"app": app}) for app in ("web", "db"))
PODS = [make_pod(f"{space}-{app}", namespace=space, labels={"app": app}) for space in "ab" for app in ("web", "db")]


def namespaces(*, include: tuple[str, ...] = (), exclude: tuple[str, ...] = ()) -> Namespaces:
    return Namespaces(include=include, exclude=exclude)


@pytest.mark.parametrize(
    ("given", "kept", "why_not"),
    [
        pytest.param(None, 4, "", id="all"),
        pytest.param(namespaces(), 4, "", id="empty lists are for all"),
        pytest.param(namespaces(include=("a",)), 2, "namespace b is not included ({}.include)", id="some alone"),
        pytest.param(namespaces(exclude=("b",)), 2, "namespace b is excluded ({}.exclude)", id="all but some"),
    ],
)
def test_namespaces_are_included_or_excluded(given: Namespaces | None, kept: int, why_not: str) -> None:
    for key, rules in (("namespaces", pod_filter(given)), ("evictableNamespaces", evictable_pods(given))):
        selection = Selection(rules)

        assert len(selection.of(PODS)) == kept
        assert selection.why_not(PODS[3]) == why_not.format(key)
        assert selection.why_not(PODS[0]) == ""


def test_labels_of_pods_must_match() -> None:
    selection = Selection(pod_filter(None, WEB))

    assert [pod.name for pod in selection.of(PODS)] == ["a-web", "b-web"]
    assert selection.why_not(PODS[1]) == "labels do not match (labelSelector)"


@pytest.mark.parametrize(
    ("selectors", "kept"),
    [
        pytest.param([], 4, id="none"),
        pytest.param([None], 4, id="an entry without a selector does not count"),
        pytest.param([None, WEB], 2, id="one of two entries"),
        pytest.param([WEB, DB], 4, id="one match is enough"),
    ],
)
def test_pods_match_one_of_the_selectors(selectors: list[LabelSelectorArg | None], kept: int) -> None:
    assert len(Selection(evictable_pods(None, selectors)).of(PODS)) == kept


@pytest.mark.parametrize(
    ("number", "listed"),
    [
        pytest.param(5, "n0, n1, n2, n3, n4", id="five"),
        pytest.param(6, "n0, n1, n2, n3, n4 and 1 more", id="more than five"),
    ],
)
def test_sentence_names_five_namespaces(number: int, listed: str) -> None:
    selection = Selection(pod_filter(namespaces(include=tuple(f"n{each}" for each in range(number)))))

    selection.of(PODS)

    assert selection.facts().why_nothing == (
        f"no pod is in an included namespace (namespaces.include: {listed}); 4 pods examined"
    )
