//! A step followed from an expression to code: what is followed is what is told, and code is known by what it computes.

use linkwork::Mechanism;
use linkwork::algebra::{Expression, Followed, Language, Level, Line, Notation, link_space};
use linkwork::model::examples;

const EXPRESSIONS: [&str; 8] = [
    "inv(Mass) (T - C)",
    "Mass qdd + C",
    "inv(Mass) T",
    "J inv(Mass) J^* f",
    "dot(Mass) qd",
    "d(inv(Mass) (T - C), w)",
    "let s = T - C; p = qd^* s; qdd = inv(Mass) s",
    "phi^* H^* qd",
];

fn followed(text: &str, robot: &Mechanism, language: Language) -> (Expression, Followed) {
    let expression: Expression = text.parse().unwrap();
    let hand = robot.frame(&robot.links().last().unwrap().name).unwrap();
    let frames = [(hand, linkwork::Reference::Local)];
    let code = expression.written_lines(robot, &frames, &[], language).unwrap();
    let source = expression.source_code(robot, &frames, &[], language).unwrap();
    let lines: Vec<&str> = code.iter().map(|l| &l.text[..]).collect();
    assert_eq!(lines.join("\n") + "\n", source, "{text}");
    let followed = expression.compile(false, &[]).followed(robot, &code);
    (expression, followed)
}

fn lines(followed: &Followed, level: Level) -> Vec<&Line> {
    followed.levels[level as usize]
        .1
        .iter()
        .flat_map(|p| &p.lines)
        .collect()
}

fn squeezed(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

#[test]
fn what_is_followed_is_what_is_told() {
    let robot = examples::arm7();
    for text in EXPRESSIONS {
        let (expression, followed) = followed(text, &robot, Language::C);
        let algorithm = expression.compile(false, &[]);
        for (level, parts) in followed.levels.iter().filter(|l| l.0 != Level::Code) {
            let mut written = String::new();
            for part in parts {
                written += &part.heading;
                for line in &part.lines {
                    let right: String = line.right.iter().map(|p| &p.text[..]).collect();
                    written += &format!("{}={right}", line.left);
                }
            }
            let told = algorithm.level(*level, Some(&robot), Notation::Symbols);
            assert_eq!(squeezed(&written), squeezed(&told), "{text}, {}", level.name());
        }
    }
}

#[test]
fn every_step_is_on_every_level() {
    let robot = examples::arm7();
    for text in EXPRESSIONS {
        let (_, followed) = followed(text, &robot, Language::Rust);
        assert!(!followed.steps.is_empty(), "{text}");
        for (i, step) in followed.steps.iter().enumerate() {
            for level in [Level::Recursions, Level::Links, Level::Coordinates] {
                let known = lines(&followed, level).iter().any(|l| l.steps.contains(&i));
                assert!(known, "{text}: {} is not among the {}", step.name, level.name());
            }
            assert!(!step.reads.contains(&i), "{text}: {} reads itself", step.name);
            for level in [Level::Expression, Level::Operators] {
                let all = lines(&followed, level);
                let known = all.iter().any(|l| l.right.iter().any(|p| p.steps.contains(&i)));
                assert!(
                    known,
                    "{text}: {} comes from nothing of the {}",
                    step.name,
                    level.name()
                );
            }
        }
    }
}

#[test]
fn code_belongs_to_the_steps_that_need_it() {
    let robot = examples::arm7();
    let links = link_space(&robot).len();
    let (_, followed) = followed("inv(Mass) (T - C)", &robot, Language::Rust);
    let code = lines(&followed, Level::Code);
    let of = |name: &str| {
        let step = followed.steps.iter().position(|s| s.name == name).unwrap();
        let own = code.iter().filter(move |l| l.steps.contains(&step));
        own.map(|l| (&l.right[0].text[..], &l.links[..])).collect::<Vec<_>>()
    };
    // One division to a joint, each at its link; the last link's D is a constant.
    let mut divided: Vec<usize> = of("D")
        .iter()
        .filter(|l| l.0.contains("1.0 / "))
        .flat_map(|l| l.1)
        .copied()
        .collect();
    divided.sort_unstable();
    assert_eq!(divided, (0..links - 1).collect::<Vec<_>>());
    // Velocities know neither torques nor gravity; a torque enters at its own link.
    assert!(of("V").iter().all(|l| !l.0.contains("tau") && !l.0.contains("9.81")));
    for i in 0..links {
        let torque = format!("tau[{i}]");
        let (_, at) = of("ε").into_iter().find(|l| l.0.contains(&torque)).unwrap();
        assert!(at.contains(&i), "tau[{i}] enters at {at:?}");
        let out = format!("out[{i}] =");
        assert!(of("result").iter().any(|l| l.0.contains(&out) && l.1.contains(&i)));
    }
    // Whatever is computed is computed for something; angles are the joints' own.
    let body = code.iter().filter(|l| l.right[0].text.starts_with("    let x"));
    let lost: Vec<&str> = body
        .filter(|l| l.steps.is_empty() && !l.right[0].text.contains(" = q["))
        .map(|l| &l.right[0].text[..])
        .collect();
    assert!(lost.is_empty(), "{lost:?}");
}

#[test]
fn operators_lead_to_their_steps() {
    let robot = examples::double_pendulum();
    let (_, followed) = followed("inv(Mass) (T - C)", &robot, Language::Python);
    let names = |steps: &[usize]| steps.iter().map(|&i| &followed.steps[i].name[..]).collect::<Vec<_>>();
    let piece = |level: Level, text: &str| {
        let all = lines(&followed, level);
        let found = all.iter().flat_map(|l| &l.right).find(|p| p.text == text).unwrap();
        names(&found.steps)
    };
    assert_eq!(piece(Level::Expression, "T"), ["z", "ε"]);
    assert!(piece(Level::Expression, "C").contains(&"V"));
    assert!(!piece(Level::Expression, "𝓜⁻¹").contains(&"V"));
    assert_eq!(piece(Level::Operators, "D⁻¹"), ["D", "s"]);
    assert_eq!(piece(Level::Operators, "b"), ["V", "b"]);
    assert_eq!(piece(Level::Operators, "ψ*"), ["λ"]);
}
