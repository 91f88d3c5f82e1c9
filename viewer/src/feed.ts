// Where frames come from: the program, over a websocket, or the file that the page is part of.

import { Vector3 } from "three";
import { Kinematics } from "./kinematics";
import { Film, readFrame, type Frame, type ModeInfo, type Scene, type Status } from "./scene";

export interface Listener {
  frame(frame: Frame): void;
  status(status: Status): void;
  modes(modes: ModeInfo[]): void;
  problem(text: string): void;
  /** Somebody is there to be asked. */
  there(): void;
}

export type Command = { do: string; [key: string]: unknown };

/** Who can be asked to move joints. */
export interface Feed {
  send(command: Command): void;
}

/** The program at the other end. */
export class Live implements Feed {
  private socket!: WebSocket;
  private tries = 0;

  constructor(private scene: Scene, private listener: Listener) {
    this.connect();
  }

  private connect() {
    const address = new URL("live", location.href);
    address.protocol = "ws:";
    this.socket = new WebSocket(address);
    this.socket.binaryType = "arraybuffer";
    this.socket.onopen = () => {
      this.tries = 0;
      this.listener.there();
    };
    this.socket.onmessage = (event) => this.receive(event.data);
    this.socket.onclose = () => {
      // A program that ended may be started again, a laptop wakes up.
      if (this.tries++ === 0) this.listener.problem("The program has ended, or the connection was lost.");
      if (this.tries < 20) setTimeout(() => this.connect(), 1000);
    };
  }

  private receive(data: ArrayBuffer | string) {
    if (typeof data !== "string") return this.listener.frame(readFrame(this.scene, data));
    const message = JSON.parse(data);
    if (message.status) this.listener.status(message.status);
    if (message.modes) this.listener.modes(message.modes);
    if (message.error) this.listener.problem(message.error);
  }

  send(command: Command) {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(command));
  }
}

/** The motion in the page's own file. */
export class Recorded implements Feed {
  readonly film: Film;
  /** Moves joints where no program does; none where it does not meet the library's poses. */
  readonly kinematics: Kinematics | null;
  private shown: Frame;
  private t: number;
  private running = false;
  private speed = 1;
  private last = 0;
  /** The link whose operational-space inertia is wanted. */
  private link = -1;
  /** Whether a hand has moved joints from where the motion has them. */
  private moved = false;

  constructor(private scene: Scene, private listener: Listener) {
    this.film = new Film(scene);
    this.t = this.film.span[0];
    this.shown = this.film.at(this.t);
    this.kinematics = this.checked();
    queueMicrotask(() => {
      this.tell();
      this.listener.there();
    });
  }

  /** Kinematics that meet the library's poses wherever the file has them, and close its loops there. */
  private checked(): Kinematics | null {
    const kinematics = new Kinematics(this.scene);
    const [first, end] = this.film.span;
    for (let i = 0; i <= 8; i++) {
      const { q, poses } = this.film.at(first + ((end - first) * i) / 8);
      // The file's poses have seven digits.
      const far = poses.reduce((most, x, k) => (k % 7 < 3 ? Math.max(most, Math.abs(x)) : most), 1);
      const open = Math.max(0, ...kinematics.gaps(q).map(Math.abs));
      if (kinematics.misses(q, poses) > 3e-6 * far || open > 1e-5) return null;
    }
    return kinematics;
  }

  private frame(frame: Frame) {
    this.shown = frame;
    this.listener.frame(frame);
  }

  /** Shows the motion at its time. */
  private play() {
    this.moved = false;
    const frame = this.film.at(this.t, this.link);
    this.frame({ ...frame, all: this.all(frame.q) });
  }

  /** Coordinates of all joints, where some follow others. */
  private all(q: ArrayLike<number>): Float64Array {
    if (!this.scene.coupled || !this.kinematics) return new Float64Array(0);
    return Float64Array.from(this.scene.joints.flatMap((j) => Array.from(this.kinematics!.coordinates(j, q))));
  }

  /** Moves a joint from where the robot is shown. */
  private set(number: number, values: number[]) {
    const joint = this.scene.joints[number];
    const to = Array.from(this.shown.q);
    values.forEach((x, i) => (to[joint.q[0] + i] = x));
    const q = this.kinematics?.led(this.shown.q, to, joint.q);
    if (!q) return this.listener.problem("The loops cannot be closed there.");
    const none = new Float64Array(0);
    const placed = this.kinematics!.place(q);
    const [x, y, z] = this.scene.gravity;
    // −Σ m g·c.
    const potential = this.scene.links.reduce((sum, { mass, com }, i) => {
      const c = new Vector3(...com).applyQuaternion(placed[i].turn).add(placed[i].at);
      return sum - mass * (x * c.x + y * c.y + z * c.z);
    }, 0);
    this.moved = true;
    this.frame({
      ...this.shown,
      q: Float64Array.from(q),
      v: new Float64Array(this.scene.nv),
      tau: none, nu: none, eps: none,
      kinetic: 0, potential,
      poses: this.kinematics!.poses(q),
      arrows: new Float32Array(0),
      articulated: new Float32Array(0),
      operational: new Float32Array(0),
      all: this.all(q),
    });
  }

  private tell() {
    const span = this.film.span;
    const kind = this.film.times.length > 1 ? "file" : "still";
    this.listener.status({ kind, running: this.running, speed: this.speed, span, pace: 1, mode: null });
    this.play();
  }

  private tick = (now: number) => {
    if (!this.running) return;
    const [first, end] = this.film.span;
    // Where pictures take long, the motion is slow rather than torn.
    this.t += this.speed * Math.min((now - this.last) / 1000, 0.1);
    this.last = now;
    // A file plays again and again.
    if (this.t > end) this.t = first;
    this.play();
    requestAnimationFrame(this.tick);
  };

  send(command: Command) {
    const [first, end] = this.film.span;
    const times = this.film.times;
    switch (command.do) {
      case "set":
        return this.set(command.joint as number, command.q as number[]);
      case "show":
        this.link = (command.operational as number | null) ?? -1;
        // What a hand has moved stays where it is.
        return this.moved ? undefined : this.play();
      case "run":
        if (!this.running) {
          this.running = true;
          this.last = performance.now();
          requestAnimationFrame(this.tick);
        }
        break;
      case "pause":
        this.running = false;
        break;
      case "step":
        this.running = false;
        this.t = times.find((t) => t > this.t + 1e-9) ?? end;
        break;
      case "reset":
        this.running = false;
        this.t = first;
        break;
      case "speed":
        this.speed = command.x as number;
        break;
      case "seek":
        this.t = Math.min(Math.max(command.t as number, first), end);
        break;
    }
    this.tell();
  }
}
