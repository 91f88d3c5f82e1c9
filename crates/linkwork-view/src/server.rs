//! The server of a page: who may ask, and what is answered.
//!
//! Every address begins with a token that nobody can guess. The Host of a request must be a name of this machine, so that
//! no foreign name can be made to mean it, and an Origin must be the page's own. Files are answered by number from a table
//! that was made before: nothing a client says is ever taken for a path.

use crate::assets::Assets;
use crate::command::Command;
use crate::http::{self, Request, Status};
use crate::hub::{Hub, Page, Parcel};
use crate::websocket::{self, Message, Reader};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::mpsc::{Sender, SyncSender};
use std::time::{Duration, Instant};

/// So many connections are served at once.
const CONNECTIONS: usize = 64;
/// The head of a request must come within this time.
const PATIENCE: Duration = Duration::from_secs(10);
/// A picture or film must come within this time.
const UPLOAD: Duration = Duration::from_secs(600);
/// The largest picture or film.
const LARGEST: usize = 1 << 30;

/// Where to listen.
#[derive(Clone, Debug)]
pub struct Listen {
    /// The address; that of loopback unless other machines shall see it.
    pub address: IpAddr,
    /// The port; zero for any that is free.
    pub port: u16,
    /// Other names by which the page may be asked for, beside those of loopback and the address itself.
    pub hosts: Vec<String>,
}

/// What is served.
#[derive(Debug)]
pub struct Content {
    /// The page.
    pub page: Vec<u8>,
    /// The scene, as JSON.
    pub scene: Vec<u8>,
    /// Meshes and what belongs to them.
    pub assets: Assets,
    /// Who waits for a picture or film that the page makes.
    pub output: Option<Sender<Vec<u8>>>,
}

/// A server that listens, and does not answer yet.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    token: String,
    hosts: Vec<String>,
}

/// A server that answers, until it is dropped.
#[derive(Debug)]
pub struct Running {
    /// Where frames go.
    pub hub: Arc<Hub>,
    stop: Arc<AtomicBool>,
    address: SocketAddr,
}

/// What every connection needs to know.
struct Shared {
    token: String,
    hosts: Vec<String>,
    content: Content,
    commands: SyncSender<Command>,
    hub: Arc<Hub>,
    connections: AtomicUsize,
}

impl Server {
    /// Takes a port.
    pub fn bind(listen: &Listen) -> io::Result<Self> {
        let listener = TcpListener::bind((listen.address, listen.port))?;
        let mut hosts = vec!["localhost".to_owned(), "127.0.0.1".to_owned(), "[::1]".to_owned()];
        if !listen.address.is_unspecified() {
            hosts.push(host_of(listen.address));
        }
        hosts.extend(listen.hosts.iter().map(|h| h.to_ascii_lowercase()));
        let mut random = [0_u8; 18];
        getrandom::fill(&mut random).map_err(|e| io::Error::other(format!("no random numbers: {e}")))?;
        let token = crate::digest::base64(&random).replace('+', "-").replace('/', "_");
        Ok(Self { listener, token, hosts })
    }

    /// The port it listens on.
    pub fn port(&self) -> io::Result<u16> {
        Ok(self.listener.local_addr()?.port())
    }

    /// The page's address, token included.
    pub fn url(&self) -> io::Result<String> {
        let address = self.listener.local_addr()?;
        let host = match address.ip() {
            ip if ip.is_unspecified() => "127.0.0.1".to_owned(),
            ip => host_of(ip),
        };
        Ok(format!("http://{host}:{}/{}/", address.port(), self.token))
    }

    /// Answers from now on. What pages say goes to `commands`; one that says more than is heard waits.
    pub fn start(self, content: Content, commands: SyncSender<Command>) -> io::Result<Running> {
        let (hub, stop) = (Arc::new(Hub::default()), Arc::new(AtomicBool::new(false)));
        let address = self.listener.local_addr()?;
        let shared = Arc::new(Shared {
            token: self.token,
            hosts: self.hosts,
            content,
            commands,
            hub: hub.clone(),
            connections: AtomicUsize::new(0),
        });
        let (listener, stopped) = (self.listener, stop.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                if stopped.load(SeqCst) {
                    break;
                }
                let Ok(mut stream) = stream else {
                    // Out of file handles, say: what is there goes on.
                    std::thread::sleep(Duration::from_millis(20));
                    continue;
                };
                if shared.connections.fetch_add(1, SeqCst) >= CONNECTIONS {
                    let _ = http::refuse(&mut stream, Status::Busy);
                    shared.connections.fetch_sub(1, SeqCst);
                    continue;
                }
                let shared = shared.clone();
                std::thread::spawn(move || {
                    // A connection that breaks concerns nobody else.
                    let _ = serve(&shared, stream);
                    shared.connections.fetch_sub(1, SeqCst);
                });
            }
        });
        Ok(Running { hub, stop, address })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.store(true, SeqCst);
        // Wakes the listener.
        let _ = TcpStream::connect_timeout(&self.address, Duration::from_millis(200));
    }
}

fn host_of(ip: IpAddr) -> String {
    match ip {
        IpAddr::V4(ip) => ip.to_string(),
        IpAddr::V6(ip) => format!("[{ip}]"),
    }
}

/// A connection whose reads end in time.
struct Timed {
    stream: TcpStream,
    until: Option<Instant>,
}

impl Read for Timed {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = match self.until {
            None => None,
            Some(until) => {
                let left = until.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    return Err(io::ErrorKind::TimedOut.into());
                }
                Some(left)
            }
        };
        self.stream.set_read_timeout(left)?;
        self.stream.read(buffer)
    }
}

fn serve(shared: &Shared, stream: TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut out = BufWriter::with_capacity(1 << 16, stream.try_clone()?);
    let until = Some(Instant::now() + PATIENCE);
    let mut input = BufReader::new(Timed { stream, until });
    let request = match Request::read(&mut input)? {
        Ok(request) => request,
        Err(status) => return http::refuse(&mut out, status),
    };
    let Some(place) = allowed(shared, &request) else {
        return http::refuse(&mut out, Status::Forbidden);
    };
    match (&*request.method, place) {
        ("GET", "") => {
            let kind = "text/html; charset=utf-8";
            http::respond(&mut out, Status::Fine, kind, &shared.content.page, false)
        }
        ("GET", "scene.json") => {
            let kind = "application/json";
            http::respond(&mut out, Status::Fine, kind, &shared.content.scene, false)
        }
        ("GET", "live") => live(shared, &request, input, out),
        ("GET", file) => match file.strip_prefix("file/").and_then(|n| shared.content.assets.read(n)) {
            Some(Ok(bytes)) => http::respond(&mut out, Status::Fine, "application/octet-stream", &bytes, true),
            _ => http::refuse(&mut out, Status::Absent),
        },
        ("POST", "output") => output(shared, &request, input, out),
        _ => http::refuse(&mut out, Status::NotAllowed),
    }
}

/// What a request asks for, if it may ask.
fn allowed<'r>(shared: &Shared, request: &'r Request) -> Option<&'r str> {
    let host = request.header("host")?.to_ascii_lowercase();
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) => name,
        _ => &host,
    };
    if !shared.hosts.iter().any(|known| known == name) {
        return None;
    }
    // Browsers say where a page that asks comes from; programs say nothing.
    if request.has("origin") {
        let origin = request.header("origin")?.to_ascii_lowercase();
        if origin.strip_prefix("http://") != Some(&*host) {
            return None;
        }
    }
    let (token, place) = request.path.strip_prefix('/')?.split_once('/')?;
    same(token.as_bytes(), shared.token.as_bytes()).then_some(place)
}

/// Compares in a time that does not tell how much is right.
fn same(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |sum, (a, b)| sum | (a ^ b)) == 0
}

/// Takes a picture or film that the page made, if somebody waits for one.
fn output(shared: &Shared, request: &Request, mut input: BufReader<Timed>, mut out: impl Write) -> io::Result<()> {
    let Some(waiting) = &shared.content.output else {
        return http::refuse(&mut out, Status::Absent);
    };
    let length = request.header("content-length").and_then(|n| n.parse::<usize>().ok());
    let Some(length) = length else {
        return http::refuse(&mut out, Status::Bad);
    };
    if length > LARGEST {
        return http::refuse(&mut out, Status::TooLarge);
    }
    input.get_mut().until = Some(Instant::now() + UPLOAD);
    let mut bytes = Vec::new();
    input.take(length as u64).read_to_end(&mut bytes)?;
    if bytes.len() < length {
        return Ok(());
    }
    let _ = waiting.send(bytes);
    http::respond(&mut out, Status::Fine, "text/plain", b"", false)
}

/// A page that stays: frames and messages to it, commands from it.
fn live(
    shared: &Shared,
    request: &Request,
    mut input: BufReader<Timed>,
    mut out: BufWriter<TcpStream>,
) -> io::Result<()> {
    let upgrade = request
        .header("upgrade")
        .is_some_and(|u| u.eq_ignore_ascii_case("websocket"));
    let key = request.header("sec-websocket-key");
    let (true, Some("13"), Some(key)) = (upgrade, request.header("sec-websocket-version"), key) else {
        return http::refuse(&mut out, Status::Bad);
    };
    let Some(page) = shared.hub.enter() else {
        return http::refuse(&mut out, Status::Busy);
    };
    let answer = websocket::accept(key);
    let upgraded = write!(
        out,
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {answer}\r\n\r\n"
    );
    if upgraded.and_then(|()| out.flush()).is_err() {
        shared.hub.leave(&page);
        return Ok(());
    }
    let writer = page.clone();
    let writing = std::thread::spawn(move || {
        let done = write_all(&writer, &mut out);
        // Wakes the reader too.
        let _ = out.get_ref().shutdown(std::net::Shutdown::Both);
        done
    });
    input.get_mut().until = None;
    listen(shared, &page, Reader::new(input));
    shared.hub.leave(&page);
    let _ = writing.join();
    Ok(())
}

fn write_all(page: &Page, out: &mut impl Write) -> io::Result<()> {
    while let Some(parcel) = page.take() {
        match parcel {
            Parcel::Text(text) => websocket::text(out, &text)?,
            Parcel::Frame(frame) => websocket::binary(out, &frame)?,
            Parcel::Pong(bytes) => websocket::pong(out, &bytes)?,
            Parcel::Close(code) => return websocket::close(out, code),
        }
    }
    Ok(())
}

/// Hands on what a page says, until it leaves or says too much.
fn listen(shared: &Shared, page: &Page, mut reader: Reader<impl Read>) {
    loop {
        match reader.next() {
            Ok(Message::Text(text)) => match Command::parse(&text) {
                // Who listens takes so many at a time: only the page that sends too many waits.
                Ok(command) => {
                    if shared.commands.send(command).is_err() {
                        return page.post(Parcel::Close(1001));
                    }
                }
                Err(problem) => page.post(Parcel::Text(error(&problem).into())),
            },
            Ok(Message::Ping(bytes)) => page.post(Parcel::Pong(bytes)),
            Ok(Message::Close(code)) => return page.post(Parcel::Close(code)),
            Err(_) => return,
        }
    }
}

/// A problem, as pages are told of it.
pub(crate) fn error(problem: &str) -> String {
    serde_json::json!({ "error": problem }).to_string()
}
