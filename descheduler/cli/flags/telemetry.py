"""Flags about what a run leaves behind for those who watch it: metrics, traces and notifications."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from descheduler.cli.completions import complete_file
from descheduler.cli.flag_groups import FlagGroup, flag, with_flags
from descheduler.cli.flags.values import read_output_name
from descheduler.model.text.urls import is_web_url

if TYPE_CHECKING:
    from descheduler.policy.types import Policy
    from descheduler.telemetry.notices import NoticeFormat
    from descheduler.telemetry.notifying import NoticeTarget, NoticeWhen
    from descheduler.telemetry.recording import TelemetrySettings

_NO_POLICY = "descheduler"
"""The name of a run in notifications where no policy says another."""
_PREFIXES = ("metrics_", "otel_", "notify_")
_Option = Callable[[Callable[..., Any]], Callable[..., Any]]
"""Adds a flag to a command."""


def takes_telemetry(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the flags and hands them to the command as `telemetry`, a function from the policy to TelemetrySettings.

    Of a run without a valid policy, None, the webhook alone is told.
    """

    @wraps(command)
    def with_telemetry(*args: object, **flags: Any) -> object:
        taken = {name: flags.pop(name) for name in list(flags) if name.startswith(_PREFIXES)}
        _check_webhook(**{name: given for name, given in taken.items() if name.startswith("notify_")})
        return command(*args, telemetry=lambda policy: _settings(policy, **taken), **flags)

    return with_flags(*_metrics_options(), *_trace_options(), *_webhook_options())(with_telemetry)


def _metrics_options() -> tuple[_Option, ...]:
    """Where metrics go."""
    return (
        flag(
            FlagGroup.METRICS,
            "--metrics-textfile",
            metavar="FILE",
            shell_complete=complete_file,
            callback=read_output_name,
            help="Write metrics to this file at the end, for the textfile collector of the node exporter (name.prom).",
        ),
        flag(
            FlagGroup.METRICS,
            "--metrics-push-url",
            metavar="URL",
            callback=_read_url,
            help="Push metrics to this Pushgateway at the end, for example http://pushgateway:9091.",
        ),
        flag(
            FlagGroup.METRICS,
            "--metrics-push-job",
            metavar="NAME",
            help="Label job of pushed metrics; by default descheduler- and the names of the policy's profiles.",
        ),
    )


def _trace_options() -> tuple[_Option, ...]:
    """Where traces go, and which."""
    return (
        flag(
            FlagGroup.METRICS,
            "--otel-collector-endpoint",
            metavar="HOST:PORT",
            callback=_read_endpoint,
            help="Send traces to this OTLP collector over gRPC; needs the extra otlp.",
        ),
        flag(
            FlagGroup.METRICS,
            "--otel-transport-ca-cert",
            metavar="FILE",
            shell_complete=complete_file,
            help="Certificate authority of the collector; without it the connection is not secured.",
        ),
        flag(
            FlagGroup.METRICS,
            "--otel-service-name",
            metavar="NAME",
            default="descheduler",
            show_default=True,
            help="Name of the service in traces.",
        ),
        flag(FlagGroup.METRICS, "--otel-trace-namespace", metavar="NAME", help="Namespace of the service in traces."),
        flag(
            FlagGroup.METRICS,
            "--otel-sample-rate",
            metavar="N",
            type=click.FloatRange(0.0, 1.0, clamp=True),
            default=1.0,
            show_default=True,
            help="Share of runs that are traced.",
        ),
    )


def _webhook_options() -> tuple[_Option, ...]:
    """Which webhook is told of which runs, and how."""
    return (
        flag(
            FlagGroup.NOTIFICATIONS,
            "--notify-url",
            metavar="URL",
            callback=_read_webhook,
            help="POST a notification to this webhook at the end of the run; see --notify-when.",
        ),
        flag(
            FlagGroup.NOTIFICATIONS,
            "--notify-url-file",
            metavar="FILE",
            shell_complete=complete_file,
            help="The same with the URL in a file, such as that of a mounted Secret.",
        ),
        flag(
            FlagGroup.NOTIFICATIONS,
            "--notify-token-file",
            metavar="FILE",
            shell_complete=complete_file,
            help="Send the content of this file to the webhook as bearer token.",
        ),
        flag(
            FlagGroup.NOTIFICATIONS,
            "--notify-format",
            type=click.Choice(["json", "slack", "teams"]),
            default="json",
            show_default=True,
            help="Form of a notification: the document Notice, or a message of Slack or Microsoft Teams.",
        ),
        flag(
            FlagGroup.NOTIFICATIONS,
            "--notify-when",
            type=click.Choice(["always", "evictions", "problems"]),
            default="evictions",
            show_default=True,
            help="Runs that the webhook is told of: all, those with evictions or problems, or those with problems. A "
            "problem is a run that failed or was stopped, a plugin that failed, or an eviction that was refused, "
            "failed or had no clear answer.",
        ),
    )


def _settings(
    policy: Policy | None,
    *,
    metrics_textfile: str | None,
    metrics_push_url: str | None,
    metrics_push_job: str | None,
    otel_collector_endpoint: str | None,
    otel_transport_ca_cert: str | None,
    otel_service_name: str,
    otel_trace_namespace: str | None,
    otel_sample_rate: float,
    **webhook: Any,
) -> TelemetrySettings:
    from descheduler.policy.run_name import run_name
    from descheduler.telemetry.metrics.export import MetricsTarget
    from descheduler.telemetry.recording import TelemetrySettings
    from descheduler.telemetry.tracing import OtlpSettings

    if policy is None:
        return TelemetrySettings(notice=_notice_target(_NO_POLICY, **webhook))
    textfile = Path(metrics_textfile) if metrics_textfile else None
    metrics = MetricsTarget(textfile, metrics_push_url, metrics_push_job or run_name(policy))
    notice = _notice_target(run_name(policy), **webhook)
    if not otel_collector_endpoint:
        return TelemetrySettings(metrics, notice=notice)
    ca_file = Path(otel_transport_ca_cert) if otel_transport_ca_cert else None
    otlp = OtlpSettings(
        otel_collector_endpoint, ca_file, otel_service_name, otel_trace_namespace or "", otel_sample_rate
    )
    return TelemetrySettings(metrics, otlp, notice)


def _notice_target(
    name: str,
    *,
    notify_url: str | None,
    notify_url_file: str | None,
    notify_token_file: str | None,
    notify_format: NoticeFormat,
    notify_when: NoticeWhen,
) -> NoticeTarget | None:
    """The webhook to tell, None for none."""
    if not notify_url and not notify_url_file:
        return None
    from descheduler.telemetry.notifying import NoticeTarget

    url_file = Path(notify_url_file) if notify_url_file else None
    token_file = Path(notify_token_file) if notify_token_file else None
    return NoticeTarget(name, notify_url, url_file, token_file, notify_format, notify_when)


def _check_webhook(
    *, notify_url: str | None, notify_url_file: str | None, notify_token_file: str | None, **_form: object
) -> None:
    """Raises UsageError before the run for flags that contradict each other."""
    if notify_url and notify_url_file:
        raise click.UsageError("--notify-url and --notify-url-file exclude each other.")
    if notify_token_file and not (notify_url or notify_url_file):
        raise click.UsageError("--notify-token-file needs --notify-url or --notify-url-file.")


def _read_url(_ctx: click.Context, _option: click.Parameter, text: str | None) -> str | None:
    """A base URL without credentials, which would end up in logs and lists of processes; None for an empty text."""
    return _web_url(text, "remove them from the URL", "http://pushgateway:9091")


def _read_webhook(_ctx: click.Context, _option: click.Parameter, text: str | None) -> str | None:
    """As `_read_url`, for a webhook."""
    return _web_url(text, "use --notify-token-file", "https://hooks.example.com/alerts")


def _web_url(text: str | None, way_out: str, example: str) -> str | None:
    if not text:
        return None
    if "@" in text:
        raise click.BadParameter(f"contains credentials; {way_out}.")
    if not is_web_url(text):
        # The text is not repeated: the path of a webhook is often its secret, and the message stays in a log.
        raise click.BadParameter(f"is not a URL such as {example}.")
    return text


def _read_endpoint(_ctx: click.Context, _option: click.Parameter, text: str | None) -> str | None:
    """The address of a collector, without credentials: gRPC makes no use of them, and its log repeats the address."""
    if text and "@" in text:
        raise click.BadParameter("contains credentials; remove them from the address.")
    return text
