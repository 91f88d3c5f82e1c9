// Pictures and films for a browser without a window: made here, and sent to the program.

import { GIFEncoder, applyPalette, quantize } from "gifenc";
import * as mp4 from "mp4-muxer";
import * as webm from "webm-muxer";
import type { Film, Frame, Task } from "./scene";
import type { Stage } from "./stage";

/** Does the task, and sends what came of it, or why nothing did. */
export async function perform(task: Task, stage: Stage, film: Film, show: (frame: Frame) => void) {
  let body: Blob;
  try {
    await stage.ready;
    // Encoders of films want even lengths.
    const even = task.format === "mp4" || task.format === "webm" ? ~1 : ~0;
    stage.resize(task.width & even, task.height & even);
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
  const { encoder, finish } = await encoding(task, canvas);
  for (let i = 0; i < count; i++) {
    draw(i);
    const frame = new VideoFrame(canvas, { timestamp: (1e6 * i) / task.fps, duration: 1e6 / task.fps });
    encoder.encode(frame, { keyFrame: i % 60 === 0 });
    frame.close();
    // What is drawn does not run ahead of what is encoded.
    while (encoder.encodeQueueSize > 4) await new Promise((done) => setTimeout(done, 5));
  }
  await encoder.flush();
  return new Blob([finish()]);
}

/** Codecs that each format may hold, best known first: their name in the file, and for the encoder. */
const CODECS = {
  mp4: [["avc", "avc1.640034"], ["avc", "avc1.42003e"], ["vp9", "vp09.00.51.08"], ["av1", "av01.0.12M.08"]],
  webm: [["V_VP9", "vp09.00.51.08"], ["V_VP8", "vp8"], ["V_AV1", "av01.0.12M.08"]],
} as const;

/** An encoder for what this browser can encode, and what gives the film when all is encoded. */
async function encoding(task: Task, canvas: HTMLCanvasElement) {
  const { width, height } = canvas;
  for (const [name, codec] of CODECS[task.format as "mp4" | "webm"]) {
    const config = { codec, width, height, bitrate: Math.max(2e6, width * height * 4), framerate: task.fps };
    if (!(await VideoEncoder.isConfigSupported(config)).supported) continue;
    const muxer =
      task.format === "mp4"
        ? new mp4.Muxer({ target: new mp4.ArrayBufferTarget(), fastStart: "in-memory", video: { codec: name as "avc", width, height } })
        : new webm.Muxer({ target: new webm.ArrayBufferTarget(), video: { codec: name, width, height, frameRate: task.fps } });
    let failed: Error | null = null;
    const encoder = new VideoEncoder({
      output: (chunk, about) => muxer.addVideoChunk(chunk, about),
      error: (problem) => (failed = problem),
    });
    encoder.configure(config);
    const finish = () => {
      if (failed) throw failed;
      muxer.finalize();
      return muxer.target.buffer;
    };
    return { encoder, finish };
  }
  throw new Error(`it cannot encode .${task.format}`);
}

function animation(task: Task, canvas: HTMLCanvasElement, count: number, draw: (i: number) => void): Blob {
  const flat = document.createElement("canvas");
  [flat.width, flat.height] = [canvas.width, canvas.height];
  const pen = flat.getContext("2d", { willReadFrequently: true })!;
  const gif = GIFEncoder();
  const drawn = (i: number) => {
    draw(i);
    pen.drawImage(canvas, 0, 0);
    return pen.getImageData(0, 0, flat.width, flat.height).data;
  };
  const palette = paletteOf(count, drawn);
  for (let i = 0; i < count; i++) {
    const delay = 10 * (ticks(i + 1, task.fps) - ticks(i, task.fps));
    gif.writeFrame(applyPalette(drawn(i), palette), flat.width, flat.height, { palette, delay });
  }
  gif.finish();
  return new Blob([gif.bytes()]);
}

/** When a picture of an animation is due, in its hundredths of a second: rounded each by itself, so that none adds up. */
function ticks(i: number, fps: number): number {
  return Math.round((100 * i) / fps);
}

/** One palette for all pictures, so that nothing flickers: of colours from the whole film, as some come late. */
function paletteOf(count: number, drawn: (i: number) => Uint8ClampedArray): number[][] {
  const looks = Math.min(count, 8);
  const pixels: number[] = [];
  for (let k = 0; k < looks; k++) {
    const data = new Uint32Array(drawn(Math.round((k * (count - 1)) / Math.max(looks - 1, 1))).buffer);
    const stride = Math.max(Math.floor((data.length * looks) / 600_000), 1);
    for (let i = 0; i < data.length; i += stride) pixels.push(data[i]);
  }
  return quantize(new Uint8ClampedArray(Uint32Array.from(pixels).buffer), 256);
}
