//! Couplings embedded in the recursion: wherever followers sit, and at a cost that grows with what couplings reach over.

mod support;

use linkwork::Mechanism;
use linkwork::model::{Coupling, Joint, Link, examples};
use linkwork::scalar::Count;
use linkwork::spatial::{Inertia, Pose};
use linkwork::workspace::Scaling;
use support::library::vector;
use support::random::Random;

/// A chain of rods, its first link on a joint of some kind, and gears between joints by number.
fn chain(name: &str, links: usize, first: Joint, gears: &[(usize, usize)]) -> Mechanism {
    let mut builder = Mechanism::builder(name);
    for i in 0..links {
        let axis = [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.6, 0.8]][i % 3];
        let joint = match i {
            0 => first.clone(),
            _ => Joint::revolute(format!("joint{i}"), axis).placed(Pose::from_translation([0.0, 0.0, -0.2])),
        };
        let parent = if i == 0 {
            "world".to_owned()
        } else {
            format!("link{}", i - 1)
        };
        builder = builder
            .link(Link::new(format!("link{i}"), Inertia::cuboid(1.0, [0.1, 0.05, 0.2])))
            .joint(joint.armature(0.01).between(parent, format!("link{i}")));
    }
    for (k, (follower, leader)) in gears.iter().enumerate() {
        let coefficients = match k % 3 {
            0 => vec![0.1, -1.5],
            1 => vec![0.0, 0.5, 0.1],
            _ => vec![0.2, 2.0],
        };
        builder = builder.couple(Coupling::polynomial(
            format!("joint{follower}"),
            format!("joint{leader}"),
            coefficients,
        ));
    }
    builder.build().unwrap_or_else(|e| panic!("{e}"))
}

fn turning() -> Joint {
    Joint::revolute("joint0", [0.0, 1.0, 0.0])
}

/// A rotor beside every joint of one degree of freedom, on the joint's parent.
fn with_rotors(robot: &Mechanism) -> Mechanism {
    let rotor = Inertia::new(0.1, [0.0; 3], [1e-3, 0.0, 0.0, 1e-3, 0.0, 1e-3]);
    let mut builder = robot.to_builder();
    for joint in robot.joints().iter().filter(|j| j.kind.nv() == 1) {
        let (name, shaft) = (format!("rotor of {}", joint.name), format!("shaft of {}", joint.name));
        let axis = Joint {
            name: shaft.clone(),
            child: name.clone(),
            ..joint.clone()
        };
        builder = builder.link(Link::new(name, rotor)).joint(axis);
        builder = builder.couple(Coupling::gear(shaft, &joint.name, 30.0, 0.0));
    }
    builder.build().unwrap()
}

/// Fingers of two links on a hub, or on the world; the first joint of each leads the last one of another, or of itself.
fn fingers(name: &str, parent: &str, count: usize, next: usize) -> Mechanism {
    let body = Inertia::cuboid(1.0, [0.1, 0.05, 0.2]);
    let mut builder = Mechanism::builder(name)
        .link(Link::new("hub", body))
        .joint(Joint::free("float").between("world", "hub"));
    for i in 0..count {
        let at = Pose::from_translation([(i as f64).cos(), (i as f64).sin(), 0.1]);
        let (near, far) = (format!("near{i}"), format!("far{i}"));
        builder = builder
            .link(Link::new(near.as_str(), body))
            .joint(
                Joint::revolute(format!("base{i}"), [0.0, 0.6, 0.8])
                    .between(parent, near.as_str())
                    .placed(at),
            )
            .link(Link::new(far.as_str(), body))
            .joint(
                Joint::revolute(format!("tip{i}"), [1.0, 0.0, 0.0])
                    .between(near, far)
                    .placed(at),
            );
    }
    for i in 0..count {
        let gear = Coupling::gear(format!("tip{}", (i + next) % count), format!("base{i}"), 0.7, 0.1);
        builder = builder.couple(gear);
    }
    builder.build().unwrap_or_else(|e| panic!("{e}"))
}

/// Wherever couplings can reach: neighbours, both ends, inside each other, across each other, several on one leader, from
/// tree to tree, over a floating base, between fingers of a hub, and everywhere at once.
fn mechanisms() -> Vec<Mechanism> {
    let two = chain("one of two", 6, turning(), &[(4, 2)]);
    let two = two
        .attach("world", &chain("other", 7, turning(), &[]), "other_")
        .unwrap();
    let across = [
        ("other_joint3", "joint3"),
        ("joint5", "other_joint6"),
        ("other_joint1", "joint2"),
    ];
    let across = across.map(|(follower, leader)| Coupling::gear(follower, leader, 0.7, 0.1));
    vec![
        chain("parent and child", 8, turning(), &[(4, 3)]),
        chain("child leads", 8, turning(), &[(3, 4)]),
        chain("the root follows the tip", 8, turning(), &[(0, 7)]),
        chain("nested", 12, turning(), &[(11, 0), (9, 2), (7, 4)]),
        chain("across", 12, turning(), &[(6, 0), (8, 2), (10, 4)]),
        chain("one leads many", 12, turning(), &[(1, 5), (3, 5), (9, 5), (11, 9)]),
        chain("floating", 9, Joint::free("joint0"), &[(8, 1), (5, 3)]),
        chain(
            "ball at the root",
            9,
            Joint::spherical("joint0"),
            &[(8, 2), (4, 3), (6, 5)],
        ),
        across
            .into_iter()
            .fold(two.to_builder(), |b, c| b.couple(c))
            .build()
            .unwrap(),
        fingers("fingers", "hub", 9, 0),
        fingers("fingers two by two", "hub", 9, 1),
        fingers("trees two by two", "world", 9, 2),
        with_rotors(&examples::arm7()),
        with_rotors(&examples::quadruped()),
        with_rotors(&examples::humanoid()),
        chain(
            "half of forty",
            40,
            turning(),
            &std::array::from_fn::<_, 20, _>(|k| (39 - k, k)),
        ),
    ]
}

#[test]
fn forward_dynamics_inverts_inverse_dynamics_wherever_followers_sit() {
    for mechanism in mechanisms() {
        let (nv, name) = (mechanism.nv(), mechanism.name().to_owned());
        for seed in 0..5 {
            let mut random = Random::new(seed);
            let (q, qd, qdd) = (mechanism.random(seed), random.numbers(nv, 0.5), random.numbers(nv, 1.0));
            let mut workspace = mechanism.workspace();
            let mut posed = workspace.at(&q).unwrap();
            let condition = posed.conditioning().unwrap().condition;
            let mut moving = posed.moving(&qd).unwrap();
            let tau = vector(nv, |out| moving.inverse_dynamics(&qdd, out));
            let mass_times = vector(nv, |out| moving.mass_times(&qdd, out));
            let bias = vector(nv, |out| moving.bias(out));
            // What velocities and gravity put in comes out again, at the precision of the larger.
            let size = |x: &[f64]| x.iter().fold(1e-300, |m: f64, x| m.max(x.abs()));
            let scale = condition * (1.0 + size(&bias) / size(&mass_times));
            for way in ["forward", "bias-free", "𝓜⁻¹𝓜", "ℓ*ℓ𝓜"] {
                let got = vector(nv, |out| match way {
                    "forward" => moving.forward_dynamics(&tau, out),
                    "bias-free" => moving.forward_dynamics_bias_free(&tau, out),
                    "𝓜⁻¹𝓜" => moving.inverse_mass_times(&mass_times, out),
                    _ => {
                        let e = vector(nv, |e| moving.working_moments(Scaling::Normalized, &mass_times, e));
                        moving.joint_rates(Scaling::Normalized, &e, out)
                    }
                });
                let error = support::error_of(&got, &qdd, scale);
                assert!(error < 1e-13, "{name}, {way}: {error:e} of {scale:e}");
            }
        }
    }
}

/// Operations of a call of forward dynamics.
fn operations(mechanism: &Mechanism) -> u64 {
    let nv = mechanism.nv();
    let q: Vec<Count> = mechanism.random(1).into_iter().map(Count).collect();
    let (qd, tau, mut out) = (vec![Count(0.1); nv], vec![Count(1.0); nv], vec![Count(0.0); nv]);
    let mut workspace = mechanism.workspace_of::<Count>();
    Count::operations(|| {
        let mut posed = workspace.at(&q).unwrap();
        posed.moving(&qd).unwrap().forward_dynamics(&tau, &mut out).unwrap();
    })
    .total()
}

#[test]
fn a_coupling_costs_what_it_reaches_over() {
    let plain = |links: usize| operations(&chain("plain", links, turning(), &[]));
    let over = |links: usize, gears: &[(usize, usize)]| {
        let coupled = operations(&chain("geared", links, turning(), gears));
        coupled as f64 - plain(links) as f64
    };
    let per_link = plain(80) as f64 / 80.0;
    // Neighbours: as much in a long chain as in a short one.
    let (short, long) = (over(20, &[(10, 9)]), over(80, &[(40, 39)]));
    assert!(
        (short - long).abs() < 0.5 * per_link && long < per_link,
        "{short} {long}"
    );
    // From end to end: a part of the chain's own cost, and no more for a longer one.
    let (short, long) = (over(20, &[(19, 0)]) / 20.0, over(80, &[(79, 0)]) / 80.0);
    assert!(
        long < 0.25 * per_link && (short - long).abs() < 0.1 * per_link,
        "{short} {long} {per_link}"
    );
    // A rotor at every joint doubles the links: three times the operations at most.
    let (bare, geared) = (examples::humanoid(), with_rotors(&examples::humanoid()));
    let ratio = operations(&geared) as f64 / operations(&bare) as f64;
    assert!(ratio < 3.0, "{ratio}");
    // Twice as many on one hub or on the world: twice as many operations, also where each has to do with the next.
    for (parent, next) in [("hub", 0), ("hub", 1), ("world", 1), ("hub", 7)] {
        let [some, more] = [100, 200].map(|count| operations(&fingers("fingers", parent, count, next)) as f64);
        assert!(more < 2.1 * some, "{parent}, {next}: {some} {more}");
    }
}
