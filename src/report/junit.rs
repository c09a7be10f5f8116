//! JUnit for CI systems: a host is a suite, a task is a case.

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use super::record::Record;
use crate::events::{HostStatus, Outcome};

/// The run as JUnit XML.
///
/// # Errors
/// When the text cannot be written as XML.
pub fn xml(record: &Record) -> anyhow::Result<String> {
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
            let status = match &task.outcome {
                Outcome::Unchanged | Outcome::Changed { .. } | Outcome::Ran { .. } => {
                    TestCaseStatus::success()
                }
                Outcome::Skipped(reason) | Outcome::Blocked(reason) => {
                    let mut status = TestCaseStatus::skipped();
                    status.set_message(reason.clone());
                    status
                }
                Outcome::Failed(failure) => {
                    let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
                    status.set_message(failure.message.clone());
                    status.set_description(failure.output.clone());
                    status
                }
            };
            let mut case = TestCase::new(task.task.name.clone(), status);
            case.set_classname(task.task.resource.clone());
            case.set_time(std::time::Duration::from_secs_f64(task.seconds.max(0.0)));
            suite.add_test_case(case);
        }
        report.add_test_suite(suite);
    }
    Ok(report.to_string()?)
}
