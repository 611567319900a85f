import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import type { IncomingHttpHeaders } from "node:http";
import { Agent, request } from "node:https";
import { tmpdir } from "node:os";
import path from "node:path";
import { gunzipSync } from "node:zlib";
import { systemClock } from "../../src/base/util/clock.ts";
import type { LogLine } from "../../src/base/util/environment.suite.ts";
import { systemRandom } from "../../src/base/util/random.ts";
import { type Config, defaultConfig } from "../../src/programs/server/config.ts";
import { type ServerWithParts, startWithParts } from "../../src/programs/server/server.ts";
import type { Step } from "./large-steps.ts";

/** A response as received. */
export interface RawAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

type Sent = Pick<Step, "method" | "path" | "headers"> & {
  readonly body?: string | Buffer;
  readonly signal?: AbortSignal;
};

/** A server in this process that handles large requests in threads, unless disabled. */
export class LargeServer {
  readonly #folder: string;
  readonly #server: ServerWithParts;
  readonly #agent = new Agent({ keepAlive: true, rejectUnauthorized: false });
  readonly lines: LogLine[];

  private constructor(server: ServerWithParts, folder: string, lines: LogLine[]) {
    this.#server = server;
    this.#folder = folder;
    this.lines = lines;
  }

  static async start(config: Partial<Config> = {}): Promise<LargeServer> {
    const folder = await mkdtemp(path.join(tmpdir(), "binnacle-large-"));
    const lines: LogLine[] = [];
    const say =
      (level: LogLine["level"]) =>
      (text: string, fields: LogLine["fields"] = {}) =>
        void lines.push({ level, text, fields });
    const log = { error: say("error"), warn: say("warn"), info: say("info") };
    const own = { certDir: folder, securePort: 0, controllers: "none", shutdownGraceMs: 100 };
    const environment = { clock: systemClock, random: systemRandom, log };
    return new LargeServer(await startWithParts({ ...defaultConfig, ...own, ...config }, environment), folder, lines);
  }

  get url(): string {
    return this.#server.url;
  }

  get token(): string {
    return this.#server.token;
  }

  get resources(): ServerWithParts["resources"] {
    return this.#server.resources;
  }

  send({ method, path: target, headers, body, signal }: Sent): Promise<RawAnswer> {
    return new Promise((resolve, reject) => {
      const options = {
        ...{ method, signal, agent: this.#agent },
        headers: {
          authorization: `Bearer ${this.#server.token}`,
          "user-agent": "binnacle-test",
          "audit-id": "same",
          ...(body === undefined
            ? {}
            : { "content-type": "application/json", "content-length": Buffer.byteLength(body) }),
          ...headers,
        },
      };
      const call = request(this.#server.url + target, options, (response) => {
        response.toArray().then((chunks: Buffer[]) => {
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) });
        }, reject);
      });
      call.on("error", reject);
      call.end(body);
    });
  }

  /** The value of a metric without labels. */
  async metric(name: string): Promise<number> {
    const { body } = await this.send({ method: "GET", path: "/metrics" });
    const [, value] = new RegExp(`^${name} (.*)$`, "m").exec(body.toString()) ?? assert.fail(`no ${name}`);
    return Number(value);
  }

  async close(): Promise<void> {
    this.#agent.destroy();
    await this.#server.close();
    await rm(this.#folder, { recursive: true });
  }
}

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g;
const VERSION = /(resourceVersion"?: ?"?)\d+/g;
const GENERATED = /made-[a-z0-9]{5}/g;
const AGE = /"\d+s"/g;
const ADDRESS = /10\.0\.0\.\d+/g;

/**
 * The parts of a response that two servers must have in common: without random values, times, and sizes that depend on
 * them.
 */
export function comparable({ status, headers, body }: RawAnswer) {
  const isCompressed = headers["content-encoding"] === "gzip";
  const isProtobuf = headers["content-type"] === "application/vnd.kubernetes.protobuf";
  const text = (isCompressed ? gunzipSync(body) : body).toString("latin1");
  const { date: _, "content-length": length, ...others } = headers;
  // Each server has its own FlowSchemas.
  for (const name of ["x-kubernetes-pf-flowschema-uid", "x-kubernetes-pf-prioritylevel-uid"]) {
    others[name] = String(others[name]).replace(UUID, "uuid");
  }
  return {
    status,
    headers: others,
    hasLength: length !== undefined,
    isWhole: length === undefined || Number(length) === body.length,
    // Its times and versions are not text; another step checks that writes in protobuf work.
    text: isProtobuf
      ? text.slice(0, 16)
      : text
          .replaceAll(UUID, "uuid")
          .replaceAll(TIME, "time")
          .replaceAll(VERSION, "$1version")
          .replaceAll(GENERATED, "made")
          .replaceAll(AGE, "age")
          .replaceAll(ADDRESS, "address"),
  };
}
