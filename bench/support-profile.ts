import type { Profiler } from "node:inspector";

/** The profiler of a server that was started with `--inspect=127.0.0.1:0`. */
export class RemoteProfiler {
  readonly #socket: WebSocket;
  readonly #waiting = new Map<number, (result: unknown) => void>();
  #last = 0;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener("message", ({ data }) => {
      const { id, result } = JSON.parse(String(data));
      this.#waiting.get(id)?.(result);
      this.#waiting.delete(id);
    });
  }

  /** Connects to the address that Node has printed. */
  static async connect(output: string): Promise<RemoteProfiler> {
    const address = /ws:\/\/\S+/.exec(output)?.[0];
    if (address === undefined) throw new Error(`the server prints no address of its inspector:\n${output}`);
    const socket = new WebSocket(address);
    await new Promise((resolve, reject) => {
      socket.addEventListener("open", resolve);
      socket.addEventListener("error", reject);
    });
    const profiler = new RemoteProfiler(socket);
    await profiler.#call("Profiler.enable");
    await profiler.#call("Profiler.setSamplingInterval", { interval: 200 });
    return profiler;
  }

  /** Profiles the server while `work` runs. */
  async during(work: () => Promise<unknown>): Promise<Profiler.Profile> {
    await this.#call("Profiler.start");
    await work();
    const { profile } = (await this.#call("Profiler.stop")) as { profile: Profiler.Profile };
    return profile;
  }

  close(): void {
    this.#socket.close();
  }

  #call(method: string, params: object = {}): Promise<unknown> {
    const id = ++this.#last;
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      this.#socket.send(JSON.stringify({ id, method, params }));
    });
  }
}

/** Which share of the time that was not idle each stage took, largest first. */
export function shares(profile: Profiler.Profile, stageOf: (frame: Frame) => string): [stage: string, share: number][] {
  const stages = new Map<number, string>();
  for (const { id, callFrame } of profile.nodes) stages.set(id, stageOf(callFrame));
  const times = new Map<string, number>();
  let total = 0;
  for (const [index, id] of (profile.samples ?? []).entries()) {
    const stage = stages.get(id) ?? "";
    const time = profile.timeDeltas?.[index] ?? 0;
    if (stage === IDLE) continue;
    total += time;
    times.set(stage, (times.get(stage) ?? 0) + time);
  }
  return [...times].map(([stage, time]): [string, number] => [stage, time / total]).sort((a, b) => b[1] - a[1]);
}

type Frame = Profiler.ProfileNode["callFrame"];

const IDLE = "(idle)";
const HTTP = /^node:(?:_http|http|internal\/http)/;

/** The folder of `src` of a function, or what of Node it is. */
export function folderOf({ functionName, url }: Frame): string {
  const own = /\/src\/(\w+\/[\w-]+)/.exec(url)?.[1];
  if (own !== undefined) return `src/${own}`;
  if (functionName === IDLE) return IDLE;
  if (functionName === "(garbage collector)") return "garbage collection";
  if (HTTP.test(url)) return "Node: HTTP";
  if (url.startsWith("node:")) return "Node: sockets, streams, timers";
  return url === "" ? "native" : url.replace(/^.*\/node_modules\//, "");
}

/** The file and the function, for the list of the most expensive ones. */
export function functionOf(frame: Frame): string {
  const { functionName, url, lineNumber } = frame;
  if (functionName === IDLE) return IDLE;
  const file = url.replace(/^.*\/(?=src\/)/, "");
  return `${functionName || "anonymous"} ${file}${file === "" ? "" : `:${lineNumber + 1}`}`.trim();
}
