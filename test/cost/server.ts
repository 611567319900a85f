import { readFileSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:https";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import { type RunningBinnacle, startBinnacle } from "../support/binnacle.ts";
import { tokens } from "../support/oracle.ts";
import type { ProbeData } from "./probe.ts";
import { loopMs, processorMs } from "./processor-time.ts";

/** A request whose cost is measured. */
export interface CostlyRequest {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer;
}

/** What a request cost. */
export interface Cost {
  /** 0 when there was no answer in time, or none at all. */
  readonly status: number;
  /** How long the client waited for the whole answer. */
  readonly ms: number;
  /** Processor time of all threads of the server. */
  readonly processorMs: number;
  /**
   * Processor time of the thread that has the event loop: the most during one wait of the other connection, or all of it when
   * none asked. What else the machine does makes it no longer.
   */
  readonly loopMs: number;
  /** The longest time that another connection waited for /livez while the request ran; undefined when none asked. */
  readonly stallMs: number | undefined;
  /** How far resident memory rose above where it was, at its highest. */
  readonly grownBytes: number;
  /** The start of the answer. */
  readonly text: string;
}

/** No request is given up before its client gives it up, however busy the machine is. */
const CONFIG = pathToFileURL(path.join(import.meta.dirname, "..", "..", "src", "server", "config.ts"));
const PATIENT = `data:text/javascript,import { defaultConfig } from "${CONFIG}"; defaultConfig.requestTimeoutMs = 600_000`;

const MAX_HEADER_BYTES = 1024 * 1024;

/** A server that is watched from another connection while it answers. */
export class CostServer {
  readonly binnacle: RunningBinnacle;
  readonly #worker: Worker;
  readonly #seen: Int32Array<SharedArrayBuffer>;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1, rejectUnauthorized: false });
  readonly #timeoutMs: number;

  private constructor(binnacle: RunningBinnacle, timeoutMs: number) {
    this.binnacle = binnacle;
    this.#timeoutMs = timeoutMs;
    this.#seen = new Int32Array(new SharedArrayBuffer(16));
    const workerData: ProbeData = { base: binnacle.base, pid: this.#pid, seen: this.#seen };
    this.#worker = new Worker(path.join(import.meta.dirname, "probe.ts"), { workerData });
    this.#worker.unref();
  }

  /** Starts a server on memory with the namespace `fuzz`. A request may take as long as `timeoutMs`. */
  static async start(timeoutMs: number, nodeFlags: readonly string[] = []): Promise<CostServer> {
    // A machine that is very busy may not start one in the time that tests give it.
    const options = { nodeFlags: ["--import", PATIENT, ...nodeFlags], readyWithinMs: 300_000 };
    const server = new CostServer(await startBinnacle(options), timeoutMs);
    await server.send({ method: "POST", path: "/api/v1/namespaces", body: json({ metadata: { name: "fuzz" } }) });
    const account = json({ metadata: { name: "default" } });
    await server.send({ method: "POST", path: "/api/v1/namespaces/fuzz/serviceaccounts", body: account });
    return server;
  }

  /** Measures one request, seen from another connection as well where `isProbed`. After status 0 the server is of no more use. */
  async measure(costly: CostlyRequest, isProbed: boolean): Promise<Cost> {
    Atomics.store(this.#seen, 2, isProbed ? 1 : 0);
    if (isProbed) await this.#probes(2);
    Atomics.store(this.#seen, 0, 0);
    Atomics.store(this.#seen, 3, 0);
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
    const [stalledMs, heldMs] = [Atomics.load(this.#seen, 0) / 1000, Atomics.load(this.#seen, 3) / 1000];
    const seen =
      isProbed && status !== 0 ? { stallMs: stalledMs, loopMs: heldMs } : { stallMs: undefined, loopMs: byLoop };
    return { status, text, ms, processorMs: spentMs, ...seen, grownBytes: this.memory("VmHWM") - before };
  }

  /** Sends a request and reads all of its answer. */
  send({ method, path: url, headers, body }: CostlyRequest): Promise<{ status: number; text: string }> {
    return new Promise((resolve) => {
      const options = {
        method,
        agent: this.#agent,
        // An Audit-ID comes back however long it is.
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
        response.on("data", (chunk: Buffer) => {
          if (text.length < 2000) text += chunk.toString("latin1", 0, 2000);
        });
        response.once("end", () => resolve({ status: response.statusCode ?? 0, text }));
        response.once("error", failed);
      });
      call.once("error", failed);
      call.end(body);
    });
  }

  /** One figure of the server's memory in bytes; 0 where the system does not tell. */
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

  /** Ends it, at once when it does not answer. */
  async stop(isStuck = false): Promise<void> {
    this.#agent.destroy();
    await this.#worker.terminate();
    if (isStuck) await this.binnacle.process.kill({ signal: "SIGKILL" });
    await this.binnacle.kill();
  }

  /** Resolves after so many more round trips of the prober. */
  async #probes(count: number): Promise<void> {
    for (let left = count; left > 0; left -= 1) {
      const waited = Atomics.waitAsync(this.#seen, 1, Atomics.load(this.#seen, 1), this.#timeoutMs);
      if (waited.async) await waited.value;
    }
  }

  /** Lets VmHWM begin anew. */
  #forgetPeak(): void {
    try {
      writeFileSync(`/proc/${this.#pid}/clear_refs`, "5");
    } catch {
      // A system without it: the peak is that of the whole run.
    }
  }
}

const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
