"""Traces over OTLP, for whoever has installed the extra `otlp`. Nothing in here can fail a run.

Names and attributes are those of kubernetes-sigs/descheduler 0.36 `pkg/tracing`.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from descheduler.telemetry.faults import error_words, place_of
from descheduler.telemetry.logging import fields
from descheduler.telemetry.observer import NO_SPANS, SpanPort

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SpanExporter

    from descheduler.plan.outcome import Outcome

_logger = logging.getLogger(__name__)
_TRACER = "sigs.k8s.io/descheduler"
_FLUSH_SECONDS = 3.0
_MAX_QUEUED_SPANS = 16_384
"""Room for a span an eviction; what does not fit is dropped."""


class OtlpSettings(msgspec.Struct, frozen=True):
    """Where traces go over gRPC, and how many: `sample_ratio` from 0 to 1. Without a CA file the way is not secured."""

    endpoint: str
    ca_file: Path | None = None
    service_name: str = "descheduler"
    service_namespace: str = ""
    sample_ratio: float = 1.0


@contextmanager
def traced(
    settings: OtlpSettings | None,
    make_exporter: Callable[[OtlpSettings], SpanExporter] | None = None,
    *,
    patience_seconds: Callable[[float], float] = lambda most_seconds: most_seconds,
) -> Iterator[SpanPort]:
    """Where spans go while the context is open; at its end they are sent, for three seconds at most.

    `patience_seconds` says at the end how long that may take, given those three.

    Without settings, or when they cannot be used (a warning says so), spans go nowhere.
    """
    provider = None if settings is None else _provider(settings, make_exporter or _otlp_exporter)
    if provider is None:
        yield NO_SPANS
        return
    try:
        yield SpanWriter(provider)
    finally:
        _shut_down(provider, patience_seconds(_FLUSH_SECONDS))


def _provider(settings: OtlpSettings, make_exporter: Callable[[OtlpSettings], SpanExporter]) -> TracerProvider | None:
    try:
        return make_provider(settings, make_exporter(settings))
    except ImportError:
        why = "the extra otlp is not installed: pip install 'descheduler[otlp]'"
    except (OSError, ValueError) as error:
        # Not the error's own text: settings from the environment, such as OTEL_EXPORTER_OTLP_HEADERS, hold tokens.
        why = error_words(error)
    _logger.warning("Traces are not exported", extra=fields(endpoint=settings.endpoint, reason=why))
    return None


def make_provider(settings: OtlpSettings, exporter: SpanExporter) -> TracerProvider:
    """What makes spans and hands them to `exporter` from a thread of its own. Raises ImportError without the extra."""
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor
    from opentelemetry.sdk.trace.sampling import TraceIdRatioBased

    attributes = {"service.name": settings.service_name}
    if settings.service_namespace:
        attributes["service.namespace"] = settings.service_namespace
    provider = TracerProvider(
        resource=Resource.create(attributes),
        sampler=TraceIdRatioBased(settings.sample_ratio),
        shutdown_on_exit=False,  # it would wait for a collector that is not there
    )
    provider.add_span_processor(BatchSpanProcessor(exporter, max_queue_size=_MAX_QUEUED_SPANS))
    return provider


def _otlp_exporter(settings: OtlpSettings) -> SpanExporter:
    from grpc import ssl_channel_credentials
    from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter

    if settings.ca_file is None:
        return OTLPSpanExporter(endpoint=settings.endpoint, insecure=True, timeout=_FLUSH_SECONDS)
    credentials = ssl_channel_credentials(settings.ca_file.read_bytes())
    return OTLPSpanExporter(endpoint=settings.endpoint, credentials=credentials, timeout=_FLUSH_SECONDS)


def _shut_down(provider: TracerProvider, timeout_seconds: float) -> None:
    """On a thread that may be left behind: the exporter can hang longer than it was told to wait."""
    closing = threading.Thread(target=provider.shutdown, name="traces", daemon=True)
    closing.start()
    closing.join(timeout_seconds)
    if closing.is_alive():
        _logger.warning("Traces may be incomplete", extra=fields(reason=f"not sent within {timeout_seconds:.1f} s"))


class SpanWriter:
    """Makes spans with a provider."""

    def __init__(self, provider: TracerProvider) -> None:
        self._tracer = provider.get_tracer(_TRACER)

    @contextmanager
    def span(self, name: str, attributes: Mapping[str, str]) -> Iterator[None]:
        """A context that is a span; the type and the place of an exception that passes through are noted on it."""
        from opentelemetry.trace import Status, StatusCode

        context = self._tracer.start_as_current_span(
            name, attributes=dict(attributes), record_exception=False, set_status_on_exception=False
        )
        with context as span:
            try:
                yield
            except Exception as error:
                # Without its text and its traceback, which OpenTelemetry would note: a library's may hold a secret.
                kind = type(error).__name__
                span.add_event("exception", {"exception.type": kind, "code.place": place_of(error)})
                span.set_status(Status(StatusCode.ERROR, kind))
                raise

    def record(self, outcome: Outcome) -> None:
        """A span `EvictPod` when the outcome is known; none for an eviction that was never asked for."""
        from opentelemetry.trace import Status, StatusCode

        pod = outcome.eviction
        if outcome.kind.value == "not-attempted":
            return
        attributes = {
            "podName": pod.name,
            "podNamespace": pod.namespace,
            "reason": pod.reason,
            "operation": "evict",
        }
        with self._tracer.start_as_current_span("EvictPod", attributes=attributes) as span:
            if not outcome.kind.uses_limits:
                span.add_event("Eviction Failed", {"node": pod.node, "err": outcome.message})
                span.set_status(Status(StatusCode.ERROR, outcome.message))
