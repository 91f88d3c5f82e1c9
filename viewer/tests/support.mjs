// What the tests share: the program, a browser, and numbers to compare with.
//
// `cargo xtask test` sets LINKWORK (the program), LINKWORK_BROWSER (Chromium), LINKWORK_ROBOTS (the robots of
// example-robot-data) and LINKWORK_SHOTS (where pictures go).

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";

function need(name) {
  const value = process.env[name];
  assert.ok(value, `${name} is not set; \`cargo xtask test\` sets it`);
  return value;
}

export const program = need("LINKWORK");
export const robots = need("LINKWORK_ROBOTS");
export const shots = need("LINKWORK_SHOTS");
mkdirSync(shots, { recursive: true });

export const folder = () => mkdtempSync(join(tmpdir(), "linkwork-page-"));

/** Runs the program to its end. */
export function linkwork(...words) {
  return execFileSync(program, words, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

const running = new Set();
process.on("exit", () => running.forEach((child) => child.kill()));

/** A page that the program serves, with a list of everything the browser complains about. */
export class Served {
  static async open(browser, words, options = {}) {
    const served = new Served();
    const { command = ["view"] } = options;
    served.child = spawn(program, [...command, ...words, "--no-open"], { stdio: ["ignore", "pipe", "pipe"] });
    // A test that fails leaves its program to the end, and does not wait for it.
    const child = served.child;
    running.add(child);
    child.once("exit", () => running.delete(child));
    [child, child.stdout, child.stderr].forEach((handle) => handle.unref());
    served.errors = "";
    served.child.stderr.on("data", (data) => (served.errors += data));
    served.url = await new Promise((found, failed) => {
      let text = "";
      served.child.stdout.on("data", (data) => {
        text += data;
        const url = text.match(/is shown at (\S+)/)?.[1];
        if (url) found(url);
      });
      served.child.on("exit", () => failed(new Error(`the program ended: ${served.errors}`)));
    });
    await served.look(browser, served.url, options);
    return served;
  }

  /** A page from a file on the disk, with the network off. */
  static async file(browser, path) {
    const served = new Served();
    await served.look(browser, `file://${path}`, { offline: true });
    return served;
  }

  async look(browser, url, { offline = false, width = 1200, height = 760 } = {}) {
    this.context = await browser.newContext({ viewport: { width, height }, offline });
    this.page = await this.context.newPage();
    this.complaints = [];
    this.requests = [];
    this.page.on("console", (m) => (m.type() === "error" || m.type() === "warning") && this.note(m.text()));
    this.page.on("pageerror", (e) => this.complaints.push(String(e)));
    this.page.on("request", (r) => this.requests.push(r.url()));
    await this.page.goto(url);
    await this.page.waitForSelector("body[data-ready=yes]", { timeout: 120_000 });
    await this.page.waitForFunction(() => window.linkwork.frames() > 0);
  }

  note(text) {
    // What software drawing says of itself is no complaint about the page.
    if (!/GPU stall|GL Driver Message|swiftshader|Automatic fallback/i.test(text)) this.complaints.push(text);
  }

  /** Asks the page. */
  ask(question, argument) {
    return this.page.evaluate(question, argument);
  }

  pose(link) {
    return this.ask((link) => window.linkwork.pose(link), link);
  }

  q() {
    return this.ask(() => Array.from(window.linkwork.frame().q));
  }

  time() {
    return this.ask(() => window.linkwork.frame().t);
  }

  /** Waits until the page agrees. */
  until(question, argument, timeout = 120_000) {
    return this.page.waitForFunction(question, argument, { timeout });
  }

  /** Waits until the view has come to rest: where a point of a link is drawn no longer changes. */
  async settled(link) {
    const where = () => this.ask((link) => JSON.stringify(window.linkwork.project(link, [0, 0, 0])), link);
    for (let last = null, now = await where(); now !== last; ) {
      await this.page.waitForTimeout(200);
      [last, now] = [now, await where()];
    }
  }

  /** Takes a picture, and gives the colours of some places of the page. */
  async shot(name, places = []) {
    const png = await this.page.screenshot({ path: join(shots, `${name}.png`) });
    return this.ask(
      async ([data, places]) => {
        const bytes = Uint8Array.from(atob(data), (c) => c.charCodeAt(0));
        const bitmap = await createImageBitmap(new Blob([bytes]));
        const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
        const pen = canvas.getContext("2d", { willReadFrequently: true });
        pen.drawImage(bitmap, 0, 0);
        return places.map(([x, y]) => Array.from(pen.getImageData(Math.round(x), Math.round(y), 1, 1).data));
      },
      [png.toString("base64"), places],
    );
  }

  /** Where a point of the canvas is on the page. */
  async onPage([x, y]) {
    const box = await this.page.locator("#view").boundingBox();
    return [box.x + x, box.y + y];
  }

  async close() {
    await this.context.close();
    if (this.child) {
      const ended = new Promise((done) => this.child.once("exit", done));
      this.child.kill("SIGINT");
      await ended;
    }
    assert.deepEqual(this.complaints, [], "the browser has nothing to complain about");
  }
}

/** Moves a slider as a hand does. */
export async function slide(served, joint, value) {
  const slider = served.page.locator(`input[type=range][data-joint="${joint}"]`);
  await slider.evaluate((input, value) => {
    input.value = String(value);
    input.dispatchEvent(new Event("input", { bubbles: true }));
  }, value);
  // A slider is heard once in each picture.
  await served.page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
}

export function launch() {
  return chromium.launch({
    executablePath: need("LINKWORK_BROWSER"),
    args: ["--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"],
  });
}

/** The pose of a link by the library, at a configuration, as the page tells it. */
export function libraryPose(words, link, q) {
  const text = linkwork("eval", ...words, "pose", "--frame", link, `--q=${q.join(",")}`);
  return JSON.parse(text).pose;
}

/** How far a place and quaternion are from a matrix. */
export function apart([x, y, z, qx, qy, qz, qw], matrix) {
  const rows = [
    [1 - 2 * (qy * qy + qz * qz), 2 * (qx * qy - qz * qw), 2 * (qx * qz + qy * qw), x],
    [2 * (qx * qy + qz * qw), 1 - 2 * (qx * qx + qz * qz), 2 * (qy * qz - qx * qw), y],
    [2 * (qx * qz - qy * qw), 2 * (qy * qz + qx * qw), 1 - 2 * (qx * qx + qy * qy), z],
  ];
  return Math.max(...rows.flatMap((row, i) => row.map((value, k) => Math.abs(value - matrix[i][k]))));
}
