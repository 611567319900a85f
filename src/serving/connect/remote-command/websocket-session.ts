import { Readable, Writable } from "node:stream";
import type { WebSocketChannel } from "../../../base/api/channel.ts";
import type { JsonObject } from "../../../base/api/object.ts";
import { takeEach } from "../../../base/util/take-each.ts";
import type { StreamOptions } from "../options.ts";
import { type CommandSession, ResizeEvents, readSize, type TerminalSize } from "./session.ts";
import { plainStatus } from "./status.ts";

const STDIN = 0;
const STDOUT = 1;
const STDERR = 2;
const ERROR = 3;
const RESIZE = 4;
/** Followed by the number of a channel that the client has closed. Version 5 only. */
const CLOSE = 255;
const CHANNELS = 5;
const BUFFER_BYTES = 16 * 1024;

/** Subprotocols of exec and attach in order of preference. The empty one means no subprotocol. */
export const COMMAND_PROTOCOLS: readonly string[] = [
  "v5.channel.k8s.io",
  "v4.channel.k8s.io",
  "v4.base64.channel.k8s.io",
  "v3.channel.k8s.io",
  "v3.base64.channel.k8s.io",
  "v2.channel.k8s.io",
  "v2.base64.channel.k8s.io",
  "channel.k8s.io",
  "base64.channel.k8s.io",
  "",
];

/** An exec or attach session over a WebSocket. Each message starts with its channel number. */
export class WebSocketSession implements CommandSession {
  readonly stdin: Readable | undefined;
  readonly stdout: Writable | undefined;
  readonly stderr: Writable | undefined;
  readonly #channel: WebSocketChannel;
  readonly #isText: boolean;
  readonly #hasCloseSignal: boolean;
  readonly #resizes = new ResizeEvents();
  #wantsInput: (() => void) | undefined;

  constructor(
    channel: WebSocketChannel,
    { stdin, stdout, stderr }: Pick<StreamOptions, "stdin" | "stdout" | "stderr">,
  ) {
    const { protocol } = channel;
    this.#channel = channel;
    this.#isText = protocol.includes("base64.");
    this.#hasCloseSignal = protocol === "v5.channel.k8s.io";
    const read = (): void => this.#wantsInput?.();
    this.stdin = stdin ? new Readable({ highWaterMark: BUFFER_BYTES, read }) : undefined;
    this.stdout = stdout ? this.#output(STDOUT) : undefined;
    this.stderr = stderr ? this.#output(STDERR) : undefined;
    this.stdin?.on("error", () => {}).on("close", read);
  }

  onResize(listener: (size: TerminalSize) => void): void {
    this.#resizes.listen(listener);
  }

  /**
   * Receives messages until the client disconnects. First sends an empty message to confirm the connection, like
   * upstream.
   */
  async receive(): Promise<void> {
    await this.#send(this.stdout ? STDOUT : this.stderr ? STDERR : ERROR, Buffer.alloc(0));
    await takeEach(this.#channel.messages, ({ data }) => this.#take(data));
    this.stdin?.push(null);
  }

  async finish(status: JsonObject): Promise<void> {
    const { protocol } = this.#channel;
    const isJson = protocol.startsWith("v5.") || protocol.startsWith("v4.");
    const text = isJson ? JSON.stringify(status) : plainStatus(status);
    if (text !== "") await this.#send(ERROR, Buffer.from(text));
  }

  /** Returns false if the message is invalid. */
  async #take(message: Uint8Array): Promise<boolean> {
    const [first] = message;
    if (first === undefined) return true;
    if (this.#hasCloseSignal && first === CLOSE) {
      const [, closed = CHANNELS] = message;
      if (message.length !== 2 || closed >= CHANNELS) return false;
      if (closed === STDIN) this.stdin?.push(null);
      return true;
    }
    const number = this.#isText ? first - 0x30 : first;
    const rest = Buffer.from(message.buffer, message.byteOffset + 1, message.length - 1);
    const data = this.#isText ? Buffer.from(rest.toString("latin1"), "base64") : rest;
    if (number === STDIN) await this.#input(data);
    if (number === RESIZE) {
      const size = readSize(data.toString());
      if (size) this.#resizes.emit(size);
    }
    return true;
  }

  async #input(data: Buffer): Promise<void> {
    const { stdin } = this;
    // Data after the end of stdin is dropped.
    if (!stdin || stdin.destroyed || stdin.readableEnded || data.length === 0 || stdin.push(data)) return;
    await new Promise<void>((resolve) => {
      this.#wantsInput = resolve;
    });
    this.#wantsInput = undefined;
  }

  #output(number: number): Writable {
    const write = (chunk: Buffer, _encoding: BufferEncoding, done: () => void): void => {
      this.#send(number, chunk).then(done, done);
    };
    return new Writable({ highWaterMark: BUFFER_BYTES, write });
  }

  #send(number: number, data: Buffer): Promise<void> {
    if (this.#isText) return this.#channel.send(`${number}${data.toString("base64")}`);
    return this.#channel.send(Buffer.concat([Buffer.of(number), data]));
  }
}
