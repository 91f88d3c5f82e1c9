//! A robot in a browser's page.
//!
//! [`Server`] serves a page that draws a scene and its motion; [`Show`] is what moves: a robot that stands where it is put, a
//! simulation that runs, pauses and can be pulled at, or a log. Poses come from the library and go to the page over a
//! websocket, so that there is one kinematics. [`export()`] writes all of it into one file.
//!
//! The page itself is TypeScript in the folder `viewer`; `cargo xtask viewer` builds it, and [`page()`] finds it.
#![deny(unsafe_code)]

mod assets;
mod browser;
mod command;
mod contact_sides;
mod digest;
mod export;
mod frame;
mod http;
mod hub;
mod modes;
mod page;
mod recording;
mod scene;
mod server;
mod show;
mod simulation;
mod websocket;

pub use assets::{Assets, MeshAsset};
pub use browser::{Headless, find_browser, open};
pub use command::Command;
pub use contact_sides::Sides;
pub use export::export;
pub use frame::{Arrow, ArrowKind, Framer, Moment, Shown};
pub use hub::Hub;
pub use modes::{Eigenmode, modes};
pub use page::page;
pub use recording::{Recording, Row};
pub use scene::describe;
pub use server::{Content, Listen, Running, Server};
pub use show::{Show, Source};
pub use simulation::{Physics, Simulation};
