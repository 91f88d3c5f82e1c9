// The mouse on the robot: a click chooses a link, and in a simulation a drag pulls it.

import * as THREE from "three";
import type { Command } from "./feed";
import type { Stage } from "./stage";

export class Drag {
  /** Whether links can be pulled. */
  pulls = false;
  private held: { link: number; point: THREE.Vector3; plane: THREE.Plane } | null = null;
  private down: [number, number] | null = null;

  constructor(private stage: Stage, private send: (command: Command) => void, private choose: (link: number) => void) {
    const canvas = stage.renderer.domElement;
    canvas.addEventListener("pointerdown", (e) => this.begin(e));
    canvas.addEventListener("pointermove", (e) => this.move(e));
    canvas.addEventListener("pointerup", (e) => this.end(e));
    canvas.addEventListener("pointercancel", (e) => this.end(e));
  }

  private place(e: PointerEvent): [number, number] {
    const box = this.stage.renderer.domElement.getBoundingClientRect();
    return [((e.clientX - box.left) / box.width) * 2 - 1, 1 - ((e.clientY - box.top) / box.height) * 2];
  }

  private begin(e: PointerEvent) {
    if (e.button !== 0) return;
    this.down = [e.clientX, e.clientY];
    if (!this.pulls || e.shiftKey) return;
    const hit = this.stage.pick(...this.place(e));
    if (!hit) return;
    // The place that is dragged stays in a plane that faces the eye.
    const normal = this.stage.camera.getWorldDirection(new THREE.Vector3());
    const plane = new THREE.Plane().setFromNormalAndCoplanarPoint(normal, hit.point);
    const inverse = this.stage.worlds[hit.link].clone().invert();
    this.held = { link: hit.link, point: hit.point.clone().applyMatrix4(inverse), plane };
    this.stage.controls.enabled = false;
    this.stage.renderer.domElement.setPointerCapture(e.pointerId);
  }

  private move(e: PointerEvent) {
    if (!this.held) return;
    const ray = new THREE.Raycaster();
    ray.setFromCamera(new THREE.Vector2(...this.place(e)), this.stage.camera);
    const target = ray.ray.intersectPlane(this.held.plane, new THREE.Vector3());
    if (!target) return;
    const { link, point } = this.held;
    this.send({ do: "pull", link, point: point.toArray(), target: target.toArray() });
  }

  private end(e: PointerEvent) {
    if (this.held) this.send({ do: "release" });
    this.held = null;
    this.stage.controls.enabled = true;
    const still = this.down && Math.hypot(e.clientX - this.down[0], e.clientY - this.down[1]) < 4;
    this.down = null;
    if (still && e.type === "pointerup") {
      const hit = this.stage.pick(...this.place(e));
      this.choose(hit ? hit.link : -1);
    }
  }
}
