import { Worker } from "node:worker_threads";
import { StoreError } from "../store.ts";
import type { ReplyMessage, Requests } from "./messages.ts";

// Node runs the sources directly; the published package has JavaScript beside this file.
const workerFile = import.meta.url.endsWith(".ts") ? "./worker.ts" : "./worker.js";

interface Call {
  resolve(body: unknown): void;
  reject(error: Error): void;
}

/** The thread that owns the SQLite file. It handles requests one by one, in order. */
export class DatabaseThread {
  readonly #path: string;
  readonly #worker: Worker;
  readonly #calls = new Map<number, Call>();
  readonly #onFailure: (error: StoreError) => void;
  #nextId = 1;
  #failure: StoreError | undefined;

  /** `onFailure` is called once if the thread dies unexpectedly; all requests are rejected from then on. */
  constructor(path: string, onFailure: (error: StoreError) => void) {
    this.#path = path;
    this.#onFailure = onFailure;
    // Options of this process, such as those of a test runner or `-e`, must not apply to the thread.
    this.#worker = new Worker(new URL(workerFile, import.meta.url), { execArgv: [] });
    this.#worker.on("message", (reply: ReplyMessage) => this.#settle(reply));
    this.#worker.on("error", (error) => this.#fail(error));
    this.#worker.on("exit", () => this.#fail(new Error("the thread has ended")));
  }

  /**
   * Rejects with StoreError "unavailable" or "no-space" if SQLite fails. Buffers in `transfer` are moved, not copied.
   */
  request<T extends keyof Requests>(
    type: T,
    body: Requests[T]["request"],
    transfer: readonly ArrayBuffer[] = [],
  ): Promise<Requests[T]["reply"]> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    const id = this.#nextId++;
    const reply = new Promise<unknown>((resolve, reject) => this.#calls.set(id, { resolve, reject }));
    this.#worker.postMessage({ id, type, body }, transfer);
    return reply as Promise<Requests[T]["reply"]>;
  }

  /** Closes the file and ends the thread. */
  async close(): Promise<void> {
    if (this.#failure === undefined) await this.request("close", undefined);
    this.#failure ??= new StoreError("closed", "the store is closed");
    await this.#worker.terminate();
  }

  #settle(reply: ReplyMessage): void {
    const call = this.#calls.get(reply.id);
    this.#calls.delete(reply.id);
    if ("body" in reply) {
      call?.resolve(reply.body);
      return;
    }
    const { message, reason } = reply.error;
    const text =
      reason === "in-use"
        ? `the database file ${this.#path} is in use by another process`
        : `${message} (${this.#path})`;
    call?.reject(new StoreError(reason === "full" ? "no-space" : "unavailable", text));
  }

  #fail(cause: unknown): void {
    if (this.#failure !== undefined) return;
    const error = new StoreError("unavailable", `the database thread of ${this.#path} failed`, { cause });
    this.#failure = error;
    for (const call of this.#calls.values()) call.reject(error);
    this.#calls.clear();
    this.#onFailure(error);
  }
}
