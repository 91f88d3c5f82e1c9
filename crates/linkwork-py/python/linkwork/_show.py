"""Models as pictures and in notebooks."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np

from . import _arrays
from ._linkwork import Error, Model


def plot(self: Model, q: Any = None) -> Any:
    """Draws links as lines from joint to joint with matplotlib, at q or at the neutral configuration, and returns the figure."""
    import matplotlib.pyplot as plt

    where = self.neutral() if q is None else _arrays.numbers("q", q)
    if where.shape != (self.nq,):
        raise Error(f"q has shape {where.shape}, but one state has ({self.nq},)")
    poses = dict(zip(self.link_names, self.link_poses(where)))
    poses["world"] = np.eye(4)
    figure = plt.figure(figsize=(6, 6))
    axes: Any = figure.add_subplot(projection="3d")
    for name in self.joint_names:
        joint = self.joint(name)
        ends = np.array([poses[joint[end]][:3, 3] for end in ("parent", "child")])
        axes.plot(*ends.T, marker="o", markersize=3, label=name)
    points = np.array([pose[:3, 3] for pose in poses.values()])
    centre, half = (points.max(0) + points.min(0)) / 2, max(float(np.ptp(points, axis=0).max()) / 2, 0.1)
    for axis, middle in zip("xyz", centre):
        getattr(axes, f"set_{axis}lim")(middle - half, middle + half)
        getattr(axes, f"set_{axis}label")(f"{axis} in m")
    axes.set_box_aspect((1, 1, 1))
    axes.set_title(self.name)
    return figure


def _repr_html_(self: Model) -> str:
    """A table of the joints, for notebooks."""
    lower, upper = self.lower, self.upper
    rows = []
    for name in self.moving_joint_names[:60]:
        joint, at = self.joint(name), self.q_slice(name)
        bounds = [f"{a:.4g} … {b:.4g}" for a, b in zip(lower[at], upper[at]) if np.isfinite([a, b]).any()]
        cells = (name, joint["kind"], f"{joint['parent']} → {joint['child']}", f"{at.start}:{at.stop}", ", ".join(bounds))
        rows.append("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>")
    more = len(self.moving_joint_names) - len(rows)
    if more > 0:
        rows.append(f"<tr><td colspan=5>and {more} more</td></tr>")
    head = "".join(f"<th>{word}</th>" for word in ("joint", "kind", "links", "q", "limits"))
    said = f"{len(self.link_names)} links, {len(self.joint_names)} joints, nq = {self.nq}, nv = {self.nv}, {self.mass:.4g} kg"
    return f"<b>{escape(self.name)}</b>: {said}<table><tr>{head}</tr>{''.join(rows)}</table>"


for method in (plot, _repr_html_):
    method.__qualname__ = f"Model.{method.__name__}"
    method.__module__ = "linkwork"
    setattr(Model, method.__name__, method)
