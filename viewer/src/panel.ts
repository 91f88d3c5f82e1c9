// The tree of links and joints, sliders, and what is known of the one that was chosen.

import * as THREE from "three";
import type { Command } from "./feed";
import type { Frame, Joint, Scene } from "./scene";

/** A number as it is read: what is left of rounding is zero. */
function shortOf(x: number): string {
  if (Math.abs(x) < 1e-9) return "0";
  return String(Number(x.toPrecision(5)));
}

/** More rows than these are not made at once: the search finds the others. */
const ROWS = 400;

interface Slider {
  joint: number;
  /** Sets the slider to a frame. */
  show: (frame: Frame) => void;
}

export class Panel {
  private sliders: Slider[] = [];
  private rows = new Map<number, HTMLElement>();
  private order: { link: number; joint: number; depth: number }[] = [];
  private frame: Frame | null = null;
  private live = true;
  chosen = -1;

  constructor(
    private scene: Scene,
    private place: HTMLElement,
    private info: HTMLElement,
    filter: HTMLInputElement,
    private send: (command: Command) => void,
    private onChoose: (link: number) => void,
  ) {
    this.order = this.sorted();
    filter.oninput = () => this.fill(filter.value.trim().toLowerCase());
    this.fill("");
  }

  /** Links in the order of the tree, each after the one that carries it. */
  private sorted() {
    const children = new Map<number, number[]>();
    const carried = new Set<number>();
    this.scene.joints.forEach((joint, j) => {
      children.set(joint.parent, [...(children.get(joint.parent) ?? []), j]);
      carried.add(joint.child);
    });
    const order: { link: number; joint: number; depth: number }[] = [];
    const waiting: { joint: number; depth: number }[] = [];
    const push = (link: number, depth: number) =>
      [...(children.get(link) ?? [])].reverse().forEach((joint) => waiting.push({ joint, depth }));
    this.scene.links.forEach((_, i) => {
      if (!carried.has(i)) {
        order.push({ link: i, joint: -1, depth: 0 });
        push(i, 1);
      }
    });
    push(-1, 0);
    while (waiting.length > 0) {
      const { joint, depth } = waiting.pop()!;
      const link = this.scene.joints[joint].child;
      order.push({ link, joint, depth });
      push(link, depth + 1);
    }
    return order;
  }

  private fill(filter: string) {
    this.place.replaceChildren();
    this.sliders = [];
    this.rows.clear();
    const fits = ({ link, joint }: { link: number; joint: number }) =>
      !filter ||
      this.scene.links[link].name.toLowerCase().includes(filter) ||
      (joint >= 0 && this.scene.joints[joint].name.toLowerCase().includes(filter));
    const found = this.order.filter(fits);
    for (const { link, joint, depth } of found.slice(0, ROWS)) this.row(link, joint, filter ? 0 : depth);
    if (found.length > ROWS) {
      const more = document.createElement("p");
      more.textContent = `and ${found.length - ROWS} more: search for them by name`;
      this.place.append(more);
    }
    if (this.frame) this.show(this.frame);
  }

  private row(link: number, number: number, depth: number) {
    const row = document.createElement("div");
    row.className = "row";
    row.dataset.link = this.scene.links[link].name;
    row.style.paddingLeft = `${4 + Math.min(depth, 12) * 7}px`;
    const name = document.createElement("span");
    name.className = "name";
    name.textContent = this.scene.links[link].name;
    row.append(name);
    row.onclick = () => this.choose(link);
    row.classList.toggle("chosen", link === this.chosen);
    this.rows.set(link, row);
    this.place.append(row);
    if (number < 0) return;
    const joint = this.scene.joints[number];
    const kind = document.createElement("span");
    kind.className = "kind";
    kind.textContent = joint.follows ? `follows ${joint.follows}` : joint.kind;
    kind.title = joint.name;
    row.append(kind);
    if (joint.follows || joint.q[1] === joint.q[0]) return;
    this.coordinates(joint, number);
  }

  /** Sliders of a joint: one for each coordinate, three angles for a quaternion. */
  private coordinates(joint: Joint, number: number) {
    const [from, to] = joint.q;
    const send = (q: number[]) => this.send({ do: "set", joint: number, q });
    if (joint.kind === "free" || joint.kind === "spherical") {
      const names = ["roll", "pitch", "yaw", "x", "y", "z"].slice(0, joint.kind === "free" ? 6 : 3);
      const read = (frame: Frame) => {
        const [x, y, z, w, ...rest] = frame.q.subarray(from, to);
        const angles = new THREE.Euler().setFromQuaternion(new THREE.Quaternion(x, y, z, w), "ZYX");
        return [angles.x, angles.y, angles.z, ...rest];
      };
      names.forEach((name, i) => {
        const range: [number, number] = i < 3 ? [i === 1 ? -Math.PI / 2 : -Math.PI, i === 1 ? Math.PI / 2 : Math.PI] : [-2, 2];
        this.slider(number, name, range, (frame) => read(frame)[i], (value) => {
          if (!this.frame) return;
          const all = read(this.frame);
          all[i] = value;
          const turn = new THREE.Quaternion().setFromEuler(new THREE.Euler(all[0], all[1], all[2], "ZYX"));
          send([turn.x, turn.y, turn.z, turn.w, ...all.slice(3)]);
        });
      });
      return;
    }
    for (let i = from; i < to; i++) {
      const limit = joint.limits[i - from];
      const slides = joint.kind === "prismatic" || joint.kind === "translation" || (joint.kind === "planar" && i > from);
      const wide = slides ? 1 : Math.PI;
      const range: [number, number] = [limit?.[0] ?? -wide, limit?.[1] ?? wide];
      const label = to - from > 1 ? `${joint.name} ${i - from + 1}` : joint.name;
      this.slider(number, label, range, (frame) => frame.q[i], (value) => {
        if (!this.frame) return;
        const all = Array.from(this.frame.q.subarray(from, to));
        all[i - from] = value;
        send(all);
      });
    }
  }

  private slider(joint: number, name: string, [low, high]: [number, number], read: (f: Frame) => number, set: (x: number) => void) {
    const box = document.createElement("div");
    box.className = "slider";
    const label = document.createElement("label");
    label.textContent = name;
    label.title = name;
    const range = document.createElement("input");
    range.type = "range";
    range.dataset.joint = name;
    Object.assign(range, { min: String(low), max: String(high), step: "any", ariaLabel: name });
    const field = document.createElement("input");
    field.type = "number";
    field.step = "any";
    field.ariaLabel = `${name}, as a number`;
    let pending: number | null = null;
    // At most one message for each picture.
    const post = (value: number) => {
      if (pending === null) requestAnimationFrame(() => (set(pending!), (pending = null)));
      pending = value;
    };
    range.oninput = () => post(Number(range.value));
    field.onchange = () => Number.isFinite(field.valueAsNumber) && post(field.valueAsNumber);
    box.append(label, range, field);
    this.place.append(box);
    range.disabled = field.disabled = !this.live;
    const show = (frame: Frame) => {
      const value = read(frame);
      if (document.activeElement !== range) range.value = String(value);
      if (document.activeElement !== field) field.value = value.toFixed(4).replace(/^-(0\.0+)$/, "$1");
    };
    this.sliders.push({ joint, show });
  }

  /** Whether joints can be moved by hand. */
  movable(on: boolean) {
    if (on === this.live) return;
    this.live = on;
    this.place.querySelectorAll("input").forEach((input) => (input.disabled = !on));
  }

  choose(link: number) {
    this.chosen = link;
    this.rows.forEach((row, i) => row.classList.toggle("chosen", i === link));
    this.rows.get(link)?.scrollIntoView({ block: "nearest" });
    this.onChoose(link);
    if (this.frame) this.tell(this.frame);
  }

  show(frame: Frame) {
    this.frame = frame;
    this.sliders.forEach((slider) => slider.show(frame));
    this.tell(frame);
  }

  /** What is known of the chosen link and its joint. */
  private tell(frame: Frame) {
    this.info.hidden = this.chosen < 0;
    if (this.chosen < 0) return;
    const link = this.scene.links[this.chosen];
    const number = this.scene.joints.findIndex((j) => j.child === this.chosen);
    const joint = this.scene.joints[number];
    const list = (x: ArrayLike<number>) => Array.from(x, shortOf).join(", ") || "–";
    const pose = frame.poses.subarray(7 * this.chosen, 7 * this.chosen + 7);
    const lines: [string, string][] = [
      ["mass", `${link.mass.toPrecision(5)} kg`],
      ["place", `${list(pose.subarray(0, 3))} m`],
      ["turn", `${list(pose.subarray(3))} (x, y, z, w)`],
    ];
    if (joint) {
      const [a, b] = joint.v;
      lines.push(["joint", `${joint.name}, ${joint.kind}`]);
      const q = joint.follows ? this.followed(frame, number) : frame.q.subarray(...joint.q);
      if (q.length > 0) lines.push(["q", list(q)]);
      if (b > a) lines.push(["q̇", list(frame.v.subarray(a, b))], ["T", list(frame.tau.subarray(a, b))]);
      if (b > a && frame.nu.length > 0) lines.push(["ν", list(frame.nu.subarray(a, b))], ["ε", list(frame.eps.subarray(a, b))]);
    }
    const title = document.createElement("h3");
    title.textContent = link.name;
    const table = document.createElement("table");
    for (const [key, value] of lines) {
      const row = table.insertRow();
      row.insertCell().textContent = key;
      row.insertCell().textContent = value;
    }
    this.info.replaceChildren(title, table);
  }

  private followed(frame: Frame, number: number): ArrayLike<number> {
    let start = 0;
    for (let j = 0; j < number; j++) start += this.scene.joints[j].width;
    return frame.all.subarray(start, start + this.scene.joints[number].width);
  }
}
