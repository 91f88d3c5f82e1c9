// What the program tells of a scene once; see crates/linkwork-view/src/scene.rs.

/** x, y, z, qx, qy, qz, qw. */
export type Pose = [number, number, number, number, number, number, number];
export type Triple = [number, number, number];

export interface Link {
  name: string;
  mass: number;
  com: Triple;
  ellipsoid: { axes: Triple; turn: [number, number, number, number] } | null;
}

export interface Joint {
  name: string;
  kind: string;
  parent: number;
  child: number;
  origin: Pose;
  /** Where its coordinates stand: from, to. */
  q: [number, number];
  v: [number, number];
  /** How many coordinates its kind has, whether they are its own or follow another's. */
  width: number;
  limits: ([number | null, number | null] | null)[];
  axes: Triple[];
  /** All axes that its coordinates turn about or slide along, in their order. */
  turns: Triple[];
  /** Metres to a radian, of a screw. */
  pitch: number;
  follows: string | null;
  /** Of a joint that follows another: values of that one's coordinate, and its own with its slope there. */
  curve: [number, number, number][] | null;
  effort: number | null;
}

export interface Shape {
  name: string;
  link: number;
  role: "visual" | "collision";
  pose: Pose;
  colour: [number, number, number, number] | null;
  shape: {
    type: "box" | "cylinder" | "sphere" | "capsule" | "ellipsoid" | "plane" | "mesh" | "field";
    size?: Triple;
    radius?: number;
    length?: number;
    radii?: Triple;
    mesh?: number | null;
    scale?: Triple;
    /** Of a height field: points along y and x, and heights row by row in base64. */
    rows?: number;
    columns?: number;
    heights?: string;
  };
}

/** Two frames that are held to each other. */
export interface Loop {
  name: string;
  kind: string;
  first: { link: number; pose: Pose };
  second: { link: number; pose: Pose };
  rule: { axis?: Triple; length?: number; turns?: boolean[]; shifts?: boolean[]; radius?: number; normal?: Triple };
}

export interface Mesh {
  uri: string;
  kind: string;
  file: number | null;
  problem: string;
  others: Record<string, number>;
}

/** What a browser without a window is asked for. */
export interface Task {
  kind: "picture" | "film";
  format: "png" | "mp4" | "webm" | "gif";
  width: number;
  height: number;
  fps: number;
  at: number;
  layers: string[];
}

/** A line of a level: pieces with the steps they stand for, and the steps and links of the whole line. */
export interface LevelLine {
  left: string;
  right: [string, number[]][];
  steps: number[];
  links: number[];
}

export interface LevelPart {
  heading: string;
  link: string | null;
  lines: LevelLine[];
}

/** An expression on its way to code; see crates/linkwork-cli/src/view/levels.rs. */
export interface LevelsInfo {
  expression: string;
  steps: { name: string; sweep: number | null; inward: boolean; reads: number[] }[];
  links: string[];
  levels: { name: string; note: string; parts: LevelPart[] }[];
}

export interface Scene {
  name: string;
  nq: number;
  nv: number;
  mass: number;
  gravity: Triple;
  coupled: boolean;
  /** The height of a ground that was asked for. */
  ground?: number;
  /** Whether there are total rates. */
  total: boolean;
  links: Link[];
  joints: Joint[];
  frames: { name: string; link: number; pose: Pose }[];
  geometry: Shape[];
  meshes: Mesh[];
  loops: Loop[];
  /** Of a file that holds everything: contents in base64, and the motion. */
  files?: string[];
  motion?: Motion;
  /** Layers that are shown from the start. */
  layers?: string[];
  task?: Task;
  levels?: LevelsInfo;
}

/** The frames of a file, in base64; inertias of every link in every frame, where there is room for them. */
export interface Motion {
  frames: number;
  states: string;
  poses: string;
  arrows: string;
  counts: number[];
  articulated?: string;
  operational?: string;
}

/** A moment of a motion. */
export interface Frame {
  t: number;
  kinetic: number;
  potential: number;
  q: Float64Array;
  v: Float64Array;
  tau: Float64Array;
  nu: Float64Array;
  eps: Float64Array;
  poses: Float32Array;
  arrows: Float32Array;
  articulated: Float32Array;
  operational: Float32Array;
  /** Coordinates of all joints, followers included; empty where none follows. */
  all: Float64Array;
}

/** How things are. */
export interface Status {
  kind: "still" | "simulation" | "log" | "file";
  running: boolean;
  speed: number;
  span: [number, number] | null;
  pace: number;
  mode: number | null;
}

export interface ModeInfo {
  re: number;
  im: number;
  damping: number;
  parts: number[];
}

export function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

/** Splits the numbers of a state. */
function stateOf(scene: Scene, numbers: Float64Array): Omit<Frame, "poses" | "arrows" | "articulated" | "operational" | "all"> {
  const { nq, nv } = scene;
  let at = 3;
  const take = (n: number) => numbers.subarray(at, (at += n));
  const q = take(nq), v = take(nv), tau = take(nv);
  const total = scene.total ? nv : 0;
  return { t: numbers[0], kinetic: numbers[1], potential: numbers[2], q, v, tau, nu: take(total), eps: take(total) };
}

const NO_SINGLES = new Float32Array(0);
const NO_DOUBLES = new Float64Array(0);

/** Reads a frame from its sections; see crates/linkwork-view/src/frame.rs. */
export function readFrame(scene: Scene, buffer: ArrayBuffer): Frame {
  const view = new DataView(buffer);
  const sections = new Map<number, [number, number]>();
  for (let at = 0; at + 8 <= buffer.byteLength; ) {
    const length = view.getUint32(at + 4, true);
    sections.set(view.getUint32(at, true), [at + 8, length]);
    at += 8 + Math.ceil(length / 8) * 8;
  }
  const singles = (tag: number) => {
    const found = sections.get(tag);
    return found ? new Float32Array(buffer, found[0], found[1] / 4) : NO_SINGLES;
  };
  const doubles = (tag: number) => {
    const found = sections.get(tag);
    return found ? new Float64Array(buffer, found[0], found[1] / 8) : NO_DOUBLES;
  };
  return {
    ...stateOf(scene, doubles(1)),
    poses: singles(2),
    arrows: singles(3),
    articulated: singles(4),
    operational: singles(5),
    all: doubles(6),
  };
}

/** The frames of a file. */
export class Film {
  readonly times: number[] = [];
  private states: Float64Array;
  private poses: Float32Array;
  private arrows: Float32Array;
  private articulated: Float32Array;
  private operational: Float32Array;
  /** Where the arrows of each frame begin. */
  private begins: number[] = [0];
  private width: number;

  constructor(private scene: Scene) {
    const motion = scene.motion!;
    this.states = new Float64Array(bytesOf(motion.states).buffer);
    this.poses = new Float32Array(bytesOf(motion.poses).buffer);
    this.arrows = new Float32Array(bytesOf(motion.arrows).buffer);
    this.articulated = new Float32Array(bytesOf(motion.articulated ?? "").buffer);
    this.operational = new Float32Array(bytesOf(motion.operational ?? "").buffer);
    motion.counts.forEach((count, i) => this.begins.push(this.begins[i] + 7 * count));
    this.width = this.states.length / motion.frames;
    for (let i = 0; i < motion.frames; i++) this.times.push(this.states[i * this.width]);
  }

  get span(): [number, number] {
    return [this.times[0], this.times[this.times.length - 1]];
  }

  /** The frame nearest to a time, with the operational-space inertia of a link. */
  at(t: number, link = -1): Frame {
    let low = 0, high = this.times.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.times[middle] <= t) low = middle;
      else high = middle - 1;
    }
    if (low + 1 < this.times.length && this.times[low + 1] - t < t - this.times[low]) low++;
    const count = this.scene.links.length;
    const links = count * 7;
    const ten = 10 * (low * count + link);
    const there = link >= 0 && this.operational.length > 0;
    return {
      ...stateOf(this.scene, this.states.subarray(low * this.width, (low + 1) * this.width)),
      poses: this.poses.subarray(low * links, (low + 1) * links),
      arrows: this.arrows.subarray(this.begins[low], this.begins[low + 1]),
      articulated: this.articulated.subarray(10 * low * count, 10 * (low + 1) * count),
      operational: there ? Float32Array.of(link, ...this.operational.subarray(ten, ten + 10)) : NO_SINGLES,
      all: NO_DOUBLES,
    };
  }
}
