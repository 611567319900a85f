import { Duplex } from "node:stream";
import type { WebSocketChannel } from "../../../base/api/channel.ts";
import { takeEach } from "../../../base/util/take-each.ts";
import { runBounded } from "../handlers/bounded-writes.ts";
import type { PodHandlers } from "../handlers/handlers.ts";

type ServePort = NonNullable<PodHandlers["port"]>;

const BUFFER_BYTES = 16 * 1024;

/**
 * Port-forward over WebSocket channels: two per port, for data and errors. The first message of both is the port
 * number. Upstream: `handleWebSocketStreams` of the kubelet.
 */
export class ChannelPorts {
  readonly #channel: WebSocketChannel;
  readonly #isText: boolean;
  readonly #ports: readonly ChannelPort[];
  readonly #serve: ServePort;
  readonly #signal: AbortSignal;

  constructor(channel: WebSocketChannel, ports: readonly number[], serve: ServePort, signal: AbortSignal) {
    this.#channel = channel;
    this.#isText = channel.protocol.includes("base64.");
    this.#serve = serve;
    this.#signal = signal;
    this.#ports = ports.map((port, index) => new ChannelPort(port, (data) => this.#send(2 * index, data)));
  }

  async run(): Promise<void> {
    const serving = this.#ports.map((port, index) => this.#open(port, index));
    const all = Promise.all(serving);
    await Promise.race([this.#receive(), all]).catch(() => {});
    for (const port of this.#ports) port.destroy();
  }

  async #open(connection: ChannelPort, index: number): Promise<void> {
    const number = Buffer.alloc(2);
    number.writeUInt16LE(connection.port);
    await this.#send(2 * index, number);
    await this.#send(2 * index + 1, number);
    try {
      const { port } = connection;
      await runBounded([connection], this.#signal, (signal) => this.#serve(port, connection, signal));
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      await this.#send(2 * index + 1, Buffer.from(`error forwarding port ${connection.port} to pod: ${text}`));
    }
  }

  async #receive(): Promise<void> {
    await takeEach(this.#channel.messages, async ({ data: message }) => {
      const [first] = message;
      if (first === undefined) return true;
      const number = this.#isText ? first - 0x30 : first;
      const rest = Buffer.from(message.buffer, message.byteOffset + 1, message.length - 1);
      const port = number % 2 === 0 ? this.#ports[number / 2] : undefined;
      await port?.receive(this.#isText ? Buffer.from(rest.toString("latin1"), "base64") : rest);
      return true;
    });
  }

  #send(number: number, data: Buffer): Promise<void> {
    if (this.#isText) return this.#channel.send(`${String.fromCharCode(0x30 + number)}${data.toString("base64")}`);
    return this.#channel.send(Buffer.concat([Buffer.of(number), data]));
  }
}

/** One forwarded port. */
class ChannelPort extends Duplex {
  readonly port: number;
  readonly #send: (data: Buffer) => Promise<void>;
  #wantsData: (() => void) | undefined;

  constructor(port: number, send: (data: Buffer) => Promise<void>) {
    super({ highWaterMark: BUFFER_BYTES });
    this.port = port;
    this.#send = send;
    this.on("error", () => {});
  }

  async receive(data: Buffer): Promise<void> {
    if (this.destroyed || data.length === 0 || this.push(data)) return;
    await new Promise<void>((resolve) => {
      this.#wantsData = resolve;
      this.once("close", resolve);
    });
  }

  override _read(): void {
    this.#wantsData?.();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#send(chunk).then(() => done(), done);
  }
}
