//! The builder takes what is right in any order, and refuses nonsense by name.

use linkwork::model::{Builder, Coupling, Dh, DhRow, Joint, Link, Mechanism};
use linkwork::spatial::{Inertia, Pose, Rotation, Vec3};
use linkwork::{Error, Result};

const Z: [f64; 3] = [0.0, 0.0, 1.0];

fn ball(name: &str) -> Link {
    Link::new(name, Inertia::sphere(1.0, 0.1))
}

/// A forearm on an upper arm on the world.
fn arm() -> Builder {
    with_elbow(Joint::revolute("elbow", Z))
}

fn with_elbow(elbow: Joint) -> Builder {
    Mechanism::builder("arm")
        .link(ball("upper_arm"))
        .link(ball("forearm"))
        .joint(Joint::revolute("shoulder", Z).between("world", "upper_arm"))
        .joint(elbow.between("upper_arm", "forearm"))
}

fn with_forearm(inertia: Inertia) -> Builder {
    Mechanism::builder("arm")
        .link(Link::new("forearm", inertia))
        .joint(Joint::free("elbow").between("world", "forearm"))
}

/// The message of a refusal, which must hold some words.
fn refused(result: Result<Mechanism>, words: &[&str]) -> Error {
    let error = result.expect_err("accepted");
    let message = error.to_string();
    for word in words {
        assert!(message.contains(word), "`{word}` is not in: {message}");
    }
    error
}

#[test]
fn order_of_links_and_joints_does_not_matter_but_coordinates_follow_joints() {
    let m = Mechanism::builder("backwards")
        .frame("tool", "hand", Pose::from_translation(Z))
        .joint(Joint::spherical("wrist").between("arm", "hand"))
        .joint(Joint::free("float").between("world", "arm"))
        .link(ball("hand"))
        .link(ball("arm"))
        .build()
        .unwrap();
    assert_eq!((m.nq(), m.nv()), (11, 9));
    assert_eq!(m.q_range(m.joint("float").unwrap()).unwrap(), 4..11);
    assert_eq!(m.v_range(m.joint("wrist").unwrap()).unwrap(), 0..3);
}

#[test]
fn mass_must_be_finite_and_not_negative() {
    for mass in [-1.0, f64::NAN, f64::INFINITY] {
        let error = refused(with_forearm(Inertia::sphere(mass, 0.1)).build(), &["`forearm`", "mass"]);
        assert!(matches!(error, Error::Inertia { .. }));
    }
    let com = Inertia::new(1.0, [f64::NAN, 0.0, 0.0], [1.0, 0.0, 0.0, 1.0, 0.0, 1.0]);
    refused(with_forearm(com).build(), &["`forearm`", "centre of mass"]);
    let moments = Inertia::new(1.0, [0.0; 3], [1.0, 0.0, f64::NAN, 1.0, 0.0, 1.0]);
    refused(with_forearm(moments).build(), &["`forearm`", "moment"]);
    refused(arm().gravity([0.0, f64::NAN, 0.0]).build(), &["gravity"]);
}

#[test]
fn moments_must_be_those_of_a_body() {
    let with = |moments| with_forearm(Inertia::new(1.0, [0.0; 3], moments));
    let negative = [1.0, 1.1, 0.0, 1.0, 0.0, 2.0];
    refused(with(negative).build(), &["`forearm`", "negative principal moment"]);
    refused(with(negative).any_positive_inertia().build(), &["negative"]);
    let unequal = [1.0, 0.0, 0.0, 1.0, 0.0, 2.1];
    refused(
        with(unequal).build(),
        &["`forearm`", "sum of the other two", "any_positive_inertia"],
    );
    assert!(with(unequal).any_positive_inertia().build().is_ok());
    // A plate is the limit, in any axes.
    let plate = Inertia::new(1.0, [0.3, 0.1, 0.0], [1.0, 0.0, 0.0, 1.0, 0.0, 2.0]);
    let turned = plate.seen_from(&Pose::from_rotation(Rotation::from_rpy(0.3, 0.2, -1.0)));
    assert!(with_forearm(turned).build().is_ok());
    // Rotors may be written without mass.
    let rotor = Link::new("rotor", Inertia::new(0.0, [0.0; 3], [1.0, 0.0, 0.0, 1.0, 0.0, 1.0]));
    let spin = Joint::revolute("spin", Z).between("forearm", "rotor");
    assert!(arm().link(rotor).joint(spin).build().is_ok());
}

#[test]
fn axes_pitches_and_poses_must_make_sense() {
    refused(
        with_elbow(Joint::revolute("elbow", [0.0; 3])).build(),
        &["`elbow`", "axis", "direction"],
    );
    refused(
        with_elbow(Joint::prismatic("elbow", [f64::NAN, 0.0, 1.0])).build(),
        &["`elbow`", "axis"],
    );
    refused(
        with_elbow(Joint::helical("elbow", Z, f64::INFINITY)).build(),
        &["`elbow`", "pitch"],
    );
    refused(
        with_elbow(Joint::universal("elbow", Z, [0.0, 0.0, -2.0])).build(),
        &["`elbow`", "parallel"],
    );
    let shifted = Joint::revolute("elbow", Z).at([0.0, f64::NAN, 0.0]);
    refused(with_elbow(shifted).build(), &["`elbow`", "translation"]);
    let mirror = Rotation::from_rows([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, -1.0]]);
    let stretched = Rotation::from_rows([[1.01, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]);
    for rotation in [mirror, stretched] {
        let joint = Joint::revolute("elbow", Z).placed(Pose::from_rotation(rotation));
        refused(with_elbow(joint).build(), &["`elbow`", "rotation"]);
        refused(
            arm().frame("tool", "forearm", Pose::from_rotation(rotation)).build(),
            &["frame `tool`", "rotation"],
        );
    }
}

#[test]
fn rotations_with_few_digits_are_made_exact() {
    let (s, c) = (0.479_425_5, 0.877_582_6);
    let rough = Rotation::from_rows([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]);
    let m = with_elbow(Joint::revolute("elbow", Z).placed(Pose::from_rotation(rough)))
        .build()
        .unwrap();
    let r = m.joints()[1].origin.rotation;
    assert!((r.x.norm() - 1.0).abs() < 1e-15 && r.x.dot(r.y).abs() < 1e-15);
    assert!((r.x - rough.x).norm() < 1e-6);
}

#[test]
fn names_are_there_and_differ() {
    refused(arm().link(ball("")).build(), &["link number 2", "give it one"]);
    refused(arm().link(ball("world")).build(), &["`world`", "another name"]);
    refused(arm().link(ball("forearm")).build(), &["`forearm`", "rename"]);
    refused(
        arm().frame("forearm", "upper_arm", Pose::IDENTITY).build(),
        &["a link and a frame", "`forearm`"],
    );
    let twice = arm()
        .frame("tool", "forearm", Pose::IDENTITY)
        .frame("tool", "upper_arm", Pose::IDENTITY);
    refused(twice.build(), &["a frame and a frame", "`tool`"]);
    refused(arm().frame("world", "forearm", Pose::IDENTITY).build(), &["`world`"]);
    let joint = Joint::revolute("elbow", Z).between("forearm", "hand");
    refused(arm().link(ball("hand")).joint(joint).build(), &["joint", "`elbow`"]);
    let nameless = Joint::revolute("", Z).between("forearm", "hand");
    refused(arm().link(ball("hand")).joint(nameless).build(), &["joint number 2"]);
    // Joints have names of their own.
    let same = Joint::revolute("hand", Z).between("forearm", "hand");
    assert!(arm().link(ball("hand")).joint(same).build().is_ok());
}

#[test]
fn unknown_names_come_with_the_one_that_was_meant() {
    let joint = Joint::fixed("wrist").between("foreram", "hand");
    let error = refused(
        arm().link(ball("hand")).joint(joint).build(),
        &["`wrist`", "`foreram`", "mean `forearm`?"],
    );
    assert!(matches!(error, Error::Dangling { .. }));
    refused(
        arm().joint(Joint::fixed("wrist").between("forearm", "hand")).build(),
        &["`wrist`", "`hand`"],
    );
    refused(
        arm().joint(Joint::fixed("wrist")).build(),
        &["`wrist`", "Joint::between"],
    );
    refused(
        arm().frame("tool", "forarm", Pose::IDENTITY).build(),
        &["frame `tool`", "mean `forearm`?"],
    );
    let on_frame = arm()
        .frame("tool", "forearm", Pose::IDENTITY)
        .joint(Joint::fixed("f").between("tool", "hand"));
    refused(on_frame.link(ball("hand")).build(), &["it is a frame", "`forearm`"]);

    let m = arm().frame("tool", "forearm", Pose::IDENTITY).build().unwrap();
    let message = |e: Option<Error>| e.map(|e| e.to_string()).unwrap_or_default();
    assert!(message(m.link("forarm").err()).contains("did you mean `forearm`?"));
    assert!(message(m.link("tool").err()).contains("that is a frame"));
    assert!(message(m.joint("Elbow").err()).contains("did you mean `elbow`?"));
    assert!(message(m.frame("tol").err()).contains("did you mean `tool`?"));
    assert!(message(m.frame("wrold").err()).contains("did you mean `world`?"));
    assert!(!message(m.frame("spoon").err()).contains("did you mean"));
}

#[test]
fn every_link_is_held_by_one_joint() {
    refused(arm().link(ball("hand")).build(), &["`hand`", "fixed or free joint"]);
    let loop_joint = Joint::revolute("second", Z).between("world", "forearm");
    refused(arm().joint(loop_joint).build(), &["`forearm`", "`elbow`", "`second`"]);
    refused(
        arm().joint(Joint::fixed("down").between("forearm", "world")).build(),
        &["`down`", "exchange"],
    );
}

#[test]
fn rings_of_links_are_named() {
    let ring = |n: usize| {
        let mut builder = arm();
        for i in 0..n {
            let (inner, outer) = (format!("r{i}"), format!("r{}", (i + 1) % n));
            builder = builder
                .link(ball(&outer))
                .joint(Joint::revolute(format!("j{i}"), Z).between(inner, outer));
        }
        // A tail on the ring is not part of it.
        builder
            .link(ball("tail"))
            .joint(Joint::fixed("to_tail").between("r0", "tail"))
    };
    for n in [1, 2, 5] {
        let error = refused(ring(n).build(), &["`r0`", "`world`"]);
        let Error::Cycle { mut links } = error else {
            panic!("{error}")
        };
        links.sort();
        assert_eq!(links, (0..n).map(|i| format!("r{i}")).collect::<Vec<_>>());
    }
    refused(ring(100).build(), &["and 92 more"]);
}

#[test]
fn lists_have_none_or_one_or_all() {
    let joint = |edit: fn(&mut Joint)| {
        let mut joint = Joint::universal("elbow", Z, [1.0, 0.0, 0.0]);
        edit(&mut joint);
        with_elbow(joint).build()
    };
    refused(joint(|j| j.armature = vec![0.1; 3]), &["`elbow`", "armature", "3"]);
    refused(joint(|j| j.damping = vec![-0.1]), &["`elbow`", "damping", "-0.1"]);
    refused(
        joint(|j| j.friction = vec![0.0, f64::NAN]),
        &["`elbow`", "friction", "NaN"],
    );
    refused(joint(|j| j.stiffness = vec![f64::INFINITY]), &["`elbow`", "stiffness"]);
    refused(joint(|j| j.rest = vec![0.0]), &["`elbow`", "rest", "2"]);
    refused(joint(|j| j.rest = vec![0.0, f64::NAN]), &["`elbow`", "rest"]);
    refused(
        joint(|j| j.position_limits = vec![(0.0, 1.0); 3]),
        &["`elbow`", "position_limits"],
    );
    refused(
        joint(|j| j.position_limits = vec![(1.0, 0.0)]),
        &["`elbow`", "1 to 0", "lower one first"],
    );
    refused(
        joint(|j| j.position_limits = vec![(f64::NAN, 0.0)]),
        &["`elbow`", "limits"],
    );
    refused(joint(|j| j.velocity_limit = vec![-1.0]), &["`elbow`", "velocity_limit"]);
    refused(joint(|j| j.effort_limit = vec![f64::NAN]), &["`elbow`", "effort_limit"]);
    assert!(joint(|j| j.armature = vec![0.1, 0.2]).is_ok());
    assert!(joint(|j| j.effort_limit = vec![f64::INFINITY]).is_ok());
    refused(
        with_elbow(Joint::fixed("elbow").armature(1.0)).build(),
        &["`elbow` (fixed)", "armature"],
    );
    refused(
        with_elbow(Joint::continuous("elbow", Z).position_limits(0.0, 1.0)).build(),
        &["`elbow`", "revolute"],
    );
    let spring = Joint::spherical("elbow").spring(1.0, &[0.0, 0.0, 0.0, 2.0]);
    refused(with_elbow(spring).build(), &["`elbow`", "quaternion"]);
    // Limits of a spherical joint are three, not four.
    let mut joint = Joint::spherical("elbow");
    joint.position_limits = vec![(-1.0, 1.0); 4];
    refused(with_elbow(joint).build(), &["`elbow`", "position_limits"]);
}

#[test]
fn springs_rest_where_joints_can_be() {
    let spring = |rest: f64| with_elbow(Joint::revolute("elbow", Z).spring(1.0, &[rest]));
    refused(spring(1e61).build(), &["`elbow`", "rest", "1e60"]);
    refused(spring(f64::NEG_INFINITY).build(), &["`elbow`", "rest", "-inf"]);
    let far = spring(-1e60).build().unwrap();
    let mut out = [0.0; 2];
    let mut workspace = far.workspace();
    let mut posed = workspace.at(&[0.0; 2]).unwrap();
    posed.moving(&[0.0; 2]).unwrap().passive_torque(&mut out).unwrap();
    assert_eq!(out, [0.0, -1e60]);
    // A follower's spring rests where its leader's coordinate may be none.
    let leader = far.joints()[0].name.clone();
    let geared = |ratio: f64| spring(1e50).couple(Coupling::gear("elbow", leader.clone(), ratio, 0.0));
    refused(geared(1e-20).build(), &[&format!("`{leader}`"), "rest", "1e60"]);
    assert!(geared(1e-5).build().is_ok());
}

#[test]
fn something_must_resist_every_joint() {
    let two = |first: Link, inner: Joint, second: Link, outer: Joint| {
        Mechanism::builder("two")
            .link(first)
            .link(second)
            .joint(inner.between("world", "first"))
            .joint(outer.between("first", "second"))
            .build()
    };
    let (first, second) = (|| Link::massless("first"), || Link::massless("second"));
    let hinge = |name: &str| Joint::revolute(name, Z);

    // A massless tip, and one whose mass is on the axis.
    let error = refused(
        two(ball("first"), hinge("a"), second(), hinge("b")),
        &["`b`", "`second`", "armature"],
    );
    assert!(matches!(error, Error::NoInertia { index: 0, .. }));
    let on_axis = Link::new("second", Inertia::point(1.0, [0.0, 0.0, 3.0]));
    refused(two(ball("first"), hinge("a"), on_axis.clone(), hinge("b")), &["`b`"]);
    // Off the axis, with an armature, along a slide, or welded, it is fine.
    assert!(two(ball("first"), hinge("a"), on_axis.clone(), hinge("b").armature(1e-3)).is_ok());
    assert!(two(ball("first"), hinge("a"), on_axis.clone(), Joint::prismatic("b", Z)).is_ok());
    assert!(two(ball("first"), hinge("a"), second(), Joint::fixed("b")).is_ok());
    let off_axis = Link::new("second", Inertia::point(1.0, [0.1, 0.0, 3.0]));
    assert!(two(ball("first"), hinge("a"), off_axis.clone(), hinge("b")).is_ok());
    // A point mass does not resist spinning about its arm.
    refused(
        two(ball("first"), hinge("a"), off_axis, Joint::spherical("b")),
        &["`b`"],
    );
    // A massless link may stand between joints that are not about the same line.
    let apart = |x| hinge("b").at([x, 0.0, 0.0]);
    assert!(two(first(), hinge("a"), ball("second"), apart(0.5)).is_ok());
    refused(two(first(), hinge("a"), ball("second"), apart(0.0)), &["`a`"]);
    // Momentarily on the axis at q = 0, but not for long.
    let swing = Joint::revolute("b", [1.0, 0.0, 0.0]);
    assert!(two(first(), hinge("a"), on_axis, swing).is_ok());
    // What is welded to a massless link counts.
    let welded = Joint::fixed("b").at([1.0, 0.0, 0.0]);
    assert!(
        two(
            first(),
            hinge("a"),
            Link::new("second", Inertia::point(1.0, [0.0; 3])),
            welded
        )
        .is_ok()
    );
    // A massless free base, and a free one of a single point.
    refused(two(first(), Joint::free("a"), ball("second"), hinge("b")), &["`a`"]);
    let point = Link::new("first", Inertia::point(1.0, [0.0; 3]));
    refused(
        two(point, Joint::free("a"), ball("second"), Joint::spherical("b")),
        &["`a`"],
    );
}

#[test]
fn what_a_joint_further_out_yields_resists_nothing() {
    let body = Inertia::new(1.0, [0.1, 0.2, 0.3], [0.1, 0.0, 0.0, 0.1, 0.0, 0.1]);
    let kinds: [fn(&str) -> Joint; 3] = [|n| Joint::free(n), |n| Joint::translation(n), |n| Joint::spherical(n)];
    for (i, kind) in kinds.into_iter().enumerate() {
        for seed in 0..50 {
            let s = f64::from(seed);
            let turned = Pose::new(Rotation::from_rpy(s, 0.3 * s, -s), [0.1 * s, 0.2, -0.3]);
            let between = |links: usize, held: Inertia| {
                let mut builder = Mechanism::builder("coincident").link(Link::new("held", held));
                let mut inner = "world".to_owned();
                for l in 0..links {
                    let (name, joint) = (format!("massless{l}"), kind(&format!("j{l}")));
                    builder = builder.link(Link::massless(&name)).joint(joint.between(inner, &name));
                    inner = name;
                }
                builder.joint(kind("last").between(inner, "held")).build()
            };
            let held = if seed == 0 { body } else { body.seen_from(&turned) };
            assert!(between(0, held).is_ok());
            for links in 1..4 {
                let error = refused(between(links, held), &["nothing resists joint `j"]);
                assert!(matches!(error, Error::NoInertia { .. }), "{i} {seed}");
            }
        }
    }
}

#[test]
fn followers_are_resisted_through_their_leaders() {
    // Each with a mass or without, side by side or one on the other.
    let pair = |masses: [bool; 2], on: &str, coupling: Coupling| {
        let link = |name: &str, massive: bool| {
            if massive { ball(name) } else { Link::massless(name) }
        };
        Mechanism::builder("pair")
            .link(link("first", masses[0]))
            .link(link("second", masses[1]))
            .joint(Joint::revolute("j", Z).between("world", "first"))
            .joint(Joint::revolute("k", Z).between(on, "second").at([0.1, 0.0, 0.0]))
            .couple(coupling)
            .build()
    };
    let gear = |ratio| Coupling::gear("k", "j", ratio, 0.0);
    for on in ["world", "first"] {
        for masses in [[true, false], [false, true], [true, true]] {
            let m = pair(masses, on, gear(2.0)).unwrap();
            assert!(m.mass_matrix(&[0.3]).unwrap()[0] > 0.0);
            assert!(m.forward_dynamics(&[0.3], &[0.1], &[1.0]).unwrap()[0].is_finite());
        }
        refused(pair([false; 2], on, gear(2.0)), &["nothing resists joint `j`"]);
    }
    // Nothing resists a leader whose heavy follower stands still, nor one whose follower turns back what it turns.
    refused(pair([false, true], "world", gear(0.0)), &["`j`"]);
    let back = |at: f64| {
        Mechanism::builder("back")
            .link(Link::massless("first"))
            .link(ball("second"))
            .joint(Joint::revolute("j", Z).between("world", "first"))
            .joint(Joint::revolute("k", Z).between("first", "second").at([at, 0.0, 0.0]))
            .couple(gear(-1.0))
            .build()
    };
    refused(back(0.0), &["`j`"]);
    assert!(back(0.1).is_ok());
    // A group that closes on a link further in, past a joint of its own; and couplings that end.
    let arm = |massive: bool, joint: Joint| {
        let tip = if massive { ball("tip") } else { Link::massless("tip") };
        let root = Coupling::function("k", "j", |y: f64| [y.sqrt(), 0.5 / y.sqrt(), -0.25 / (y * y.sqrt())]);
        Mechanism::builder("arm")
            .link(ball("base"))
            .link(Link::massless("inner"))
            .link(Link::massless("outer"))
            .link(tip)
            .joint(joint.between("world", "base"))
            .joint(
                Joint::revolute("j", Z)
                    .between("base", "inner")
                    .position_limits(0.5, 2.0),
            )
            .joint(Joint::revolute("free", Z).between("inner", "outer").at([0.2, 0.0, 0.0]))
            .joint(Joint::revolute("k", Z).between("outer", "tip").at([0.3, 0.0, 0.0]))
            .couple(root)
            .build()
    };
    assert!(arm(true, Joint::free("float")).is_ok());
    assert!(arm(true, Joint::prismatic("float", Z)).is_ok());
    refused(arm(false, Joint::free("float")), &["nothing resists"]);
}

#[test]
fn numbers_of_a_table_are_named_by_row() {
    for convention in [Dh::Standard, Dh::Modified] {
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            for (i, name) in ["theta", "d", "a", "alpha"].into_iter().enumerate() {
                let row = DhRow::revolute(0.1, 0.5, 0.3).inertia(Inertia::sphere(1.0, 0.1));
                let mut rows = [row.clone(), row.clone(), row];
                let second = &mut rows[1];
                *[&mut second.theta, &mut second.d, &mut second.a, &mut second.alpha][i] = bad;
                let built = Builder::from_dh("table", convention, &rows).build();
                refused(built, &["`joint2`", &format!(" {name} = {bad};")]);
            }
        }
    }
}

#[test]
fn long_chains_build_quickly_and_without_recursion() {
    const N: usize = 200_000;
    let chain = |doubtful: bool| {
        let mut builder = Mechanism::builder("chain");
        // Tip first, so that nothing is in order; every second link without mass makes the slow check run.
        for i in (1..=N).rev() {
            let name = format!("link{i}");
            let mass = if doubtful && i % 2 == 1 {
                Inertia::ZERO
            } else {
                Inertia::rod(1.0, [0.1, 0.0, 0.0])
            };
            let inner = if i == 1 {
                "world".to_owned()
            } else {
                format!("link{}", i - 1)
            };
            let joint = Joint::revolute(format!("joint{i}"), Vec3::new(0.0, 1.0, 0.0)).between(inner, &name);
            builder = builder.link(Link::new(&name, mass)).joint(joint.at([0.1, 0.0, 0.0]));
        }
        builder
    };
    for doubtful in [false, true] {
        let builder = chain(doubtful);
        let start = std::time::Instant::now();
        let mechanism = builder.build().unwrap();
        assert_eq!(mechanism.nv(), N);
        assert!(start.elapsed().as_secs_f64() < 10.0, "{:?}", start.elapsed());
        println!("{N} links, doubtful {doubtful}: {:?}", start.elapsed());
    }
}
