"""Examples in the help of each command, and the groups in which the help of the program lists commands."""

from __future__ import annotations

from collections.abc import Mapping

GROUPS: Mapping[str, tuple[str, ...]] = {
    "Plan and evict": ("run", "loop", "plan", "apply"),
    "Look and ask": ("show", "diff", "explain", "simulate", "status"),
    "Policies": ("validate", "convert", "schema"),
    "Other commands": ("snapshot", "completion", "version"),
}
"""Title → commands, in the order of the help."""

EXAMPLES: Mapping[str, tuple[str, ...]] = {
    "run": (
        "descheduler run policy.yaml --dry-run",
        "descheduler run policy.yaml --snapshot dump.json.gz -o wide",
        "descheduler run policy.yaml -n shop --deadline 5m --detailed-exitcode",
    ),
    "loop": (
        "descheduler loop policy.yaml --interval 5m",
        "descheduler loop policy.yaml --interval 5m --dry-run",
        "descheduler loop policy.yaml --listen 127.0.0.1:8080 --deadline 4m",
    ),
    "plan": (
        "descheduler plan policy.yaml --out plan.json",
        "descheduler plan --for pending",
        "descheduler plan --for nvidia.com/gpu=8 --snapshot dump.json.gz",
    ),
    "apply": (
        "descheduler apply plan.json policy.yaml --dry-run",
        "descheduler apply plan.json policy.yaml",
        "descheduler apply plan.json policy.yaml --max-age 1h",
    ),
    "show": (
        "descheduler show plan.json",
        "descheduler show plan.json -o html > plan.html",
        "descheduler show plan.json -o markdown",
    ),
    "diff": (
        "descheduler diff monday.json tuesday.json",
        "descheduler diff monday.json tuesday.json -o json",
        "descheduler diff monday.json tuesday.json --detailed-exitcode",
    ),
    "explain": (
        "descheduler explain pod web-1 -n shop --config policy.yaml",
        "descheduler explain node worker-3 --config policy.yaml --snapshot dump.json.gz",
        "descheduler explain plugin LowNodeUtilization --config policy.yaml",
    ),
    "simulate": (
        "descheduler simulate policy.yaml --snapshot dump.json.gz",
        "descheduler simulate policy.yaml --snapshot dump.json.gz --cycles 20",
        "descheduler simulate policy.yaml --snapshot dump.json.gz --compare other.yaml",
    ),
    "status": (
        "descheduler status --config policy.yaml",
        "descheduler status --lease-name descheduler-gpu",
        "descheduler status --config policy.yaml -o json",
    ),
    "validate": (
        "descheduler validate --strict policy.yaml",
        "helm template cronjob/chart | descheduler validate -",
        "descheduler validate values.yaml -o sarif > findings.sarif",
    ),
    "convert": (
        "descheduler convert v1alpha1.yaml > policy.yaml",
        "descheduler convert policy.yaml > configuration.yaml",
        "kubectl get configmap descheduler -o yaml | descheduler convert -",
    ),
    "schema": (
        "descheduler schema policy > policy.schema.json",
        "descheduler schema plan",
        "descheduler schema outcome",
    ),
    "snapshot": (
        "descheduler snapshot -o dump.jsonl.gz",
        "descheduler snapshot --context prod -o prod.jsonl.gz",
        "descheduler snapshot --kubeconfig admin.conf -o dump.jsonl",
    ),
    "completion": (
        'eval "$(descheduler completion bash)"',
        'eval "$(descheduler completion zsh)"',
        "descheduler completion fish > ~/.config/fish/completions/descheduler.fish",
    ),
    "version": (
        "descheduler version",
        "descheduler --version",
        "kubectl deschedule version",
    ),
}
"""Command → three lines as users type them."""
