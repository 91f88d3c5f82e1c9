// What can be drawn beside the robot: frames, axes, masses, inertias, forces, and rates as colours.

import * as THREE from "three";
import { Arrows } from "./arrows";
import { Instances, at, between } from "./instances";
import type { Frame, Scene } from "./scene";

export const LAYERS = [
  ["robot", "Robot"],
  ["collision", "Collision shapes"],
  ["frames", "Frames of links"],
  ["axes", "Joint axes"],
  ["com", "Centres of mass"],
  ["inertia", "Inertia ellipsoids"],
  ["articulated", "Articulated inertia"],
  ["operational", "Operational-space inertia"],
  ["contacts", "Contact points"],
  ["forces", "Forces"],
  ["ground", "Ground"],
] as const;

export type LayerName = (typeof LAYERS)[number][0];

export const COLOURS = [
  ["none", "Materials"],
  ["rates", "ν, total joint rates"],
  ["moments", "ε, working moments"],
  ["velocity", "q̇, joint rates"],
  ["torque", "T, torques"],
] as const;

export type ColourName = (typeof COLOURS)[number][0];

const COLD = new THREE.Color(0x2563eb);
const CALM = new THREE.Color(0xd7dbe2);
const WARM = new THREE.Color(0xdc2626);

export class Layers {
  readonly group = new THREE.Group();
  private frames: Instances;
  private axes: Instances;
  private com: Instances;
  private inertia: Instances;
  private joints: Instances;
  private jointOf: number[] = [];
  private articulated: THREE.InstancedMesh;
  private operational: THREE.Mesh;
  private arrows: Arrows;
  private halo: THREE.Object3D;
  private colour: ColourName = "none";
  /** The largest size of what is coloured, which fades slowly. */
  most = 0;

  constructor(private scene: Scene, private size: number) {
    const basic = (opacity = 1) => new THREE.MeshBasicMaterial({ transparent: opacity < 1, opacity, depthTest: false });
    const lit = (opacity: number) =>
      new THREE.MeshStandardMaterial({ transparent: true, opacity, depthWrite: false, roughness: 0.7 });
    const rod = new THREE.CylinderGeometry(1, 1, 1, 8);
    const ball = new THREE.SphereGeometry(1, 24, 16);
    const zero = new THREE.Vector3();
    this.frames = new Instances(rod, basic());
    this.axes = new Instances(rod, basic());
    this.com = new Instances(new THREE.SphereGeometry(1, 16, 10), basic(0.9));
    this.inertia = new Instances(ball, lit(0.45));
    this.joints = new Instances(new THREE.CylinderGeometry(1, 1, 1, 28), new THREE.MeshStandardMaterial({ roughness: 0.5 }));
    const heaviest = Math.max(...scene.links.map((l) => l.mass), 1e-9);
    scene.links.forEach((link, i) => {
      const arm = size / 14;
      const ends: [number, number, number, number][] = [[arm, 0, 0, 0xdc2626], [0, arm, 0, 0x16a34a], [0, 0, arm, 0x2563eb]];
      for (const [x, y, z, colour] of ends) this.frames.add(i, between(zero, new THREE.Vector3(x, y, z), size / 500), colour);
      if (link.mass > 0) {
        const share = 0.35 + 0.65 * Math.cbrt(link.mass / heaviest);
        this.com.add(i, at(new THREE.Vector3(...link.com), (size / 60) * share), 0xf59e0b);
      }
      if (link.ellipsoid) {
        const place = new THREE.Vector3(...link.com);
        const [x, y, z, w] = link.ellipsoid.turn;
        const scale = new THREE.Vector3(...link.ellipsoid.axes).clampScalar(size / 2000, Infinity);
        const matrix = new THREE.Matrix4().compose(place, new THREE.Quaternion(x, y, z, w), scale);
        this.inertia.add(i, matrix, new THREE.Color().setHSL((i * 0.381966) % 1, 0.6, 0.55));
      }
    });
    scene.joints.forEach((joint, j) => {
      if (joint.kind === "fixed" || joint.child < 0) return;
      const axis = new THREE.Vector3(...(joint.axes[0] ?? [0, 0, 1]));
      const slides = joint.kind === "prismatic";
      const half = axis.clone().multiplyScalar(size / (slides ? 9 : 22));
      if (joint.axes.length > 0) {
        const colour = slides ? 0x0d9488 : 0x7c3aed;
        this.axes.add(joint.child, between(half.clone().negate(), half, size / 260), colour);
      }
      const end = axis.clone().multiplyScalar(size / 42);
      this.joints.add(joint.child, between(end.clone().negate(), end, size / 42), CALM);
      this.jointOf.push(j);
    });
    for (const part of [this.frames, this.axes, this.com, this.inertia, this.joints]) {
      part.finish();
      part.group.visible = false;
      this.group.add(part.group);
    }
    for (const part of [this.frames, this.axes, this.com]) if (part.mesh) part.mesh.renderOrder = 10;
    this.articulated = new THREE.InstancedMesh(ball, lit(0.4), Math.max(scene.links.length, 1));
    this.articulated.frustumCulled = false;
    this.articulated.count = 0;
    this.articulated.visible = false;
    (this.articulated.material as THREE.MeshStandardMaterial).color.set(0x0d9488);
    this.operational = new THREE.Mesh(ball, lit(0.5));
    (this.operational.material as THREE.MeshStandardMaterial).color.set(0xdb2777);
    this.operational.visible = false;
    this.halo = new THREE.Mesh(new THREE.SphereGeometry(size / 55, 20, 12), basic(0.7));
    ((this.halo as THREE.Mesh).material as THREE.MeshBasicMaterial).color.set(0xfacc15);
    this.halo.renderOrder = 11;
    this.halo.visible = false;
    this.arrows = new Arrows(size, Math.max(scene.mass * 9.81, 1e-9));
    this.group.add(this.articulated, this.operational, this.arrows.points, this.arrows.forces, this.halo);
  }

  toggle(name: LayerName, on: boolean) {
    const parts: Partial<Record<LayerName, THREE.Object3D>> = {
      frames: this.frames.group,
      axes: this.axes.group,
      com: this.com.group,
      inertia: this.inertia.group,
      articulated: this.articulated,
      operational: this.operational,
      contacts: this.arrows.points,
      forces: this.arrows.forces,
    };
    const part = parts[name];
    if (part) part.visible = on;
  }

  /** Which of the program's inertias are wanted. */
  wants(chosen: number) {
    return {
      articulated: this.articulated.visible,
      operational: this.operational.visible && chosen >= 0 ? chosen : null,
    };
  }

  paint(name: ColourName) {
    this.colour = name;
    this.most = 0;
    this.joints.group.visible = name !== "none";
  }

  show(frame: Frame, worlds: THREE.Matrix4[], chosen: number) {
    for (const part of [this.frames, this.axes, this.com, this.inertia, this.joints]) part.follow(worlds);
    this.mark(chosen, worlds);
    if (this.colour !== "none") this.tint(frame);
    this.masses(frame);
    this.arrows.show(frame.arrows);
  }

  mark(link: number, worlds: THREE.Matrix4[]) {
    this.halo.visible = link >= 0;
    if (link >= 0) this.halo.position.setFromMatrixPosition(worlds[link]);
  }

  /** The value of a joint in what is coloured: with its sign for one coordinate, its size for several. */
  valueOf(frame: Frame, joint: number): number {
    const numbers = { none: frame.v, rates: frame.nu, moments: frame.eps, velocity: frame.v, torque: frame.tau }[this.colour];
    const [from, to] = this.scene.joints[joint].v;
    if (to - from === 1) return numbers[from] ?? 0;
    let sum = 0;
    for (let i = from; i < to; i++) sum += (numbers[i] ?? 0) ** 2;
    return Math.sqrt(sum);
  }

  private tint(frame: Frame) {
    const values = this.jointOf.map((j) => this.valueOf(frame, j));
    this.most = Math.max(this.most * 0.995, ...values.map(Math.abs), 1e-12);
    const colour = new THREE.Color();
    values.forEach((value, i) => {
      // Square roots let small ones be seen beside large ones.
      const part = Math.sqrt(Math.min(Math.abs(value) / this.most, 1));
      this.joints.colour(i, colour.lerpColors(CALM, value < 0 ? COLD : WARM, part));
    });
  }

  /** Half axes grow with the cube root of the mass: the robot's whole mass is a fifth of its size. */
  private radii(masses: ArrayLike<number>, start: number): THREE.Vector3 {
    const one = (i: number) =>
      Math.min(Math.cbrt(Math.max(masses[start + i], 0) / Math.max(this.scene.mass, 1e-12)), 1.3) * this.size * 0.2;
    return new THREE.Vector3(one(0), one(1), one(2)).clampScalar(this.size / 1000, Infinity);
  }

  private masses(frame: Frame) {
    const matrixAt = (numbers: Float32Array, start: number) => {
      const [x, y, z, w] = numbers.subarray(start + 3, start + 7);
      const [u, v, s] = numbers.subarray(start + 7, start + 10);
      return new THREE.Matrix4().compose(new THREE.Vector3(u, v, s), new THREE.Quaternion(x, y, z, w), this.radii(numbers, start));
    };
    let count = 0;
    for (let i = 0; 10 * i < frame.articulated.length; i++) {
      // What is fixed to the world has none.
      if (frame.articulated[10 * i + 2] <= 0) continue;
      this.articulated.setMatrixAt(count++, matrixAt(frame.articulated, 10 * i));
    }
    this.articulated.count = count;
    this.articulated.instanceMatrix.needsUpdate = true;
    const there = frame.operational.length === 11;
    (this.operational.material as THREE.Material).visible = there;
    if (there) {
      this.operational.matrixAutoUpdate = false;
      this.operational.matrix.copy(matrixAt(frame.operational, 1));
    }
  }
}
