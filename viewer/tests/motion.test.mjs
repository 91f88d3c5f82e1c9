// Sliders, simulations, logs and files, in a real browser.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Served, apart, folder, launch, libraryPose, linkwork, program, robots, slide } from "./support.mjs";

let browser;
before(async () => (browser = await launch()));
after(() => browser?.close());

const UR5 = join(robots, "ur_description/urdf/ur5_robot.urdf");
const here = folder();

test("a slider moves its joint, and the page shows the library's poses", async () => {
  const served = await Served.open(browser, [UR5, "--package", join(robots, ".."), "--q", "0.1,-1,1,0.2,0.3,0.4"]);
  await slide(served, "elbow_joint", 1.7);
  await served.until(() => Math.abs(window.linkwork.frame().q[2] - 1.7) < 1e-12);
  const q = await served.q();
  assert.deepEqual(q, [0.1, -1, 1.7, 0.2, 0.3, 0.4]);
  for (const link of ["forearm_link", "wrist_3_link"]) {
    assert.ok(apart(await served.pose(link), libraryPose([UR5], link, q)) < 2e-6, link);
  }
  // A click chooses the link that is there, and tells what is known of it.
  const [x, y] = await served.ask(() => {
    const { scene, project } = window.linkwork;
    return project("forearm_link", scene.links.find((l) => l.name === "forearm_link").com);
  });
  const name = await served.ask(([x, y]) => window.linkwork.pick(x, y), [x, y]);
  assert.ok(name);
  await served.page.mouse.click(...(await served.onPage([x, y])));
  await served.page.waitForSelector("#info:not([hidden])");
  const info = await served.page.locator("#info").innerText();
  assert.ok(info.includes(name) && info.includes("kg") && info.includes("T"), info);
  // Colours are on the joints, and nowhere else, though nothing moves.
  const corners = await Promise.all([[20, 60], [20, 700], [400, 30]].map((p) => served.onPage(p)));
  const plain = await served.shot("slider", corners);
  await served.page.locator("input[data-colour=moments]").check();
  await served.page.waitForTimeout(300);
  assert.deepEqual(await served.shot("slider-moments", corners), plain);
  await served.close();
});

test("joints that follow others move along", async () => {
  const file = join(here, "gripper.urdf");
  const body = (name) => `<link name="${name}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><geometry><box size="0.1 0.1 0.4"/></geometry></visual></link>`;
  writeFileSync(file, `<robot name="gripper"><link name="palm"/>${body("a")}${body("b")}
    <joint name="lead" type="revolute"><parent link="palm"/><child link="a"/><axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
    <joint name="follow" type="revolute"><parent link="palm"/><child link="b"/><origin xyz="0.5 0 0"/><axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="1" velocity="1"/><mimic joint="lead" multiplier="-0.5" offset="0.1"/></joint></robot>`);
  const served = await Served.open(browser, [file]);
  assert.equal(await served.page.locator("input[type=range][data-joint]").count(), 1, "the follower has no slider");
  await slide(served, "lead", 0.8);
  await served.until(() => window.linkwork.frame().q[0] === 0.8);
  const [, , , , qy] = await served.pose("b");
  assert.ok(Math.abs(2 * Math.asin(qy) - (0.1 - 0.5 * 0.8)) < 1e-6);
  await served.close();
});

test("loops stay closed when a crank is turned", async () => {
  const file = join(here, "fourbar.xml");
  writeFileSync(file, `<mujoco><worldbody>
    <body name="crank"><joint name="crank" type="hinge" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 0.5" size="0.03"/>
      <body name="coupler" pos="0 0 0.5"><joint name="coupler" type="hinge" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 1 0 0" size="0.03"/></body></body>
    <body name="rocker" pos="1 0 0"><joint name="rocker" type="hinge" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 0.5" size="0.03"/></body>
    </worldbody><equality><connect name="pin" body1="coupler" body2="rocker" anchor="1 0 0"/></equality></mujoco>`);
  const served = await Served.open(browser, [file]);
  for (const angle of [0.4, -0.7]) {
    await slide(served, "crank", angle);
    await served.until((angle) => Math.abs(window.linkwork.frame().q[0] - angle) < 1e-9, angle);
    const gap = await served.ask(() => {
      const turned = ([x, y, z, qx, qy, qz, qw], p) => {
        const t = 2 * qy * p[2], s = 1 - 2 * qy * qy, c = 2 * qy * qw;
        return [x + s * p[0] + c * p[2], z - c * p[0] + s * p[2]];
      };
      const a = turned(window.linkwork.pose("coupler"), [1, 0, 0]);
      const b = turned(window.linkwork.pose("rocker"), [0, 0, 0.5]);
      return Math.hypot(a[0] - b[0], a[1] - b[1]);
    });
    assert.ok(gap < 1e-6, `at ${angle} the loop is open by ${gap}`);
  }
  await served.shot("fourbar");
  await served.close();
});

test("a simulation runs, pauses, steps and goes back, and a drag pulls a link", { timeout: 300_000 }, async () => {
  const served = await Served.open(browser, ["arm7", "--simulate", "--q", "0.2,0.5,0,-1,0,1,0", "--controller", "gravity"]);
  assert.equal(await served.time(), 0);
  await served.page.locator('input[data-plot="q"]').check();
  await served.page.click("#run");
  await served.until(() => window.linkwork.frame().t > 0.3 && window.linkwork.moments() > 5);
  await served.page.click("#run");
  await served.until(() => !window.linkwork.status().running);
  await served.page.waitForTimeout(200);
  const paused = await served.time();
  await served.page.waitForTimeout(300);
  assert.equal(await served.time(), paused, "it stands still");
  await served.page.click("#step");
  await served.until((t) => window.linkwork.frame().t > t, paused);
  assert.ok(Math.abs((await served.time()) - paused - 1e-3) < 1e-9, "a step is a step");
  // Drag the hand.
  await served.page.click("#run");
  const place = await served.ask(() => {
    const { scene, project } = window.linkwork;
    const { name, com } = scene.links[scene.links.length - 1];
    return project(name, com);
  });
  const target = await served.ask(([x, y]) => window.linkwork.pick(x, y), place);
  assert.ok(target, "there is a link under the mouse");
  const before = await served.pose(target);
  const [x, y] = await served.onPage(place);
  await served.page.mouse.move(x, y);
  await served.page.mouse.down();
  for (let i = 1; i <= 12; i++) {
    await served.page.mouse.move(x - 10 * i, y + 6 * i);
    await served.page.waitForTimeout(40);
  }
  await served.until(() => window.linkwork.frame().arrows.length === 7);
  await served.page.waitForTimeout(1200);
  await served.shot("drag");
  const during = await served.pose(target);
  const moved = Math.hypot(...[0, 1, 2].map((i) => during[i] - before[i]));
  assert.ok(moved > 0.03, `it moved ${moved} m`);
  const [px] = await served.ask((l) => window.linkwork.project(l), target);
  assert.ok(px < place[0] - 10, "to where it was pulled");
  await served.page.mouse.up();
  await served.until(() => window.linkwork.frame().arrows.length === 0);
  await served.page.click("#reset");
  await served.until(() => window.linkwork.frame().t === 0);
  assert.deepEqual(await served.q(), [0.2, 0.5, 0, -1, 0, 1, 0]);
  await served.close();
});

test("modes are found and move, and layers and colours are drawn", { timeout: 300_000 }, async () => {
  const served = await Served.open(browser, ["arm7", "--simulate", "--random", "2"]);
  await served.page.click("#find-modes");
  await served.page.waitForSelector("#mode-list .row");
  const rows = await served.page.locator("#mode-list .row").count();
  assert.ok(rows >= 7, `${rows} modes`);
  assert.match(await served.page.locator("#mode-list .row").first().innerText(), /Hz|\/s/, "not all of them drift");
  const before = await served.q();
  await served.page.locator("#mode-list .row").first().click();
  await served.until((q) => window.linkwork.frame().q.some((x, i) => Math.abs(x - q[i]) > 0.02), before);
  await served.page.locator("#mode-list .row").first().click();
  await served.until(() => window.linkwork.status().mode === null);
  for (const layer of ["frames", "axes", "com", "inertia", "articulated", "operational"]) {
    await served.page.locator(`input[data-layer=${layer}]`).check();
  }
  await served.page.locator("#tree .row").nth(1).click();
  await served.until(() => window.linkwork.frame().articulated.length > 0 && window.linkwork.frame().operational.length === 11);
  await served.shot("layers");
  for (const layer of ["inertia", "articulated", "operational", "frames"]) {
    await served.page.locator(`input[data-layer=${layer}]`).uncheck();
  }
  await served.page.locator("input[data-colour=rates]").check();
  await served.page.click("#run");
  await served.until(() => window.linkwork.frame().t > 0.2);
  await served.shot("rates");
  await served.close();
});

test("a log is played from its own robot, and its timeline leads to every state", async () => {
  const log = join(here, "run.mcap");
  const csv = join(here, "run.csv");
  linkwork("simulate", "arm7", "--random", "1", "--seconds", "1", "--log", log, "--log", csv);
  const rows = readFileSync(csv, "utf8").trim().split("\n").slice(1).map((line) => line.split(",").map(Number));
  for (const words of [[log], ["arm7", "--play", csv]]) {
    const served = await Served.open(browser, words);
    const row = rows[50];
    await served.page.locator("#time").evaluate((input, t) => {
      input.value = String(t);
      input.dispatchEvent(new Event("input", { bubbles: true }));
    }, row[0]);
    await served.until((t) => Math.abs(window.linkwork.frame().t - t) < 1e-12, row[0]);
    assert.deepEqual(await served.q(), row.slice(1, 8));
    await served.page.click("#run");
    await served.until((t) => window.linkwork.frame().t > t + 0.1, row[0]);
    await served.close();
  }
});

test("a file opens from the disk without a network, and plays", { timeout: 300_000 }, async () => {
  const file = join(here, "ur5.html");
  linkwork("view", UR5, "--package", join(robots, ".."), "--q", "0,-1,1,0,0,0", "--simulate", "--seconds", "1", "--export", file);
  const served = await Served.file(browser, file);
  assert.deepEqual(await served.ask(() => window.linkwork.missing), []);
  const asked = served.requests.filter((url) => !/^(file|blob|data):/.test(url));
  assert.deepEqual(asked, [], "nothing is asked of the network");
  const places = [await served.onPage(await served.ask(() => window.linkwork.project("forearm_link", [0, 0, 0.2])))];
  const box = await served.page.locator("#view").boundingBox();
  const [ground, arm] = await served.shot("export", [[box.x + box.width - 30, box.y + 300], ...places]);
  assert.ok(arm.slice(0, 3).some((x, i) => Math.abs(x - ground[i]) > 12), "the arm is seen");
  await served.page.click("#run");
  await served.until(() => window.linkwork.frame().t > 0.5);
  await served.page.click("#run");
  const t = await served.time();
  const q = await served.q();
  assert.ok(apart(await served.pose("wrist_3_link"), libraryPose([UR5], "wrist_3_link", q)) < 2e-6, `at ${t}`);
  await served.close();
});

test("a file has the inertias that the program shows, and layers that were asked for", { timeout: 300_000 }, async () => {
  const words = ["arm7", "--q=0.2,0.5,0,-1.5,0,1,0", "--layers", "articulated,com"];
  const file = join(here, "inertias.html");
  linkwork("view", ...words, "--export", file);
  const masses = async (served) => {
    assert.ok(await served.page.locator("input[data-layer=com]").isChecked());
    assert.ok(!(await served.page.locator("input[data-layer=frames]").isChecked()));
    await served.page.locator("input[data-layer=operational]").check();
    await served.page.locator('#tree .row[data-link="link4"]').click();
    await served.until(() => window.linkwork.frame().articulated.length === 80 && window.linkwork.frame().operational.length === 11);
    return served.ask(() => [Array.from(window.linkwork.frame().articulated), Array.from(window.linkwork.frame().operational)]);
  };
  const live = await Served.open(browser, words);
  const shown = await masses(live);
  await live.close();
  const served = await Served.file(browser, file);
  assert.deepEqual(await masses(served), shown, "number by number");
  assert.equal(shown[1][0], 4, "of the chosen link");
  // What a hand moves is no longer what the program worked out.
  await slide(served, "joint2", 2.05);
  await served.until(() => window.linkwork.frame().q[1] === 2.05);
  assert.equal(await served.ask(() => window.linkwork.frame().articulated.length), 0);
  // A shadow hides nothing that is below it and seen through.
  for (const layer of ["operational", "com"]) await served.page.locator(`input[data-layer=${layer}]`).uncheck();
  // The rod from one joint to the next, near its lower end.
  const rod = await served.ask(() => window.linkwork.scene.joints.find((j) => j.name === "joint6").origin.slice(0, 3).map((x) => 0.71 * x));
  assert.ok((await served.pose("link6"))[2] < -0.05, "below the ground");
  await served.settled("link5");
  const place = await served.onPage(await served.ask((rod) => window.linkwork.project("link5", rod), rod));
  await served.page.locator("input[data-colour=velocity]").check();
  await served.page.waitForTimeout(300);
  const [seen] = await served.shot("below", [place]);
  await served.page.locator("input[data-layer=robot]").uncheck();
  await served.page.waitForTimeout(300);
  const [ground] = await served.shot("below-ground", [place]);
  assert.ok(ground.some((x, i) => Math.abs(x - seen[i]) > 8), `${seen} before ${ground}`);
  await served.close();
});

test("a robot with followers runs on, whatever is shown", { timeout: 120_000 }, async () => {
  const panda = [join(robots, "panda_description/urdf/panda.urdf"), "--package", join(robots, "..", ".."), "--package", robots];
  const served = await Served.open(browser, [...panda, "--simulate"]);
  assert.equal(await served.page.locator("input[data-layer=articulated]").count(), 0, "there is none to be shown");
  await served.page.locator("input[data-layer=operational]").check();
  await served.page.locator('#tree .row[data-link="panda_hand"]').click();
  await served.page.click("#run");
  await served.until(() => window.linkwork.frame().t > 0.1 && window.linkwork.frame().operational.length === 11);
  await served.close();
});

test("free bodies drift, and rounding is no mode", { timeout: 120_000 }, async () => {
  const file = join(here, "free.xml");
  const body = (x) => `<body pos="${x} 0 1"><freejoint/><geom type="box" size="0.1 0.2 0.3" mass="2"/></body>`;
  writeFileSync(file, `<mujoco><worldbody>${body(0)}${body(1)}</worldbody></mujoco>`);
  const served = await Served.open(browser, [file]);
  await served.page.click("#find-modes");
  await served.page.waitForSelector("#mode-list .row");
  const rows = await served.page.locator("#mode-list .row").allInnerTexts();
  assert.ok(rows.every((row) => row === "drift"), `${rows}`);
  await served.close();
});

test("meshes keep their materials; those that are missing are listed, and none is read from outside", async () => {
  const place = folder();
  const square = "v 0 -0.5 -0.5\nv 0 0.5 -0.5\nv 0 0.5 0.5\nv 0 -0.5 0.5\nusemtl red\nf 1 2 3 4\nf 4 3 2 1\n";
  writeFileSync(join(place, "red.obj"), `mtllib red.mtl\n${square}`);
  writeFileSync(join(place, "red.mtl"), "newmtl red\nKd 1 0 0\n");
  const points = new Float32Array([0, -0.5, -0.5, 0, 0.5, -0.5, 0, 0.5, 0.5, 0, -0.5, -0.5, 0, 0.5, 0.5, 0, -0.5, 0.5]);
  const buffer = Buffer.from(points.buffer);
  writeFileSync(join(place, "green.bin"), buffer);
  writeFileSync(join(place, "green.gltf"), JSON.stringify({
    asset: { version: "2.0" }, scene: 0, scenes: [{ nodes: [0] }], nodes: [{ mesh: 0 }],
    meshes: [{ primitives: [{ attributes: { POSITION: 0 }, material: 0 }] }],
    materials: [{ doubleSided: true, pbrMetallicRoughness: { baseColorFactor: [0, 1, 0, 1], metallicFactor: 0 } }],
    buffers: [{ uri: "green.bin", byteLength: buffer.length }], bufferViews: [{ buffer: 0, byteLength: buffer.length }],
    accessors: [{ bufferView: 0, componentType: 5126, count: 6, type: "VEC3", min: [0, -0.5, -0.5], max: [0, 0.5, 0.5] }],
  }));
  writeFileSync(join(place, "broken.stl"), "solid x\nendsolid x\n");
  const link = (name, mesh) => `<link name="${name}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><geometry><mesh filename="${mesh}"/></geometry></visual></link>
    <joint name="j_${name}" type="fixed"><parent link="base"/><child link="${name}"/><origin xyz="0 ${name.length * 1.2 - 5} 0"/></joint>`;
  const file = join(place, "robot.urdf");
  const names = { red: "red.obj", green: "green.gltf", outside: "../../../../etc/passwd.stl", gone_away: "gone.stl", broken_mesh: "broken.stl" };
  writeFileSync(file, `<robot name="meshes"><link name="base"/>${Object.entries(names).map(([n, m]) => link(n, m)).join("")}</robot>`);
  const served = await Served.open(browser, [file]);
  const missing = await served.ask(() => window.linkwork.missing);
  assert.deepEqual(missing.map((m) => m.uri).sort(), ["../../../../etc/passwd.stl", "broken.stl", "gone.stl"]);
  assert.ok((await served.page.locator("#missing li").count()) === 3);
  const places = [];
  for (const name of ["red", "green"]) places.push(await served.onPage(await served.ask((n) => window.linkwork.project(n), name)));
  const [red, green] = await served.shot("meshes", places);
  assert.ok(red[0] > red[1] + 60 && red[0] > red[2] + 60, `red is ${red}`);
  assert.ok(green[1] > green[0] + 60 && green[1] > green[2] + 60, `green is ${green}`);
  await served.close();
});

test("a robot with 10,000 links opens, and its joints are found by name", { timeout: 400_000 }, async () => {
  const file = join(here, "many.urdf");
  let text = '<robot name="many"><link name="l0"/>';
  for (let i = 1; i < 10_000; i++) {
    const [parent, x, y] = [i % 100 === 1 ? 0 : i - 1, i % 100 === 1 ? 0.2 * Math.floor(i / 100) : 0, i % 100 === 1 ? 0 : 0.2];
    text += `<link name="l${i}"><inertial><origin xyz="0 0.1 0"/><mass value="0.1"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
      <visual><origin xyz="0 0.1 0"/><geometry><box size="0.08 0.18 0.03"/></geometry><material name="c${i % 7}"><color rgba="${(i % 7) / 7} 0.5 0.6 1"/></material></visual></link>
      <joint name="j${i}" type="continuous"><parent link="l${parent}"/><child link="l${i}"/><origin xyz="${x} ${y} 0"/><axis xyz="1 0 0"/></joint>`;
  }
  writeFileSync(file, `${text}</robot>`);
  const served = await Served.open(browser, [file]);
  assert.equal(await served.ask(() => window.linkwork.scene.links.length), 10_000);
  await served.page.fill("#filter", "j9990");
  await slide(served, "j9990", 1);
  await served.until(() => window.linkwork.frame().q.some((x) => x === 1), null, 120_000);
  // Ten thousand boxes are drawn in one call, and each can be picked.
  const spot = await served.ask(() => window.linkwork.project("l5050", [0, 0.1, 0]));
  assert.match(await served.ask(([x, y]) => window.linkwork.pick(x, y), spot), /^l\d+$/);
  assert.ok((await served.ask(() => window.linkwork.calls())) < 100, "few calls");
  await served.shot("many");
  await served.close();
});

test("two pages see the same robot, and nothing is sent twice", async () => {
  const served = await Served.open(browser, [UR5, "--package", join(robots, "..")]);
  const files = served.requests.filter((url) => url.includes("/file/"));
  assert.ok(files.length > 5);
  assert.equal(new Set(files).size, files.length, "each mesh is asked for once");
  const second = new Served();
  await second.look(browser, served.url);
  await slide(served, "elbow_joint", 0.5);
  await second.until(() => window.linkwork.frame().q[2] === 0.5);
  await second.close();
  await served.close();
});

test("pictures and films are taken without a window", { timeout: 400_000 }, async () => {
  const files = { png: /^\x89PNG/, webm: /^\x1aE\xdf\xa3/, gif: /^GIF89a/, mp4: /^....ftyp/s };
  for (const [end, magic] of Object.entries(files)) {
    const file = join(here, `take.${end}`);
    const what = end === "png" ? ["--snapshot", file] : ["--video", file, "--simulate", "--seconds", "0.5", "--fps", "10"];
    linkwork("view", "double_pendulum", "--q", "1,1", "--size", "320x240", ...what);
    assert.match(readFileSync(file).toString("latin1"), magic, end);
  }
  assert.ok(program);
  // An animation takes as long as the motion, though its pictures last whole hundredths of a second.
  const file = join(here, "long.gif");
  linkwork("view", "double_pendulum", "--q", "2,0", "--size", "160x120", "--simulate", "--seconds", "1", "--layers", "rates", "--video", file);
  const bytes = readFileSync(file);
  let [hundredths, count] = [0, 0];
  for (let at = bytes.indexOf("21f904", "hex"); at >= 0; at = bytes.indexOf("21f904", at + 8, "hex")) {
    if (bytes[at + 7] !== 0) continue;
    hundredths += bytes.readUInt16LE(at + 4);
    count++;
  }
  assert.deepEqual([count, hundredths], [30, 100]);
  // Joints have no colour at rest, and get one later: the palette has it.
  const palette = bytes.subarray(13, 13 + 3 * 2 ** ((bytes[10] & 7) + 1));
  const blue = Array.from({ length: palette.length / 3 }, (_, i) => palette.subarray(3 * i, 3 * i + 3)).some(([r, g, b]) => b > 150 && r < 90 && g < 130);
  assert.ok(blue, "the joints' blue");
});
