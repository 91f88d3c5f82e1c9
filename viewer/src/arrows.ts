// Where bodies touch, and forces: balls and arrows, in three calls however many there are.

import * as THREE from "three";
import { at, between } from "./instances";

const PULL = new THREE.Color(0xf59e0b);
const CONTACT = new THREE.Color(0x16a34a);
/** There is room for so many at once; of more, the first are shown. */
const MOST = 4096;

export class Arrows {
  readonly points: THREE.InstancedMesh;
  readonly forces = new THREE.Group();
  private shafts: THREE.InstancedMesh;
  private heads: THREE.InstancedMesh;

  /** For a robot of some size and weight: a force as large as the weight is drawn a third of the size long. */
  constructor(private size: number, private weight: number) {
    const look = () => new THREE.MeshBasicMaterial({ depthTest: false, transparent: true, opacity: 0.9 });
    const make = (geometry: THREE.BufferGeometry) => {
      const mesh = new THREE.InstancedMesh(geometry, look(), MOST);
      mesh.frustumCulled = false;
      mesh.renderOrder = 9;
      mesh.count = 0;
      // Room for colours is made by the first one.
      mesh.setColorAt(0, CONTACT);
      return mesh;
    };
    this.points = make(new THREE.SphereGeometry(1, 12, 8));
    this.shafts = make(new THREE.CylinderGeometry(1, 1, 1, 8));
    this.heads = make(new THREE.ConeGeometry(1, 1, 14));
    this.forces.add(this.shafts, this.heads);
  }

  /** Kind, point and force of each: seven numbers. */
  show(numbers: Float32Array) {
    let [points, arrows] = [0, 0];
    const [thick, long] = [this.size / 220, this.size / 28];
    for (let i = 0; i + 7 <= numbers.length && points < MOST; i += 7) {
      const point = new THREE.Vector3(numbers[i + 1], numbers[i + 2], numbers[i + 3]);
      const force = new THREE.Vector3(numbers[i + 4], numbers[i + 5], numbers[i + 6]);
      const colour = numbers[i] === 0 ? PULL : CONTACT;
      this.points.setMatrixAt(points, at(point, this.size / 150));
      this.points.setColorAt(points++, colour);
      const newtons = force.length();
      if (newtons === 0) continue;
      // Small ones are seen too.
      const length = Math.min(Math.max((newtons / this.weight) * 0.33, 0.03), 1) * this.size;
      const head = Math.min(long, 0.6 * length);
      const way = force.divideScalar(newtons);
      const [neck, tip] = [length - head, length].map((l) => point.clone().addScaledVector(way, l));
      this.shafts.setMatrixAt(arrows, between(point, neck, thick));
      this.heads.setMatrixAt(arrows, between(neck, tip, (head / long) * 3 * thick));
      this.shafts.setColorAt(arrows, colour);
      this.heads.setColorAt(arrows++, colour);
    }
    this.points.count = points;
    this.shafts.count = this.heads.count = arrows;
    for (const mesh of [this.points, this.shafts, this.heads]) {
      mesh.instanceMatrix.needsUpdate = true;
      if (mesh.instanceColor) mesh.instanceColor.needsUpdate = true;
    }
  }
}
