import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { Agent, request } from "node:https";
import type { TestContext } from "node:test";
import { type RunningBinnacle, startBinnacle } from "../support/binnacle.ts";
import { tokens } from "../support/oracle.ts";
import { StepObserver } from "../support/steps.ts";

/** More than any request takes now. Steps are calls of functions and runs of blocks in src/. */
const MOST_STEPS = 40_000_000;
/** Other connections wait while the main thread takes steps. */
const MOST_MAIN_STEPS = 1_000_000;
const ALLOWED_GROWTH_MB = 50;
const TRIES = 3;

/** The default path of attacks. */
export const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";

/** A hostile request, and the expected response. */
export interface Attack {
  readonly name: string;
  readonly method?: "POST" | "PUT" | "PATCH" | "GET" | "DELETE";
  readonly path?: string;
  readonly type?: string;
  readonly body?: string;
  /** Added to the headers of every request, or replacing them. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The expected status. */
  readonly code: number;
  /** Must match the response. */
  readonly says?: RegExp;
  /** A higher limit of the growth of resident memory. */
  readonly growthMb?: number;
  /** A lower limit of the steps of the main thread: the others are for threads. */
  readonly mostMainSteps?: number;
}

/** An answer. */
export interface Received {
  readonly code: number;
  readonly text: string;
}

/** The attacked server. */
export class Victim {
  readonly #server: RunningBinnacle;
  readonly #observer: StepObserver;
  readonly #agent = new Agent({ keepAlive: true, rejectUnauthorized: false });

  private constructor(server: RunningBinnacle, observer: StepObserver) {
    this.#server = server;
    this.#observer = observer;
  }

  static async start(): Promise<Victim> {
    const server = await startBinnacle({ nodeFlags: StepObserver.FLAGS });
    return new Victim(server, await StepObserver.attach(server.process));
  }

  async stop(): Promise<void> {
    this.#agent.destroy();
    this.#observer.close();
    await this.#server.kill();
  }

  send({
    method = "POST",
    path = CONFIG_MAPS,
    type = "application/json",
    body = "",
    ...more
  }: Attack): Promise<Received> {
    return new Promise((resolve, reject) => {
      const headers = {
        authorization: `Bearer ${tokens.admin}`,
        ...(body === "" ? {} : { "content-type": type, "content-length": Buffer.byteLength(body) }),
        ...more.headers,
      };
      const outgoing = request(this.#server.base, { path, method, agent: this.#agent, headers }, (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (chunk: string) => {
          text += chunk;
        });
        response.on("error", reject);
        response.on("end", () => resolve({ code: response.statusCode ?? 0, text }));
      });
      outgoing.on("error", reject);
      outgoing.end(body);
    });
  }

  /** Checks that an attack is answered as it should be, without many steps or much memory, and that others are served. */
  async withstand(attack: Attack, t: TestContext): Promise<void> {
    const { growthMb = ALLOWED_GROWTH_MB, mostMainSteps = MOST_MAIN_STEPS } = attack;
    const { steps, mainSteps, growth } = await this.#attempt(attack, growthMb);
    t.diagnostic(`${steps} steps, ${mainSteps} of them in the main thread, ${Math.round(growth)} MB`);
    assert.ok(steps <= MOST_STEPS, `${steps} steps`);
    assert.ok(mainSteps <= mostMainSteps, `${mainSteps} steps of the main thread`);
    assert.ok(growth <= growthMb, `grew by ${Math.round(growth)} MB`);
    const ready = await this.send({ name: "", method: "GET", path: "/readyz", code: 200 });
    assert.equal(ready.code, 200);
  }

  /** Sends it up to three times, and checks the answer each time, the steps and the least growth. */
  async #attempt(attack: Attack, growthMb: number): Promise<{ steps: number; mainSteps: number; growth: number }> {
    let steps = 0;
    let mainSteps = 0;
    let growth = Number.POSITIVE_INFINITY;
    for (let turn = 0; turn < TRIES && growth > growthMb; turn++) {
      await this.#observer.take();
      const before = this.#residentMb();
      const answer = await this.send(attack);
      growth = Math.min(growth, this.#residentMb() - before);
      const { main, others } = await this.#observer.take();
      steps = Math.max(steps, main + others);
      mainSteps = Math.max(mainSteps, main);
      assert.equal(answer.code, attack.code, answer.text.slice(0, 400));
      if (attack.says) assert.match(answer.text, attack.says);
    }
    return { steps, mainSteps, growth };
  }

  #residentMb(): number {
    const text = readFileSync(`/proc/${this.#server.process.pid}/status`, "utf8");
    return Number(/VmRSS:\s+(\d+) kB/.exec(text)?.[1]) / 1024;
  }
}
