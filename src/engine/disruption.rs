//! Changes that interrupt: who agrees to them, and who still uses the host.

use std::time::Duration;

use tokio::sync::SemaphorePermit;
use tokio::time::Instant;

use super::cancel::Stop;
use super::connection::{Gone, Stuck};
use super::context::Context;
use super::session::{Containers, Service, Session};
use crate::backoff::Backoff;
use crate::facts;
use crate::facts::base::busy::Busy;
use crate::resources::Disruption;

impl Session {
    /// The permit of a change that interrupts, or why it is not made now. Jobs are waited for before that: a permit to
    /// reboot is held no longer than the host is down.
    pub(super) async fn permit<'a>(
        &mut self,
        context: &'a Context,
        task: &str,
        worst: Disruption,
    ) -> Result<Option<SemaphorePermit<'a>>, Stuck> {
        if worst < Disruption::Gpu {
            return Ok(None);
        }
        loop {
            // Who is on a drained host beside its jobs is waited for.
            if let Some(reason) = self.refusal(task, worst).await? {
                return Err(Stuck::Failed(reason));
            }
            if worst < Disruption::Reboot {
                return Ok(None);
            }
            if let Ok(permit) = context.reboots.try_acquire() {
                return Ok(Some(permit));
            }
            let permit = context.reboots.acquire().await.ok();
            // Who has come meanwhile is seen, and waited for without a permit.
            if self.in_use(worst, Duration::ZERO).await?.is_none() {
                return Ok(permit);
            }
        }
    }

    /// Returns the reason why a change that interrupts may not be made now: the host is in use, or nobody
    /// agreed.
    async fn refusal(&mut self, task: &str, worst: Disruption) -> Result<Option<String>, Gone> {
        if let Service::Carries(why) = &self.service {
            let text = format!("it interrupts: {worst}, and the host takes jobs and is not drained");
            return Ok(Some(format!("{text}: {why}")));
        }
        let what = format!("`{task}` on {} interrupts: {worst}", self.host.name);
        if self.service == Service::Working
            && let Some(drains) = self.drains.clone()
        {
            if !self.context.consent.has(&what).await {
                return Ok(Some(format!("it interrupts: {worst}; agree with --yes")));
            }
            if let Err(why) = drains.drain(&self.host.name).await {
                return Ok(Some(format!("it interrupts: {worst}, and the host is not drained: {why}")));
            }
            self.service = Service::Drained;
        }
        let wait = self.context.project.maintenance.as_ref().map(|maintenance| maintenance.wait);
        let wait = wait.filter(|_| self.service == Service::Drained).unwrap_or_default();
        if let Some(reason) = self.in_use(worst, wait).await? {
            return Ok(Some(reason));
        }
        if self.context.consent.has(&what).await {
            return Ok(None);
        }
        Ok(Some(format!("it interrupts: {worst}; agree with --yes")))
    }

    /// Waits until nobody uses the host; returns a message where somebody still does when the wait is over,
    /// or where that is unknown.
    async fn in_use(&mut self, worst: Disruption, wait: Duration) -> Result<Option<String>, Gone> {
        let end = Instant::now() + wait;
        let mut backoff = Backoff::new(Duration::from_secs(5), Duration::from_secs(30));
        let mut said = String::new();
        loop {
            self.ask(&facts::base("busy").into_iter().collect()).await?;
            let Some(busy) = self.facts().base::<Busy>() else {
                return Ok(Some(format!(
                    "whether jobs use this host is unknown, and the change interrupts: {worst}"
                )));
            };
            let Some(users) = busy.told() else { return Ok(None) };
            let stopped = self.context.cancel.now() > Stop::No;
            if stopped || Instant::now() >= end {
                return Ok(Some(format!("the host is in use: {users}; the change interrupts: {worst}")));
            }
            if said != users {
                let message = format!("it is drained and still in use, which is waited for: {users}");
                self.warn(message);
                said = users;
            }
            tokio::select! {
                () = self.context.cancel.reached(Stop::Finish) => {}
                () = tokio::time::sleep(backoff.pause()) => {}
            }
        }
    }

    /// Whether containers lose their GPUs when systemd reads its units again. Asked once: who starts one while its host
    /// is being changed is not seen.
    pub(super) async fn containers(&mut self) -> Result<Containers, Gone> {
        if self.containers != Containers::Unasked {
            return Ok(self.containers.clone());
        }
        self.ask(&facts::base("busy").into_iter().collect()).await?;
        let busy = self.facts().base::<Busy>();
        if busy.is_none() {
            self.warn(
                "it is unknown whether containers use the GPUs; systemd reads its units again all the same",
            );
        }
        self.containers = busy.and_then(Busy::endangered).map_or(Containers::Safe, Containers::LoseGpus);
        Ok(self.containers.clone())
    }
}
