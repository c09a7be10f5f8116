//! JUnit for CI systems: a host is a suite, a task or check is a case.
//!
//! A check without an answer is an error, as is a host that was not reached; a warning passes and
//! says what it is in its output. What `verify` would change is a failure: drift.

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use super::style::{duration, safe};
use crate::events::{CheckResult, CheckStatus, HostStatus, Outcome, PlannedTask, PlannedVerdict, Record};

/// The run as JUnit XML.
///
/// # Errors
/// When the text cannot be written as XML.
pub fn xml(record: &Record) -> Result<String, quick_junit::SerializeError> {
    let mut report = Report::new(format!("provision {} {}", record.command, record.cluster));
    for (name, host) in &record.hosts {
        let mut suite = TestSuite::new(name.clone());
        suite.add_property(("run", record.run.as_str()));
        if let Some(
            HostStatus::Unreachable { reason, .. }
            | HostStatus::Quarantined { reason }
            | HostStatus::NotStarted(reason),
        ) = &host.status
        {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
            status.set_message(reason.clone());
            suite.add_test_case(TestCase::new("connection", status));
        }
        for task in &host.tasks {
            let status = match &*task.outcome {
                Outcome::Changed { blocked: Some(reason), .. } => {
                    skipped(&format!("changed as far as it can be: {reason}"))
                }
                Outcome::Unchanged | Outcome::Changed { .. } | Outcome::Ran { .. } => {
                    TestCaseStatus::success()
                }
                Outcome::Skipped(reason) | Outcome::Blocked(reason) => skipped(reason),
                Outcome::Failed(failure) => {
                    let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
                    status.set_message(failure.message.clone());
                    status.set_description(failure.output.clone());
                    status
                }
            };
            let mut case = TestCase::new(task.task.name.clone(), status);
            case.set_classname(task.task.resource.clone());
            case.set_time(duration(task.seconds));
            suite.add_test_case(case);
        }
        if record.command == "verify" {
            suite.add_test_cases(host.plan.iter().filter_map(|task| planned(task)));
        }
        suite.add_test_cases(host.checks.iter().map(check));
        report.add_test_suite(suite);
    }
    Ok(safe(&report.to_string()?))
}

/// A task that is not as the inventory says.
fn planned(planned: &PlannedTask) -> Option<TestCase> {
    let status = match &planned.verdict {
        PlannedVerdict::Changes(changes) => {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
            let diffs: Vec<&str> = changes.iter().map(|change| change.diff.as_str()).collect();
            status.set_message(format!("drift: {}", planned.drift(changes)));
            status.set_description(diffs.join("\n"));
            status
        }
        PlannedVerdict::Failed(failure) => {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
            status.set_message(format!("cannot be planned: {}", failure.message));
            status
        }
        PlannedVerdict::Blocked(reason) => skipped(&format!("blocked: {reason}")),
        PlannedVerdict::KnownAfter(task) => skipped(&format!("known after task \"{task}\"")),
        PlannedVerdict::Unchanged | PlannedVerdict::Runs(_) | PlannedVerdict::Skipped(_) => return None,
    };
    let mut case = TestCase::new(planned.task.name.clone(), status);
    case.set_classname(planned.task.resource.clone());
    Some(case)
}

fn skipped(reason: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::skipped();
    status.set_message(reason);
    status
}

fn check(result: &CheckResult) -> TestCase {
    let mut status = match result.status {
        CheckStatus::Pass | CheckStatus::Warn => TestCaseStatus::success(),
        CheckStatus::Skip => skipped(&result.message),
        CheckStatus::Fail => TestCaseStatus::non_success(NonSuccessKind::Failure),
        CheckStatus::Unknown => TestCaseStatus::non_success(NonSuccessKind::Error),
    };
    let mut lines: Vec<String> =
        result.evidence.iter().map(|evidence| format!("{}: {}", evidence.from, evidence.line)).collect();
    lines.extend(result.hint.iter().map(|hint| format!("hint: {hint}")));
    lines.extend(result.because.iter().map(|id| format!("see {id}")));
    if matches!(result.status, CheckStatus::Fail | CheckStatus::Unknown) {
        status.set_message(result.message.clone());
        status.set_type(result.status.word());
        status.set_description(lines.join("\n"));
    }
    let mut case = TestCase::new(result.check.clone(), status);
    case.set_classname("check");
    if result.status == CheckStatus::Warn {
        case.set_system_out(format!("warn: {}\n{}", result.message, lines.join("\n")));
    }
    case
}
