// The seven levels between an expression and its code: a step that is chosen on one is marked on all of them.

import type { LevelsInfo, LevelLine, LevelPart } from "./scene";

const SVG = "http://www.w3.org/2000/svg";

interface Marked {
  element: HTMLElement;
  steps: number[];
  /** Places of links, of what is done at some alone. */
  links: number[];
}

function made<K extends keyof HTMLElementTagNameMap>(tag: K, name: string, text = ""): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  if (name) element.className = name;
  if (text) element.textContent = text;
  return element;
}

export class Levels {
  private columns: HTMLElement[] = [];
  private marked: Marked[] = [];
  private chips: HTMLElement[] = [];
  private told = made("p", "told");
  private link = made("select", "");
  private wires = document.createElementNS(SVG, "svg");
  /** The steps that are followed, and the one link if it is one. */
  chosen: number[] = [];
  at = -1;

  constructor(private info: LevelsInfo, private place: HTMLElement, private onLink: (name: string | null) => void) {
    place.append(this.bar(), this.stack());
    this.wires.setAttribute("class", "wires");
    this.wires.setAttribute("aria-hidden", "true");
    place.append(this.wires);
    document.addEventListener("keydown", (e) => {
      if (place.hidden || e.target instanceof HTMLInputElement || e.target instanceof HTMLSelectElement) return;
      if (e.key === "ArrowDown" || e.key === "ArrowRight") this.next(1);
      else if (e.key === "ArrowUp" || e.key === "ArrowLeft") this.next(-1);
      else if (e.key === "Escape") this.choose([]);
      else return;
      e.preventDefault();
    });
    new ResizeObserver(() => this.wire()).observe(place);
    this.choose([]);
  }

  /** Steps in their order, sweep by sweep, and a choice of links. */
  private bar(): HTMLElement {
    const bar = made("div", "bar");
    const row = made("div", "chips");
    let group: HTMLElement | null = null;
    let sweep: number | null | undefined;
    this.info.steps.forEach((step, i) => {
      if (!group || step.sweep !== sweep) {
        sweep = step.sweep;
        const words = step.sweep === null ? "between" : `sweep ${step.sweep} ${step.inward ? "inward ←" : "outward →"}`;
        group = made("span", "group");
        group.append(made("small", "", words));
        row.append(group);
      }
      const chip = made("button", "chip", step.name);
      chip.dataset.step = step.name;
      chip.onclick = () => this.choose(this.isAlone(i) ? [] : [i]);
      this.chips.push(chip);
      group.append(chip);
    });
    this.link.append(new Option("all links", "-1"));
    this.info.links.forEach((name, i) => this.link.append(new Option(name, String(i))));
    this.link.onchange = () => {
      this.atLink(Number(this.link.value));
      this.onLink(this.info.links[this.at] ?? null);
    };
    const label = made("label", "", "at ");
    label.append(this.link);
    const line = made("div", "line");
    line.append(this.told, label);
    bar.append(row, line);
    return bar;
  }

  private stack(): HTMLElement {
    const stack = made("div", "stack");
    const [first, rest] = [made("div", "first"), made("div", "rest")];
    this.info.levels.forEach((level, i) => {
      const column = made("section", `level level-${i + 1}`);
      const title = made("h2", "");
      title.append(made("b", "", String(i + 1)), ` ${level.name}`);
      const body = made("div", i === 6 ? "body code" : "body");
      level.parts.forEach((part) => this.part(part, body, i));
      if (level.note) body.append(made("p", "note", level.note));
      body.onscroll = () => this.wire();
      column.append(title, body);
      this.columns.push(body);
      (i < 2 ? first : rest).append(column);
    });
    rest.onscroll = () => this.wire();
    stack.append(first, rest);
    return stack;
  }

  private part(part: LevelPart, body: HTMLElement, level: number) {
    const own = part.link === null ? -1 : this.info.links.indexOf(part.link);
    if (part.heading) {
      const heading = made("h3", "", part.heading);
      if (own >= 0) {
        heading.classList.add("link");
        heading.onclick = () => {
          this.atLink(this.at === own ? -1 : own);
          this.onLink(this.info.links[this.at] ?? null);
        };
      }
      body.append(heading);
    }
    const rows = made("div", level === 6 ? "rows" : "rows equations");
    for (const line of part.lines) rows.append(this.line(line, own, level));
    body.append(rows);
  }

  private line(line: LevelLine, own: number, level: number): HTMLElement {
    const row = made("div", "eq");
    if (level < 6) row.append(made("span", "left", line.left), made("span", "is", "="));
    const right = made("span", "right");
    for (const [text, steps] of line.right) {
      if (steps.length === 0) {
        right.append(text);
        continue;
      }
      const piece = made("span", "piece", text);
      piece.onclick = (e) => {
        e.stopPropagation();
        this.choose(this.isExactly(steps) ? [] : steps);
      };
      this.marked.push({ element: piece, steps, links: [] });
      right.append(piece);
    }
    row.append(right);
    if (line.steps.length > 0) {
      row.classList.add("step");
      row.onclick = () => {
        if (String(getSelection())) return;
        this.choose(this.isExactly(line.steps) ? [] : line.steps);
      };
      this.marked.push({ element: row, steps: line.steps, links: own >= 0 ? [own] : line.links });
    }
    return row;
  }

  private isExactly(steps: number[]): boolean {
    return steps.length === this.chosen.length && steps.every((s) => this.chosen.includes(s));
  }

  private isAlone(step: number): boolean {
    return this.chosen.length === 1 && this.chosen[0] === step;
  }

  private next(by: number) {
    const n = this.info.steps.length;
    if (n === 0) return;
    const from = this.chosen.length === 0 ? (by > 0 ? -1 : n) : by > 0 ? Math.max(...this.chosen) : Math.min(...this.chosen);
    this.choose([(((from + by) % n) + n) % n]);
  }

  /** By the name of a link. */
  atName(name: string | null) {
    this.atLink(name === null ? -1 : this.info.links.indexOf(name));
  }

  private atLink(link: number) {
    this.at = link;
    this.link.value = String(link);
    this.choose(this.chosen);
  }

  /** Follows steps; none shows all alike. */
  choose(steps: number[]) {
    this.chosen = steps;
    const wanted = new Set(steps);
    this.place.classList.toggle("following", steps.length > 0);
    this.place.classList.toggle("at-link", this.at >= 0);
    for (const { element, steps: own, links } of this.marked) {
      const here = this.at < 0 || links.length === 0 || links.includes(this.at);
      element.classList.toggle("on", here && own.some((s) => wanted.has(s)));
      element.classList.toggle("here", this.at >= 0 && links.includes(this.at));
    }
    this.chips.forEach((chip, i) => chip.classList.toggle("on", wanted.has(i)));
    this.told.textContent = this.sentence();
    for (const column of this.columns) {
      const first = column.querySelector<HTMLElement>(steps.length > 0 ? ".eq.on, .piece.on" : ".eq.here");
      if (!first) continue;
      const [outer, inner] = [column.getBoundingClientRect(), first.getBoundingClientRect()];
      if (inner.top < outer.top || inner.bottom > outer.bottom) {
        column.scrollTop += inner.top - outer.top - Math.min(60, outer.height / 3);
      }
    }
    this.wire();
  }

  private sentence(): string {
    const { steps } = this.info;
    if (this.chosen.length === 0) return "Choose a step, an operator or a line to follow it from the expression to the code.";
    const names = (list: number[]) => list.map((i) => steps[i].name).join(", ");
    if (this.chosen.length > 1) return `${this.chosen.length} steps: ${names(this.chosen)}.`;
    const [i] = this.chosen;
    const { name, sweep, inward, reads } = steps[i];
    const where = sweep === null ? "between sweeps" : `in sweep ${sweep}, ${inward ? "inward" : "outward"}`;
    const readers = steps.map((_, j) => j).filter((j) => steps[j].reads.includes(i));
    const from = reads.length > 0 ? `, from ${names(reads)}` : "";
    const to = readers.length > 0 ? `, for ${names(readers)}` : "";
    return `${name} is made ${where}${from}${to}.`;
  }

  /** A thread from each level to the next, in the gap between them, from the first line that is marked to the first. */
  private wire() {
    this.wires.replaceChildren();
    if (this.chosen.length === 0 || this.place.hidden) return;
    const whole = this.place.getBoundingClientRect();
    const ends = this.columns.map((column) => {
      const [outer, card] = [column.getBoundingClientRect(), column.parentElement!.getBoundingClientRect()];
      const seen = [...column.querySelectorAll<HTMLElement>(".piece.on, .eq.on")].map((e) => e.getBoundingClientRect());
      const box = seen.find((r) => r.bottom > outer.top + 2 && r.top < outer.bottom - 2);
      return box ? { x: box.left + Math.min(box.width / 2, 20) - whole.left, y: (box.top + box.bottom) / 2 - whole.top, card } : null;
    });
    for (let i = 0; i + 1 < ends.length; i++) {
      const [a, b] = [ends[i], ends[i + 1]];
      if (!a || !b) continue;
      const path = document.createElementNS(SVG, "path");
      // The second level stands above the third.
      const [top, bottom] = [a.card.bottom - whole.top, b.card.top - whole.top];
      const [left, right] = [a.card.right - whole.left, b.card.left - whole.left];
      const middle = (left + right) / 2;
      const d = i === 1
        ? `M ${a.x} ${top} C ${a.x} ${bottom}, ${b.x} ${top}, ${b.x} ${bottom}`
        : `M ${left} ${a.y} C ${middle} ${a.y}, ${middle} ${b.y}, ${right} ${b.y}`;
      path.setAttribute("d", d);
      this.wires.append(path);
    }
  }
}
