// What is drawn: the robot, its ground, its light.

import * as THREE from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { BOUND, colourOf, fieldOf, floorOf, framed, gridOf, halfOf, marker, materialOf, outlined, unitForm, unitOf, upright } from "./forms";
import { Instances, at, between } from "./instances";
import { Layers, type ColourName, type LayerName } from "./layers";
import { Meshes } from "./meshes";
import { type Frame, type Pose, type Scene, type Shape } from "./scene";

/** More shapes than these are drawn together. */
const MANY = 400;

export function matrixOf(pose: ArrayLike<number>, start = 0): THREE.Matrix4 {
  const place = new THREE.Vector3(pose[start], pose[start + 1], pose[start + 2]);
  const turn = new THREE.Quaternion(pose[start + 3], pose[start + 4], pose[start + 5], pose[start + 6]);
  return new THREE.Matrix4().compose(place, turn, new THREE.Vector3(1, 1, 1));
}

export class Stage {
  readonly renderer: THREE.WebGLRenderer;
  readonly camera = new THREE.PerspectiveCamera(40, 1, 0.01, 1000);
  readonly controls: OrbitControls;
  readonly root = new THREE.Scene();
  /** Where every link is. */
  readonly worlds: THREE.Matrix4[];
  readonly layers: Layers;
  /** Meshes that could not be drawn. */
  readonly missing: { uri: string; problem: string }[] = [];
  /** Settles when all meshes are drawn, or known not to be. */
  readonly ready: Promise<void>;
  /** The robot's size, in metres. */
  size = 1;
  /** Who is told of meshes that could not be drawn. */
  onMissing: () => void = () => {};
  private meshes!: Meshes;
  private bounded: Promise<void> | null = null;
  private groups: THREE.Group[];
  private visuals = new THREE.Group();
  private collisions = new THREE.Group();
  private skeleton: Instances[] = [];
  private ground = new THREE.Group();
  /** A level plane of the world, which the ground is then. */
  private level: Shape | undefined;
  /** Whether anything of the robot is there to be seen, beside what is to be touched. */
  private seen: boolean;
  /** The height of the world, or of the bottom of what stands in it. */
  private lowest: number;
  private sun = new THREE.DirectionalLight(0xffffff, 2.2);
  private wanted = true;
  private fitted = false;
  private posed = false;
  /** What was shown last. */
  private frame: Frame | null = null;
  /** Whether it moves by itself, and so to other sides too. */
  private swings = false;
  private chosen = -1;
  /** Whether the eye goes along with a robot that no joint holds. */
  follow: boolean;
  private leader: number;

  constructor(private scene: Scene, canvas: HTMLCanvasElement, picture: boolean) {
    this.renderer = new THREE.WebGLRenderer({ canvas, antialias: true, preserveDrawingBuffer: picture });
    this.renderer.setPixelRatio(picture ? 1 : Math.min(devicePixelRatio, 2));
    this.renderer.shadowMap.enabled = picture || !software(this.renderer);
    this.renderer.shadowMap.type = THREE.PCFShadowMap;
    this.camera.up.set(0, 0, 1);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.addEventListener("change", () => this.draw());
    // Among several bodies there is none to go along with.
    const roots = scene.joints.filter((j) => j.parent < 0);
    this.leader = roots.length === 1 && roots[0].kind === "free" ? roots[0].child : -1;
    this.follow = this.leader >= 0 && !picture;
    this.worlds = scene.links.map(() => new THREE.Matrix4());
    this.groups = scene.links.map(() => {
      const group = new THREE.Group();
      group.matrixAutoUpdate = false;
      return group;
    });
    this.groups.forEach((group) => this.visuals.add(group));
    this.light();
    this.collisions.visible = false;
    this.root.add(this.visuals, this.collisions, this.ground);
    this.size = this.reach();
    this.seen = scene.geometry.some((s) => s.role === "visual" && s.link >= 0);
    const fields = scene.geometry.filter((s) => s.shape.type === "field");
    this.lowest = Math.min(0, ...fields.map((s) => s.pose[2] - s.shape.size![2]));
    this.level = scene.geometry.find((s) => s.link < 0 && s.shape.type === "plane" && upright(s.pose));
    const bare = this.bare();
    this.bones(bare);
    this.layers = new Layers(scene, this.size);
    this.root.add(this.layers.group);
    this.ready = this.shapes();
    const loop = () => {
      if (this.wanted) this.render();
      requestAnimationFrame(loop);
    };
    if (!picture) requestAnimationFrame(loop);
  }

  /** Asks for a new picture. */
  draw() {
    this.wanted = true;
  }

  render() {
    this.wanted = false;
    this.renderer.render(this.root, this.camera);
  }

  resize(width: number, height: number) {
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / Math.max(height, 1);
    this.camera.updateProjectionMatrix();
    this.draw();
  }

  private light() {
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    this.root.background = new THREE.Color(dark ? 0x1a1e25 : 0xeef1f5);
    this.root.add(new THREE.HemisphereLight(0xffffff, 0x8a8f98, 1.6));
    this.sun.castShadow = true;
    this.sun.shadow.mapSize.set(2048, 2048);
    this.root.add(this.sun, this.sun.target);
  }

  /** An upper bound of how far links can be from each other, before anything is placed. */
  private reach(): number {
    let most = 0.1;
    const far = new Array<number>(this.scene.links.length).fill(0);
    for (const joint of this.scene.joints) {
      const [x, y, z] = joint.origin;
      const here = (joint.parent >= 0 ? far[joint.parent] : 0) + Math.hypot(x, y, z);
      if (joint.child >= 0) far[joint.child] = here;
      const com = joint.child >= 0 ? this.scene.links[joint.child].com : [0, 0, 0];
      most = Math.max(most, here + Math.hypot(com[0], com[1], com[2]));
    }
    return most;
  }

  /** Links that no shape is drawn on. */
  private bare(): boolean[] {
    const bare = this.scene.links.map(() => true);
    for (const shape of this.scene.geometry) if (shape.link >= 0 && shape.role === "visual") bare[shape.link] = false;
    // A robot with collision shapes alone is drawn by those.
    if (!this.seen) {
      for (const shape of this.scene.geometry) if (shape.link >= 0) bare[shape.link] = false;
    }
    // Where some links have shapes, those without are frames on the way.
    return bare.every((b) => b) ? bare : bare.map(() => false);
  }

  /** Bones for links without a shape: to the joints that they carry, and a ball where their mass is. */
  private bones(bare: boolean[]) {
    if (!bare.some((b) => b)) return;
    const thick = this.size / 45;
    const look = () => new THREE.MeshStandardMaterial({ roughness: 0.55, metalness: 0.1 });
    // Of very many, each is simple.
    const fine = this.scene.links.length < 2000;
    const rods = new Instances(new THREE.CylinderGeometry(1, 1, 1, fine ? 20 : 5), look());
    const balls = new Instances(new THREE.SphereGeometry(1, fine ? 24 : 6, fine ? 16 : 4), look());
    const zero = new THREE.Vector3();
    const tips = this.scene.links.map(() => 0);
    for (const joint of this.scene.joints) {
      if (joint.parent < 0 || !bare[joint.parent]) continue;
      const end = new THREE.Vector3(joint.origin[0], joint.origin[1], joint.origin[2]);
      if (end.length() > thick / 4) {
        rods.add(joint.parent, between(zero, end, thick * 0.55), 0x8fa3bf);
        tips[joint.parent]++;
      }
    }
    const heaviest = Math.max(...this.scene.links.map((l) => l.mass), 1e-9);
    this.scene.links.forEach((link, i) => {
      if (!bare[i]) return;
      balls.add(i, at(zero, thick), 0x3d5a80);
      const com = new THREE.Vector3(...link.com);
      if (tips[i] === 0 && com.length() > thick / 4) rods.add(i, between(zero, com, thick * 0.55), 0x8fa3bf);
      if (link.mass > 0) balls.add(i, at(com, thick * (0.5 + 1.2 * Math.cbrt(link.mass / heaviest))), 0xe07a5f);
    });
    this.skeleton = [rods.finish(), balls.finish()];
    for (const part of this.skeleton) {
      if (part.mesh) part.mesh.castShadow = true;
      this.root.add(part.group);
    }
  }

  /** Draws what is to be seen; what is to be touched waits until somebody wants to see it. */
  private async shapes() {
    this.meshes = new Meshes(this.scene);
    const drawn = this.scene.geometry.filter((shape) => shape !== this.level && !this.isBound(shape));
    const alike = drawn.filter((shape) => shape.link >= 0 && unitOf(shape) !== null);
    const many = alike.length > MANY ? new Set(alike) : new Set<Shape>();
    this.together(many);
    await this.draws(drawn.filter((shape) => !many.has(shape)));
    this.place();
    if (this.posed) this.fit();
  }

  /** Boxes, balls and rods of a robot with very many: as copies of one each. */
  private together(shapes: Set<Shape>) {
    if (shapes.size === 0) return;
    const fine = shapes.size < 2000 ? 1 : 0.4;
    const kinds = new Map<string, Instances>();
    for (const shape of shapes) {
      const { kind, scale } = unitOf(shape)!;
      if (!kinds.has(kind)) kinds.set(kind, new Instances(unitForm(kind, fine), materialOf(null)));
      const local = matrixOf(shape.pose).scale(new THREE.Vector3(...scale));
      kinds.get(kind)!.add(shape.link, local, colourOf(shape.colour));
    }
    for (const part of kinds.values()) {
      part.finish();
      const look = part.mesh!.material as THREE.MeshStandardMaterial;
      // Each copy has its own.
      look.color.set(0xffffff);
      part.mesh!.castShadow = part.mesh!.receiveShadow = true;
      this.skeleton.push(part);
      this.root.add(part.group);
    }
  }

  /** Whether a shape is one of the layer of shapes to be touched. */
  private isBound(shape: Shape): boolean {
    return shape.role === "collision" && this.seen;
  }

  private async draws(shapes: Shape[]) {
    const bounds = new Map<number, THREE.Group>();
    const holder = (shape: Shape) => {
      if (!this.isBound(shape)) return shape.link >= 0 ? this.groups[shape.link] : this.visuals;
      let group = bounds.get(shape.link);
      if (!group) {
        group = new THREE.Group();
        group.matrixAutoUpdate = false;
        group.userData.link = shape.link;
        bounds.set(shape.link, group);
        this.collisions.add(group);
      }
      return group;
    };
    const outline = new THREE.MeshBasicMaterial({ color: BOUND, transparent: true, opacity: 0.22, depthWrite: false });
    const edge = new THREE.LineBasicMaterial({ color: BOUND, transparent: true, opacity: 0.7 });
    const told = new Set<string>();
    const waiting = shapes.map(async (shape) => {
      const parent = holder(shape);
      const collision = this.isBound(shape);
      const material = collision ? outline : materialOf(shape.colour);
      let object: THREE.Object3D;
      try {
        object = await this.form(shape, material, collision);
      } catch (problem) {
        const uri = this.scene.meshes[shape.shape.mesh ?? -1]?.uri ?? shape.name;
        if (!told.has(uri)) {
          told.add(uri);
          this.missing.push({ uri, problem: problem instanceof Error ? problem.message : String(problem) });
          this.onMissing();
        }
        const stand = this.standIn(shape);
        parent.add(stand);
        stand.userData.link = shape.link;
        return this.draw();
      }
      const holderOfPose = new THREE.Group();
      holderOfPose.applyMatrix4(matrixOf(shape.pose));
      holderOfPose.add(object);
      Object.assign(holderOfPose.userData, { link: shape.link, form: shape.shape.type });
      if (collision) outlined(object, edge);
      object.traverse((part) => {
        if (part instanceof THREE.Mesh && !collision) part.castShadow = part.receiveShadow = shape.shape.type !== "plane";
      });
      parent.add(holderOfPose);
      this.draw();
    });
    await Promise.all(waiting);
  }

  /** What stands for a mesh that cannot be drawn: a box about the link's other shapes, else the box with the link's own inertia, else
   * a marker. */
  private standIn(shape: Shape): THREE.Object3D {
    const box = new THREE.Box3();
    const others = this.scene.geometry.filter((s) => s.link === shape.link && s.shape.type !== "mesh" && s.shape.type !== "plane");
    for (const other of others) {
      const half = new THREE.Vector3(...halfOf(other));
      box.union(new THREE.Box3(half.clone().negate(), half).applyMatrix4(matrixOf(other.pose)));
    }
    const holder = new THREE.Group();
    const link = this.scene.links[shape.link];
    if (!box.isEmpty()) {
      holder.add(framed(box.getSize(new THREE.Vector3())));
      holder.position.copy(box.getCenter(new THREE.Vector3()));
    } else if (link?.ellipsoid) {
      // A box of half edges √(3/5) a has the moments of an ellipsoid of half axes a.
      const [x, y, z] = link.ellipsoid.axes.map((a) => Math.max(2 * Math.sqrt(0.6) * a, this.size / 500));
      holder.add(framed(new THREE.Vector3(x, y, z)));
      holder.position.set(...link.com);
      holder.quaternion.set(...link.ellipsoid.turn);
    } else {
      holder.add(marker(this.size / 20));
      holder.applyMatrix4(matrixOf(shape.pose));
    }
    return holder;
  }

  private async form(shape: Shape, material: THREE.Material, collision: boolean): Promise<THREE.Object3D> {
    const form = shape.shape;
    const upright = (geometry: THREE.BufferGeometry) => new THREE.Mesh(geometry.rotateX(Math.PI / 2), material);
    switch (form.type) {
      case "box":
        return new THREE.Mesh(new THREE.BoxGeometry(...form.size!), material);
      case "sphere":
        return new THREE.Mesh(new THREE.SphereGeometry(form.radius!, 32, 20), material);
      case "cylinder":
        return upright(new THREE.CylinderGeometry(form.radius!, form.radius!, form.length!, 36));
      case "capsule":
        return upright(new THREE.CapsuleGeometry(form.radius!, form.length!, 10, 28));
      case "ellipsoid": {
        const mesh = new THREE.Mesh(new THREE.SphereGeometry(1, 32, 20), material);
        mesh.scale.set(...form.radii!);
        return mesh;
      }
      case "plane": {
        const wide = this.size * 20;
        const plane = materialOf(shape.colour ?? [0.6, 0.65, 0.7, 0.25]);
        return new THREE.Mesh(new THREE.PlaneGeometry(wide, wide), plane);
      }
      case "field":
        return new THREE.Mesh(fieldOf(form), materialOf(shape.colour ?? [0.62, 0.66, 0.58, 1]));
      case "mesh": {
        const { object, own } = await this.meshes.get(form.mesh!);
        const copy = object.clone();
        if (!own || collision) {
          copy.traverse((part) => {
            if (part instanceof THREE.Mesh) part.material = material;
          });
        }
        const scaled = new THREE.Group();
        scaled.scale.set(...form.scale!);
        scaled.add(copy);
        return scaled;
      }
    }
  }

  /** Puts every link where a frame says. */
  show(frame: Frame) {
    const before = this.posed && this.leader >= 0 ? new THREE.Vector3().setFromMatrixPosition(this.worlds[this.leader]) : null;
    for (let i = 0; i < this.worlds.length; i++) this.worlds[i].copy(matrixOf(frame.poses, 7 * i));
    if (this.follow && before) this.goAlong(new THREE.Vector3().setFromMatrixPosition(this.worlds[this.leader]).sub(before));
    this.place();
    this.frame = frame;
    this.layers.show(frame, this.worlds, this.chosen);
    this.posed = true;
    if (!this.fitted) this.fit();
    this.draw();
  }

  private goAlong(way: THREE.Vector3) {
    this.camera.position.add(way);
    this.controls.target.add(way);
    this.sun.position.add(way);
    this.sun.target.position.add(way);
    this.controls.update();
  }

  private place() {
    this.groups.forEach((group, i) => {
      group.matrix.copy(this.worlds[i]);
      group.matrixWorldNeedsUpdate = true;
    });
    for (const group of this.collisions.children) {
      const link = group.userData.link as number;
      if (link >= 0) group.matrix.copy(this.worlds[link]);
      group.matrixWorldNeedsUpdate = true;
    }
    this.skeleton.forEach((part) => part.follow(this.worlds));
  }

  /** What the robot fills. */
  bounds(): THREE.Box3 {
    this.root.updateMatrixWorld(true);
    const box = new THREE.Box3();
    const add = (object: THREE.Object3D) => {
      const own = new THREE.Box3().setFromObject(object);
      // Planes without end are no part of what is looked at.
      if (!own.isEmpty() && own.getSize(new THREE.Vector3()).length() < this.size * 15) box.union(own);
    };
    this.groups.forEach(add);
    // What stands in the world is looked at too.
    this.visuals.children.filter((o) => o.userData.link === -1 && o.userData.form !== "field").forEach(add);
    this.skeleton.forEach((part) => part.mesh && (part.mesh.computeBoundingBox(), box.union(part.mesh.boundingBox!)));
    if (box.isEmpty()) this.worlds.forEach((world) => box.expandByPoint(new THREE.Vector3().setFromMatrixPosition(world)));
    return box;
  }

  /** Looks at the whole robot from ahead and aside, and at the other side of what holds it, where it can swing there. */
  fit() {
    const box = this.bounds();
    const held = this.scene.joints.filter((j) => j.parent < 0 && j.child >= 0);
    if (this.swings && held.length === 1 && held[0].kind !== "free" && !box.isEmpty()) {
      const { x, y } = new THREE.Vector3().setFromMatrixPosition(this.worlds[held[0].child]);
      for (const corner of [box.min.clone(), box.max.clone()]) {
        box.expandByPoint(new THREE.Vector3(2 * x - corner.x, 2 * y - corner.y, corner.z));
      }
    }
    this.fitTo(box);
  }

  /** Tells whether it moves by itself; until then it was looked at as it stands. */
  moves(swings: boolean) {
    if (swings === this.swings) return;
    this.swings = swings;
    if (this.fitted) this.fit();
  }

  /** Colours the joints by something. */
  paint(name: ColourName) {
    this.layers.paint(name);
    this.glass(name !== "none");
    this.again();
  }

  /** Shows the last frame again, with what was not shown before. */
  private again() {
    if (this.frame) this.layers.show(this.frame, this.worlds, this.chosen);
    this.draw();
  }

  fitTo(box: THREE.Box3) {
    if (box.isEmpty()) return;
    this.fitted = true;
    const centre = box.getCenter(new THREE.Vector3());
    const radius = Math.max(box.getSize(new THREE.Vector3()).length() / 2, 1e-3);
    const way = new THREE.Vector3(1, -1.25, 0.62).normalize();
    const far = Math.max(this.distance(box, centre, way), 1.2 * radius);
    this.camera.position.copy(way).multiplyScalar(far).add(centre);
    this.camera.near = far / 200;
    this.camera.far = far * 40;
    this.camera.updateProjectionMatrix();
    this.controls.target.copy(centre);
    this.controls.update();
    this.floor(this.scene.ground ?? this.level?.pose[2] ?? Math.min(box.min.z, this.lowest), centre, radius);
    this.draw();
  }

  /** From how far all corners of a box are seen, with some room around. */
  private distance(box: THREE.Box3, centre: THREE.Vector3, way: THREE.Vector3): number {
    const right = new THREE.Vector3().crossVectors(this.camera.up, way).normalize();
    const up = new THREE.Vector3().crossVectors(way, right);
    const tall = 0.82 * Math.tan((this.camera.fov * Math.PI) / 360);
    let far = 0;
    for (let i = 0; i < 8; i++) {
      const pick = (bit: number, k: "x" | "y" | "z") => ((i >> bit) & 1 ? box.max[k] : box.min[k]);
      const corner = new THREE.Vector3(pick(0, "x"), pick(1, "y"), pick(2, "z")).sub(centre);
      const [x, y] = [Math.abs(corner.dot(right)), Math.abs(corner.dot(up))];
      far = Math.max(far, corner.dot(way) + Math.max(x / (tall * this.camera.aspect), y / tall));
    }
    return far;
  }

  private floor(height: number, centre: THREE.Vector3, radius: number) {
    this.ground.clear();
    // Lines one, a tenth or a hundredth of a metre apart, as the robot is large.
    const step = 10 ** Math.floor(Math.log10(Math.max(radius, 1e-3) * 0.7));
    const count = Math.min(Math.ceil((6 * radius) / step), 60);
    // What can be stood on has a colour; what is only there to see the robot by has none.
    const solid = this.level !== undefined || this.scene.ground !== undefined;
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    const light = solid ? [0x5b6472, 0x8b95a5] : [0x8b95a5, 0xc3cad5];
    const lines = dark ? [0x596373, 0x39414e] : light;
    const grid = gridOf(step, count, lines);
    const wide = 4 * count * step;
    const look = solid ? floorOf(this.level?.colour ?? null) : new THREE.ShadowMaterial({ opacity: 0.22 });
    const shade = new THREE.Mesh(new THREE.PlaneGeometry(solid ? 4 * wide : wide, solid ? 4 * wide : wide, 32, 32), look);
    shade.receiveShadow = true;
    // A shadow alone hides nothing that is below it and seen through. A wide plane's depth is not exact: lines stay before it.
    Object.assign(look, { depthWrite: solid, polygonOffset: true, polygonOffsetFactor: 2, polygonOffsetUnits: 8 });
    shade.position.z = -radius * 2e-3;
    this.ground.add(grid, shade);
    // The plane ends in haze, not at an edge.
    this.root.fog = solid ? new THREE.Fog(this.root.background as THREE.Color, 8 * radius, 30 * radius) : null;
    const lower = solid ? 0 : radius * 1e-3;
    this.ground.position.set(Math.round(centre.x / step) * step, Math.round(centre.y / step) * step, height - lower);
    this.sun.position.set(centre.x + radius, centre.y - 1.5 * radius, centre.z + 4 * radius);
    this.sun.target.position.copy(centre);
    const shadow = this.sun.shadow.camera;
    Object.assign(shadow, { left: -2 * radius, right: 2 * radius, top: 2 * radius, bottom: -2 * radius, near: radius / 10, far: 9 * radius });
    shadow.updateProjectionMatrix();
    this.sun.shadow.bias = -0.0005;
    this.sun.shadow.normalBias = radius * 0.004;
  }

  /** Shows or hides a layer. */
  toggle(name: LayerName, on: boolean) {
    if (name === "robot") {
      this.visuals.visible = on;
      this.skeleton.forEach((part) => (part.group.visible = on));
    } else if (name === "collision") {
      this.collisions.visible = on;
      if (on) void this.touchable();
    } else if (name === "ground") {
      this.ground.visible = on;
    } else {
      this.layers.toggle(name, on);
    }
    this.place();
    this.again();
  }

  /** Settles when all shapes to be touched are drawn. */
  touchable(): Promise<void> {
    const wanted = this.scene.geometry.filter((shape) => shape !== this.level && this.isBound(shape));
    this.bounded ??= this.ready.then(() => this.draws(wanted)).then(() => (this.place(), this.draw()));
    return this.bounded;
  }

  /** Lets joints be seen through the robot. */
  private glass(on: boolean) {
    const each = (object: THREE.Object3D) => {
      if (!(object instanceof THREE.Mesh)) return;
      for (const material of [object.material].flat() as THREE.Material[]) {
        material.userData.opacity ??= material.opacity;
        material.userData.transparent ??= material.transparent;
        material.transparent = on || material.userData.transparent;
        material.opacity = on ? 0.3 * material.userData.opacity : material.userData.opacity;
        material.depthWrite = !on;
        material.needsUpdate = true;
      }
    };
    this.visuals.traverse(each);
    this.skeleton.forEach((part) => part.group.traverse(each));
    this.draw();
  }

  /** The link under a point of the canvas, and where it was met. */
  pick(x: number, y: number): { link: number; point: THREE.Vector3 } | null {
    const ray = new THREE.Raycaster();
    ray.setFromCamera(new THREE.Vector2(x, y), this.camera);
    const objects = [this.visuals, ...this.skeleton.map((part) => part.group)].filter((o) => o.visible);
    for (const hit of ray.intersectObjects(objects, true)) {
      const links = hit.object.userData.links as number[] | undefined;
      if (links && hit.instanceId !== undefined) return { link: links[hit.instanceId], point: hit.point };
      for (let o: THREE.Object3D | null = hit.object; o; o = o.parent) {
        const link = o.userData.link as number | undefined;
        if (link !== undefined && link >= 0) return { link, point: hit.point };
      }
    }
    return null;
  }

  choose(link: number) {
    this.chosen = link;
    this.layers.mark(link, this.worlds);
    this.draw();
  }

  /** Where a point of the world is on the canvas, in its pixels from the upper left. */
  project(point: THREE.Vector3): [number, number] {
    const canvas = this.renderer.domElement;
    const p = point.clone().project(this.camera);
    return [((p.x + 1) / 2) * canvas.clientWidth, ((1 - p.y) / 2) * canvas.clientHeight];
  }

  poseOf(link: number): Pose {
    const [place, turn, scale] = [new THREE.Vector3(), new THREE.Quaternion(), new THREE.Vector3()];
    this.groups[link].updateWorldMatrix(true, false);
    this.groups[link].matrixWorld.decompose(place, turn, scale);
    return [place.x, place.y, place.z, turn.x, turn.y, turn.z, turn.w];
  }
}

/** Whether the processor draws. */
function software(renderer: THREE.WebGLRenderer): boolean {
  const gl = renderer.getContext();
  const about = gl.getExtension("WEBGL_debug_renderer_info");
  const name = about ? String(gl.getParameter(about.UNMASKED_RENDERER_WEBGL)) : "";
  return /swiftshader|llvmpipe|software/i.test(name);
}
