// The page: puts the parts together.

import * as THREE from "three";
import { Drag } from "./drag";
import { Live, Recorded, type Command, type Feed, type Listener } from "./feed";
import { Levels } from "./levels";
import { COLOURS, LAYERS, type ColourName, type LayerName } from "./layers";
import { Panel } from "./panel";
import { Plots } from "./plots";
import type { Frame, ModeInfo, Scene, Status } from "./scene";
import { Stage } from "./stage";
import { perform } from "./take";

const SPEEDS = [0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10];

function element<T extends HTMLElement>(id: string): T {
  return document.getElementById(id) as T;
}

/** A line that says something, and goes after a while. */
function say(text: string, note = false) {
  const line = document.createElement("p");
  line.textContent = text;
  if (note) line.className = "note";
  const place = element("message");
  // The same twice is no news.
  if ([...place.children].some((old) => old.textContent === text)) return;
  place.append(line);
  setTimeout(() => line.remove(), 8000);
  while (place.children.length > 4) place.firstChild?.remove();
}

async function start() {
  const inside = element("scene").textContent!.trim();
  const scene: Scene = inside ? JSON.parse(inside) : await (await fetch("scene.json")).json();
  document.title = `${scene.name} – Linkwork`;
  element("name").textContent = scene.name;
  const coordinates = scene.nq === 1 ? "1 coordinate" : `${scene.nq} coordinates`;
  element("summary").textContent = `${scene.links.length} links, ${coordinates}, ${scene.mass.toPrecision(4)} kg`;
  const task = scene.task;
  if (task) element("app").classList.add("bare");
  const stage = new Stage(scene, element<HTMLCanvasElement>("view"), task !== undefined);
  if (task) return picture(scene, stage);

  let feed: Feed;
  let status: Status | null = null;
  let frames = 0;
  let last: Frame | null = null;
  const send = (command: Command) => feed.send(command);
  let levels: Levels | null = null;
  const panel = new Panel(scene, element("tree"), element("info"), element<HTMLInputElement>("filter"), send, (link) => {
    stage.choose(link);
    levels?.atName(scene.links[link]?.name ?? null);
    ask();
  });
  levels = levelsOf(scene, (name) => panel.choose(name === null ? -1 : indexOf(scene, name)));
  const plots = new Plots(scene, element("plot-choice"), element("plots"));
  const drag = new Drag(stage, send, (link) => panel.choose(link));
  const ask = () => send({ do: "show", ...stage.layers.wants(panel.chosen) });
  const clock = element<HTMLOutputElement>("clock");
  const touch = element<HTMLOutputElement>("touch");
  const time = element<HTMLInputElement>("time");
  let seeking = false;

  const listener: Listener = {
    frame(frame) {
      frames++;
      last = frame;
      stage.show(frame);
      panel.show(frame);
      // What a hand moves in a file has no torques, and is no motion; those of a simulation are known from its first step on.
      const known = frame.tau.length === scene.nv && !(status?.kind === "simulation" && frame.t === 0);
      if (status && status.mode === null && known) plots.add(frame);
      clock.value = `${frame.t.toFixed(2)} s`;
      touch.value = touching(frame.arrows);
      if (!element("scale").hidden) scale(stage, true);
      if (!seeking) time.value = String(frame.t);
    },
    status(now) {
      status = now;
      element("transport").hidden = now.kind === "still";
      element("run").textContent = now.running ? "Pause" : "Run";
      drag.pulls = now.kind === "simulation";
      stage.moves(now.kind !== "still");
      const byHand = feed instanceof Recorded ? feed.kinematics !== null && !now.running : now.kind !== "log";
      panel.movable(byHand);
      time.hidden = now.kind !== "log" && now.kind !== "file";
      if (now.span) [time.min, time.max] = now.span.map(String);
      element<HTMLSelectElement>("speed").value = String(now.speed);
      const slow = now.kind === "simulation" && now.running && now.pace < 0.9;
      element("pace").textContent = slow ? `${(100 * now.pace).toFixed(0)} % of real time` : "";
      document.querySelectorAll<HTMLElement>("#mode-list .row").forEach((row) => {
        row.classList.toggle("chosen", row.dataset.mode === String(now.mode));
      });
    },
    modes: (modes) => listModes(modes, send, () => status?.mode ?? null),
    problem: (text) => say(text),
    there() {
      // A page that wants nothing takes nothing from others.
      const { articulated, operational } = stage.layers.wants(panel.chosen);
      if (articulated || operational !== null) ask();
    },
  };

  layersOf(scene, stage, ask);
  following(stage);
  coloursOf(scene, stage);
  transport(() => status, send);
  time.onpointerdown = () => (seeking = true);
  time.onpointerup = () => (seeking = false);
  time.oninput = () => send({ do: "seek", t: Number(time.value) });
  element("fit").onclick = () => stage.fit();
  element("picture").onclick = () => save(stage, scene.name);
  element("find-modes").onclick = () => send({ do: "modes" });
  element("modes").hidden = scene.motion !== undefined;

  const main = document.querySelector("main")!;
  const resize = () => stage.resize(main.clientWidth, main.clientHeight);
  new ResizeObserver(resize).observe(main);
  resize();
  feed = scene.motion ? new Recorded(scene, listener) : new Live(scene, listener);
  await stage.ready;
  for (const name of scene.layers ?? []) {
    document.querySelector<HTMLInputElement>(`input[data-layer=${name}]:not(:checked), input[data-colour=${name}]`)?.click();
  }
  const absent = () => {
    element("missing").hidden = stage.missing.length === 0;
    const lines = stage.missing.map(({ uri, problem }) => {
      const line = document.createElement("li");
      line.textContent = `${uri}: ${problem}`;
      return line;
    });
    element("missing").querySelector("ul")!.replaceChildren(...lines);
  };
  stage.onMissing = absent;
  absent();
  if (stage.missing.length > 0) {
    say(`${stage.missing.length} of ${scene.meshes.length} meshes could not be drawn; boxes stand for them, and the list on the right says why.`, true);
  }
  // For scripts and notebooks that look at the page.
  Object.assign(window, {
    linkwork: {
      scene,
      frame: () => last,
      frames: () => frames,
      status: () => status,
      moments: () => plots.moments,
      missing: stage.missing,
      pose: (link: string) => stage.poseOf(indexOf(scene, link)),
      project: (link: string, local: [number, number, number] = [0, 0, 0]) =>
        stage.project(new THREE.Vector3(...local).applyMatrix4(stage.worlds[indexOf(scene, link)])),
      projectWorld: (point: [number, number, number]) => stage.project(new THREE.Vector3(...point)),
      touchable: () => stage.touchable(),
      pick: (x: number, y: number) => {
        const canvas = stage.renderer.domElement;
        const hit = stage.pick((x / canvas.clientWidth) * 2 - 1, 1 - (y / canvas.clientHeight) * 2);
        return hit ? scene.links[hit.link].name : null;
      },
      triangles: () => stage.renderer.info.render.triangles,
      calls: () => stage.renderer.info.render.calls,
      render: () => stage.render(),
    },
  });
  document.body.dataset.ready = "yes";
}

/** The page of an expression, beside that of the robot. */
function levelsOf(scene: Scene, onLink: (name: string | null) => void): Levels | null {
  if (!scene.levels) return null;
  const place = element("levels");
  const levels = new Levels(scene.levels, place, onLink);
  const views = element("views");
  const show = (shown: boolean) => {
    element("app").classList.toggle("at-levels", shown);
    place.hidden = !shown;
    views.dataset.shown = shown ? "levels" : "robot";
    (shown ? place : document.querySelector("main")!).append(views);
    levels.choose(levels.chosen);
  };
  views.hidden = false;
  element("show-robot").onclick = () => show(false);
  element("show-levels").onclick = () => show(true);
  show(true);
  return levels;
}

/** How many points touch, and with what force in all. */
function touching(arrows: Float32Array): string {
  let [count, newtons] = [0, 0];
  for (let i = 0; i + 7 <= arrows.length; i += 7) {
    if (arrows[i] !== 1) continue;
    count++;
    newtons += Math.hypot(arrows[i + 4], arrows[i + 5], arrows[i + 6]);
  }
  if (count === 0) return "";
  const words = count === 1 ? "1 contact" : `${count} contacts`;
  return newtons > 0 ? `${words}, ${newtons.toPrecision(3)} N` : words;
}

function indexOf(scene: Scene, link: string): number {
  return scene.links.findIndex((l) => l.name === link);
}

/** The picture or film that the page was opened for. */
async function picture(scene: Scene, stage: Stage) {
  const task = scene.task!;
  const feed = new Recorded(scene, { frame() {}, status() {}, modes() {}, problem() {}, there() {} });
  for (const layer of task.layers) {
    if (layer === "rates" || layer === "moments") {
      await stage.ready;
      stage.paint(layer);
    } else {
      stage.toggle(layer as LayerName, true);
      if (layer === "collision") await stage.touchable();
    }
  }
  await perform(task, stage, feed.film, (frame) => stage.show(frame));
}

function layersOf(scene: Scene, stage: Stage, ask: () => void) {
  for (const [name, words] of LAYERS) {
    // Where joints follow others there is none, and a file has what was put into it.
    if (name === "articulated" && scene.coupled) continue;
    if (scene.motion && (name === "articulated" || name === "operational") && !scene.motion[name]) continue;
    const label = document.createElement("label");
    const box = document.createElement("input");
    box.type = "checkbox";
    box.dataset.layer = name;
    box.checked = ["robot", "ground", "contacts", "forces"].includes(name);
    box.onchange = () => {
      stage.toggle(name, box.checked);
      ask();
    };
    label.append(box, words);
    element("layers").append(label);
  }
}

/** Robots that no joint holds can be gone along with. */
function following(stage: Stage) {
  if (!stage.follow) return;
  const label = document.createElement("label");
  const box = document.createElement("input");
  Object.assign(box, { type: "checkbox", checked: true });
  box.dataset.layer = "follow";
  box.onchange = () => (stage.follow = box.checked);
  label.append(box, "Go along with it");
  element("layers").append(label);
}

function coloursOf(scene: Scene, stage: Stage) {
  for (const [name, words] of COLOURS) {
    if (!scene.total && (name === "rates" || name === "moments")) continue;
    const label = document.createElement("label");
    const choice = document.createElement("input");
    Object.assign(choice, { type: "radio", name: "colour", checked: name === "none" });
    choice.dataset.colour = name;
    choice.onchange = () => {
      stage.paint(name as ColourName);
      scale(stage, name !== "none");
    };
    label.append(choice, words);
    element("colours").append(label);
  }
}

/** What the ends of the colours stand for. */
function scale(stage: Stage, shown: boolean) {
  const place = element("scale");
  place.hidden = !shown;
  const [low, high] = place.querySelectorAll("span");
  const most = stage.layers.most > 1e-9 ? stage.layers.most.toPrecision(3) : "0";
  low.textContent = most === "0" ? "" : `−${most}`;
  high.textContent = most;
}

function transport(status: () => Status | null, send: (command: Command) => void) {
  const run = () => send({ do: status()?.running ? "pause" : "run" });
  element("run").onclick = run;
  element("step").onclick = () => send({ do: "step" });
  element("reset").onclick = () => send({ do: "reset" });
  const speed = element<HTMLSelectElement>("speed");
  for (const x of SPEEDS) speed.append(new Option(`${x}×`, String(x), x === 1, x === 1));
  speed.onchange = () => send({ do: "speed", x: Number(speed.value) });
  document.addEventListener("keydown", (e) => {
    if (e.target instanceof HTMLInputElement || e.target instanceof HTMLSelectElement || e.target instanceof HTMLButtonElement) return;
    if (e.key === " ") run();
    else if (e.key === ".") send({ do: "step" });
    else if (e.key === "r") send({ do: "reset" });
    else return;
    e.preventDefault();
  });
}

function listModes(modes: ModeInfo[], send: (command: Command) => void, shown: () => number | null) {
  const list = element("mode-list");
  list.replaceChildren();
  // Directions in which nothing pulls back: their poles are zero but for rounding, and come last.
  const size = (mode: ModeInfo) => Math.hypot(mode.re, mode.im);
  const fastest = Math.max(...modes.map(size));
  // Where nothing at all pulls back, as at free bodies, the fastest is rounding too.
  const drifts = (mode: ModeInfo) => size(mode) <= Math.max(Math.min(2e-3 * fastest, 0.2), 1e-5);
  const order = modes.map((mode, i) => ({ mode, i })).sort((a, b) => Number(drifts(a.mode)) - Number(drifts(b.mode)));
  order.forEach(({ mode, i }) => {
    const row = document.createElement("div");
    row.className = "row";
    const hertz = mode.im / (2 * Math.PI);
    const grows = mode.re > 1e-9;
    const words = mode.im > 0 ? `${hertz.toPrecision(3)} Hz, ζ ${mode.damping.toFixed(3)}` : `${mode.re.toPrecision(3)} /s`;
    row.dataset.mode = String(i);
    row.textContent = drifts(mode) ? "drift" : `${words}${grows ? ", grows" : ""}`;
    row.onclick = () => send({ do: "mode", index: shown() === i ? null : i });
    list.append(row);
  });
}

function save(stage: Stage, name: string) {
  stage.render();
  stage.renderer.domElement.toBlob((blob) => {
    if (!blob) return;
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = `${name}.png`;
    link.click();
    URL.revokeObjectURL(link.href);
  });
}

start().catch((problem) => say(problem instanceof Error ? problem.message : String(problem)));
