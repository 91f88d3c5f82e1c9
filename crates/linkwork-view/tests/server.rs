//! Who may ask the server for what, and what a client cannot do to it.

use linkwork::model::examples;
use linkwork::simulate::{Method, PassiveForces, Run, State};
use linkwork::spatial::{Pose, Vec3};
use linkwork_formats::{Geometry, Role, Shape};
use linkwork_view::{Assets, Command, Content, Listen, Physics, Running, Server, Show, Simulation, Source};
use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::{Duration, Instant};
use tungstenite::client::IntoClientRequest;
use tungstenite::{Message, WebSocket};

struct Served {
    running: Running,
    commands: Receiver<Command>,
    port: u16,
    token: String,
    folder: PathBuf,
}

/// A server with one mesh, beside files that nobody asked it to serve.
fn served(name: &str) -> Served {
    let folder = std::env::temp_dir().join(format!("linkwork-view-{name}-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("robot")).unwrap();
    std::fs::write(folder.join("secret.txt"), "SECRET").unwrap();
    std::fs::write(folder.join("robot/secret.stl"), "SECRET").unwrap();
    std::fs::write(folder.join("robot/a.stl"), "solid").unwrap();
    let shape = Geometry {
        name: String::new(),
        link: "link".into(),
        role: Role::Visual,
        pose: Pose::IDENTITY,
        shape: Shape::Mesh {
            uri: "a.stl".into(),
            path: Some(folder.join("robot/a.stl")),
            scale: Vec3::new(1.0, 1.0, 1.0),
        },
        colour: None,
    };
    let listen = Listen {
        address: IpAddr::V4(Ipv4Addr::LOCALHOST),
        port: 0,
        hosts: vec!["Robot.Lab".into()],
    };
    let server = Server::bind(&listen).unwrap();
    let (port, url) = (server.port().unwrap(), server.url().unwrap());
    let token = url.trim_end_matches('/').rsplit('/').next().unwrap().to_owned();
    let (sender, commands) = sync_channel(16);
    let content = Content {
        page: b"<html>page</html>".to_vec(),
        scene: b"{}".to_vec(),
        assets: Assets::of(&[shape], Some(&folder.join("robot"))),
        output: None,
    };
    let running = server.start(content, sender).unwrap();
    Served {
        running,
        commands,
        port,
        token,
        folder,
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

impl Served {
    /// Sends bytes and gives all that comes back.
    fn raw(&self, request: &str) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(15))).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }

    fn get(&self, path: &str, headers: &str) -> String {
        self.raw(&format!("GET {path} HTTP/1.1\r\n{headers}\r\n"))
    }

    fn status(&self, path: &str, headers: &str) -> u32 {
        let answer = self.get(path, headers);
        answer.split(' ').nth(1).and_then(|n| n.parse().ok()).unwrap_or(0)
    }

    fn socket(&self, origin: Option<&str>) -> Result<WebSocket<TcpStream>, String> {
        let url = format!("ws://127.0.0.1:{}/{}/live", self.port, self.token);
        let mut request = url.into_client_request().unwrap();
        if let Some(origin) = origin {
            request.headers_mut().insert("Origin", origin.parse().unwrap());
        }
        let stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        tungstenite::client(request, stream)
            .map(|(socket, _)| socket)
            .map_err(|e| e.to_string())
    }
}

const HOST: &str = "Host: 127.0.0.1\r\n";

#[test]
fn only_who_knows_the_token_and_the_name_is_answered() {
    let served = served("token");
    let page = format!("/{}/", served.token);
    assert!(served.token.len() >= 24, "nobody guesses it");
    assert!(served.get(&page, HOST).ends_with("<html>page</html>"));
    for host in ["localhost:99", "[::1]:1", "robot.lab", "LOCALHOST"] {
        assert_eq!(served.status(&page, &format!("Host: {host}\r\n")), 200, "{host}");
    }
    let mut wrong = served.token.clone();
    let last = wrong.pop().unwrap();
    wrong.push(if last == 'A' { 'B' } else { 'A' });
    for path in [
        "/",
        "//",
        "/x/",
        "/scene.json",
        &format!("/{wrong}/"),
        &format!("/{}", served.token),
    ] {
        assert_eq!(served.status(path, HOST), 403, "{path}");
    }
    for headers in [
        "",
        "Host: evil.example\r\n",
        "Host: 127.0.0.1.evil.example\r\n",
        "Host: 127.0.0.1\r\nHost: evil.example\r\n",
        "Host: 127.0.0.1\r\nOrigin: http://evil.example\r\n",
        "Host: 127.0.0.1\r\nOrigin: null\r\n",
        "Host: 127.0.0.1\r\nOrigin: https://127.0.0.1\r\n",
    ] {
        assert_eq!(served.status(&page, headers), 403, "{headers}");
    }
    let own = format!("Host: 127.0.0.1:{0}\r\nOrigin: http://127.0.0.1:{0}\r\n", served.port);
    assert_eq!(served.status(&page, &own), 200);
}

#[test]
fn no_file_but_those_of_the_scene_can_be_read() {
    let served = served("files");
    let at = |path: &str| format!("/{}/{path}", served.token);
    assert!(served.get(&at("file/0"), HOST).ends_with("solid"));
    for path in [
        "file/1",
        "file/-1",
        "file/00000000000000000000000000001",
        "file/",
        "file/0/",
        "file/a.stl",
        "file/secret.stl",
        "file/../secret.txt",
        "file/..%2fsecret.txt",
        "file/%2e%2e/secret.txt",
        "file/....//secret.txt",
        "file//etc/passwd",
        "../secret.txt",
        "file/0%00.txt",
        "file\\..\\secret.txt",
        "etc/passwd",
        "robot/a.stl",
    ] {
        let answer = served.get(&at(path), HOST);
        assert!(answer.starts_with("HTTP/1.1 40"), "{path}: {answer}");
        assert!(!answer.contains("SECRET") && !answer.contains("root:"), "{path}");
    }
    assert!(
        served
            .raw("GET /../../../../etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n")
            .contains("403")
    );
    let post = format!(
        "POST /{}/output HTTP/1.1\r\n{HOST}Content-Length: 3\r\n\r\nabc",
        served.token
    );
    assert!(served.raw(&post).contains("404"), "nobody waits for a picture");
    let put = format!("PUT /{}/file/0 HTTP/1.1\r\n{HOST}\r\n", served.token);
    assert!(served.raw(&put).contains("405"));
}

#[test]
fn what_is_no_request_ends_and_nothing_else() {
    let served = served("nonsense");
    for nonsense in ["\r\n\r\n", "GET\r\n\r\n", "\u{0}\u{1}\r\n\r\n", "GET / HTTP/9\r\n\r\n"] {
        assert!(served.raw(nonsense).contains("400"), "{nonsense:?}");
    }
    assert!(
        served
            .raw(&format!("GET /{} HTTP/1.1\r\n", "x".repeat(20_000)))
            .contains("413")
    );
    assert_eq!(
        served.status(&format!("/{}/live", served.token), HOST),
        400,
        "no websocket"
    );
    // A head that never ends is given up.
    let begun = Instant::now();
    assert_eq!(served.raw("GET / HTTP/1.1\r\n"), "");
    assert!(begun.elapsed() < Duration::from_secs(14));
    assert_eq!(served.status(&format!("/{}/", served.token), HOST), 200);
}

#[test]
fn another_implementation_of_websockets_agrees() {
    let served = served("socket");
    assert!(served.socket(Some("http://evil.example")).is_err(), "a foreign page");
    served.running.hub.status("{\"status\":1}".into());
    let origin = format!("http://127.0.0.1:{}", served.port);
    let mut socket = served.socket(Some(&origin)).expect("its own page");
    assert_eq!(socket.read().unwrap(), Message::text("{\"status\":1}"));
    for size in [0, 1, 125, 126, 65_535, 65_536, 1_000_000] {
        let frame: Vec<u8> = (0..size).map(|i| i as u8).collect();
        served.running.hub.show(frame.clone());
        assert_eq!(socket.read().unwrap(), Message::binary(frame), "{size}");
    }
    socket.send(Message::text("{\"do\":\"run\"}")).unwrap();
    assert_eq!(served.commands.recv_timeout(Duration::from_secs(5)), Ok(Command::Run));
    socket.send(Message::text("what")).unwrap();
    assert!(socket.read().unwrap().into_text().unwrap().contains("must be JSON"));
    socket.send(Message::Ping(vec![1, 2].into())).unwrap();
    assert_eq!(socket.read().unwrap(), Message::Pong(vec![1, 2].into()));
    socket.send(Message::text("x".repeat(1 << 19))).unwrap();
    loop {
        match socket.read() {
            Ok(Message::Close(why)) => break assert_eq!(u16::from(why.unwrap().code), 1009),
            Ok(_) => {}
            Err(_) => break,
        }
    }
    let wait = Instant::now();
    while served.running.hub.pages() > 0 && wait.elapsed() < Duration::from_secs(5) {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(served.running.hub.pages(), 0, "it is let go");
}

/// How many simulated seconds a run makes in a second of the clock.
fn pace(served: &mut Served) -> f64 {
    let robot = examples::arm7();
    let start = State::at_rest(&robot, &robot.neutral());
    let physics = Physics::Free(PassiveForces::of(&robot).unwrap().for_steps(1e-3));
    let steps = Run::new(Method::RungeKutta4, f64::INFINITY).step(1e-3);
    let run = Simulation::new(&robot, physics, start, Box::new(()), steps).unwrap();
    let hub = served.running.hub.clone();
    let mut show = Show::new(&robot, None, Source::Simulation(Box::new(run)), &robot.neutral(), hub).running();
    let stop = Arc::new(AtomicBool::new(false));
    let end = stop.clone();
    let ending = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_secs(2));
        end.store(true, SeqCst);
    });
    let begun = Instant::now();
    show.run(&served.commands, &stop);
    ending.join().unwrap();
    show.time() / begun.elapsed().as_secs_f64()
}

#[test]
fn clients_that_stall_or_flood_do_not_slow_the_simulation() {
    let mut served = served("hostile");
    let quiet = pace(&mut served);
    // Ten that read nothing, one that stops in the middle of a message, and some that say as much as they can: what costs
    // something, and what is no command.
    let stalled: Vec<_> = (0..10).map(|_| served.socket(None).expect("room")).collect();
    let mut halting = served.socket(None).expect("room");
    halting.get_mut().write_all(&[0x81, 0xfe, 0x10]).expect("it may begin");
    let flooding: Vec<_> = [
        r#"{"do":"show","articulated":true,"operational":3}"#,
        r#"{"do":"pull","link":99,"point":[0,0,0],"target":[9,9,9]}"#,
        "nonsense",
    ]
    .map(|words| {
        let mut loud = served.socket(None).expect("room");
        std::thread::spawn(move || while loud.send(Message::text(words)).is_ok() {})
    })
    .into();
    let beset = pace(&mut served);
    assert!(beset > 0.8 * quiet, "{beset} beside {quiet}");
    drop((stalled, halting));
    drop(served);
    for flood in flooding {
        let _ = flood.join();
    }
}
