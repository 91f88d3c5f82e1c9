//! Plain text models, for racing other libraries on the same robot.
//!
//! The first line holds the number of joints. Each further line is a joint and the link it carries:
//!
//! ```text
//! TYPE PARENT  R(9, row by row)  p(3)  mass  com(3)  I(9, about com)  axis(3)
//! ```
//!
//! PARENT counts joints from one; zero is the world. R and p place the joint in its parent. The axis matters for
//! `Unaligned` types only. Empty lines are skipped.

use crate::user_error::UserError;
use anyhow::{Context, Result};
use linkwork::Mechanism;
use linkwork::model::{Joint, JointKind, Link, WORLD};
use linkwork::spatial::{Inertia, Pose, Rotation, Vec3};

const NUMBERS: usize = 28;
const FORMAT: &str = "a joint's line is: TYPE PARENT R(9) p(3) mass com(3) I(9) axis(3), 30 words in all";

/// Reads a model; `file` is for messages.
pub(crate) fn parse(file: &str, name: &str, text: &str) -> Result<Mechanism> {
    let mut lines = (1..)
        .zip(text.trim_start_matches('\u{feff}').lines())
        .filter(|(_, line)| !line.trim().is_empty());
    let Some((first, count)) = lines.next() else {
        return Err(UserError::failure(
            format!("{file}: the file is empty"),
            "the first line holds the number of joints",
        ));
    };
    let count: usize = count.trim().parse().map_err(|_| {
        let problem = format!(
            "{file}:{first}: `{}` is not a number of joints",
            shortened(count.trim())
        );
        UserError::failure(problem, "the first line of a text model holds the number of joints")
    })?;
    let mut builder = Mechanism::builder(name).any_positive_inertia();
    let mut read = 0;
    for (at, line) in lines {
        let complain = |problem: String| UserError::failure(format!("{file}:{at}: {problem}"), FORMAT);
        if read == count {
            return Err(complain(format!("another joint after the {count} that were announced")));
        }
        let (link, joint) = entry(read, line).map_err(complain)?;
        builder = builder.link(link).joint(joint);
        read += 1;
    }
    if read < count {
        return Err(UserError::failure(
            format!("{file}: {count} joints were announced but only {read} follow"),
            FORMAT,
        ));
    }
    builder
        .build()
        .with_context(|| format!("{file}: this is not a mechanism"))
}

/// The link and joint of one line.
fn entry(index: usize, line: &str) -> Result<(Link, Joint), String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    if words.len() != NUMBERS + 2 {
        return Err(format!("{} words instead of {}", words.len(), NUMBERS + 2));
    }
    let parent = words[1].parse::<usize>().ok().filter(|&p| p <= index);
    let parent = parent.ok_or_else(|| {
        let given = shortened(words[1]);
        format!("parent `{given}` is neither 0 (the world) nor one of the {index} joints before")
    })?;
    let mut x = [0.0; NUMBERS];
    for (value, word) in x.iter_mut().zip(&words[2..]) {
        *value = word
            .parse()
            .map_err(|_| format!("`{}` is not a number", shortened(word)))?;
    }
    let rows = |at: usize| [0, 3, 6].map(|row| [x[at + row], x[at + row + 1], x[at + row + 2]]);
    let vector = |at: usize| Vec3::new(x[at], x[at + 1], x[at + 2]);
    let pose = Pose::new(Rotation::from_rows(rows(0)), vector(9));
    let [[xx, xy, xz], [_, yy, yz], [_, _, zz]] = rows(16);
    let inertia = Inertia::new(x[12], vector(13), [xx, xy, xz, yy, yz, zz]);
    let kind = kind(words[0], vector(25)).ok_or_else(|| format!("unknown joint type `{}`", shortened(words[0])))?;
    let carrier = if parent == 0 {
        WORLD.to_owned()
    } else {
        format!("link{parent}")
    };
    let link = format!("link{}", index + 1);
    let joint = Joint::new(format!("joint{}", index + 1), kind)
        .between(carrier, &link)
        .placed(pose);
    Ok((Link::new(link, inertia), joint))
}

fn kind(name: &str, axis: Vec3) -> Option<JointKind> {
    let (x, y, z) = (
        Vec3::new(1.0, 0.0, 0.0),
        Vec3::new(0.0, 1.0, 0.0),
        Vec3::new(0.0, 0.0, 1.0),
    );
    Some(match name.strip_prefix("JointModel").unwrap_or(name) {
        "RX" => JointKind::Revolute { axis: x },
        "RY" => JointKind::Revolute { axis: y },
        "RZ" => JointKind::Revolute { axis: z },
        "RevoluteUnaligned" => JointKind::Revolute { axis },
        "RUBX" => JointKind::Continuous { axis: x },
        "RUBY" => JointKind::Continuous { axis: y },
        "RUBZ" => JointKind::Continuous { axis: z },
        "PX" => JointKind::Prismatic { axis: x },
        "PY" => JointKind::Prismatic { axis: y },
        "PZ" => JointKind::Prismatic { axis: z },
        "PrismaticUnaligned" => JointKind::Prismatic { axis },
        "FreeFlyer" => JointKind::Free,
        _ => return None,
    })
}

/// The beginning of a word that may be anything.
fn shortened(word: &str) -> String {
    match word.char_indices().nth(40) {
        Some((end, _)) => format!("{}…", &word[..end]),
        None => word.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TURN: &str = "1 0 0 0 1 0 0 0 1";

    fn line(kind: &str, parent: &str, axis: &str) -> String {
        format!("{kind} {parent}  {TURN}  0 0 0.5  2  0 0 0.1  1 0 0 0 1 0 0 0 1  {axis}\n")
    }

    #[test]
    fn every_joint_type_is_read() {
        let types = [
            "RX",
            "RY",
            "RZ",
            "RUBX",
            "RUBY",
            "RUBZ",
            "PX",
            "PY",
            "PZ",
            "FreeFlyer",
            "RevoluteUnaligned",
            "PrismaticUnaligned",
        ];
        let mut text = format!("{}\n", types.len());
        for (i, kind) in types.iter().enumerate() {
            text += &line(&format!("JointModel{kind}"), &i.to_string(), "0 0.6 0.8");
        }
        let robot = parse("robot.txt", "robot", &text).unwrap();
        assert_eq!((robot.nq(), robot.nv()), (18, 17));
        assert_eq!(robot.joints()[3].kind.name(), "continuous");
    }

    #[test]
    fn messages_name_file_and_line() {
        let complaint = |text: &str| parse("robot.txt", "robot", text).unwrap_err().to_string();
        assert!(complaint("").starts_with("robot.txt: the file is empty"));
        assert!(complaint("many").starts_with("robot.txt:1: `many`"));
        assert!(complaint("2\n").contains("only 0 follow"));
        assert!(complaint("1\n\nRZ 0 1 2 3").starts_with("robot.txt:3: 5 words instead of 30"));
        assert!(complaint(&format!("1\n{}", line("RQ", "0", "0 0 0"))).contains("unknown joint type `RQ`"));
        assert!(complaint(&format!("1\n{}", line("RZ", "1", "0 0 0"))).contains("parent `1`"));
        assert!(complaint(&format!("1\n{}", line("RZ", "0", "0 0 x"))).contains("`x` is not a number"));
        let two = line("RZ", "0", "0 0 0").repeat(2);
        assert!(complaint(&format!("1\n{two}")).starts_with("robot.txt:3: another joint"));
        let missing_axis = parse("r.txt", "r", &format!("1\n{}", line("RevoluteUnaligned", "0", "0 0 0")));
        assert!(format!("{:#}", missing_axis.unwrap_err()).contains("axis"));
    }
}
