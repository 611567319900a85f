import { setTimeout as sleep } from "node:timers/promises";
import { type Healed, healingCall, Record } from "./healing.ts";
import { type Credentials, http1Line, http2Line, type Line } from "./lines.ts";
import { Watcher } from "./watchers.ts";
import { Ledger, read, write } from "./writers.ts";

const WRITERS = 4;
const READERS = 2;
const WATCHERS = 4;
const LOOK_MS = 100;

/** Clients at work, half of them over HTTP/1.1 and half over HTTP/2, all by way of the balancer. */
export class Load {
  readonly ledger = new Ledger();
  readonly record = new Record();
  readonly watchers: readonly Watcher[];
  readonly #lines: Line[] = [];
  readonly #base: string;
  readonly #credentials: Credentials;
  readonly #own: Line;
  readonly #writing = new AbortController();
  readonly #watching = new AbortController();
  readonly #failures: unknown[] = [];
  #clients: Promise<void>[] = [];
  #followers: Promise<void>[] = [];

  constructor(base: string, credentials: Credentials) {
    this.#base = base;
    this.#credentials = credentials;
    this.#own = this.#line(0);
    this.watchers = Array.from({ length: WATCHERS }, (_, at) => new Watcher(this.#line(at), this.record));
  }

  /** A request of its own, repeated as those of all clients. */
  call(method: string, path: string, body?: unknown): Promise<Healed> {
    return healingCall(this.#own, this.record, [method, path, body]);
  }

  start(): void {
    const { ledger, record } = this;
    const { signal } = this.#writing;
    this.#followers = this.watchers.map((watcher) => this.#kept(watcher.run(this.#watching.signal)));
    this.#clients = [
      ...Array.from({ length: WRITERS }, (_, at) =>
        this.#kept(write(`w${at}`, this.#line(at), ledger, record, signal)),
      ),
      ...Array.from({ length: READERS }, (_, at) => this.#kept(read(this.#line(at), ledger, record, signal))),
    ];
  }

  /** Does something again and again. */
  async whileRunning(signal: AbortSignal, step: () => Promise<void>): Promise<void> {
    while (!signal.aborted) {
      await step();
      await sleep(LOOK_MS);
    }
  }

  /** Lets every writer end the write that it is at. */
  async stopWriting(): Promise<void> {
    this.#writing.abort();
    await Promise.all(this.#clients);
    this.check();
  }

  async stop(): Promise<void> {
    this.#writing.abort();
    this.#watching.abort();
    await Promise.all([...this.#clients, ...this.#followers]);
    for (const line of this.#lines) line.close();
  }

  /** Throws what a client has complained of. */
  check(): void {
    if (this.#failures.length > 0) throw this.#failures[0];
  }

  #kept(client: Promise<void>): Promise<void> {
    return client.catch((error: unknown) => void this.#failures.push(error));
  }

  #line(at: number): Line {
    const line = (at % 2 === 0 ? http1Line : http2Line)(this.#base, this.#credentials);
    this.#lines.push(line);
    return line;
  }
}
