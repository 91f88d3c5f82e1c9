// Real robots, drawn where the library says they are.

import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Served, apart, launch, libraryPose, robots } from "./support.mjs";

let browser;
before(async () => (browser = await launch()));
after(() => browser?.close());

const ROBOTS = [
  ["ur5", "ur_description/urdf/ur5_robot.urdf"],
  ["panda", "panda_description/urdf/panda.urdf"],
  ["anymal", "anymal_c_simple_description/urdf/anymal.urdf"],
  ["g1", "g1_description/urdf/g1_29dof_rev_1_0.urdf"],
  ["talos", "talos_data/robots/talos_reduced.urdf"],
];

for (const [name, file] of ROBOTS) {
  test(`${name} stands where the library says, and is seen there`, { timeout: 400_000 }, async () => {
    const words = [join(robots, file), "--package", join(robots, "..", ".."), "--package", robots];
    const served = await Served.open(browser, [...words, "--random", "3"]);
    const q = await served.q();
    const { links, meshes, missing } = await served.ask(() => {
      const { scene, missing } = window.linkwork;
      const shaped = new Set(scene.geometry.filter((g) => g.role === "visual").map((g) => g.link));
      const links = scene.links.map((l, i) => ({ name: l.name, com: l.com, seen: shaped.has(i) && l.mass > 0 }));
      return { links, meshes: scene.meshes.length, missing };
    });
    assert.ok(meshes > 5, "it has meshes");
    assert.deepEqual(missing, [], "all of them are drawn");
    const some = links.filter((_, i) => i % Math.ceil(links.length / 12) === 0);
    for (const { name: link } of some) {
      const error = apart(await served.pose(link), libraryPose(words, link, q));
      assert.ok(error < 2e-6, `${link} is ${error} away`);
    }
    // Where most links' centres of mass are projected to, there is robot in the picture.
    const seen = links.filter((l) => l.seen);
    const places = [];
    for (const { name: link, com } of seen) {
      places.push(await served.onPage(await served.ask(([l, c]) => window.linkwork.project(l, c), [link, com])));
    }
    const box = await served.page.locator("#view").boundingBox();
    const corner = [box.x + box.width - 30, box.y + 300];
    const [ground, ...colours] = await served.shot(name, [corner, ...places]);
    const differ = colours.filter((c) => c.slice(0, 3).some((x, i) => Math.abs(x - ground[i]) > 12));
    assert.ok(differ.length >= 0.8 * seen.length, `${differ.length} of ${seen.length} links are seen`);
    await served.close();
  });
}
