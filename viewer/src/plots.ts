// Chosen numbers over time, beside the motion.

import type { Frame, Scene } from "./scene";

/** So many moments are kept, and no more numbers than these in all. */
const KEPT = 1200;
const NUMBERS = 4e6;
const LINES = ["#2563eb", "#dc2626", "#16a34a", "#d97706", "#7c3aed", "#0891b2", "#be185d", "#4d7c0f"];

type Source = { title: string; labels: string[]; take: (frame: Frame) => ArrayLike<number> };

/** A number as it is read. */
function shortOf(x: number): string {
  return String(Number(x.toPrecision(3))).replace("-", "−");
}

export class Plots {
  private kept: { t: number; rows: ArrayLike<number>[] }[] = [];
  private shown: { source: Source; canvas: HTMLCanvasElement; box: HTMLElement }[] = [];
  private sources: Source[];
  private wanted = false;
  /** How many numbers a moment has. */
  private numbers: number;

  constructor(scene: Scene, choice: HTMLElement, private place: HTMLElement) {
    const rates: string[] = [];
    const coordinates: string[] = [];
    for (const joint of scene.joints) {
      const name = (i: number, n: number) => (n > 1 ? `${joint.name} ${i + 1}` : joint.name);
      for (let i = joint.q[0]; i < joint.q[1]; i++) coordinates[i] = name(i - joint.q[0], joint.q[1] - joint.q[0]);
      for (let i = joint.v[0]; i < joint.v[1]; i++) rates[i] = name(i - joint.v[0], joint.v[1] - joint.v[0]);
    }
    this.sources = [
      { title: "q", labels: coordinates, take: (f) => f.q },
      { title: "q̇", labels: rates, take: (f) => f.v },
      { title: "T", labels: rates, take: (f) => f.tau },
      { title: "energy, J", labels: ["kinetic", "potential", "total"], take: (f) => [f.kinetic, f.potential, f.kinetic + f.potential] },
    ];
    if (scene.total) {
      this.sources.push({ title: "ν", labels: rates, take: (f) => f.nu }, { title: "ε", labels: rates, take: (f) => f.eps });
    }
    this.numbers = this.sources.reduce((sum, s) => sum + s.labels.length, 0);
    const which = document.createElement("input");
    which.type = "search";
    which.id = "plot-filter";
    which.placeholder = "only joints named …";
    which.oninput = () => this.draw();
    this.filter = () => which.value.trim().toLowerCase();
    for (const source of this.sources) {
      const label = document.createElement("label");
      const box = document.createElement("input");
      box.type = "checkbox";
      box.dataset.plot = source.title;
      box.onchange = () => this.toggle(source, box.checked);
      label.append(box, source.title);
      choice.append(label);
    }
    choice.append(which);
  }

  private filter: () => string = () => "";

  private toggle(source: Source, on: boolean) {
    if (on) {
      const box = document.createElement("div");
      const canvas = document.createElement("canvas");
      const legend = document.createElement("div");
      legend.className = "legend";
      box.append(canvas, legend);
      this.place.append(box);
      this.shown.push({ source, canvas, box });
    } else {
      this.shown = this.shown.filter((s) => s.source !== source || (s.box.remove(), false));
    }
    this.draw();
  }

  add(frame: Frame) {
    const last = this.kept[this.kept.length - 1];
    // Time that goes back begins a new curve.
    if (last && frame.t < last.t) this.kept = [];
    if (last && frame.t === last.t) this.kept.pop();
    this.kept.push({ t: frame.t, rows: this.sources.map((s) => Array.from(s.take(frame))) });
    const most = Math.max(Math.min(KEPT, Math.floor(NUMBERS / this.numbers)), 2);
    if (this.kept.length > most) this.kept.shift();
    if (this.shown.length > 0 && !this.wanted) {
      this.wanted = true;
      requestAnimationFrame(() => this.draw());
    }
  }

  /** How many moments are kept. */
  get moments(): number {
    return this.kept.length;
  }

  private draw() {
    this.wanted = false;
    for (const { source, canvas, box } of this.shown) {
      const ratio = Math.min(devicePixelRatio, 2);
      const [width, height] = [Math.max(canvas.clientWidth, 10), 96];
      canvas.width = width * ratio;
      canvas.height = height * ratio;
      const pen = canvas.getContext("2d")!;
      pen.scale(ratio, ratio);
      const number = this.sources.indexOf(source);
      const filter = this.filter();
      const all = source.labels.map((label, i) => [label, i] as const);
      const columns = all.filter(([label]) => number === 3 || label.toLowerCase().includes(filter)).slice(0, LINES.length);
      const legend = box.querySelector(".legend")!;
      legend.replaceChildren(`${source.title}:`);
      columns.forEach(([label], k) => {
        const word = document.createElement("span");
        word.textContent = label;
        word.style.color = LINES[k];
        legend.append(word);
      });
      if (this.kept.length < 2) continue;
      const [first, last] = [this.kept[0].t, this.kept[this.kept.length - 1].t];
      let [low, high] = [Infinity, -Infinity];
      for (const { rows } of this.kept) {
        for (const [, i] of columns) {
          low = Math.min(low, rows[number][i]);
          high = Math.max(high, rows[number][i]);
        }
      }
      if (!(high > low)) [low, high] = [low - 1, high + 1];
      const x = (t: number) => ((t - first) / Math.max(last - first, 1e-9)) * (width - 4) + 2;
      const y = (value: number) => height - 15 - ((value - low) / (high - low)) * (height - 30);
      pen.strokeStyle = "#98a2b355";
      // The ends of the scale, and zero.
      for (const level of new Set([low, high, Math.min(Math.max(0, low), high)])) {
        pen.beginPath();
        pen.moveTo(0, Math.round(y(level)) + 0.5);
        pen.lineTo(width, Math.round(y(level)) + 0.5);
        pen.stroke();
      }
      columns.forEach(([, i], k) => {
        pen.beginPath();
        pen.strokeStyle = LINES[k];
        this.kept.forEach(({ t, rows }, m) => (m ? pen.lineTo(x(t), y(rows[number][i])) : pen.moveTo(x(t), y(rows[number][i]))));
        pen.stroke();
      });
      pen.fillStyle = "#667085";
      pen.font = "10px system-ui";
      pen.fillText(shortOf(high), 4, 10);
      pen.fillText(shortOf(low), 4, height - 4);
      pen.textAlign = "right";
      pen.fillText(`${first.toFixed(2)} … ${last.toFixed(2)} s`, width - 4, height - 4);
    }
  }
}
