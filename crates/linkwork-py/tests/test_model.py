"""Models: files, names, limits, building and editing."""

import copy
import pickle
import subprocess
import sysconfig
from pathlib import Path

import numpy as np
import pytest

import linkwork as lw


@pytest.mark.parametrize("name", lw.examples())
def test_a_pickled_model_is_the_same_model(name):
    m = lw.Model.example(name)
    again = pickle.loads(pickle.dumps(m))
    assert again.text() == m.text() and again.joint_names == m.joint_names
    q = m.random(3, count=5)
    np.testing.assert_array_equal(again.mass_matrix(q), m.mass_matrix(q))
    assert copy.copy(m) is m and copy.deepcopy([m])[0] is m


def test_a_pickled_closed_model_keeps_its_loops(four_bar):
    again = pickle.loads(pickle.dumps(four_bar))
    q = four_bar.assemble([0.1, 1.3, 0.2])
    np.testing.assert_array_equal(again.constraint_jacobian(q), four_bar.constraint_jacobian(q))


@pytest.mark.parametrize("name", lw.examples())
def test_slices_and_limits_have_the_order_of_coordinates(name):
    m = lw.Model.example(name)
    covered = np.zeros(m.nq, int)
    for joint in m.joint_names:
        covered[m.q_slice(joint)] += 1
        kind = m.joint(joint)
        limits = kind["position_limits"]
        if len(limits) == 1 and kind["kind"] not in ("free", "spherical"):
            np.testing.assert_array_equal(m.lower[m.q_slice(joint)], limits[0][0])
            np.testing.assert_array_equal(m.upper[m.q_slice(joint)], limits[0][1])
    assert (covered == 1).all()
    assert len(m.lower) == len(m.upper) == m.nq
    assert len(m.effort_limit) == len(m.velocity_limit) == len(m.damping) == m.nv
    assert (m.lower <= m.upper).all()


@pytest.mark.parametrize("format, name", [("urdf", "arm.urdf"), ("mjcf", "arm.xml"), ("native", "arm.json")])
def test_files_of_every_format_are_written_and_read(arm, tmp_path, format, name):
    arm.save(tmp_path / name)
    again = lw.load(tmp_path / name)
    q = arm.random(1, count=4)
    np.testing.assert_allclose(again.mass_matrix(q), arm.mass_matrix(q), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(lw.read(arm.text(format), format).mass_matrix(q), again.mass_matrix(q), rtol=0, atol=0)


def test_files_that_are_wrong_say_where_and_what_to_do(tmp_path):
    path = tmp_path / "wrong.urdf"
    path.write_text('<robot name="r">\n<link name="a"/>\n<joint name="j" type="revolute"><parent link="a"/><child link="b"/></joint>\n</robot>')
    with pytest.raises(lw.FileError) as refused:
        lw.load(path)
    assert isinstance(refused.value, ValueError)
    assert any(f["line"] == 3 and f["severity"] == "error" for f in refused.value.report)
    with pytest.raises(lw.FileError, match="cannot be read"):
        lw.load(tmp_path / "nowhere.urdf")
    with pytest.raises(lw.Error, match="mode"):
        lw.load(path, mode="loosely")
    with pytest.raises(lw.Error, match="format of"):
        lw.Model.example("pendulum").save(tmp_path / "x.txt")


def test_reports_tell_of_repairs():
    text = lw.Model.example("arm7").text("urdf").replace("<limit", "<limit surplus='1'", 1)
    m = lw.read(text, "urdf", mode="repair")
    assert all({"severity", "line", "message", "advice"} <= set(f) for f in m.report)


def test_a_built_model_has_the_known_answer():
    b = lw.Builder("pendulum", gravity=[0, 0, -10.0])
    b.link("bob", lw.Inertia.point(2.0, [0, 0, -0.5]))
    b.joint("pivot", "revolute", "world", "bob", axis=[0, 1, 0], damping=0.1, position_limits=(-3, 3), effort_limit=5)
    m = b.build()
    np.testing.assert_allclose(m.forward_dynamics([0.4], [0.0], [0.0]), [-10 / 0.5 * np.sin(0.4)], rtol=1e-12)
    assert m.lower.tolist() == [-3] and m.damping.tolist() == [0.1] and m.effort_limit.tolist() == [5]
    assert m.joint("pivot")["kind"] == "revolute" and m.inertia("bob").mass == 2.0


@pytest.mark.parametrize(
    "kind, more, nq, nv",
    [
        ("fixed", {}, 0, 0),
        ("revolute", {"axis": [1, 0, 0]}, 1, 1),
        ("prismatic", {"axis": [1, 0, 0]}, 1, 1),
        ("helical", {"axis": [1, 0, 0], "pitch": 0.1}, 1, 1),
        ("cylindrical", {"axis": [1, 0, 0]}, 2, 2),
        ("universal", {"axis": [[1, 0, 0], [0, 1, 0]]}, 2, 2),
        ("planar", {}, 3, 3),
        ("translation", {}, 3, 3),
        ("spherical", {}, 4, 3),
        ("free", {}, 7, 6),
    ],
)
def test_joints_of_every_kind_are_built(kind, more, nq, nv):
    body = lw.Inertia.cuboid(1.0, [0.1, 0.2, 0.3]).seen_from([0.1, 0.2, 0.3])
    m = lw.Builder("one").link("body", body).joint("j", kind, "world", "body", at=[1, 2, 3], **more).build()
    assert (m.nq, m.nv) == (nq, nv)
    if nv:
        np.testing.assert_allclose(m.mass_matrix(m.random(1)) @ m.mass_matrix_inverse(m.random(1)), np.eye(nv), atol=1e-9)
    for wrong in ({"axis": [1, 0]}, {"pitch": 1.0} if kind != "helical" else {"axis": None}):
        with pytest.raises(lw.Error):
            lw.Builder("one").joint("j", kind, "world", "body", **{**more, **wrong})


def test_models_that_no_robot_can_have_are_refused():
    with pytest.raises(lw.Error, match="bob"):
        lw.Builder("x").link("bob", lw.Inertia.point(-1.0, [0, 0, 1])).build()
    with pytest.raises(lw.Error, match="not a kind of joint"):
        lw.Builder("x").joint("j", "elastic", "world", "bob")
    with pytest.raises(lw.Error, match="not a kind of loop"):
        lw.Builder("x").loop("l", "glue", "a", "b")


def test_edits_give_new_models(arm):
    assert arm.lock({"joint3": 0.5}).nv == 6
    loaded = arm.add_payload("flange", "tool", lw.Inertia.sphere(0.5, 0.05))
    assert loaded.mass == pytest.approx(arm.mass + 0.5)
    assert arm.with_floating_base().nv == 13
    two = arm.attach("flange", arm, "second_")
    assert two.nv == 14 and "second_joint1" in two.joint_names
    assert np.abs(arm.with_gravity([0, 0, 0]).gravity_torque(arm.random(1))).max() < 1e-12
    dog = lw.Model.example("quadruped")
    leg = dog.extract(dog.link_names[-1], "kept")
    assert 0 < leg.nv < dog.nv


def test_followers_have_no_coordinates():
    finger = lw.Inertia.point(0.1, [0, 0, 0.05])
    b = lw.Builder("gripper").link("left", finger).link("right", finger)
    b.joint("open", "prismatic", "world", "left", axis=[0, 1, 0]).joint("mirror", "prismatic", "world", "right", axis=[0, 1, 0])
    m = b.couple("mirror", "open", [0.0, -1.0]).build()
    assert m.nv == 1 and m.is_coupled and m.uncoupled().nv == 2
    np.testing.assert_allclose(m.mass_matrix([0.02]), [[0.2]])


def test_random_configurations_are_within_limits_and_repeat(arm):
    q = arm.random(5, count=50)
    assert ((arm.lower <= q) & (q <= arm.upper)).all()
    np.testing.assert_array_equal(q[3], arm.random(8))


def test_the_program_comes_with_the_package():
    program = Path(sysconfig.get_path("scripts")) / "linkwork"
    done = subprocess.run([program, "--version"], capture_output=True, text=True)
    assert done.returncode == 0 and lw.__version__ in done.stdout


def test_xacro_files_get_arguments_and_packages(tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "rod.xacro").write_text(
        """<robot xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:macro name="rod" params="name mass">
        <link name="${name}"><inertial><mass value="${mass}"/><inertia ixx=".1" iyy=".1" izz=".1" ixy="0" ixz="0" iyz="0"/></inertial></link>
        </xacro:macro></robot>"""
    )
    file = tmp_path / "arm.urdf.xacro"
    file.write_text(
        """<robot name="arm" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:arg name="mass" default="1"/>
        <xacro:include filename="$(find parts)/rod.xacro"/><link name="base"/><xacro:rod name="rod" mass="$(arg mass)"/>
        <joint name="j" type="continuous"><parent link="base"/><child link="rod"/><axis xyz="0 1 0"/></joint></robot>"""
    )
    named = lw.load(file, packages={"parts": tmp_path / "parts"}, arguments={"mass": "2.5"})
    assert named.inertia("rod").mass == 2.5
    assert lw.load(file, packages={"parts": tmp_path / "parts"}).inertia("rod").mass == 1.0
    with pytest.raises(lw.FileError, match="parts"):
        lw.load(file, arguments={"mass": "2.5"})


def test_a_model_shows_itself_in_notebooks_and_plots():
    m = lw.Model.example("arm7")
    page = m._repr_html_()
    assert "arm7" in page and all(name in page for name in m.moving_joint_names)
    plt = pytest.importorskip("matplotlib")
    plt.use("Agg")
    figure = m.plot(m.random(1))
    assert len(figure.axes[0].lines) == len(m.link_names)
    assert lw.Trajectory.minimum_jerk(m, m.neutral(), m.random(2), 1.0).plot().axes
    assert m.simulate(m.neutral(), seconds=0.01).plot().axes


def test_pickled_models_keep_how_they_touch():
    text = """<mujoco><asset><hfield name="hill" nrow="2" ncol="3" size="1 2 0.5 0.1" elevation="0 1 0 1 0 1"/></asset>
      <worldbody><geom type="hfield" hfield="hill"/>
        <body name="a"><freejoint/><geom size="0.1" friction="0.3 0.01 0.002" condim="6" contype="2" solref="0.05 1"/></body>
        <body name="b" pos="0 0 1"><joint/><geom type="box" size="0.1 0.2 0.3"/></body></worldbody>
      <contact><exclude body1="a" body2="b"/></contact></mujoco>"""
    m = lw.read(text, "mjcf")
    again = pickle.loads(pickle.dumps(m))
    kept = again.text("native")
    assert kept == m.text("native")
    for part in ["0.3,0.01,0.002", '"untouching"', '"terrains"', '"time_constant":0.05']:
        assert part in kept
