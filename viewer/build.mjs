// Builds the page: one file, with script and style inside and a policy that lets nothing else in.
import { build } from "esbuild";
import { createHash } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2] ?? join(here, "../crates/linkwork-view/page");
const bundle = await build({
  entryPoints: [join(here, "src/main.ts")],
  bundle: true,
  minify: true,
  format: "iife",
  target: "es2022",
  legalComments: "eof",
  write: false,
});
// No text of the script can end the element it stands in.
const script = bundle.outputFiles[0].text.replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--");
const style = (await readFile(join(here, "src/style.css"), "utf8")).trim();
const frame = await readFile(join(here, "src/index.html"), "utf8");
const digest = createHash("sha256").update(script).digest("base64");
const page = frame
  .replace("POLICY", () => `script-src 'sha256-${digest}'`)
  .replace("/* STYLE */", () => style)
  .replace("/* SCRIPT */", () => script);
await mkdir(out, { recursive: true });
await writeFile(join(out, "index.html"), page);
console.log(`${join(out, "index.html")}: ${Math.round(page.length / 1024)} kB`);
