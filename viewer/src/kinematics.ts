// Where links are at a configuration, for files that no program stands behind. The library's own poses in the file say whether it is
// right: a file whose poses this does not meet has no sliders.

import { Quaternion, Vector3 } from "three";
import type { Joint, Loop, Pose, Scene } from "./scene";

export interface Placed {
  at: Vector3;
  turn: Quaternion;
}

const IDENTITY: Placed = { at: new Vector3(), turn: new Quaternion() };
const X = new Vector3(1, 0, 0), Y = new Vector3(0, 1, 0), Z = new Vector3(0, 0, 1);

export function placedOf(pose: ArrayLike<number>, start = 0): Placed {
  const number = (i: number) => pose[start + i];
  return { at: new Vector3(number(0), number(1), number(2)), turn: new Quaternion(number(3), number(4), number(5), number(6)) };
}

function product(a: Placed, b: Placed): Placed {
  return { at: b.at.clone().applyQuaternion(a.turn).add(a.at), turn: a.turn.clone().multiply(b.turn) };
}

/** exp of a rotation vector. */
function turned(by: Vector3): Quaternion {
  const angle = by.length();
  return angle > 0 ? new Quaternion().setFromAxisAngle(by.clone().divideScalar(angle), angle) : new Quaternion();
}

/** log of a rotation. */
function vectorOf(turn: Quaternion): Vector3 {
  const sign = turn.w < 0 ? -1 : 1;
  const part = new Vector3(turn.x, turn.y, turn.z).multiplyScalar(sign);
  const sine = part.length();
  return sine > 0 ? part.multiplyScalar((2 * Math.atan2(sine, sign * turn.w)) / sine) : part;
}

/** What a joint does at its coordinates. */
function motionOf(joint: Joint, q: ArrayLike<number>): Placed {
  const axis = new Vector3(...(joint.turns[0] ?? [0, 0, 1]));
  const about = (axis: Vector3, angle: number) => new Quaternion().setFromAxisAngle(axis, angle);
  switch (joint.kind) {
    case "fixed":
      return IDENTITY;
    case "prismatic":
      return { at: axis.multiplyScalar(q[0]), turn: new Quaternion() };
    case "helical":
      return { at: axis.clone().multiplyScalar(joint.pitch * q[0]), turn: about(axis, q[0]) };
    case "cylindrical":
      return { at: axis.clone().multiplyScalar(q[1]), turn: about(axis, q[0]) };
    case "universal":
      return { at: new Vector3(), turn: about(axis, q[0]).multiply(about(new Vector3(...joint.turns[1]), q[1])) };
    case "planar":
      return { at: new Vector3(q[1], q[2], 0), turn: about(Z, q[0]) };
    case "translation":
      return { at: new Vector3(q[0], q[1], q[2]), turn: new Quaternion() };
    case "spherical":
      return { at: new Vector3(), turn: new Quaternion(q[0], q[1], q[2], q[3]).normalize() };
    case "free":
      return { at: new Vector3(q[4], q[5], q[6]), turn: new Quaternion(q[0], q[1], q[2], q[3]).normalize() };
    default:
      return { at: new Vector3(), turn: about(axis, q[0]) };
  }
}

/** A follower's coordinate: cubics between the values and slopes that the library gave. */
function followed(curve: [number, number, number][], x: number): number {
  const last = curve.length - 1;
  let k = 0;
  while (k < last - 1 && curve[k + 1][0] < x) k++;
  const [x0, y0, s0] = curve[k];
  if (last === 0 || x <= x0) return y0 + s0 * (x - x0);
  const [x1, y1, s1] = curve[k + 1];
  if (x >= x1) return y1 + s1 * (x - x1);
  const h = x1 - x0, t = (x - x0) / h, u = 1 - t;
  return y0 * (1 + 2 * t) * u * u + y1 * t * t * (3 - 2 * t) + h * t * u * (s0 * u - s1 * t);
}

export class Kinematics {
  private order: number[] = [];
  private origins: Placed[];

  constructor(private scene: Scene) {
    this.origins = scene.joints.map((joint) => placedOf(joint.origin));
    const children = new Map<number, number[]>();
    scene.joints.forEach((joint, j) => children.set(joint.parent, [...(children.get(joint.parent) ?? []), j]));
    const carried = new Set(scene.joints.map((joint) => joint.child));
    const waiting = [-1, ...Array.from(scene.links.keys()).filter((i) => !carried.has(i))];
    while (waiting.length > 0) {
      for (const j of children.get(waiting.pop()!) ?? []) {
        this.order.push(j);
        waiting.push(scene.joints[j].child);
      }
    }
  }

  /** Coordinates of a joint, whether they are its own or follow another's. */
  coordinates(joint: Joint, q: ArrayLike<number>): ArrayLike<number> {
    if (!joint.curve) return Array.prototype.slice.call(q, joint.q[0], joint.q[1]);
    const leader = this.scene.joints.find((other) => other.name === joint.follows)!;
    return [followed(joint.curve, q[leader.q[0]])];
  }

  /** Where all links are. */
  place(q: ArrayLike<number>): Placed[] {
    const links: Placed[] = this.scene.links.map(() => IDENTITY);
    for (const j of this.order) {
      const joint = this.scene.joints[j];
      const parent = joint.parent < 0 ? IDENTITY : links[joint.parent];
      const moved = product(this.origins[j], motionOf(joint, this.coordinates(joint, q)));
      links[joint.child] = product(parent, moved);
    }
    return links;
  }

  poses(q: ArrayLike<number>): Float32Array {
    const numbers = this.place(q).flatMap(({ at, turn }) => [at.x, at.y, at.z, turn.x, turn.y, turn.z, turn.w]);
    return new Float32Array(numbers);
  }

  /** The farthest that a link is from where given poses have it, in metres and radians. */
  misses(q: ArrayLike<number>, poses: ArrayLike<number>): number {
    const away = this.place(q).map((here, i) => {
      const there = placedOf(poses, 7 * i);
      const turn = vectorOf(here.turn.clone().conjugate().multiply(there.turn)).length();
      return Math.max(here.at.distanceTo(there.at), turn);
    });
    return Math.max(0, ...away);
  }

  /** How far loops are open: numbers that are zero where all are closed. */
  gaps(q: ArrayLike<number>): number[] {
    const links = this.place(q);
    const end = ({ link, pose }: { link: number; pose: Pose }) => product(link < 0 ? IDENTITY : links[link], placedOf(pose));
    return this.scene.loops.flatMap((loop) => gap(loop, end(loop.first), end(loop.second)));
  }

  /** A configuration with some coordinates set to other values, and loops closed by the least change of the others; none if they
   * cannot be. Loops are led in small steps, so that they stay in the form they have. */
  led(from: ArrayLike<number>, to: number[], held: [number, number]): number[] | null {
    if (this.scene.loops.length === 0) return to;
    const far = Math.max(...to.map((x, i) => Math.abs(x - from[i])));
    const steps = Math.min(Math.max(Math.ceil(far / 0.05), 1), 200);
    let q = Array.from(from);
    for (let k = 1; k <= steps; k++) {
      for (let i = held[0]; i < held[1]; i++) q[i] = from[i] + ((to[i] - from[i]) * k) / steps;
      const closed = this.closed(q, held);
      if (!closed) return null;
      q = closed;
    }
    return q;
  }

  private closed(start: number[], held: [number, number]): number[] | null {
    let q = start;
    const free = this.scene.joints.filter((joint) => joint.q[1] > joint.q[0] && joint.q[0] !== held[0]);
    for (let round = 0; round < 30; round++) {
      const r = this.gaps(q);
      if (Math.max(...r.map(Math.abs)) < 1e-10) return q;
      const columns: { joint: Joint; i: number; column: number[] }[] = [];
      for (const joint of free) {
        for (let i = 0; i < joint.v[1] - joint.v[0]; i++) {
          const h = 1e-6;
          const [ahead, behind] = [h, -h].map((h) => this.gaps(moved(q, joint, i, h)));
          columns.push({ joint, i, column: ahead.map((x, k) => (x - behind[k]) / (2 * h)) });
        }
      }
      // The least change that closes them to first order: u = −J*(JJ*)⁻¹ r.
      const matrix = r.map((_, a) => r.map((_, b) => columns.reduce((sum, c) => sum + c.column[a] * c.column[b], a === b ? 1e-12 : 0)));
      const y = solved(matrix, r);
      for (const { joint, i, column } of columns) {
        const step = -column.reduce((sum, x, k) => sum + x * y[k], 0);
        q = moved(q, joint, i, Math.max(-0.3, Math.min(0.3, step)));
      }
    }
    return Math.max(...this.gaps(q).map(Math.abs)) < 1e-6 ? q : null;
  }
}

/** A configuration with one degree of freedom of a joint moved on. */
function moved(q: number[], joint: Joint, i: number, by: number): number[] {
  const out = q.slice();
  const from = joint.q[0];
  const round = joint.kind === "free" || joint.kind === "spherical";
  if (!round) {
    out[from + i] += by;
  } else if (i < 3) {
    const turn = new Quaternion(q[from], q[from + 1], q[from + 2], q[from + 3]);
    turn.multiply(turned(new Vector3(...[X, Y, Z][i].toArray()).multiplyScalar(by))).normalize();
    [out[from], out[from + 1], out[from + 2], out[from + 3]] = [turn.x, turn.y, turn.z, turn.w];
  } else {
    out[from + 1 + i] += by;
  }
  return out;
}

/** How far two frames are from where a loop holds them. */
function gap({ kind, rule }: Loop, a: Placed, b: Placed): number[] {
  const back = a.turn.clone().conjugate();
  const away = b.at.clone().sub(a.at).applyQuaternion(back);
  const turn = back.clone().multiply(b.turn);
  switch (kind) {
    case "weld":
      return [...away.toArray(), ...vectorOf(turn).toArray()];
    case "point":
      return away.toArray();
    case "hinge": {
      const axis = new Vector3(...rule.axis!).normalize();
      return [...away.toArray(), ...axis.clone().cross(axis.clone().applyQuaternion(turn)).toArray()];
    }
    case "slider": {
      const axis = new Vector3(...rule.axis!).normalize();
      return [...away.addScaledVector(axis, -away.dot(axis)).toArray(), ...vectorOf(turn).toArray()];
    }
    case "distance":
      return [away.length() - rule.length!];
    case "directions": {
      const out = away.toArray().filter((_, i) => rule.shifts![i]);
      const axes = [X, Y, Z];
      const count = rule.turns!.filter((t) => t).length;
      if (count === 3) return [...out, ...vectorOf(turn).toArray()];
      if (count === 2) {
        const common = axes[rule.turns!.indexOf(false)];
        return [...out, ...common.clone().cross(common.clone().applyQuaternion(turn)).toArray()];
      }
      const held = rule.turns!.indexOf(true);
      if (count === 1) out.push(axes[(held + 1) % 3].clone().applyQuaternion(turn).dot(axes[(held + 2) % 3]));
      return out;
    }
    case "rolling": {
      const normal = new Vector3(...rule.normal!).normalize();
      const lean = rule.axis ? new Vector3(...rule.axis).normalize().applyQuaternion(turn).dot(normal) : 0;
      return [away.dot(normal) - rule.radius! * Math.sqrt(Math.max(1 - lean * lean, 0))];
    }
    default:
      // Velocities alone, which hold no place.
      return [];
  }
}

/** A x = b by elimination with pivots. */
function solved(a: number[][], b: number[]): number[] {
  const n = b.length;
  const rows = a.map((row, i) => [...row, b[i]]);
  for (let k = 0; k < n; k++) {
    let best = k;
    for (let i = k + 1; i < n; i++) if (Math.abs(rows[i][k]) > Math.abs(rows[best][k])) best = i;
    [rows[k], rows[best]] = [rows[best], rows[k]];
    for (let i = k + 1; i < n; i++) {
      const factor = rows[i][k] / (rows[k][k] || 1e-300);
      for (let j = k; j <= n; j++) rows[i][j] -= factor * rows[k][j];
    }
  }
  const x = new Array<number>(n).fill(0);
  for (let k = n - 1; k >= 0; k--) {
    let sum = rows[k][n];
    for (let j = k + 1; j < n; j++) sum -= rows[k][j] * x[j];
    x[k] = sum / (rows[k][k] || 1e-300);
  }
  return x;
}
