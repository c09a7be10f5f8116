//! `rping`: whether two hosts reach each other over RDMA at all.

/// Whether the client's output shows so many pings.
///
/// # Errors
/// The line that says what is wrong.
pub fn client(output: &str, count: usize) -> Result<(), String> {
    const TROUBLE: &[&str] = &[
        "RDMA_CM_EVENT_ADDR_ERROR",
        "RDMA_CM_EVENT_ROUTE_ERROR",
        "RDMA_CM_EVENT_UNREACHABLE",
        "RDMA_CM_EVENT_REJECTED",
        "RDMA_CM_EVENT_CONNECT_ERROR",
        "waiting for addr/route resolution state",
        "wait for CONNECTED state",
        "connect error",
        "data mismatch",
        "getaddrinfo failed",
        "command not found",
    ];
    if let Some(line) = output.lines().find(|line| TROUBLE.iter().any(|sign| line.contains(sign))) {
        return Err(line.trim().to_owned());
    }
    // The server's lines are `server ping data`.
    let seen = output.lines().filter(|line| line.trim_start().starts_with("ping data: rdma-ping-")).count();
    if seen < count {
        return Err(format!("{seen} of {count} pings came back"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLIENT: &str = include_str!("../../tests/cases/active/rping-client.txt");
    const SERVER: &str = include_str!("../../tests/cases/active/rping-server.txt");

    #[test]
    fn pings_are_counted() {
        // The sample leaves one of three out.
        assert_eq!(client(CLIENT, 2), Ok(()));
        assert_eq!(client(CLIENT, 10), Err("2 of 10 pings came back".to_owned()));
        assert!(client(SERVER, 1).is_err(), "the server's own lines prove nothing");
        let refused =
            "cma event RDMA_CM_EVENT_REJECTED, error 8\nwait for CONNECTED state 4\nconnect error -1\n";
        assert_eq!(client(refused, 1), Err("cma event RDMA_CM_EVENT_REJECTED, error 8".to_owned()));
    }
}
