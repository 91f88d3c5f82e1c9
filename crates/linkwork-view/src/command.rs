//! What pages ask for.

use serde_json::Value;

/// A request of a page.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Command {
    /// Some coordinates of a joint, by its number.
    Set {
        /// The joint.
        joint: usize,
        /// All of its coordinates.
        q: Vec<f64>,
    },
    /// The whole configuration.
    Configuration(Vec<f64>),
    /// The motion goes on.
    Run,
    /// It stands still.
    Pause,
    /// One step, or one row of a log.
    Step,
    /// Back to the start.
    Reset,
    /// So many seconds of motion in one of the clock.
    Speed(f64),
    /// To a time of a log.
    Seek(f64),
    /// A spring from a point of a link, in its frame, to a place in the world.
    Pull {
        /// The link.
        link: usize,
        /// In its frame.
        point: [f64; 3],
        /// In the world.
        target: [f64; 3],
    },
    /// Lets go.
    Release,
    /// Which inertias to send with frames: articulated ones of all links, and the operational one of a link.
    Show {
        /// Articulated inertias.
        articulated: bool,
        /// The link whose operational-space inertia is asked for.
        operational: Option<usize>,
    },
    /// The modes of the robot here.
    Modes,
    /// One of them in motion; none to end it.
    Mode(Option<usize>),
}

impl Command {
    /// Reads a command, or says what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let value: Value = serde_json::from_str(text).map_err(|e| format!("a command must be JSON: {e}"))?;
        let word = value["do"].as_str().unwrap_or_default();
        let number = |key: &str| value[key].as_f64().filter(|x| x.is_finite() && x.abs() < 1e9);
        let index = |key: &str| value[key].as_u64().map(|x| x as usize);
        let list = |key: &str| -> Option<Vec<f64>> {
            let list = value[key].as_array()?;
            list.iter().map(|x| x.as_f64().filter(|x| x.abs() < 1e9)).collect()
        };
        let three = |key: &str| list(key).and_then(|l| <[f64; 3]>::try_from(l).ok());
        let command = match word {
            "set" => index("joint").zip(list("q")).map(|(joint, q)| Self::Set { joint, q }),
            "configuration" => list("q").map(Self::Configuration),
            "run" => Some(Self::Run),
            "pause" => Some(Self::Pause),
            "step" => Some(Self::Step),
            "reset" => Some(Self::Reset),
            "speed" => number("x").filter(|x| (1e-3..=1e3).contains(x)).map(Self::Speed),
            "seek" => number("t").map(Self::Seek),
            "pull" => index("link")
                .zip(three("point"))
                .zip(three("target"))
                .map(|((link, point), target)| Self::Pull { link, point, target }),
            "release" => Some(Self::Release),
            "show" => Some(Self::Show {
                articulated: value["articulated"].as_bool().unwrap_or(false),
                operational: index("operational"),
            }),
            "modes" => Some(Self::Modes),
            "mode" => Some(Self::Mode(index("index"))),
            _ => {
                return Err(format!(
                    "`{}` is not a command",
                    word.chars().take(40).collect::<String>()
                ));
            }
        };
        command.ok_or_else(|| format!("`{word}` lacks what it needs, or has it in another form"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_read_and_what_is_none_is_told() {
        let read = |text: &str| Command::parse(text);
        assert_eq!(
            read(r#"{"do":"set","joint":2,"q":[0.5]}"#),
            Ok(Command::Set { joint: 2, q: vec![0.5] })
        );
        assert_eq!(read(r#"{"do":"mode","index":null}"#), Ok(Command::Mode(None)));
        for bad in [
            "",
            "[]",
            "{}",
            r#"{"do":"format"}"#,
            r#"{"do":"set","joint":-1,"q":[0]}"#,
            r#"{"do":"set","joint":1,"q":["x"]}"#,
            r#"{"do":"speed","x":0}"#,
            r#"{"do":"pull","link":0,"point":[0,0],"target":[0,0,0]}"#,
            r#"{"do":"seek","t":1e300}"#,
        ] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
