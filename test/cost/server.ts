import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:https";
import { tmpdir } from "node:os";
import path from "node:path";
import { Worker } from "node:worker_threads";
import { type RunningBinnacle, startBinnacle, withDefault } from "../support/binnacle.ts";
import { tokens } from "../support/oracle.ts";
import type { ProbeData } from "./probe.ts";
import { loopMs, processorMs } from "./processor-time.ts";
import { noteTurnsIn, readTurns } from "./turns.ts";

/** A request whose cost is measured. */
export interface CostlyRequest {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer;
  /** Ends a watch once it has sent this text. */
  readonly until?: string;
}

/** The cost of a request. */
export interface Cost {
  /** 0 if there was no response in time. */
  readonly status: number;
  /** Client latency of the whole response. */
  readonly ms: number;
  /** CPU time of all threads of the server. */
  readonly processorMs: number;
  /** CPU time of the longest turn of the event loop, or of the event loop in total if there was no response. */
  readonly loopMs: number;
  /** The maximum latency of /livez on another connection during the request; undefined without a probe. */
  readonly stallMs: number | undefined;
  /** How far the peak of resident memory exceeds its start. */
  readonly grownBytes: number;
  /** The start of the response. */
  readonly text: string;
}

/** The server times out no request before its client does, however busy the machine is. */
const PATIENT = withDefault("requestTimeoutMs", 600_000);

const MAX_HEADER_BYTES = 1024 * 1024;
const TURNS = "turns";

/** A server that is probed on another connection while it handles requests. */
export class CostServer {
  readonly binnacle: RunningBinnacle;
  readonly #worker: Worker;
  readonly #seen: Int32Array<SharedArrayBuffer>;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1, rejectUnauthorized: false });
  readonly #timeoutMs: number;
  readonly #directory: string;

  private constructor(binnacle: RunningBinnacle, timeoutMs: number, directory: string) {
    this.binnacle = binnacle;
    this.#timeoutMs = timeoutMs;
    this.#directory = directory;
    this.#seen = new Int32Array(new SharedArrayBuffer(12));
    const workerData: ProbeData = { base: binnacle.base, seen: this.#seen };
    this.#worker = new Worker(path.join(import.meta.dirname, "probe.ts"), { workerData });
    this.#worker.unref();
  }

  /** Starts a server on memory with the namespace `fuzz`. A request may take up to `timeoutMs`. */
  static async start(
    timeoutMs: number,
    nodeFlags: readonly string[] = [],
    flags: readonly string[] = [],
  ): Promise<CostServer> {
    // A very busy machine may not start one within the default time.
    const directory = mkdtempSync(path.join(tmpdir(), "binnacle-cost-"));
    const allNodeFlags = [...PATIENT, ...noteTurnsIn(path.join(directory, TURNS)), ...nodeFlags];
    const options = { nodeFlags: allNodeFlags, flags: [...flags], readyWithinMs: 300_000 };
    const server = new CostServer(await startBinnacle(options), timeoutMs, directory);
    await server.send({ method: "POST", path: "/api/v1/namespaces", body: json({ metadata: { name: "fuzz" } }) });
    const account = json({ metadata: { name: "default" } });
    await server.send({ method: "POST", path: "/api/v1/namespaces/fuzz/serviceaccounts", body: account });
    return server;
  }

  /** Measures one request, also from another connection if `isProbed`. After status 0 the server must be replaced. */
  async measure(costly: CostlyRequest, isProbed: boolean): Promise<Cost> {
    Atomics.store(this.#seen, 2, isProbed ? 1 : 0);
    if (isProbed) await this.#probes(2);
    Atomics.store(this.#seen, 0, 0);
    const turns = this.#turns().length;
    const before = this.memory("VmRSS");
    this.#forgetPeak();
    const used = processorMs(this.#pid);
    const usedByLoop = loopMs(this.#pid);
    const begun = performance.now();
    const { status, text } = await this.send(costly);
    const ms = performance.now() - begun;
    const spentMs = processorMs(this.#pid) - used;
    const byLoop = loopMs(this.#pid) - usedByLoop;
    if (isProbed && status !== 0) await this.#probes(2);
    const seen =
      isProbed && status !== 0
        ? { stallMs: Atomics.load(this.#seen, 0) / 1000, loopMs: longest(this.#turns().slice(turns)) }
        : { stallMs: undefined, loopMs: byLoop };
    return { status, text, ms, processorMs: spentMs, ...seen, grownBytes: this.memory("VmHWM") - before };
  }

  /** CPU time of the longest turn of the event loop during `run`. */
  async heldDuring(run: () => Promise<void>): Promise<number> {
    Atomics.store(this.#seen, 2, 1);
    await this.#probes(2);
    const turns = this.#turns().length;
    await run();
    await this.#probes(2);
    Atomics.store(this.#seen, 2, 0);
    return longest(this.#turns().slice(turns));
  }

  /** Sends a request and reads the whole response. */
  send({ method, path: url, headers, body, until }: CostlyRequest): Promise<{ status: number; text: string }> {
    return new Promise((resolve) => {
      const options = {
        method,
        agent: this.#agent,
        // An Audit-ID of any length is returned.
        maxHeaderSize: MAX_HEADER_BYTES,
        signal: AbortSignal.timeout(this.#timeoutMs),
        headers: {
          authorization: `Bearer ${tokens.admin}`,
          "user-agent": "binnacle-test",
          ...(body ? { "content-type": "application/json", "content-length": body.length } : {}),
          ...headers,
        },
      };
      const failed = (error: Error) => resolve({ status: 0, text: error.message });
      const call = request(`${this.binnacle.base}${url}`, options, (response) => {
        let text = "";
        let last = "";
        const done = () => resolve({ status: response.statusCode ?? 0, text });
        response.on("data", (chunk: Buffer) => {
          if (text.length < 2000) text += chunk.toString("latin1", 0, 2000);
          if (until === undefined) return;
          last = last.slice(-until.length) + chunk.toString("latin1");
          if (!last.includes(until)) return;
          done();
          call.destroy();
        });
        response.once("end", done);
        response.once("error", failed);
      });
      call.once("error", failed);
      call.end(body);
    });
  }

  /** One figure of the server's memory in bytes; 0 if the system does not report it. */
  memory(figure: "VmRSS" | "VmHWM"): number {
    try {
      const text = readFileSync(`/proc/${this.#pid}/status`, "utf8");
      return Number(new RegExp(`${figure}:\\s+(\\d+)`).exec(text)?.[1] ?? 0) * 1024;
    } catch {
      return 0;
    }
  }

  get #pid(): number {
    return this.binnacle.process.pid ?? 0;
  }

  /** Stops the server; kills it if it does not respond. */
  async stop(isStuck = false): Promise<void> {
    this.#agent.destroy();
    await this.#worker.terminate();
    if (isStuck) await this.binnacle.process.kill({ signal: "SIGKILL" });
    await this.binnacle.kill();
    rmSync(this.#directory, { recursive: true });
  }

  #turns(): readonly number[] {
    return readTurns(path.join(this.#directory, TURNS));
  }

  /** Resolves after `count` more probes. */
  async #probes(count: number): Promise<void> {
    for (let left = count; left > 0; left -= 1) {
      const waited = Atomics.waitAsync(this.#seen, 1, Atomics.load(this.#seen, 1), this.#timeoutMs);
      if (waited.async) await waited.value;
    }
  }

  /** Resets VmHWM. */
  #forgetPeak(): void {
    try {
      writeFileSync(`/proc/${this.#pid}/clear_refs`, "5");
    } catch {
      // Not supported here: the peak is that of the whole run.
    }
  }
}

const longest = (turns: readonly number[]): number => turns.reduce((most, ms) => Math.max(most, ms), 0);
const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
