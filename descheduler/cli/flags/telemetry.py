"""Flags about what a run leaves behind for those who watch it: metrics and traces."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from descheduler.cli.completions import complete_file
from descheduler.model.text.urls import is_web_url

if TYPE_CHECKING:
    from descheduler.policy.types import Policy
    from descheduler.telemetry.recording import TelemetrySettings

__all__ = ["takes_telemetry"]


def takes_telemetry(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the flags and hands them to the command as `telemetry`, a function from the policy to TelemetrySettings."""
    options = (
        click.option(
            "--metrics-textfile",
            metavar="FILE",
            shell_complete=complete_file,
            callback=_read_textfile,
            help="Write metrics to this file at the end, for the textfile collector of the node exporter (name.prom).",
        ),
        click.option(
            "--metrics-push-url",
            metavar="URL",
            callback=_read_url,
            help="Push metrics to this Pushgateway at the end, for example http://pushgateway:9091.",
        ),
        click.option(
            "--metrics-push-job",
            metavar="NAME",
            help="Label job of pushed metrics; by default descheduler- and the names of the policy's profiles.",
        ),
        click.option(
            "--otel-collector-endpoint",
            metavar="HOST:PORT",
            callback=_read_endpoint,
            help="Send traces to this OTLP collector over gRPC; needs the extra otlp.",
        ),
        click.option(
            "--otel-transport-ca-cert",
            metavar="FILE",
            shell_complete=complete_file,
            help="Certificate authority of the collector; without it the connection is not secured.",
        ),
        click.option(
            "--otel-service-name",
            metavar="NAME",
            default="descheduler",
            show_default=True,
            help="Name of the service in traces.",
        ),
        click.option("--otel-trace-namespace", metavar="NAME", help="Namespace of the service in traces."),
        click.option(
            "--otel-sample-rate",
            metavar="N",
            type=click.FloatRange(0.0, 1.0, clamp=True),
            default=1.0,
            show_default=True,
            help="Share of runs that are traced.",
        ),
    )

    @wraps(command)
    def with_telemetry(*args: object, **flags: Any) -> object:
        taken = {name: flags.pop(name) for name in list(flags) if name.startswith(("metrics_", "otel_"))}
        return command(*args, telemetry=lambda policy: _settings(policy, **taken), **flags)

    decorated: Callable[..., Any] = with_telemetry
    for option in reversed(options):
        decorated = option(decorated)
    return decorated


def _settings(
    policy: Policy,
    *,
    metrics_textfile: str | None,
    metrics_push_url: str | None,
    metrics_push_job: str | None,
    otel_collector_endpoint: str | None,
    otel_transport_ca_cert: str | None,
    otel_service_name: str,
    otel_trace_namespace: str | None,
    otel_sample_rate: float,
) -> TelemetrySettings:
    from descheduler.policy.run_name import run_name
    from descheduler.telemetry.metrics.export import MetricsTarget
    from descheduler.telemetry.recording import TelemetrySettings
    from descheduler.telemetry.tracing import OtlpSettings

    textfile = Path(metrics_textfile) if metrics_textfile else None
    metrics = MetricsTarget(textfile, metrics_push_url, metrics_push_job or run_name(policy))
    if not otel_collector_endpoint:
        return TelemetrySettings(metrics)
    ca_file = Path(otel_transport_ca_cert) if otel_transport_ca_cert else None
    otlp = OtlpSettings(
        otel_collector_endpoint, ca_file, otel_service_name, otel_trace_namespace or "", otel_sample_rate
    )
    return TelemetrySettings(metrics, otlp)


def _read_textfile(_ctx: click.Context, _option: click.Parameter, text: str | None) -> str | None:
    if text == "-":
        raise click.BadParameter("standard output is used for the plan; name a file (./- for a file named -).")
    return text


def _read_url(_ctx: click.Context, _option: click.Parameter, text: str | None) -> str | None:
    """A base URL without credentials, which would end up in logs and lists of processes; None for an empty text."""
    if not text:
        return None
    if "@" in text:
        raise click.BadParameter("contains credentials; remove them from the URL.")
    if not is_web_url(text):
        raise click.BadParameter(f"{text!r} is not a URL such as http://pushgateway:9091.")
    return text


def _read_endpoint(_ctx: click.Context, _option: click.Parameter, text: str | None) -> str | None:
    """The address of a collector, without credentials: gRPC makes no use of them, and its log repeats the address."""
    if text and "@" in text:
        raise click.BadParameter("contains credentials; remove them from the address.")
    return text
