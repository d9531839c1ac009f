"""The page about feature gates."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from descheduler.model.kube_version import GATES, NEWEST, OLDEST, Gate
from docs.generator.markdown import page, table, wrapped

_INTRODUCTION = """\
What differs between Kubernetes {oldest} and {newest}, and where an operator has set a gate. `featureGates` of
[PlacementVerification](plugins.md#placementverification) takes these names, as the schedulers do. A gate that is not
listed changes no decision of this program and is an error there: leave it out."""
_BEHAVIOURS = """\
What came with a release of kube-scheduler and no gate switches. `featureGates` takes these names too, for a scheduler
that differs from its release."""
_HEADER = ("Gate", "On since", "Requires", "While it is on")


def make_page() -> str:
    """The whole page."""
    return page("Feature gates", _lines())


def _lines() -> Iterator[str]:
    oldest, newest = (f"{major}.{minor}" for major, minor in (OLDEST, NEWEST))
    yield from wrapped(_INTRODUCTION.format(oldest=oldest, newest=newest).replace("\n", " "))
    yield from _table(gate for gate in GATES.values() if _is_of_kubernetes(gate))
    yield "## Without a gate"
    yield ""
    yield from wrapped(_BEHAVIOURS.replace("\n", " "))
    yield from _table(gate for gate in GATES.values() if not _is_of_kubernetes(gate))


def _is_of_kubernetes(gate: Gate) -> bool:
    """Whether it has a name of Kubernetes or Koordinator; a behaviour is written in `snake_case`."""
    return gate.name[0].isupper()


def _table(gates: Iterable[Gate]) -> Iterator[str]:
    rows = [
        [f"`{gate.name}`", _since(gate), ", ".join(f"`{name}`" for name in gate.requires), gate.effect]
        for gate in gates
    ]
    yield from table(_HEADER, rows)


def _since(gate: Gate) -> str:
    """The release, within those that are described here."""
    if gate.since > NEWEST:
        return "off"
    since = "all" if gate.since <= OLDEST else f"{gate.since[0]}.{gate.since[1]}"
    return since if gate.until > NEWEST else f"{since}, until {gate.until[0]}.{gate.until[1] - 1}"
