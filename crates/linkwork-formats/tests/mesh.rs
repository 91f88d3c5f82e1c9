//! Meshes: five ways to write one, what they enclose, and damage.

use linkwork::spatial::{Inertia, Rotation, Vec3};
use linkwork_formats::{Mesh, MeshFormat};
use std::fmt::Write;

/// A box with a corner at the origin.
fn cuboid(edges: [f64; 3]) -> Mesh {
    let corner = |i: usize| {
        Vec3::from(core::array::from_fn::<_, 3, _>(|k| {
            edges[k] * f64::from((i >> k & 1) as u8)
        }))
    };
    let quads = [
        [0, 2, 3, 1],
        [4, 5, 7, 6],
        [0, 1, 5, 4],
        [2, 6, 7, 3],
        [0, 4, 6, 2],
        [1, 3, 7, 5],
    ];
    Mesh {
        vertices: (0..8).map(corner).collect(),
        triangles: quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect(),
    }
}

/// Numbers between −1 and 1.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    fn point(&mut self) -> Vec3 {
        Vec3::new(self.next(), self.next(), self.next())
    }
}

fn close(a: &[f64], b: &[f64], tolerance: f64) -> bool {
    let size = b.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    a.iter().zip(b).all(|(x, y)| (x - y).abs() <= tolerance * size)
}

fn stl(mesh: &Mesh) -> Vec<u8> {
    let mut bytes = b"solid of binary".to_vec();
    bytes.resize(80, 0);
    bytes.extend((mesh.triangles.len() as u32).to_le_bytes());
    for t in &mesh.triangles {
        bytes.extend([0; 12]);
        for i in t {
            bytes.extend(
                mesh.vertices[*i as usize]
                    .to_array()
                    .iter()
                    .flat_map(|x| (*x as f32).to_le_bytes()),
            );
        }
        bytes.extend([0; 2]);
    }
    bytes
}

fn stl_text(mesh: &Mesh) -> String {
    let mut text = String::from("solid box\n");
    for t in &mesh.triangles {
        text += " facet normal 0 0 0\n  outer loop\n";
        for i in t {
            let [x, y, z] = mesh.vertices[*i as usize].to_array();
            let _ = writeln!(text, "   vertex {x} {y} {z}");
        }
        text += "  endloop\n endfacet\n";
    }
    text + "endsolid\n"
}

fn obj(mesh: &Mesh) -> String {
    let mut text = String::from("# a comment\nvn 0 0 1\n");
    for v in &mesh.vertices {
        let _ = writeln!(text, "v {} {} {}", v.x, v.y, v.z);
    }
    // Forwards and backwards, with and without normals.
    for [a, b, c] in &mesh.triangles {
        let _ = writeln!(
            text,
            "f {}//1 {} {}",
            a + 1,
            b + 1,
            i64::from(*c) - mesh.vertices.len() as i64
        );
    }
    text
}

fn msh(mesh: &Mesh) -> Vec<u8> {
    let counts = [mesh.vertices.len() as u32, 1, 1, mesh.triangles.len() as u32];
    let mut bytes: Vec<u8> = counts.iter().flat_map(|n| n.to_le_bytes()).collect();
    let numbers = mesh.vertices.iter().flat_map(|v| v.to_array());
    bytes.extend(numbers.chain([0.0; 5]).flat_map(|x| (x as f32).to_le_bytes()));
    bytes.extend(mesh.triangles.iter().flatten().flat_map(|i| i.to_le_bytes()));
    bytes
}

/// In centimetres, turned and moved by a node, mirrored by another.
fn dae(mesh: &Mesh) -> String {
    let back = |v: &Vec3| Vec3::new(-100.0 * v.y, 100.0 * v.x, 100.0 * v.z);
    let positions: String = mesh
        .vertices
        .iter()
        .map(back)
        .map(|v| format!("{} {} {} ", -(v.x), v.y, v.z - 5.0))
        .collect();
    // Each corner has a normal too; the mirror turns triangles around.
    let corners: String = mesh
        .triangles
        .iter()
        .map(|[a, b, c]| format!("{a} 0 {c} 0 {b} 0 "))
        .collect();
    let counts = "3 ".repeat(mesh.triangles.len());
    format!(
        r##"<?xml version="1.0"?><COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset><unit name="centimeter" meter="0.01"/><up_axis>Y_UP</up_axis></asset>
<library_geometries><geometry id="g"><mesh>
<source id="p"><float_array id="pa" count="24">{positions}</float_array></source>
<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
<polylist count="12"><input semantic="VERTEX" source="#v" offset="0"/><input semantic="NORMAL" source="#n" offset="1"/>
<vcount>{counts}</vcount><p>{corners}</p></polylist></mesh></geometry></library_geometries>
<library_visual_scenes><visual_scene id="s"><node><rotate>0 0 1 -90</rotate>
<node><translate>0 0 5</translate><matrix>-1 0 0 0  0 1 0 0  0 0 1 0  0 0 0 1</matrix><instance_geometry url="#g"/></node></node>
</visual_scene></library_visual_scenes><scene><instance_visual_scene url="#s"/></scene></COLLADA>"##
    )
}

#[test]
fn five_ways_to_write_a_mesh_give_the_same() {
    let whole = cuboid([0.5, 0.25, 2.0]);
    let expect = whole.solid();
    for (name, bytes, format) in [
        ("binary STL", stl(&whole), MeshFormat::Stl),
        ("text STL", stl_text(&whole).into_bytes(), MeshFormat::Stl),
        ("OBJ", obj(&whole).into_bytes(), MeshFormat::Obj),
        ("MSH", msh(&whole), MeshFormat::Msh),
        ("DAE", dae(&whole).into_bytes(), MeshFormat::Dae),
    ] {
        let mesh = Mesh::read(&bytes, format).unwrap_or_else(|e| panic!("{name}: {e}"));
        let got = mesh.solid();
        assert_eq!((mesh.vertices.len(), mesh.triangles.len()), (8, 12), "{name}");
        assert!((got.measure - expect.measure).abs() < 1e-14, "{name}: {got:?}");
        assert!((got.centre - expect.centre).norm() < 1e-14, "{name}: {got:?}");
        assert!(close(&got.inertia, &expect.inertia, 1e-13), "{name}");
        let sound = mesh.soundness();
        assert!(sound.closed && !sound.inverted, "{name}");
    }
}

#[test]
fn moments_are_those_of_bodies_that_are_known() {
    let edges = [0.3, 0.5, 0.7];
    let mesh = cuboid(edges);
    let body = mesh.solid().body(2.0);
    let known = Inertia::cuboid(2.0, edges);
    assert!((body.com - Vec3::from(edges) * 0.5).norm() < 1e-15);
    assert!(close(&body.moments, &known.moments, 1e-14));
    // A convex body is seen whole from within.
    let over = mesh.overestimate();
    assert!(close(&over.inertia, &mesh.solid().inertia, 1e-14));
    // A shell is the body grown a little, less the body.
    let grow = 1e-5;
    let [outer, inner] = [1.0, -1.0].map(|s| cuboid(edges.map(|e| e + s * grow)).solid());
    let plate = mesh.shell();
    let difference: [f64; 6] = core::array::from_fn(|i| (outer.inertia[i] - inner.inertia[i]) / grow);
    assert!(
        close(&plate.inertia, &difference, 1e-8),
        "{:?} {difference:?}",
        plate.inertia
    );
    assert!((plate.measure - 2.0 * (0.15 + 0.35 + 0.21)).abs() < 1e-14);
}

#[test]
fn moments_do_not_depend_on_where_a_mesh_is_and_turn_with_it() {
    let mesh = cuboid([0.3, 0.5, 0.7]);
    let turn = Rotation::about(Vec3::new(1.0, -2.0, 0.5), 0.7);
    let moved = Mesh {
        vertices: mesh
            .vertices
            .iter()
            .map(|v| turn * *v + Vec3::new(0.5, -0.25, 0.125) * 1e4)
            .collect(),
        ..mesh.clone()
    };
    let (here, there) = (mesh.solid(), moved.solid());
    assert!((here.measure - there.measure).abs() < 1e-9 * here.measure);
    let straight = here.body(1.0);
    let place = linkwork::spatial::Pose::new(turn, Vec3::ZERO);
    assert!(close(
        &there.body(1.0).moments,
        &straight.seen_from(&place).moments,
        1e-9
    ));
    // Mirrored triangles are turned back.
    let mirror = mesh.scaled(Vec3::new(2.0, -1.0, 1.0));
    assert!((mirror.solid().measure - 2.0 * here.measure).abs() < 1e-15);
}

#[test]
fn a_hull_is_closed_and_convex_and_holds_every_point() {
    let mut random = Random(7);
    for n in [4, 5, 20, 500, 3000] {
        // In a ball, on a sphere, and on a grid, whose points lie in common planes.
        let ball: Vec<Vec3> = (0..n).map(|_| random.point()).filter(|p| p.norm() < 1.0).collect();
        let sphere: Vec<Vec3> = (0..n).map(|_| random.point()).map(|p| p * (1.0 / p.norm())).collect();
        let grid: Vec<Vec3> = (0..n)
            .map(|i| {
                Vec3::new(
                    f64::from(i % 5) * 0.1,
                    f64::from(i / 5 % 7) * 0.3,
                    f64::from(i / 35) * 0.7,
                )
            })
            .collect();
        for vertices in [ball, sphere, grid] {
            let cloud = Mesh {
                vertices,
                triangles: Vec::new(),
            };
            let Ok(hull) = cloud.hull() else {
                assert!(n < 36, "{n} points span a hull");
                continue;
            };
            let sound = hull.soundness();
            assert!(sound.closed && !sound.inverted, "{n}");
            // Euler: V − E + F = 2.
            assert_eq!(2 * hull.vertices.len(), hull.triangles.len() + 4, "{n}");
            for t in &hull.triangles {
                let [a, b, c] = t.map(|i| hull.vertices[i as usize]);
                let normal = (b - a).cross(c - a);
                let above = |p: &Vec3| normal.dot(*p - a) > 1e-10 * normal.norm();
                assert!(!cloud.vertices.iter().any(above), "{n}");
            }
        }
    }
    // All points of a grid: the hull is a box.
    let grid = (0..4 * 5 * 6).map(|i| Vec3::new(f64::from(i % 4), f64::from(i / 4 % 5), f64::from(i / 20)));
    let cloud = Mesh {
        vertices: grid.collect(),
        triangles: Vec::new(),
    };
    assert!((cloud.hull().unwrap().solid().measure - 60.0).abs() < 1e-12);
    let flat = Mesh {
        vertices: (0..9)
            .map(|i| Vec3::new(f64::from(i % 3), f64::from(i / 3), 1.0))
            .collect(),
        triangles: Vec::new(),
    };
    assert!(flat.hull().is_err());
}

#[test]
fn open_and_inverted_meshes_are_told() {
    let mut mesh = cuboid([1.0; 3]);
    mesh.triangles.pop();
    assert!(!mesh.soundness().closed);
    let mut mesh = cuboid([1.0; 3]);
    mesh.triangles.iter_mut().for_each(|t| t.swap(1, 2));
    let sound = mesh.soundness();
    assert!(sound.closed && sound.inverted);
    assert!((mesh.solid().measure + 1.0).abs() < 1e-15);
    // One triangle the wrong way round.
    let mut mesh = cuboid([1.0; 3]);
    mesh.triangles[3].swap(1, 2);
    assert!(!mesh.soundness().closed);
}

#[test]
fn damaged_files_are_refused_or_read_without_harm() {
    let whole = cuboid([0.5, 0.25, 2.0]);
    let mut random = Random(3);
    let mut below = |n: usize| ((random.next() + 1.0) * 0.5 * n as f64) as usize % n.max(1);
    for (bytes, format) in [
        (stl(&whole), MeshFormat::Stl),
        (stl_text(&whole).into_bytes(), MeshFormat::Stl),
        (obj(&whole).into_bytes(), MeshFormat::Obj),
        (msh(&whole), MeshFormat::Msh),
        (dae(&whole).into_bytes(), MeshFormat::Dae),
    ] {
        for _ in 0..3000 {
            let mut damaged = bytes.clone();
            for _ in 0..=below(3) {
                let at = below(damaged.len());
                match below(4) {
                    0 => damaged.truncate(at.max(1)),
                    1 => damaged[at] = [b'-', b'9', b'e', 0, 0xff, b'<'][below(6)],
                    2 => damaged[at] ^= 1 << below(8),
                    _ => drop(damaged.remove(at)),
                }
                if damaged.is_empty() {
                    break;
                }
            }
            if let Ok(mesh) = Mesh::read(&damaged, format) {
                let _ = (
                    mesh.solid(),
                    mesh.shell(),
                    mesh.overestimate(),
                    mesh.soundness(),
                    mesh.hull(),
                );
            }
        }
    }
    for (bytes, format, said) in [
        (&b""[..], MeshFormat::Stl, "too short"),
        (b"v 0 0\n", MeshFormat::Obj, "line 1"),
        (b"v 0 0 0\nf 1 2 9\n", MeshFormat::Obj, "corner"),
        (b"v 0 0 0\nf 1 -2 1\n", MeshFormat::Obj, "line 2"),
        (b"v 0 nan 0\n", MeshFormat::Obj, "not finite"),
        (&[1; 20], MeshFormat::Msh, "20 bytes"),
        (b"<a/>", MeshFormat::Dae, "COLLADA"),
    ] {
        let problem = Mesh::read(bytes, format).unwrap_err().to_string();
        assert!(problem.contains(said), "{problem}");
    }
}
