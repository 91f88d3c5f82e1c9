// Many copies of one form on many links, drawn in one call.

import * as THREE from "three";

interface Copy {
  link: number;
  local: THREE.Matrix4;
}

export class Instances {
  readonly group = new THREE.Group();
  private copies: Copy[] = [];
  private colours: THREE.Color[] = [];
  mesh: THREE.InstancedMesh | null = null;

  constructor(private geometry: THREE.BufferGeometry, private material: THREE.Material) {}

  /** Adds a copy on a link, placed in its frame; gives its number. */
  add(link: number, local: THREE.Matrix4, colour: THREE.ColorRepresentation): number {
    this.copies.push({ link, local });
    this.colours.push(new THREE.Color(colour));
    return this.copies.length - 1;
  }

  /** Makes all copies; none can be added later. */
  finish(): this {
    if (this.copies.length === 0) return this;
    this.mesh = new THREE.InstancedMesh(this.geometry, this.material, this.copies.length);
    this.mesh.frustumCulled = false;
    this.colours.forEach((colour, i) => this.mesh!.setColorAt(i, colour));
    this.mesh.userData.links = this.copies.map((copy) => copy.link);
    this.group.add(this.mesh);
    return this;
  }

  /** Follows the links. */
  follow(worlds: THREE.Matrix4[]) {
    if (!this.mesh || !this.group.visible) return;
    const matrix = new THREE.Matrix4();
    this.copies.forEach((copy, i) => {
      const world = worlds[copy.link];
      this.mesh!.setMatrixAt(i, world ? matrix.multiplyMatrices(world, copy.local) : copy.local);
    });
    this.mesh.instanceMatrix.needsUpdate = true;
    this.mesh.boundingSphere = null;
  }

  colour(i: number, colour: THREE.Color) {
    this.mesh?.setColorAt(i, colour);
    if (this.mesh?.instanceColor) this.mesh.instanceColor.needsUpdate = true;
  }
}

const Y = new THREE.Vector3(0, 1, 0);

/** The matrix that makes a cylinder of unit radius and length along y reach from a to b. */
export function between(a: THREE.Vector3, b: THREE.Vector3, radius: number): THREE.Matrix4 {
  const way = new THREE.Vector3().subVectors(b, a);
  const length = way.length();
  const turn = new THREE.Quaternion().setFromUnitVectors(Y, length > 0 ? way.divideScalar(length) : Y);
  const middle = new THREE.Vector3().addVectors(a, b).multiplyScalar(0.5);
  return new THREE.Matrix4().compose(middle, turn, new THREE.Vector3(radius, length, radius));
}

/** The matrix of a uniform copy at a place. */
export function at(place: THREE.Vector3, size: number): THREE.Matrix4 {
  return new THREE.Matrix4().compose(place, new THREE.Quaternion(), new THREE.Vector3(size, size, size));
}
