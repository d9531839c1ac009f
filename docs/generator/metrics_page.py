"""The page about metrics."""

from __future__ import annotations

from collections.abc import Iterator

from descheduler.telemetry.metrics.table import JOB_BUCKETS, LOOP_BUCKETS, METRICS, STRATEGY_BUCKETS, MetricSpec
from docs.generator.markdown import page, table, wrapped

_INTRODUCTION = """\
A run writes these metrics when it ends, also when it fails: to a file with `--metrics-textfile`, to a Pushgateway with
`--metrics-push-url`. [Operate](../how-to/operate.md#metrics) shows how. Every value is that of the last run, counters
included: each run starts from zero. A run that does not get the Lease writes nothing. `descheduler loop` serves them at
`/metrics`; there counters and histograms add up over the runs of the process."""

_UPSTREAM = """\
Names, labels, buckets and the values of `result` are those of kubernetes-sigs/descheduler 0.36, so that dashboards
work unchanged. The names that are deprecated since 0.34 (`descheduler_pods_evicted` and names that begin with
`descheduler_descheduler_`) are not written. `descheduler_build_info` is 1 and has the version of Python instead of
those of Go and git."""

_CARDINALITY = """\
`descheduler_pods_evicted_total` has a series for each pair of namespace and node among the requests of a run. Limits of
the policy do not limit their number, because refused requests count too. In a large cluster, drop the labels
`namespace` and `node` where metrics are collected, unless you need them."""


def make_page() -> str:
    """The whole page."""
    return page("Metrics", _lines())


def _lines() -> Iterator[str]:
    yield from wrapped(_flat(_INTRODUCTION))
    yield "## As upstream"
    yield ""
    yield from wrapped(_flat(_UPSTREAM))
    yield from _table(is_upstream=True)
    yield from wrapped(f"Upper bounds of the strategy histogram in seconds: {_bounds(STRATEGY_BUCKETS)}.")
    more = LOOP_BUCKETS[len(STRATEGY_BUCKETS) :]
    yield from wrapped(f"The loop histogram has {_bounds(more)} as well.")
    yield from wrapped(_flat(_CARDINALITY))
    yield "## Of this program"
    yield ""
    yield from _table(is_upstream=False)
    yield from wrapped(f"Upper bounds of the histogram of migration stages in seconds: {_bounds(JOB_BUCKETS)}.")


def _table(*, is_upstream: bool) -> Iterator[str]:
    specs = [spec for spec in METRICS if spec.is_upstream is is_upstream]
    yield from table(("Metric", "Type", "Labels", "Meaning"), [_row(spec) for spec in specs])


def _row(spec: MetricSpec) -> list[str]:
    return [f"`{spec.name}`", spec.type, ", ".join(f"`{label}`" for label in spec.labels), spec.help]


def _bounds(bounds: tuple[float, ...]) -> str:
    return ", ".join(f"{bound:g}" for bound in bounds)


def _flat(text: str) -> str:
    return " ".join(text.split())
