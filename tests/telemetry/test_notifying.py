"""What a webhook is told of a run, and what is said where it cannot be told."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from descheduler.model.shard import Shard
from descheduler.plan.decisions import Failure
from descheduler.plan.outcome import OutcomeCode, OutcomeKind
from descheduler.report.plan.document import Plan
from descheduler.telemetry.notices import FORMATS, NoticeFormat, make_notice
from descheduler.telemetry.notifying import NoticeTarget, NoticeWhen, notify
from descheduler.telemetry.run_record import RunRecord
from tests.report.decided_cycles import OLD, make_test_plan
from tests.report.outcomes import EVICTED, FAILED, GONE, REFUSED, executed, outcome_of
from tests.telemetry.webhook import SECRET, Webhook, webhook

__all__ = ["webhook"]


def fields_of(caplog: pytest.LogCaptureFixture) -> list[dict[str, Any]]:
    """The fields of each warning."""
    return [vars(record)["event_fields"] for record in caplog.records if record.levelno == logging.WARNING]


def done(*outcomes: Any) -> RunRecord:
    """A run that ended with these outcomes."""
    outcome = outcome_of(*outcomes)
    return RunRecord(plan=outcome.plan, outcome=outcome, exit_code=0, ended_at=1000.0)


def _with_failures(plan: Plan, failures: tuple[Failure, ...]) -> Plan:
    return replace(plan, failures=failures)


DRY = RunRecord(plan=make_test_plan(), exit_code=0, ended_at=1000.0, is_dry=True)
DRY_AND_IDLE = RunRecord(plan=make_test_plan(nodes=[]), exit_code=0, ended_at=1000.0, is_dry=True)
BROKEN = Failure(profile="p", plugin="X", message="m")
FAILED_TO_ANSWER = executed(OLD[1], OutcomeKind.EVICTED, OutcomeCode.DONE)
FAILED_EARLY = RunRecord(exit_code=1, ended_at=1000.0)


def test_a_webhook_gets_the_document_with_its_token(webhook: Webhook, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("letmein\n")

    notify(done(EVICTED, REFUSED), NoticeTarget("descheduler-main", webhook.url, token_file=token))

    ((path, headers, body),) = webhook.requests
    told = json.loads(body)
    assert path == f"/services/{SECRET}?key={SECRET}"
    assert headers["Authorization"] == "Bearer letmein"
    assert (told["apiVersion"], told["kind"], told["name"]) == ("descheduler.notice/v1", "Notice", "descheduler-main")
    assert told["summary"] == "pods: 1 evicted, 1 refused by the API server"
    assert told["problem"] is True
    assert (told["counts"]["evicted"], told["counts"]["refused"], told["exitCode"]) == (1, 1, 0)


@pytest.mark.parametrize(
    ("record", "when"),
    [
        pytest.param(done(EVICTED), {"always", "evictions"}, id="a run that evicts"),
        pytest.param(done(FAILED), {"always", "evictions", "problems"}, id="an eviction that failed"),
        pytest.param(done(), {"always"}, id="a run with nothing to do"),
        pytest.param(DRY, {"always", "evictions"}, id="a dry run that plans evictions"),
        pytest.param(DRY_AND_IDLE, {"always"}, id="a dry run without any"),
        pytest.param(FAILED_EARLY, {"always", "evictions", "problems"}, id="a run that failed"),
    ],
)
def test_it_is_told_of_the_runs_that_it_wants(webhook: Webhook, record: RunRecord, when: set[NoticeWhen]) -> None:
    choices: tuple[NoticeWhen, ...] = ("always", "evictions", "problems")
    told = set()
    for choice in choices:
        webhook.requests.clear()
        notify(record, NoticeTarget("x", webhook.url, when=choice))
        told |= {choice} if webhook.requests else set()

    assert told == when


def test_texts_of_tenants_stay_texts_in_slack_and_in_teams() -> None:
    """A name that looks like a link, a mention or a table of control characters."""
    failure = Failure(profile="p", plugin="X", message="<!channel> *x* & [a](http://b)\nnext\x1b[31m")
    plan = make_test_plan()
    notice = make_notice(RunRecord(plan=_with_failures(plan, (failure,)), ended_at=1.0, is_dry=True, exit_code=1), "n")

    slack = json.loads(FORMATS["slack"](notice))["text"]
    (attached,) = json.loads(FORMATS["teams"](notice))["attachments"]
    teams = [inline["text"] for block in attached["content"]["body"] for inline in block["inlines"]]

    assert "&lt;!channel&gt; *x* &amp; [a]" in slack
    assert "<" not in slack
    assert "\x1b" not in slack
    assert slack.startswith("Problem: n: 3 pods would be evicted (dry run)\n")
    assert {block["type"] for block in attached["content"]["body"]} == {"RichTextBlock"}
    assert any("<!channel>" in text for text in teams)


@pytest.mark.parametrize("form", list(FORMATS))
def test_a_huge_plan_makes_a_short_message(form: NoticeFormat) -> None:
    failures = tuple(Failure(profile="p", plugin=f"X{number}", message="y" * 10_000) for number in range(500))
    plan = _with_failures(make_test_plan(), failures)
    notice = make_notice(RunRecord(plan=plan, ended_at=1.0, is_dry=True), "n")

    assert len(FORMATS[form](notice)) < 12_000


@pytest.mark.parametrize("code", [302, 404, 500])
def test_an_answer_that_is_no_success_is_a_warning_without_the_secret(
    webhook: Webhook, caplog: pytest.LogCaptureFixture, code: int
) -> None:
    webhook.status_code = code

    notify(done(EVICTED), NoticeTarget("x", webhook.url))

    assert len(webhook.requests) == 1
    assert fields_of(caplog) == [{"url": webhook.listener.url, "reason": f"the server answered {code}"}]
    assert SECRET not in caplog.text


def test_a_webhook_that_is_not_there_is_a_warning_without_the_secret(caplog: pytest.LogCaptureFixture) -> None:
    hook = Webhook()
    hook.listener.server_close()

    notify(done(EVICTED), NoticeTarget("x", hook.url))

    (fields,) = fields_of(caplog)
    assert "refused" in fields["reason"]
    assert SECRET not in str([vars(record) for record in caplog.records])


@pytest.mark.parametrize(
    "content",
    [
        pytest.param("", id="nothing"),
        pytest.param(f"{SECRET} and more", id="no URL"),
        pytest.param(f"https://me:{SECRET}@hooks.example.com", id="credentials"),
        pytest.param("\udcff", id="no text"),
    ],
)
def test_a_file_without_a_url_is_a_warning_that_names_the_file_alone(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, content: str
) -> None:
    file = tmp_path / "url"
    file.write_bytes(content.encode(errors="surrogateescape"))

    notify(done(EVICTED), NoticeTarget("x", url_file=file))

    (fields,) = fields_of(caplog)
    assert str(file) in fields["reason"]
    assert SECRET not in str([vars(record) for record in caplog.records])


def test_the_url_is_read_from_its_file_at_each_run(webhook: Webhook, tmp_path: Path) -> None:
    file = tmp_path / "url"
    file.write_text("https://localhost:1/old")
    target = NoticeTarget("x", url_file=file)
    file.write_text(f"{webhook.url}\n")

    notify(done(EVICTED), target)

    assert len(webhook.requests) == 1


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (1, "the run failed, and nothing was evicted; the log says why"),
        (2, "the run has an invalid policy or wrong flags, and nothing was evicted; the log says why"),
        (4, "the run was stopped before its end"),
        (130, "the run was stopped by SIGINT (Ctrl-C)"),
        (143, "the run was stopped by SIGTERM"),
        (7, "the run ended with exit code 7"),
    ],
)
def test_run_without_a_plan_says_how_it_ended(code: int, words: str) -> None:
    notice = make_notice(RunRecord(exit_code=code, ended_at=1000.0), "n")

    assert (notice.summary, notice.details, notice.planned, notice.counts) == (words, (), 0, {})
    assert notice.is_problem is (code != 7)


def unconfirmed(outcome: Any) -> Any:
    return replace(outcome, code=OutcomeCode.OUTCOME_UNKNOWN)


@pytest.mark.parametrize(
    ("record", "is_problem"),
    [
        pytest.param(done(), False, id="nothing to do"),
        pytest.param(done(EVICTED), False, id="evicted"),
        pytest.param(done(REFUSED), True, id="refused"),
        pytest.param(done(FAILED), True, id="failed"),
        pytest.param(done(unconfirmed(EVICTED)), True, id="unconfirmed"),
        pytest.param(replace(done(), exit_code=3), False, id="refused by others as a whole"),
        pytest.param(replace(done(EVICTED), exit_code=4), True, id="stopped"),
        pytest.param(
            replace(DRY, plan=_with_failures(make_test_plan(), (Failure("p", "X", "m"),))), True, id="a plugin"
        ),
        pytest.param(DRY, False, id="a dry run"),
    ],
)
def test_people_should_look_where_something_went_wrong(record: RunRecord, is_problem: bool) -> None:
    assert make_notice(record, "n").is_problem is is_problem


@pytest.mark.parametrize(
    ("record", "has_evictions"),
    [(DRY, True), (DRY_AND_IDLE, False), (done(EVICTED), True), (done(REFUSED), False), (done(), False)],
)
def test_notice_tells_whether_pods_leave(record: RunRecord, has_evictions: bool) -> None:
    assert make_notice(record, "n").has_evictions is has_evictions


@pytest.mark.parametrize(
    ("record", "summary"),
    [
        (done(EVICTED, FAILED, GONE), "pods: 1 evicted, 1 gone already, 1 failed"),
        (done(), "nothing was evicted"),
        (DRY, "3 pods would be evicted (dry run)"),
        (DRY_AND_IDLE, "nothing would be evicted (dry run)"),
    ],
)
def test_summary_counts_pods_by_how_they_ended(record: RunRecord, summary: str) -> None:
    assert make_notice(record, "n").summary == summary


@pytest.mark.parametrize(
    ("outcomes", "words"),
    [
        ([unconfirmed(EVICTED)], "1 eviction had no clear answer and counts as evicted"),
        ([unconfirmed(EVICTED), unconfirmed(FAILED_TO_ANSWER)], "2 evictions had no clear answer and count as evicted"),
    ],
)
def test_evictions_without_a_clear_answer_are_counted(outcomes: list[Any], words: str) -> None:
    assert words in make_notice(done(*outcomes), "n").details


def test_a_shard_is_told_by_the_name_of_its_lease() -> None:
    record = RunRecord(exit_code=1, ended_at=1000.0, shard=Shard(2, 4))

    assert make_notice(record, "descheduler-main").name == "descheduler-main-shard-2"
