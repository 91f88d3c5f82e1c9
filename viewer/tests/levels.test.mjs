// A step followed from an expression to the code of a robot, on the page that the program serves and in a file.

import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Served, folder, launch, linkwork } from "./support.mjs";

let browser;
before(async () => (browser = await launch()));
after(() => browser?.close());

const FORWARD = "inv(Mass) (T - C)";
const here = folder();

/** What is marked on each level. */
const marked = (served) =>
  served.ask(() =>
    [...document.querySelectorAll("#levels .level")].map((level) => ({
      lines: [...level.querySelectorAll(".eq.on")].map((e) => e.innerText.replace(/\s+/g, " ").trim()),
      pieces: [...level.querySelectorAll(".piece.on")].map((e) => e.innerText),
    })),
  );

const follow = (served, step) => served.page.locator(`#levels .chip[data-step="${step}"]`).click();

test("a step is followed through seven levels", { timeout: 120_000 }, async () => {
  const served = await Served.open(browser, ["double_pendulum", "--levels", FORWARD], { width: 1500, height: 860 });
  // The page shows what the program prints.
  const names = await served.ask(() => [...document.querySelectorAll("#levels .level > h2")].map((h) => h.innerText.toLowerCase()));
  assert.deepEqual(names, ["1 expression", "2 operator form", "3 spatial recursion", "4 steps at a link", "5 joint crossings", "6 coordinates", "7 code"]);
  const shown = await served.ask(() => [...document.querySelectorAll("#levels .level")].map((l) => l.querySelector(".body").textContent.replace(/\s+/g, "")));
  for (let i = 1; i <= 7; i++) {
    const printed = linkwork("derive", FORWARD, "--robot", "double_pendulum", "--level", String(i)).replace(/\s+/g, "");
    assert.equal(shown[i - 1], printed, `level ${i}`);
  }
  await served.shot("levels");
  await follow(served, "D");
  const d = await marked(served);
  assert.deepEqual(d[1].pieces.filter((p) => p === "D⁻¹").length > 0, true, "the operator form has D⁻¹");
  assert.deepEqual(d[2].lines, ["D = H P H*"]);
  assert.deepEqual(d[3].lines, ["D(k) = H P(k) H*"]);
  assert.ok(d[4].lines.some((l) => l.startsWith("H*(k) x")), "it reads the joint's axis");
  assert.ok(d[5].lines.some((l) => l.startsWith("D(k) = h_ω")));
  assert.ok(d[6].lines.some((l) => l.includes("1.0 / ")), "the code divides there");
  await follow(served, "V");
  const v = await marked(served);
  assert.deepEqual(v[0].pieces, ["C"], "velocities come from C");
  assert.deepEqual(v[1].pieces.every((p) => p === "a" || p === "b"), true);
  assert.deepEqual(v[3].lines, ["V(k) = φ*(p,k) V(p) + H* q̇(k)"]);
  assert.ok(v[6].lines.some((l) => l.includes("qd[0] + qd[1]")), v[6].lines.join("\n"));
  assert.ok(!v[6].lines.some((l) => l.includes("tau")), "velocities know no torque");
  // A torque enters ε, and nothing that comes before it.
  await served.page.locator("#levels .level-1 .piece", { hasText: "T" }).click();
  const t = await marked(served);
  assert.deepEqual(t[2].lines, ["z = ψ [P u + b + K T]", "ε = T − H z"]);
  assert.ok(t[6].lines.every((l) => !l.includes("let (s, c)")) && t[6].lines.some((l) => l.includes("tau[1]")));
  await served.shot("levels-torque");
  // A link: of its joint's lines and its code alone.
  await served.page.locator("#levels select").selectOption({ label: "lower" });
  const lower = (await marked(served))[6].lines;
  assert.ok(lower.length < t[6].lines.length && lower.some((l) => l.includes("tau[1]")), lower.join("\n"));
  assert.equal(await served.page.locator(".row.chosen").getAttribute("data-link"), "lower", "the tree goes along");
  await served.page.keyboard.press("Escape");
  assert.equal((await marked(served)).flatMap((l) => l.lines).length, 0);
  // The robot is still there.
  await served.page.click("#show-robot");
  assert.ok(await served.page.locator("#view").isVisible());
  await served.close();
});

test("levels in a file, with the network off; code of another language; an expression without code", { timeout: 120_000 }, async () => {
  const file = join(here, "levels.html");
  linkwork("view", "arm7", "--levels", "J inv(Mass) J^* f", "--code", "python", "--export", file);
  const served = await Served.file(browser, file);
  await served.page.setViewportSize({ width: 1500, height: 860 });
  await follow(served, "λ");
  const found = await marked(served);
  assert.ok(found[1].pieces.includes("ψ*"), found[1].pieces.join(" "));
  assert.ok(found[3].lines.some((l) => l.startsWith("λ(k)")) && found[6].lines.length > 7);
  assert.match(await served.page.locator("#levels .level-7").innerText(), /import numpy as np/);
  await served.shot("levels-arm7");
  await served.close();
  const dense = join(here, "dense.html");
  linkwork("view", "arm7", "--levels", "inv(J inv(Mass) J^*) f", "--export", dense);
  const other = await Served.file(browser, dense);
  assert.match(await other.page.locator("#levels .level-7").innerText(), /dense matrix/);
  await other.close();
});

test("an expression that cannot be read is told", () => {
  assert.throws(() => linkwork("view", "arm7", "--levels", "inv(Mas) T", "--export", join(here, "no.html")), /Mas/);
  assert.throws(() => linkwork("view", "arm7", "--code", "c", "--export", join(here, "no.html")), /--levels/);
});
