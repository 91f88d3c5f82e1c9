// Contact, scenes, missing meshes, many triangles, and joints that are moved in files, in a real browser.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Served, apart, folder, launch, libraryPose, linkwork, robots, slide } from "./support.mjs";

let browser;
before(async () => (browser = await launch()));
after(() => browser?.close());

const here = folder();

/** A floor, a table with three things on it, and an arm. */
const TABLE = join(here, "table.xml");
writeFileSync(TABLE, `<mujoco model="table"><worldbody>
  <geom name="floor" type="plane" size="0 0 0.05" rgba="0.8 0.85 0.9 1"/>
  <geom name="table" type="box" size="0.4 0.3 0.02" pos="0.6 0 0.4" rgba="0.6 0.45 0.3 1"/>
  <body name="cube" pos="0.5 0.1 0.46"><freejoint/><geom type="box" size="0.04 0.04 0.04" mass="0.5" rgba="0.9 0.1 0.1 1"/></body>
  <body name="ball" pos="0.75 0.05 0.47"><freejoint/><geom type="sphere" size="0.05" mass="0.4" rgba="0.1 0.3 0.9 1"/></body>
  <body name="arm"><joint name="turn" type="hinge" axis="0 0 1" damping="1"/>
    <geom type="capsule" fromto="0 0 0.06 0 0 0.5" size="0.05" mass="3"/></body>
</worldbody></mujoco>`);

/** Kind, point and force of each arrow. */
const arrows = (served) =>
  served.ask(() => {
    const { arrows } = window.linkwork.frame();
    return Array.from({ length: arrows.length / 7 }, (_, i) => Array.from(arrows.subarray(7 * i, 7 * i + 7)));
  });

test("things stand on a table: points where they touch, forces that bear them, and a drag that pushes one along", { timeout: 400_000 }, async () => {
  const served = await Served.open(browser, [TABLE, "--simulate"]);
  const before = await arrows(served);
  assert.ok(before.length >= 5 && before.every((a) => a[0] === 1 && a[6] === 0), "points without a force");
  await served.page.click("#run");
  await served.until(() => window.linkwork.frame().t > 0.4);
  await served.page.click("#run");
  await served.until(() => !window.linkwork.status().running);
  await served.page.waitForTimeout(300);
  const up = (await arrows(served)).filter((a) => a[3] > 0.3).reduce((sum, a) => sum + a[6], 0);
  assert.ok(Math.abs(up - 0.9 * 9.81) < 0.05, `the table bears ${up} N`);
  assert.match(await served.page.locator("#touch").innerText(), /\d contacts, 8\.\d+ N/);
  // Green is seen where the ball touches, if it is asked for.
  const place = await served.ask(() => {
    const { arrows } = window.linkwork.frame();
    const i = Array.from({ length: arrows.length / 7 }, (_, i) => i).find((i) => arrows[7 * i + 1] > 0.7);
    return window.linkwork.projectWorld(Array.from(arrows.subarray(7 * i + 1, 7 * i + 4)));
  });
  const green = ([r, g, b]) => g > r + 40 && g > b + 30;
  const spot = await served.onPage(place);
  assert.ok(green((await served.shot("contact", [spot]))[0]), "a point is drawn");
  await served.page.locator("input[data-layer=contacts]").uncheck();
  await served.page.locator("input[data-layer=forces]").uncheck();
  assert.ok(!green((await served.shot("contact-off", [spot]))[0]), "or not");
  await served.page.locator("input[data-layer=contacts]").check();
  await served.page.locator("input[data-layer=forces]").check();
  // Drag the cube.
  const from = (await served.pose("cube"))[2];
  const [x, y] = await served.onPage(await served.ask(() => window.linkwork.project("cube")));
  assert.equal(await served.ask(([x, y]) => window.linkwork.pick(x, y), await served.ask(() => window.linkwork.project("cube"))), "cube");
  const start = await served.pose("cube");
  await served.page.click("#run");
  await served.page.mouse.move(x, y);
  await served.page.mouse.down();
  for (let i = 1; i <= 10; i++) {
    await served.page.mouse.move(x - 8 * i, y);
    await served.page.waitForTimeout(40);
  }
  await served.until((x) => Math.hypot(window.linkwork.pose("cube")[0] - x[0], window.linkwork.pose("cube")[1] - x[1]) > 0.03, start);
  await served.shot("contact-drag");
  await served.page.mouse.up();
  const to = (await served.pose("cube"))[2];
  assert.ok(to > from - 1e-3, `it did not go through the table: ${from} to ${to}`);
  await served.close();
});

test("`simulate --view`: things on a floor that is a link are held up, step, go on, and go back", { timeout: 300_000 }, async () => {
  const file = join(here, "floor.xml");
  writeFileSync(file, `<mujoco><worldbody>
    <body name="floor"><geom type="plane" size="3 3 0.1" rgba="0.8 0.85 0.9 1"/></body>
    <body name="slab" pos="0 0 0.1"><freejoint/><geom type="box" size="0.2 0.2 0.1" mass="3" rgba="0.3 0.5 0.9 1"/></body>
    <body name="cube" pos="0 0 0.31"><freejoint/><geom type="box" size="0.1 0.1 0.1" mass="1" rgba="0.9 0.4 0.3 1"/></body>
  </worldbody></mujoco>`);
  const served = await Served.open(browser, [file, "--seconds", "2"], { command: ["simulate", "--view"] });
  assert.equal(await served.time(), 0);
  await served.page.locator("#speed").selectOption("0.5");
  await served.page.click("#step");
  await served.until(() => window.linkwork.frame().t > 0);
  assert.ok((await served.time()) < 0.02, "one step");
  await served.page.click("#run");
  await served.until(() => window.linkwork.frame().t > 0.5);
  await served.page.click("#run");
  await served.until(() => !window.linkwork.status().running && window.linkwork.status().speed === 0.5);
  await served.page.waitForTimeout(200);
  const felt = await arrows(served);
  assert.ok(felt.every((a) => a[6] > 0), "every arrow leads to what is held up");
  const under = (low, high) => felt.filter((a) => a[3] > low && a[3] < high).reduce((sum, a) => sum + a[6], 0);
  assert.ok(Math.abs(under(-0.05, 0.05) - 4 * 9.81) < 0.05, `the floor holds ${under(-0.05, 0.05)} N`);
  assert.ok(Math.abs(under(0.15, 0.25) - 9.81) < 0.05, `the slab holds ${under(0.15, 0.25)} N`);
  await served.shot("floor-link");
  await served.page.click("#reset");
  await served.until(() => window.linkwork.frame().t === 0);
  await served.close();
});

test("a loop falls on uneven ground, stays closed, and is pulled up from it", { timeout: 400_000 }, async () => {
  const file = join(here, "loop.xml");
  // A four-bar above a ramp that rises along x.
  writeFileSync(file, `<mujoco><asset><hfield name="ramp" nrow="2" ncol="2" size="2 2 0.4 0.1" elevation="0 1 0 1"/></asset><worldbody>
    <geom type="hfield" hfield="ramp"/>
    <body name="crank" pos="0 0 0.6"><joint name="crank" type="hinge" axis="0 1 0" damping="0.05"/><geom type="capsule" fromto="0 0 0 0 0 0.5" size="0.03"/>
      <body name="coupler" pos="0 0 0.5"><joint name="coupler" type="hinge" axis="0 1 0" damping="0.05"/><geom type="capsule" fromto="0 0 0 0.6 0 0" size="0.03"/></body></body>
    <body name="rocker" pos="0.6 0 0.6"><joint name="rocker" type="hinge" axis="0 1 0" damping="0.05"/><geom type="capsule" fromto="0 0 0 0 0 0.5" size="0.03"/></body>
    </worldbody><contact><exclude body1="coupler" body2="rocker"/></contact><equality><connect name="pin" body1="coupler" body2="rocker" anchor="0.6 0 0"/></equality></mujoco>`);
  const served = await Served.open(browser, [file, "--simulate", "--q", "0.3,-0.3,0.3"]);
  const gap = () => served.ask(() => {
    const turned = ([x, y, z, qx, qy, qz, qw], p) => {
      const t = 1 - 2 * qy * qy, c = 2 * qy * qw;
      return [x + t * p[0] + c * p[2], z - c * p[0] + t * p[2]];
    };
    const a = turned(window.linkwork.pose("coupler"), [0.6, 0, 0]);
    const b = turned(window.linkwork.pose("rocker"), [0, 0, 0.5]);
    return Math.hypot(a[0] - b[0], a[1] - b[1]);
  });
  await served.page.click("#run");
  // It comes to rest on the ramp.
  await served.until(() => {
    const { arrows, v, t } = window.linkwork.frame();
    return t > 0.3 && arrows.length > 0 && arrows.every((x, i) => i % 7 || x === 1) && v.every((x) => Math.abs(x) < 0.02);
  });
  assert.ok((await gap()) < 1e-4, `open by ${await gap()} where it lies`);
  await served.page.click("#fit");
  await served.shot("loop-ramp");
  const lying = (await served.pose("coupler"))[2];
  const place = await served.ask(() => window.linkwork.project("coupler", [0.3, 0, 0]));
  assert.equal(await served.ask(([x, y]) => window.linkwork.pick(x, y), place), "coupler");
  const [x, y] = await served.onPage(place);
  await served.page.mouse.move(x, y);
  await served.page.mouse.down();
  for (let i = 1; i <= 12; i++) {
    await served.page.mouse.move(x - 12 * i, y - 18 * i);
    await served.page.waitForTimeout(40);
  }
  await served.until((z) => window.linkwork.pose("coupler")[2] > z + 0.08, lying);
  assert.ok((await gap()) < 1e-3, `open by ${await gap()} where it is pulled`);
  await served.shot("loop-pulled");
  await served.page.mouse.up();
  await served.close();
});

test("a log of a scene plays with its contacts, in any format", { timeout: 300_000 }, async () => {
  const [mcap, csv, npz, parquet, touch] = ["run.mcap", "run.csv", "run.npz", "run.parquet", "touch.csv"].map((n) => join(here, n));
  linkwork("simulate", TABLE, "--seconds", "0.3", "--log", mcap, "--log", csv, "--log", npz, "--log", parquet, "--contact-log", touch);
  const end = async (words) => {
    const served = await Served.open(browser, words);
    await served.page.locator("#time").evaluate((input) => {
      input.value = "0.3";
      input.dispatchEvent(new Event("input", { bubbles: true }));
    });
    await served.until(() => Math.abs(window.linkwork.frame().t - 0.3) < 1e-9);
    const found = await arrows(served);
    if (words[0] === mcap) await served.shot("contact-log");
    await served.close();
    return found;
  };
  const own = await end([mcap]);
  const up = own.filter((a) => a[3] > 0.3).reduce((sum, a) => sum + a[6], 0);
  assert.ok(Math.abs(up - 0.9 * 9.81) < 0.3, `${up} N`);
  for (const log of [csv, npz, parquet]) {
    const listed = await end([TABLE, "--play", log, "--contacts", touch]);
    assert.equal(listed.length, own.length);
    const away = Math.max(...listed.flatMap((a, i) => a.map((x, k) => Math.abs(x - own[i][k]))));
    assert.ok(away < 1e-4, `${log}: ${away}`);
  }
  const bare = await end([TABLE, "--play", csv]);
  assert.ok(bare.length > 0 && bare.every((a) => a[6] === 0), "without forces, points are still known");
});

test("an export moves its joints by hand and meets the library; loops stay closed in it", { timeout: 300_000 }, async () => {
  const cases = [
    ["panda", [join(robots, "panda_description/urdf/panda.urdf"), "--package", join(robots, "..", ".."), "--package", robots]],
    ["arm7", ["arm7"]],
  ];
  for (const [name, words] of cases) {
    const file = join(here, `${name}.html`);
    linkwork("view", ...words, "--export", file);
    const served = await Served.file(browser, file);
    const joints = await served.ask(() => window.linkwork.scene.joints.filter((j) => j.q[1] === j.q[0] + 1).map((j) => ({ name: j.name, limits: j.limits[0] })));
    for (const [i, { name: joint, limits }] of joints.entries()) {
      const [low, high] = [limits?.[0] ?? -3, limits?.[1] ?? 3];
      await slide(served, joint, low + (high - low) * ((0.37 + 0.21 * i) % 1));
    }
    await served.until(() => window.linkwork.frames() > 3);
    await served.page.waitForTimeout(300);
    const q = await served.q();
    assert.ok(q.some((x) => Math.abs(x) > 0.1), "it has moved");
    const links = await served.ask(() => window.linkwork.scene.links.map((l) => l.name));
    for (const link of links.filter((_, i) => i % 3 === 0)) {
      const error = apart(await served.pose(link), libraryPose(words, link, q));
      assert.ok(error < 2e-6, `${name}: ${link} is ${error} away`);
    }
    await served.shot(`export-${name}`);
    await served.close();
  }
  const bars = join(here, "fourbar.xml");
  writeFileSync(bars, `<mujoco><worldbody>
    <body name="crank"><joint name="crank" type="hinge" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 0.5" size="0.03"/>
      <body name="coupler" pos="0 0 0.5"><joint name="coupler" type="hinge" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 1 0 0" size="0.03"/></body></body>
    <body name="rocker" pos="1 0 0"><joint name="rocker" type="hinge" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 0.5" size="0.03"/></body>
    </worldbody><equality><connect name="pin" body1="coupler" body2="rocker" anchor="1 0 0"/></equality></mujoco>`);
  const file = join(here, "fourbar.html");
  linkwork("view", bars, "--export", file);
  const served = await Served.file(browser, file);
  await slide(served, "crank", 0.7);
  await served.until(() => Math.abs(window.linkwork.frame().q[0] - 0.7) < 1e-12);
  // A parallelogram: the rocker turns as the crank does.
  const q = await served.q();
  assert.ok(Math.abs(q[2] - 0.7) < 1e-8 && Math.abs(q[1] + 0.7) < 1e-8, `${q}`);
  await served.close();
});

test("meshes that are missing have boxes in their place", { timeout: 120_000 }, async () => {
  const file = join(here, "absent.urdf");
  const inertia = '<inertial><mass value="2"/><inertia ixx="0.02" iyy="0.03" izz="0.04" ixy="0" ixz="0" iyz="0"/></inertial>';
  const mesh = '<visual><geometry><mesh filename="gone.stl"/></geometry></visual>';
  writeFileSync(file, `<robot name="absent"><link name="base">${inertia}${mesh}</link>
    <link name="arm">${inertia}${mesh}<collision><origin xyz="0 0 0.5"/><geometry><box size="0.2 0.2 1"/></geometry></collision></link>
    <joint name="j" type="revolute"><parent link="base"/><child link="arm"/><origin xyz="0 0 0.3"/><axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>`);
  const served = await Served.open(browser, [file]);
  assert.deepEqual(await served.ask(() => window.linkwork.missing.map((m) => m.uri)), ["gone.stl"], "listed once");
  assert.match(await served.page.locator("#missing").innerText(), /gone\.stl/);
  await served.settled("arm");
  const spots = [];
  for (const [link, point] of [["arm", [0, 0, 0.9]], ["base", [0, 0, 0]]]) {
    const at = await served.ask(([l, p]) => window.linkwork.project(l, p), [link, point]);
    assert.equal(await served.ask(([x, y]) => window.linkwork.pick(x, y), at), link, "a box can be picked");
    spots.push(await served.onPage(at));
  }
  for (const [r, g, b] of await served.shot("absent", spots)) assert.ok(r > g + 8 && b > g + 8, `${[r, g, b]} is the colour of what is absent`);
  await served.close();
});

test("300,000 triangles on three links are sent once, and shapes to be touched when they are wanted", { timeout: 300_000 }, async () => {
  const [n, triangles] = [387, 2 * 387 * 387];
  const stl = Buffer.alloc(84 + 50 * triangles);
  stl.writeUInt32LE(triangles, 80);
  const point = (i, k) => {
    const [u, v] = [(2 * Math.PI * i) / n, (Math.PI * k) / n];
    const r = 0.3 + 0.02 * Math.cos(9 * u) * Math.sin(v);
    return [r * Math.sin(v) * Math.cos(u), r * Math.sin(v) * Math.sin(u), r * Math.cos(v)];
  };
  let at = 84;
  for (let i = 0; i < n; i++) {
    for (let k = 0; k < n; k++) {
      for (const corners of [[[i, k], [i, k + 1], [i + 1, k]], [[i + 1, k], [i, k + 1], [i + 1, k + 1]]]) {
        at += 12;
        for (const corner of corners) for (const x of point(...corner)) at = stl.writeFloatLE(x, at);
        at += 2;
      }
    }
  }
  writeFileSync(join(here, "big.stl"), stl);
  const link = (name, uri, x) => `<link name="${name}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><geometry><mesh filename="${uri}"/></geometry></visual><collision><geometry><mesh filename="${uri}"/></geometry></collision></link>
    <joint name="j${name}" type="continuous"><parent link="base"/><child link="${name}"/><origin xyz="${x} 0 0"/><axis xyz="0 0 1"/></joint>`;
  const file = join(here, "big.urdf");
  // The same file by two names.
  writeFileSync(file, `<robot name="big"><link name="base"/>${link("a", "big.stl", 0)}${link("b", "./big.stl", 0.8)}${link("c", "big.stl", 1.6)}</robot>`);
  const served = await Served.open(browser, [file]);
  const asked = () => served.requests.filter((url) => url.includes("/file/"));
  assert.equal(asked().length, 1, "one file is asked for");
  await served.ask(() => window.linkwork.render());
  const drawn = await served.ask(() => window.linkwork.triangles());
  assert.ok(drawn >= 3 * triangles, `${drawn} triangles`);
  const begun = Date.now();
  for (let i = 0; i < 5; i++) await served.ask(() => window.linkwork.render());
  console.log(`# ${drawn} triangles: ${(Date.now() - begun) / 5} ms a picture, drawn by the processor`);
  await served.page.locator("input[data-layer=collision]").check();
  await served.ask(() => window.linkwork.touchable());
  assert.equal(asked().length, 2, "their hull is another");
  await served.shot("hulls");
  await served.close();
});

test("a page in a frame of a notebook, and one that is opened twice", { timeout: 120_000 }, async () => {
  const served = await Served.open(browser, ["double_pendulum", "--simulate"]);
  const notebook = join(here, "notebook.html");
  writeFileSync(notebook, `<iframe src="${served.url}" width="900" height="500"></iframe>`);
  // Notebooks are pages of this machine.
  const { createServer } = await import("node:http");
  const server = createServer((_, answer) => answer.setHeader("Content-Type", "text/html").end(readFileSync(notebook)));
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  const page = await served.context.newPage();
  await page.goto(`http://127.0.0.1:${server.address().port}/`);
  const frame = page.frameLocator("iframe");
  await frame.locator("body[data-ready=yes]").waitFor({ timeout: 60_000 });
  await frame.locator("#run").click();
  await served.until(() => window.linkwork.frame().t > 0.1);
  await page.close();
  server.close();
  await served.close();
});
