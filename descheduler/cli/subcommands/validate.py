"""`descheduler validate`: is a policy right, and what does it really say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click
import msgspec
from msgspec.structs import replace

from descheduler.cli.completions import complete_file
from descheduler.cli.ending.exit_code import ExitCode
from descheduler.cli.flag_groups import GoFlagsCommand
from descheduler.cli.flags.values import file_source, read_input_names
from descheduler.cli.inputs import load_policy_source
from descheduler.cli.output import write_data, write_text
from descheduler.model.text.urls import shown_url

if TYPE_CHECKING:
    from pathlib import Path

    from descheduler.documents.problems import DocumentProblem
    from descheduler.policy.types import Policy, Profile


class _Verdict(msgspec.Struct, frozen=True):
    """What is wrong with one file. `kind` is None exactly when there are problems; not every kind is a policy."""

    file: str
    problems: Sequence[DocumentProblem]
    warnings: Sequence[DocumentProblem]
    policy: Policy | None = None
    kind: str | None = None

    def is_good(self, *, is_strict: bool) -> bool:
        """Whether the document can be used and, if that is asked for, nothing in it is doubtful."""
        return self.kind is not None and not (is_strict and self.warnings)


@click.command(cls=GoFlagsCommand, short_help="Check policy files.")
@click.argument(
    "files", nargs=-1, required=True, metavar="FILE...", callback=read_input_names, shell_complete=complete_file
)
@click.option(
    "-o",
    "--output",
    type=click.Choice(["table", "json", "sarif", "junit"]),
    default="table",
    show_default=True,
    help="Format of the findings on standard output; sarif is for code scanning, junit for reports of tests.",
)
@click.option("--strict", is_flag=True, help="Fail on warnings too, for example on an unknown field.")
@click.option(
    "--print-effective",
    is_flag=True,
    help="Print the policies with all defaults filled in, as YAML; passwords in URLs are hidden.",
)
@click.pass_context
def validate(ctx: click.Context, files: Sequence[str], output: str, *, strict: bool, print_effective: bool) -> None:
    """Check policy files, and name every problem with its line and column.

    A file may be a ConfigMap that holds a policy, values of the Helm chart with deschedulerPolicy, a HelmRelease of
    Flux or an Application of Argo CD with such values, or a List or several YAML documents with one of these. The
    configuration of Volcano's scheduler (volcano-scheduler.conf) is checked as well, by itself or in its ConfigMap.
    - is standard input.

    Exits with 2 when any of them is invalid, and with 0 otherwise. Warnings do not change the exit code unless
    --strict is given.
    """
    if print_effective and output != "table":
        raise click.UsageError(f"--print-effective prints YAML; leave out -o {output}.", ctx)
    verdicts = [_judge(file) for file in files]
    if output != "table":
        _write_findings(verdicts, output, is_strict=strict)
    else:
        _write_lines(verdicts, is_quiet=print_effective, is_strict=strict)
    if print_effective:
        _write_effective([verdict.policy for verdict in verdicts if verdict.policy is not None])
    is_good = all(verdict.is_good(is_strict=strict) for verdict in verdicts)
    ctx.exit(ExitCode.DONE if is_good else ExitCode.INVALID)


def _judge(file: str) -> _Verdict:
    from descheduler.documents.problems import DocumentProblem, PolicyError
    from descheduler.eviction.migration_controller.profiles import migration_notes

    source, name = file_source(file)
    file = name or file
    try:
        policy = load_policy_source(source, name)
    except PolicyError as error:
        return _judge_scheduler(source, file, name) or _Verdict(file, error.problems, error.warnings)
    # Where apiVersion is missing nothing of a policy is read, so what is no policy at all passes for one.
    if not policy.profiles:
        other = _judge_scheduler(source, file, name) or _judge_without_keys(source, file, name)
        if other is not None:
            return other
    # Every run with this policy warns of these too.
    notes = (DocumentProblem(policy.path, None, None, "", note) for note in migration_notes(policy))
    return _Verdict(file, (), (*policy.warnings, *notes, *_idle_profiles(policy)), policy, policy.kind)


def _idle_profiles(policy: Policy) -> Iterator[DocumentProblem]:
    """A warning for each profile that selects no pod, and for a policy without profiles. A run says so at its end."""
    from descheduler.documents.problems import DocumentProblem

    idle = [f"profiles[{index}].plugins" for index, each in enumerate(policy.profiles) if not _selects(each)]
    is_said = any(not warning.field for warning in policy.warnings)  # of the document as a whole: nothing of it runs
    if not (policy.profiles or is_said):
        idle = ["profiles"]
    message = "no plugin is enabled under deschedule or balance, so no pod is selected"
    yield from (DocumentProblem(policy.path, None, None, field, message) for field in idle)


def _selects(profile: Profile) -> bool:
    return bool(profile.deschedule or profile.balance)


def _judge_without_keys(source: Path | str, file: str, name: str | None) -> _Verdict | None:
    """The verdict on a mapping that has no key of a policy; None for another document."""
    from descheduler.documents.problems import DocumentProblem
    from descheduler.documents.source import read_document
    from descheduler.policy.upstream.descheduler_policy import policy_keys

    document = read_document(source, name)
    root = document.root
    if not isinstance(root.value, Mapping) or {key.casefold() for key in root.value} & policy_keys():
        return None
    line, column = (root.mark.line, root.mark.column) if root.mark else (None, None)
    message = "is not a policy: it has no key of one, such as apiVersion or profiles"
    return _Verdict(file, [DocumentProblem(document.path, line, column, "", message)], ())


def _judge_scheduler(source: Path | str, file: str, name: str | None) -> _Verdict | None:
    """The verdict on a file of which no policy was read; None where it is no document of a scheduler."""
    from pathlib import Path

    from descheduler.documents.problems import PolicyError
    from descheduler.documents.source import read_document
    from descheduler.placement.schedulers.table import SCHEDULERS

    if isinstance(source, Path) and not source.is_file():  # what is no file cannot be read twice
        return None
    try:
        document = read_document(source, name, "scheduler configuration")
    except PolicyError:
        return None
    for row in SCHEDULERS.values():
        if row.check is not None and row.knows is not None and row.knows(document):
            try:
                return _Verdict(file, (), row.check(document), kind=row.document_name)
            except PolicyError as error:
                return _Verdict(file, error.problems, error.warnings)
    return None


def _write_lines(verdicts: Sequence[_Verdict], *, is_quiet: bool, is_strict: bool) -> None:
    """Problems and warnings to standard error, good news to standard output."""
    for verdict in verdicts:
        for problem in verdict.problems:
            click.echo(str(problem), err=True)
        for warning in verdict.warnings:
            click.echo(f"warning: {warning}", err=True)
        if verdict.is_good(is_strict=is_strict) and not is_quiet:
            path = verdict.file if verdict.policy is None else verdict.policy.path
            openings = () if verdict.policy is None else _openings(verdict.policy)
            write_text([f"{path}: valid {verdict.kind}\n", *openings])


def _openings(policy: Policy) -> Iterator[str]:
    """When profiles with windows or blackouts evict next."""
    from descheduler.eviction.migration_controller.schedules import opening_lines

    yield from (f"{line}\n" for line in opening_lines(policy, datetime.now(UTC)))


def _write_findings(verdicts: Sequence[_Verdict], output: str, *, is_strict: bool) -> None:
    from typing import cast

    from descheduler.report.formats.findings import FileFindings, FindingsFormat, findings_text

    found = [
        FileFindings(each.file, each.is_good(is_strict=is_strict), each.kind, each.problems, each.warnings)
        for each in verdicts
    ]
    write_data([findings_text(found, cast("FindingsFormat", output))])


def _write_effective(policies: Sequence[Policy]) -> None:
    from descheduler.policy.effective import policy_to_document
    from descheduler.report.formats.yaml_lines import yaml_lines

    documents = (policy_to_document(_without_passwords(policy)) for policy in policies)
    write_data(["---\n".join("".join(yaml_lines(document)) for document in documents)])


def _without_passwords(policy: Policy) -> Policy:
    providers = (replace(p, prometheus_url=shown_url(p.prometheus_url)) for p in policy.metrics_providers)
    return replace(policy, metrics_providers=tuple(providers))
