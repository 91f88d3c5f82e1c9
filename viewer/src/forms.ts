// Shapes, surfaces and lines that are drawn.

import * as THREE from "three";
import { bytesOf, type Pose, type Shape } from "./scene";

const PLAIN = 0xb9c2cf;

/** Lines of a square grid, in short parts: some draw a long line wrongly that begins behind the eye. */
export function gridOf(step: number, count: number, [axis, other]: number[]): THREE.LineSegments {
  const [points, colours]: [number[], number[]] = [[], []];
  for (let i = -count; i <= count; i++) {
    const { r, g, b } = new THREE.Color(i === 0 ? axis : other);
    for (let k = -count; k < count; k++) {
      const [a, from, to] = [i * step, k * step, (k + 1) * step];
      points.push(a, from, 0, a, to, 0, from, a, 0, to, a, 0);
      for (let end = 0; end < 4; end++) colours.push(r, g, b);
    }
  }
  const form = new THREE.BufferGeometry();
  form.setAttribute("position", new THREE.Float32BufferAttribute(points, 3));
  form.setAttribute("color", new THREE.Float32BufferAttribute(colours, 3));
  const look = new THREE.LineBasicMaterial({ vertexColors: true, transparent: true, opacity: 0.55 });
  return new THREE.LineSegments(form, look);
}

/** Ground over a grid: two triangles to a cell, the one at its least x and y first. */
export function fieldOf({ rows, columns, size, heights }: Shape["shape"]): THREE.BufferGeometry {
  const z = new Float32Array(bytesOf(heights!).buffer);
  const [n, m, [x, y]] = [rows!, columns!, size!];
  const points = new Float32Array(3 * n * m);
  const corners: number[] = [];
  for (let r = 0; r < n; r++) {
    for (let c = 0; c < m; c++) {
      const i = r * m + c;
      points.set([x * (c / (m - 1) - 0.5), y * (r / (n - 1) - 0.5), z[i]], 3 * i);
      if (r > 0 && c > 0) corners.push(i - m - 1, i - m, i - 1, i - 1, i - m, i);
    }
  }
  const form = new THREE.BufferGeometry();
  form.setAttribute("position", new THREE.BufferAttribute(points, 3));
  form.setIndex(corners);
  form.computeVertexNormals();
  return form;
}

/** Whether a plane is level. */
export function upright([, , , x, y]: Pose): boolean {
  return x * x + y * y < 1e-12;
}

export function floorOf(colour: [number, number, number, number] | null): THREE.Material {
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const material = new THREE.MeshStandardMaterial({ color: dark ? 0x2a3039 : 0xdfe4ea, roughness: 0.95, metalness: 0 });
  if (colour) material.color.setRGB(colour[0], colour[1], colour[2], THREE.SRGBColorSpace);
  return material;
}

/** The colour of a shape, opaque. */
export function colourOf(colour: [number, number, number, number] | null): THREE.Color {
  return colour ? new THREE.Color().setRGB(colour[0], colour[1], colour[2], THREE.SRGBColorSpace) : new THREE.Color(PLAIN);
}

/** What a shape is a stretched copy of, if it is one and opaque. */
export function unitOf({ shape, colour }: Shape): { kind: string; scale: [number, number, number] } | null {
  if (colour && colour[3] < 1) return null;
  const { size, radius = 0, length = 0, radii } = shape;
  switch (shape.type) {
    case "box":
      return { kind: "box", scale: size! };
    case "sphere":
      return { kind: "ball", scale: [radius, radius, radius] };
    case "ellipsoid":
      return { kind: "ball", scale: radii! };
    case "cylinder":
      return { kind: "rod", scale: [radius, radius, length] };
    default:
      return null;
  }
}

export function unitForm(kind: string, fine: number): THREE.BufferGeometry {
  const parts = (n: number) => Math.round(n * fine);
  if (kind === "box") return new THREE.BoxGeometry(1, 1, 1);
  if (kind === "ball") return new THREE.SphereGeometry(1, parts(32), parts(20));
  return new THREE.CylinderGeometry(1, 1, 1, parts(36)).rotateX(Math.PI / 2);
}

export function materialOf(colour: [number, number, number, number] | null): THREE.Material {
  const material = new THREE.MeshStandardMaterial({ color: PLAIN, roughness: 0.6, metalness: 0.08, side: THREE.DoubleSide });
  if (colour) {
    material.color.setRGB(colour[0], colour[1], colour[2], THREE.SRGBColorSpace);
    material.opacity = colour[3];
    material.transparent = colour[3] < 1;
  }
  return material;
}

/** Half the edges of a box about a shape. */
export function halfOf({ shape }: Shape): [number, number, number] {
  const { size, radius = 0, length = 0, radii } = shape;
  if (size) return [size[0] / 2, size[1] / 2, size[2] / 2];
  if (radii) return radii;
  return [radius, radius, shape.type === "sphere" ? radius : length / 2 + (shape.type === "capsule" ? radius : 0)];
}

const ABSENT = 0xd946ef;
export const BOUND = 0x0ea5e9;

/** Adds the edges between faces that meet at an angle. */
export function outlined(object: THREE.Object3D, look: THREE.Material) {
  const parts: THREE.Mesh[] = [];
  object.traverse((part) => part instanceof THREE.Mesh && parts.push(part));
  for (const part of parts) {
    const edges = new THREE.LineSegments(new THREE.EdgesGeometry(part.geometry, 12), look);
    edges.raycast = () => {};
    part.add(edges);
  }
}

/** A box with its edges, that can be seen through and picked. */
export function framed(size: THREE.Vector3): THREE.Object3D {
  const form = new THREE.BoxGeometry(size.x, size.y, size.z);
  const look = new THREE.MeshStandardMaterial({ color: ABSENT, transparent: true, opacity: 0.18, depthWrite: false });
  const box = new THREE.Mesh(form, look);
  const edges = new THREE.LineSegments(new THREE.EdgesGeometry(form), new THREE.LineBasicMaterial({ color: ABSENT }));
  // Lines would be picked from a metre away.
  edges.raycast = () => {};
  box.add(edges);
  return box;
}

export function marker(size: number): THREE.Object3D {
  const material = new THREE.MeshBasicMaterial({ color: ABSENT, wireframe: true });
  return new THREE.Mesh(new THREE.OctahedronGeometry(size), material);
}
