//! The page while it is served.

use super::{Page, Stage, html};
use crate::ExitCode;
use crate::user_error::UserError;
use anyhow::{Context, Result};
use linkwork_view::{Content, Listen, Server, Show, Source};
use std::io::{ErrorKind, Write};
use std::net::{IpAddr, Ipv4Addr};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::sync_channel;

/// So many commands may wait to be heard.
const WAITING: usize = 256;

/// Serves a stage until Ctrl-C.
pub(super) fn serve(page: &Page, mut stage: Stage, source: Source) -> Result<ExitCode> {
    static STOP: AtomicBool = AtomicBool::new(false);
    let server = bind(page)?;
    let url = server.url().context("cannot tell the page's address")?;
    let (sender, receiver) = sync_channel(WAITING);
    let framer = linkwork_view::Framer::new(&stage.mechanism);
    stage.scene.insert("total".into(), framer.has_total_rates().into());
    let content = Content {
        page: html()?,
        scene: serde_json::Value::from(stage.scene).to_string().into_bytes(),
        assets: stage.assets,
        output: None,
    };
    let running = server.start(content, sender).context("cannot serve the page")?;
    let mut show = Show::new(
        &stage.mechanism,
        stage.closed.as_ref(),
        source,
        &stage.state.q,
        running.hub.clone(),
    )
    .touching(stage.touching);
    ctrlc::set_handler(|| {
        if STOP.swap(true, Relaxed) {
            std::process::exit(130);
        }
    })
    .context("cannot listen for Ctrl-C")?;
    writeln!(anstream::stdout(), "{} is shown at {url}", stage.name)?;
    let opened = if page.no_open {
        Ok(())
    } else {
        linkwork_view::open(&url)
    };
    match opened {
        Ok(()) => anstream::eprintln!("Ctrl-C ends it."),
        Err(problem) => {
            anstream::eprintln!("No browser was opened ({problem}): open the address in one. Ctrl-C ends it.")
        }
    }
    show.run(&receiver, &STOP);
    Ok(ExitCode::SUCCESS)
}

fn bind(page: &Page) -> Result<Server> {
    let address = page.listen.unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST));
    let listen = Listen {
        address,
        port: page.port,
        hosts: page.host.clone(),
    };
    Server::bind(&listen).map_err(|e| match e.kind() {
        ErrorKind::AddrInUse => UserError::failure(
            format!("port {} of {address} is in use", page.port),
            "name another with --port, or leave it out for any that is free",
        ),
        ErrorKind::PermissionDenied => UserError::failure(
            format!("port {} of {address} may not be taken by you", page.port),
            "name one above 1023 with --port",
        ),
        ErrorKind::AddrNotAvailable => UserError::usage(
            format!("{address} is not an address of this machine"),
            "leave --listen out for loopback, or give one that `ip address` lists",
        ),
        _ => UserError::failure(
            format!("cannot listen on {address}, port {}: {e}", page.port),
            "try another --port",
        ),
    })
}

/// A server for a page that nobody else looks at.
pub(super) fn private() -> Result<Server> {
    bind(&Page::default())
}
