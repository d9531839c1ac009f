from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Iterator, Sequence
from concurrent import futures
from pathlib import Path

import grpc
import pytest
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2, trace_service_pb2_grpc
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from descheduler.plan.outcome import Outcome, OutcomeCode, OutcomeKind
from descheduler.telemetry.observer import NO_SPANS, RunObserver
from descheduler.telemetry.tracing import OtlpSettings, traced
from tests.migration.stand_ins import make_eviction

SETTINGS = OtlpSettings("collector:4317", service_name="tidy", service_namespace="ops")


def run_in_memory(*outcomes: Outcome, settings: OtlpSettings = SETTINGS) -> Sequence[ReadableSpan]:
    """The spans of a run with one plugin whose evictions ended so, in order of ending."""
    exporter = InMemorySpanExporter()
    with traced(settings, lambda _settings: exporter) as spans:
        observer = RunObserver(spans=spans)
        with observer.run():
            with observer.snapshot():
                pass
            with observer.plugin_run("p", "PodLifeTime", "deschedule"):
                pass
            for outcome in outcomes:
                observer.record(outcome)
    return exporter.get_finished_spans()


def test_run_is_a_trace_of_its_stages() -> None:
    finished = run_in_memory()

    by_name = {span.name: span for span in finished}
    run = by_name["Run"]
    assert [span.name for span in finished] == ["Snapshot", "PodLifeTime", "Run"]
    assert {span.parent.span_id for span in finished if span.parent} == {run.context.span_id}
    assert dict(by_name["PodLifeTime"].attributes or {}) == {
        "plugin": "PodLifeTime",
        "profile": "p",
        "operation": "deschedule",
    }
    assert run.resource.attributes["service.name"] == "tidy"
    assert run.resource.attributes["service.namespace"] == "ops"


def test_eviction_is_a_span_as_upstream_writes_it() -> None:
    evicted = Outcome(make_eviction("cart"), OutcomeKind.EVICTED, OutcomeCode.DONE, "pod shop/cart evicted")

    span, *_ = [span for span in run_in_memory(evicted) if span.name == "EvictPod"]

    expected = {"podName": "cart", "podNamespace": "shop", "reason": "", "operation": "evict"}
    assert dict(span.attributes or {}) == expected
    assert (span.events, span.status.is_ok) == ((), True)


def test_failed_eviction_has_an_event_that_says_why() -> None:
    failed = Outcome(make_eviction("cart"), OutcomeKind.REFUSED, OutcomeCode.BUDGET, "no disruption allowed")

    span, *_ = [span for span in run_in_memory(failed) if span.name == "EvictPod"]

    (event,) = span.events
    assert event.name == "Eviction Failed"
    assert dict(event.attributes or {}) == {"node": "n1", "err": "no disruption allowed"}
    assert not span.status.is_ok


def test_eviction_that_was_never_asked_for_has_no_span() -> None:
    left_out = Outcome(make_eviction("cart"), OutcomeKind.NOT_ATTEMPTED, OutcomeCode.STOPPED, "stopped")

    assert "EvictPod" not in {span.name for span in run_in_memory(left_out)}


def test_error_is_noted_without_its_text_which_may_hold_a_secret() -> None:
    exporter = InMemorySpanExporter()

    with (
        traced(SETTINGS, lambda _settings: exporter) as spans,
        pytest.raises(ValueError, match="Bearer"),
        spans.span("Run", {}),
    ):
        raise ValueError("Bearer s3cr3t")

    (span,) = exporter.get_finished_spans()
    assert [(event.name, (event.attributes or {})["exception.type"]) for event in span.events] == [
        ("exception", "ValueError")
    ]
    assert not span.status.is_ok
    assert "s3cr3t" not in span.to_json()


def test_run_that_is_not_sampled_leaves_no_span() -> None:
    assert run_in_memory(settings=OtlpSettings("collector:4317", sample_ratio=0.0)) == ()


def test_without_an_endpoint_nothing_is_traced() -> None:
    with traced(None) as spans:
        assert spans is NO_SPANS


def test_without_the_extra_one_warning_names_it(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter.otlp.proto.grpc.trace_exporter", None)

    with traced(SETTINGS) as spans:
        assert spans is NO_SPANS

    (warning,) = caplog.records
    assert warning.levelno == logging.WARNING
    assert "pip install 'descheduler[otlp]'" in str(vars(warning)["event_fields"])


@pytest.mark.parametrize(
    "settings",
    [
        pytest.param(OtlpSettings("collector:4317", ca_file=Path("/none/ca.crt")), id="no file with the authority"),
        pytest.param(OtlpSettings("collector:4317", sample_ratio=float("nan")), id="no share"),
    ],
)
def test_settings_that_cannot_be_used_are_a_warning(settings: OtlpSettings, caplog: pytest.LogCaptureFixture) -> None:
    with traced(settings) as spans:
        assert spans is NO_SPANS

    assert [record.getMessage() for record in caplog.records] == ["Traces are not exported"]


class _Hanging(SpanExporter):
    """A collector that never answers."""

    def __init__(self) -> None:
        self.let_go = threading.Event()

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        self.let_go.wait(timeout=30)
        return SpanExportResult.FAILURE


def test_collector_that_hangs_does_not_hold_the_run_up(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("descheduler.telemetry.tracing._FLUSH_SECONDS", 0.05)
    exporter = _Hanging()

    with traced(SETTINGS, lambda _settings: exporter) as spans, spans.span("Run", {}):
        pass
    exporter.let_go.set()

    assert [record.getMessage() for record in caplog.records] == ["Traces may be incomplete"]


class _Collector(trace_service_pb2_grpc.TraceServiceServicer):
    def __init__(self) -> None:
        self.names: list[str] = []

    def Export(  # noqa: N802 - the name is the service's
        self, request: trace_service_pb2.ExportTraceServiceRequest, context: grpc.ServicerContext
    ) -> trace_service_pb2.ExportTraceServiceResponse:
        scopes = (scope for resource in request.resource_spans for scope in resource.scope_spans)
        self.names += [span.name for scope in scopes for span in scope.spans]
        return trace_service_pb2.ExportTraceServiceResponse()


@pytest.fixture
def collector() -> Iterator[tuple[_Collector, str]]:
    """An OTLP collector on loopback, and its endpoint in upstream's form."""
    servicer = _Collector()
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=1))
    serve = trace_service_pb2_grpc.add_TraceServiceServicer_to_server
    serve(servicer, server)  # type: ignore[no-untyped-call]  # as generated code is
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    yield servicer, f"127.0.0.1:{port}"
    server.stop(None)


def test_spans_reach_a_collector_before_the_run_ends(collector: tuple[_Collector, str]) -> None:
    servicer, endpoint = collector

    with traced(OtlpSettings(endpoint)) as spans, spans.span("Run", {}):
        pass

    assert servicer.names == ["Run"]
