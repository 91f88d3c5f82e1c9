"""Inverse kinematics of pytracik, pin-pink and mink on the problems that `ik_speed` wrote, as lines of a table.

Usage: motion_peers.py DIRECTORY. Per robot there are NAME.urdf, NAME.xml and NAME.json: the frame, a start, and targets that are
reachable within limits. A robot whose base floats has no targets: three of its tips are to rise by 2 cm, and the posture counts too.
Poses are checked by Pinocchio's kinematics, whoever found them.
"""

import importlib.metadata
import json
import pathlib
import sys
import time

import mink
import mujoco
import numpy as np
import pink
import pinocchio as pin
import pytracik

CLOSE = 1e-6
SOLVER = "daqp"
TRACIK_POSES, STEPPED_POSES, STEPS = 1000, 100, 100


def least(call, rounds=30, times=20):
    """Microseconds of the quickest round."""
    best = np.inf
    for _ in range(rounds):
        start = time.perf_counter()
        for _ in range(times):
            call()
        best = min(best, (time.perf_counter() - start) / times)
    return best * 1e6


def row(robot, who, solved, median, step):
    cells = [robot, who, *("" if x is None else x for x in (solved, median, step))]
    print("| " + " | ".join(cells) + " |", flush=True)


def summary(solved, times):
    return f"{100 * np.mean(solved):.1f} % of {len(times)}", f"{np.median(times) * 1e6:.0f} µs"


class Kinematics:
    """Pinocchio's word on where a frame is."""

    def __init__(self, urdf, frame):
        self.model = pin.buildModelFromUrdf(str(urdf))
        self.data, self.frame = self.model.createData(), self.model.getFrameId(frame)

    def is_there(self, q, target):
        full = pin.neutral(self.model)
        full[: len(q)] = q
        pin.framesForwardKinematics(self.model, self.data, full)
        here = self.data.oMf[self.frame]
        turn = np.linalg.norm(pin.log3(here.rotation.T @ target[:3, :3]))
        return max(turn, np.linalg.norm(here.translation - target[:3, 3])) < CLOSE


def tracik(name, folder, problem, known):
    urdf = (folder / f"{name}.urdf").read_text()
    solver = pytracik.TRAC_IK(problem["base"], problem["frame"], urdf, 0.005, 0.5 * CLOSE, pytracik.SolveType.Speed)
    joints = pytracik.get_num_joints(solver)
    # It takes soft limits of a safety controller for hard ones.
    lower, upper = known.model.lowerPositionLimit[:joints], known.model.upperPositionLimit[:joints]
    pytracik.set_joint_limits(solver, lower, upper)
    start, times, solved = np.array(problem["start"][:joints]), [], []
    for target in problem["targets"][:TRACIK_POSES]:
        target = np.array(target).reshape(4, 4)
        x, y, z, w = pin.Quaternion(target[:3, :3].copy()).coeffs()
        clock = time.perf_counter()
        found = pytracik.ik(solver, start, *target[:3, 3], x, y, z, w)
        times.append(time.perf_counter() - clock)
        # Its answer is a count of solutions and the joints.
        solved.append(found[0] >= 0 and known.is_there(found[1 : 1 + joints], target))
    row(name, "pytracik", *summary(solved, times), None)


def stepped(name, who, problem, known, step, place):
    """Steps of a differential solver from the start until the goal is met, without restarts."""
    times, solved = [], []
    for target in problem["targets"][:STEPPED_POSES]:
        target = np.array(target).reshape(4, 4)
        clock, q = time.perf_counter(), place(target)
        done = False
        for _ in range(STEPS):
            try:
                q, error = step(q)
            except Exception:  # Their programs may have no answer.
                break
            if error < 0.5 * CLOSE:
                done = True
                break
        times.append(time.perf_counter() - clock)
        solved.append(done and known.is_there(q, target))
    return summary(solved, times)


def pink_race(name, folder, problem, known):
    free = problem["floating"]
    urdf = str(folder / f"{name}.urdf")
    model = pin.buildModelFromUrdf(urdf, pin.JointModelFreeFlyer()) if free else pin.buildModelFromUrdf(urdf)
    data = model.createData()
    q = pin.neutral(model)
    if not free:
        q[: len(problem["start"])] = problem["start"][: model.nq]
    configuration = pink.Configuration(model, data, q)
    frames = problem["tips"] if free else [problem["frame"]]
    tasks = []
    for frame in frames:
        task = pink.tasks.FrameTask(frame, position_cost=1.0, orientation_cost=1.0, lm_damping=1e-6)
        there = configuration.get_transform_frame_to_world(frame)
        task.set_target(pin.SE3(there.rotation, there.translation + np.array([0.0, 0.0, 0.02])))
        tasks.append(task)
    if free:
        posture = pink.tasks.PostureTask(cost=0.1)
        posture.set_target(q)
        tasks.append(posture)

    def one():
        configuration.update(q)
        pink.solve_ik(configuration, tasks, 0.01, solver=SOLVER, safety_break=False)

    took = f"{least(one):.0f} µs"
    if free:
        return row(name, "pin-pink", None, None, took)
    task = tasks[0]

    def place(target):
        task.set_target(pin.SE3(target[:3, :3], target[:3, 3]))
        return q

    def step(at):
        configuration.update(at)
        v = pink.solve_ik(configuration, tasks, 1.0, solver=SOLVER, safety_break=False, limits=[model_limit])
        at = pin.integrate(model, at, v)
        configuration.update(at)
        return at, np.abs(task.compute_error(configuration)).max()

    model_limit = pink.limits.ConfigurationLimit(model)
    row(name, "pin-pink", *stepped(name, "pin-pink", problem, known, step, place), took)


def mink_race(name, folder, problem, known):
    free = problem["floating"]
    model = mujoco.MjModel.from_xml_path(str(folder / f"{name}.xml"))
    configuration = mink.Configuration(model)
    q = configuration.q.copy()
    if not free:
        q[: len(problem["start"])] = problem["start"][: model.nq]
    configuration.update(q)
    frames = problem["tips"] if free else [problem["frame"]]
    tasks = []
    for frame in frames:
        kind = "body" if mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, frame) >= 0 else "site"
        task = mink.FrameTask(frame, kind, position_cost=1.0, orientation_cost=1.0, lm_damping=1e-6)
        there = configuration.get_transform_frame_to_world(frame, kind)
        shift = mink.SE3.from_translation(np.array([0.0, 0.0, 0.02]))
        task.set_target(shift @ there)
        tasks.append(task)
    if free:
        posture = mink.PostureTask(model, cost=0.1)
        posture.set_target(q)
        tasks.append(posture)
    limits = [mink.ConfigurationLimit(model)]

    def one():
        configuration.update(q)
        mink.solve_ik(configuration, tasks, 0.01, SOLVER, limits=limits)

    took = f"{least(one):.0f} µs"
    if free:
        return row(name, "mink", None, None, took)
    task = tasks[0]

    def place(target):
        task.set_target(mink.SE3.from_matrix(target))
        return q

    def step(at):
        configuration.update(at)
        v = mink.solve_ik(configuration, tasks, 1.0, SOLVER, limits=limits)
        at = configuration.integrate(v, 1.0)
        configuration.update(at)
        return at, np.abs(task.compute_error(configuration)).max()

    row(name, "mink", *stepped(name, "mink", problem, known, step, place), took)


def main():
    folder = pathlib.Path(sys.argv[1])
    for file in sorted(folder.glob("*.json")):
        name, problem = file.stem, json.loads(file.read_text())
        known = None if problem["floating"] else Kinematics(folder / f"{name}.urdf", problem["frame"])
        racers = [pink_race, mink_race] if problem["floating"] else [tracik, pink_race, mink_race]
        for race in racers:
            try:
                race(name, folder, problem, known)
            except Exception as problem_of_theirs:  # One that cannot run does not end the race.
                row(name, race.__name__.split("_")[0], f"did not run: {problem_of_theirs}", None, None)
    names = ("pytracik", "pin-pink", "mink", "pin", "mujoco", SOLVER)
    print("\n" + ", ".join(f"{n} {importlib.metadata.version(n)}" for n in names))


main()
