"""The page about conformance: how many recorded decisions of the reference come out the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from docs.generator.markdown import page

if TYPE_CHECKING:
    from tests.conformance.koordinator.cases import KoordinatorTally
    from tests.conformance.owners.cases import OwnerTally
    from tests.conformance.runner import Tally
    from tests.conformance.scheduler_tally import SchedulerTally

_INTRODUCTION = """\
Decisions recorded on the programs that this one follows, compared with what it decides itself.

Run them with

```sh
.venv/bin/python -m tests.conformance tests/conformance/vectors/*.jsonl.gz
```

`python -m docs.generate --conformance` writes this page again; further files can be named after the flag."""

_DESCHEDULER = """\
## Descheduler

Cases recorded on kubernetes-sigs/descheduler 0.36 (commit 7d2b28bf2, Kubernetes libraries 0.36.1): passed of all, by
plugin and kind of case. `unit` cases come from the reference's own unit tests, `differential` ones from generated
clusters and policies. Which recorded expectation is followed stands in
[Compatibility](../explanation/compatibility.md)."""

_SCHEDULER = """\
## Scheduler

Cases recorded on kube-scheduler 1.36.3 and 1.37.2 with its default profile: a cluster, and for each candidate pod what
every plugin says of every node. A case in sequence binds each candidate before it asks about the next. `cases` passed
are those in which all else agrees; the other columns count the candidates that they apply to:

| column | what agrees |
|---|---|
| refused | the plugins that refuse the pod before nodes are looked at, with how final each refusal is |
| messages | their words and those of scoring errors, which quote names; not needed for a case to pass |
| narrowed | the nodes that are left where the pod names its nodes |
| feasible | the nodes that pass every filter |
| rejected | the plugins against every other node, in running order |
| reported | the one of them that the scheduler's event names |
| reasons | how final each of these rejections is, and the reasons given |
| scores | each plugin's weighted score of each feasible node |
| raw | the same before normalisation |
| totals | the sums of the weighted scores |
| best | the nodes that may be chosen |"""

_KOORDINATOR = """\
## Koordinator

Cases recorded on Koordinator 1.8.0, run on its own code: passed of all, by subject and class. `deviceshare`,
`elasticquota`, `coscheduling` and `reservation` are plugins of koord-scheduler, `lownodeload`, `arbitration` and
`phases` parts of koord-descheduler; `phases` are scripts of one PodMigrationJob each, played in a cluster within the
process."""

_OWNERS = """\
## Owners

Evictions recorded on a control plane of Kubernetes 1.36.3: what controllers create afterwards, and when, and whether
and how a Job ends. Passed of all, by class: Jobs (`job`), StatefulSets (`sts`), DaemonSets (`ds`), ReplicaSets and
Deployments (`rs`), others (`other`), and PodDisruptionBudgets (`evict`)."""


def make_page(files: Sequence[Path]) -> str:
    """The whole page, from running all cases in `files`."""
    return page("Conformance", _lines(files))


def _lines(files: Sequence[Path]) -> Iterator[str]:
    # The runner belongs to the tests; no other page needs them.
    from tests.conformance.koordinator.cases import KoordinatorTally, is_koordinator_case
    from tests.conformance.owners.cases import OwnerTally, is_owner_case
    from tests.conformance.runner import Tally, read_vectors
    from tests.conformance.scheduler_cases import is_scheduler_case
    from tests.conformance.scheduler_tally import SchedulerTally

    deschedulings, placements, koordinator, owners = Tally(), SchedulerTally(), KoordinatorTally(), OwnerTally()
    for vector in read_vectors(files):
        if is_owner_case(vector):
            owners.add(vector)
        elif is_koordinator_case(vector):
            koordinator.add(vector)
        else:
            (placements if is_scheduler_case(vector) else deschedulings).add(vector)
    tallies = (deschedulings, placements, koordinator, owners)
    passed = sum(tally.num_passed for tally in tallies)
    run = passed + sum(tally.num_failed for tally in tallies)
    yield _INTRODUCTION
    yield ""
    yield f"{passed} of {run} cases of {', '.join(f'`{file.name}`' for file in files)} pass."
    yield from _section(_DESCHEDULER, deschedulings)
    yield from _without_counterpart(deschedulings)
    yield from _section(_SCHEDULER, placements)
    yield from _section(_KOORDINATOR, koordinator)
    if koordinator.num_passed:
        yield from _departures_from_koordinator()
    yield from _section(_OWNERS, owners)


def _section(introduction: str, tally: Tally | SchedulerTally | KoordinatorTally | OwnerTally) -> Iterator[str]:
    if tally.num_passed or tally.num_failed:
        yield from ("", introduction, "", f"{tally.num_passed} of {tally.num_passed + tally.num_failed} pass.", "")
        yield tally.table()


def _without_counterpart(tally: Tally) -> Iterator[str]:
    from tests.conformance.runner import WITHOUT_COUNTERPART

    if tally.without_counterpart:
        yield from ("", "Not run, because this program has no such function:", "")
        for function, count in sorted(tally.without_counterpart.items()):
            yield f"- `{function}` ({count}): {WITHOUT_COUNTERPART[function]}"


def _departures_from_koordinator() -> Iterator[str]:
    from tests.conformance.koordinator.phases import DEPARTURES

    yield from ("", "In these kinds of scripts of `phases` a defect of koord-descheduler is not copied:", "")
    for departure in DEPARTURES:
        end = " ".join(word for word in departure.end or () if word)
        here = f" Here the job ends as {end}." if end else ""
        yield f"- Where {departure.what}: {departure.why}.{here}"
