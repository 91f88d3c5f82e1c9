"""Coming from other libraries: what they call things, and their coordinates.

| | Linkwork | Pinocchio | MuJoCo |
|---|---|---|---|
| spatial vectors | [ω; v], [N; F] | [v; ω], [F; N] | [ω; v], at the subtree's centre of mass |
| quaternion | x, y, z, w | x, y, z, w | w, x, y, z |
| q of a free joint | quaternion, position | position, quaternion | position, quaternion |
| v of a free joint | [ω; v], the link's axes | [v; ω], the link's axes | v in the world's axes, ω in the link's |
| joint without end | an angle | its cosine and sine | an angle |
| order of joints | of the file | depth first, by name | depth first, of the file |
| `m.forward_dynamics(q, qd, tau)` | | `pin.aba(model, data, q, v, tau)` | `mj_forward`, `data.qacc` |
| `m.inverse_dynamics(q, qd, qdd)` | | `pin.rnea(model, data, q, v, a)` | `mj_inverse`, `data.qfrc_inverse` |
| `m.mass_matrix(q)` | | `pin.crba(model, data, q)` | `mj_fullM` |
| `m.pose(q, "tool")` | | `pin.framesForwardKinematics`, `data.oMf` | `mj_kinematics`, `data.xpos`, `data.xmat` |
| `m.jacobian(q, "tool", "local")` | | `pin.computeFrameJacobian(…, LOCAL)` | – |
| `m.jacobian(q, "tool", "aligned")` | | `…, LOCAL_WORLD_ALIGNED` | `mj_jacBody` |
| `m.integrate(q, v)`, `m.difference(q0, q1)` | | `pin.integrate`, `pin.difference` | `mj_integratePos`, `mj_differentiatePos` |
| `m.rollout(q, qd, tau, dt=…)` | | – | `mujoco.rollout` |

`linkwork.compat.pinocchio.Coordinates` and `linkwork.compat.mujoco.Coordinates` convert.
"""
