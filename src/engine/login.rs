//! What a new login of the user gets, for `verify`: limits are given to a session when it begins, and
//! root has others than the user of the jobs.

use super::Session;
use crate::facts::{Answer, Query};
use crate::inventory::Become;
use crate::probes::{self, Observation};
use crate::transport::{Frame, Part, TransportError};

impl Session {
    /// Logs in beside the session that is open, without becoming root, and asks there. Only where a check
    /// looks at it: a login costs time.
    pub(super) async fn look_at_login(&mut self) {
        let query = Query::Probe(probes::LOGIN);
        let answer = match self.ask_login().await {
            Ok(output) => Answer::Probe(Box::new(Observation::Login(probes::login(&output)))),
            Err(error) => Answer::Unknown(format!("no new login: {error}")),
        };
        self.facts.insert(query, answer);
    }

    /// Whether a check needs it.
    pub(super) fn wants_login(&self) -> bool {
        let system = |key: &str| self.host.expect.pointer(&format!("/system/{key}")).is_some();
        if system("memlock") || system("nofile") {
            return true;
        }
        match self.facts.get(&Query::Probe("rdma")) {
            Some(Answer::Probe(seen)) => {
                matches!(&**seen, Observation::Rdma(rdma) if rdma.devices.as_ref().is_ok_and(|all| !all.is_empty()))
            }
            _ => false,
        }
    }

    async fn ask_login(&mut self) -> Result<Vec<u8>, TransportError> {
        let mut host = self.host.clone();
        host.ssh.become_method = Become::None;
        let mut remote = self.context.transport.open(&host, self.context.deadlines.connect).await?;
        let part = Part {
            name: "probe.login".to_owned(),
            script: probes::login_script(),
            deadline: self.context.deadlines.query,
            limit: 64 << 10,
        };
        let frame =
            Frame { prelude: String::new(), parts: vec![part], secrets: self.context.secrets.clone() };
        let mut output = Vec::new();
        let result = remote.run(&frame, &mut |end| output = end.output).await;
        remote.close().await;
        result.map(|()| output)
    }
}
