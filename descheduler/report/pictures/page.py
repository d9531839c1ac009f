"""A plan or a simulation as one HTML file: styles and drawings are in it, it needs no script and no other file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache, partial
from itertools import accumulate, islice

import msgspec
from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup
from msgspec.structs import replace

from descheduler.model.text.amounts import rounded_percent
from descheduler.report.pictures.charts import (
    STRIP_HEIGHT,
    group_shares,
    histogram_of,
    search_of,
    strips_of,
    targets_of,
)
from descheduler.report.pictures.review import WorkloadReview, review_of
from descheduler.report.pictures.simulation_review import simulation_review
from descheduler.report.plan.document import Plan, PlanMove
from descheduler.report.plan.goal import objective_title, pending_of, pending_title
from descheduler.report.plan.strips import main_resource
from descheduler.report.simulation_document import SimulatedPolicy, Simulation
from descheduler.report.tables.simulation_table import DIFFERENCES_HEADER
from descheduler.report.tables.summary import wave_text
from descheduler.version import VERSION

_MOST_MOVES = 8000
"""Of the cycles of all simulated policies that are embedded; each policy has its part of them."""
_MOST_NODES = 8
"""Of equally good nodes that the embedded plan names for one pod."""
_MOST_BYTES = {"moves": 1_200_000, "refusals": 400_000, "workloads": 400_000}
"""Of the JSON of these lists of the embedded plan."""
_MOST_WORKLOADS, _MOST_PODS = 1_000, 1_500
"""Workloads that are listed, and pods of them; as many pending pods."""
_MOST_NAMED_NODES = 1_500
"""Nodes up to which each that changes has a bar with its name."""


def page_pieces(plan: Plan) -> Iterator[str]:
    """The pieces of the page that shows `plan`. Every text of the cluster and of the policy is escaped in it."""
    first = main_resource(plan.figures)
    resources = sorted((each.resource for each in plan.figures.balance), key=lambda name: (name != first, name))
    names_nodes = len(plan.figures.nodes) <= _MOST_NAMED_NODES
    review = review_of(plan)
    pending = pending_of(plan.goal) if plan.moves else ()
    document = _cut(replace(plan, moves=tuple(map(_shortened, plan.moves))))
    yield from _template("page.html.j2").generate(
        plan=plan,
        review=review,
        workloads=list(_listed(review.workloads)),
        resources=resources,
        strips={name: list(strips_of(plan.figures, name, names_nodes=names_nodes)) for name in resources},
        names_nodes=names_nodes,
        histograms={name: histogram_of(plan.figures, name) for name in resources},
        targets={name: targets_of(plan, name) for name in resources},
        groups=list(group_shares(plan.figures)),
        title_of=None if plan.goal is None else partial(objective_title, plan.goal),
        pending=pending[:_MOST_PODS],
        pending_title=pending_title(pending),
        num_pending=len(pending),
        searches=[(each, search_of(each)) for each in (plan.goal.objectives if plan.goal is not None else ())],
        strip_height=STRIP_HEIGHT,
        version=VERSION,
        document=_embedded(document),
        embedded={name: len(getattr(document, name)) for name in _MOST_BYTES},
        most_nodes=_MOST_NODES,
        wave_text=wave_text(plan),
    )


def simulation_pieces(simulation: Simulation) -> Iterator[str]:
    """The pieces of the page that shows `simulation`, escaped as those of a plan."""
    most = _MOST_MOVES // len(simulation.policies)
    cut = replace(simulation, policies=tuple(_without_late_moves(policy, most) for policy in simulation.policies))
    yield from _template("simulation.html.j2").generate(
        review=simulation_review(simulation),
        differences_header=DIFFERENCES_HEADER,
        strip_height=STRIP_HEIGHT,
        version=VERSION,
        document=_embedded(cut),
        is_cut=cut != simulation,
    )


def _without_late_moves(policy: SimulatedPolicy, most: int) -> SimulatedPolicy:
    """`policy` with the moves of its first cycles alone, where there are more than `most`."""
    ends = accumulate(len(cycle.moves) for cycle in policy.cycles)
    cycles = zip(policy.cycles, ends, strict=True)
    return replace(
        policy,
        cycles=tuple(cycle if end <= most else replace(cycle, moves=()) for cycle, end in cycles),
    )


def _cut(plan: Plan) -> Plan:
    """`plan` with the first entries of its long lists alone, so that a page of a large cluster opens quickly."""
    return replace(plan, **{name: _first(getattr(plan, name), most) for name, most in _MOST_BYTES.items()})


def _first(entries: Sequence[msgspec.Struct], most_bytes: int) -> Sequence[msgspec.Struct]:
    """The first entries, whose JSON is at most `most_bytes` long."""
    ends = accumulate(len(msgspec.json.encode(entry)) for entry in entries)
    return tuple(entry for entry, end in zip(entries, ends, strict=True) if end <= most_bytes)


def _listed(workloads: Sequence[WorkloadReview]) -> Iterator[WorkloadReview]:
    """The first workloads, whose pods are named as long as these are not too many."""
    ends = accumulate(len(each.moves) for each in workloads)
    for workload, end in islice(zip(workloads, ends, strict=True), _MOST_WORKLOADS):
        yield workload if end <= _MOST_PODS else replace(workload, moves=())


def _shortened(move: PlanMove) -> PlanMove:
    """In a large cluster thousands of nodes may be equally good for each of thousands of pods."""
    landing = move.landing
    if landing is None or len(landing.nodes) <= _MOST_NODES:
        return move
    return replace(move, landing=replace(landing, nodes=landing.nodes[:_MOST_NODES]))


@cache
def _template(name: str) -> Template:
    # Autoescape is always on: names and messages come from whoever writes objects in the cluster.
    environment = Environment(
        loader=PackageLoader("descheduler.report.pictures", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["percent"] = rounded_percent
    return environment.get_template(name)


def _embedded(document: Plan | Simulation) -> Markup:
    """The JSON for a script element, which ends at the first `</script` whatever JSON says."""
    text = (
        msgspec.json.encode(document).decode().replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
    )
    return Markup(text)  # noqa: S704 - no character of it ends the element or begins another
