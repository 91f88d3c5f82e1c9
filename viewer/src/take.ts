// Pictures and films for a browser without a window: made here, and sent to the program.

import { GIFEncoder, applyPalette, quantize } from "gifenc";
import {
  BufferTarget,
  CanvasSource,
  Mp4OutputFormat,
  Output,
  WebMOutputFormat,
  getFirstEncodableVideoCodec,
} from "mediabunny";
import type { Film, Frame, Task } from "./scene";
import type { Stage } from "./stage";

/** Does the task, and sends what came of it, or why nothing did. */
export async function perform(task: Task, stage: Stage, film: Film, show: (frame: Frame) => void) {
  let body: Blob;
  try {
    await stage.ready;
    stage.resize(task.width, task.height);
    show(film.at(task.at));
    fitAll(stage, film, show, task);
    body = task.kind === "picture" ? await picture(stage) : await movie(task, stage, film, show);
  } catch (problem) {
    body = new Blob([`problem: ${problem instanceof Error ? problem.message : problem}`]);
  }
  await fetch("output", { method: "POST", body });
}

/** Looks so that the robot is seen where it is, and in a film wherever it comes. */
function fitAll(stage: Stage, film: Film, show: (frame: Frame) => void, task: Task) {
  if (task.kind === "film") {
    const box = stage.bounds();
    for (let i = 0; i <= 24; i++) {
      const [first, last] = film.span;
      show(film.at(first + ((last - first) * i) / 24));
      box.union(stage.bounds());
    }
    show(film.at(film.span[0]));
    stage.fitTo(box);
  } else {
    stage.fit();
  }
}

function picture(stage: Stage): Promise<Blob> {
  stage.render();
  return new Promise((done, fail) => {
    stage.renderer.domElement.toBlob((blob) => (blob ? done(blob) : fail(new Error("the picture is empty"))), "image/png");
  });
}

async function movie(task: Task, stage: Stage, film: Film, show: (frame: Frame) => void): Promise<Blob> {
  const [first, last] = film.span;
  const count = Math.max(Math.round((last - first) * task.fps), 1);
  const draw = (i: number) => {
    show(film.at(first + i / task.fps));
    stage.render();
  };
  const canvas = stage.renderer.domElement;
  if (task.format === "gif") return animation(task, canvas, count, draw);
  const format = task.format === "mp4" ? new Mp4OutputFormat() : new WebMOutputFormat();
  const size = { width: canvas.width, height: canvas.height };
  const codec = await getFirstEncodableVideoCodec(format.getSupportedVideoCodecs(), size);
  if (!codec) throw new Error(`it cannot encode .${task.format}`);
  const output = new Output({ format, target: new BufferTarget() });
  const source = new CanvasSource(canvas, { codec, bitrate: Math.max(2e6, size.width * size.height * 4) });
  output.addVideoTrack(source, { frameRate: task.fps });
  await output.start();
  for (let i = 0; i < count; i++) {
    draw(i);
    await source.add(i / task.fps, 1 / task.fps);
  }
  await output.finalize();
  return new Blob([output.target.buffer!]);
}

function animation(task: Task, canvas: HTMLCanvasElement, count: number, draw: (i: number) => void): Blob {
  const flat = document.createElement("canvas");
  [flat.width, flat.height] = [canvas.width, canvas.height];
  const pen = flat.getContext("2d", { willReadFrequently: true })!;
  const gif = GIFEncoder();
  let palette: number[][] | null = null;
  for (let i = 0; i < count; i++) {
    draw(i);
    pen.drawImage(canvas, 0, 0);
    const { data } = pen.getImageData(0, 0, flat.width, flat.height);
    // One palette for all, so that nothing flickers.
    palette ??= quantize(data, 256);
    gif.writeFrame(applyPalette(data, palette), flat.width, flat.height, { palette, delay: 1000 / task.fps });
  }
  gif.finish();
  return new Blob([gif.bytes()]);
}
