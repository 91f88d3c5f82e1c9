// Where frames come from: the program, over a websocket, or the file that the page is part of.

import { Film, readFrame, type Frame, type ModeInfo, type Scene, type Status } from "./scene";

export interface Listener {
  frame(frame: Frame): void;
  status(status: Status): void;
  modes(modes: ModeInfo[]): void;
  problem(text: string): void;
}

export type Command = { do: string; [key: string]: unknown };

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
    this.socket.onopen = () => (this.tries = 0);
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
  private t: number;
  private running = false;
  private speed = 1;
  private last = 0;

  constructor(scene: Scene, private listener: Listener) {
    this.film = new Film(scene);
    this.t = this.film.span[0];
    queueMicrotask(() => this.tell());
  }

  private tell() {
    const span = this.film.span;
    const kind = this.film.times.length > 1 ? "file" : "still";
    this.listener.status({ kind, running: this.running, speed: this.speed, span, pace: 1, mode: null });
    this.listener.frame(this.film.at(this.t));
  }

  private tick = (now: number) => {
    if (!this.running) return;
    const [first, end] = this.film.span;
    // Where pictures take long, the motion is slow rather than torn.
    this.t += this.speed * Math.min((now - this.last) / 1000, 0.1);
    this.last = now;
    // A file plays again and again.
    if (this.t > end) this.t = first;
    this.listener.frame(this.film.at(this.t));
    requestAnimationFrame(this.tick);
  };

  send(command: Command) {
    const [first, end] = this.film.span;
    const times = this.film.times;
    switch (command.do) {
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
