"""The groups in which the help of a command lists its flags."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import click

__all__ = ["GROUPS", "grouped"]

_OWN = "Options"
"""What a command has of its own."""
GROUPS: Mapping[str, Sequence[str]] = {
    "Dump": ("snapshot", "now", "skip_broken_objects", "assumed"),
    "Cluster": ("kubeconfig", "context", "as_user", "request_timeout"),
    "Pods": ("namespaces", "namespace", "run_namespaces", "all_namespaces", "labels"),
    "Shards": ("count", "index", "label", "turn"),
    "Evictions": (
        *("client_connection_qps", "client_connection_burst", "deadline", "observe", "feature_gates"),
        "assess_landings",
    ),
    "Lease": ("is_wanted", "lease_name", "lease_namespace", "lease_duration"),
    "Output and log": ("is_quiet", "has_headers", "output_format", "detailed_exitcode", "verbosity", "log_format"),
    "Notifications": ("notify_url", "notify_url_file", "notify_token_file", "notify_format", "notify_when"),
    "Metrics and traces": (
        *("metrics_textfile", "metrics_push_url", "metrics_push_job", "otel_collector_endpoint"),
        *("otel_transport_ca_cert", "otel_service_name", "otel_trace_namespace", "otel_sample_rate"),
    ),
}
"""Title → parameters of the flags, by the names that commands have for them."""


def grouped(parameters: Sequence[click.Parameter]) -> Mapping[str, Sequence[click.Parameter]]:
    """The parameters by title, in the order of the help; each in one group, and no group is empty."""
    title_of = {name: title for title, names in GROUPS.items() for name in names}
    found: dict[str, list[click.Parameter]] = {title: [] for title in (_OWN, *GROUPS)}
    for parameter in parameters:
        found[title_of.get(parameter.name or "", _OWN)].append(parameter)
    return {title: members for title, members in found.items() if members}
