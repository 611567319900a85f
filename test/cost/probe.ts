import { Agent, request } from "node:https";
import { workerData } from "node:worker_threads";
import { loopMs } from "./processor-time.ts";

/**
 * What the prober is told, and where it writes what it saw: the longest round trip in µs, how many it made, and the most
 * processor time in µs that the server's event loop took during one of them. It asks while the third is not 0.
 */
export interface ProbeData {
  readonly base: string;
  readonly pid: number;
  readonly seen: Int32Array<SharedArrayBuffer>;
}

const PAUSE_MS = 5;

/** Asks for /livez on one connection of its own, again and again, so long as the thread lives. */
function probe({ base, pid, seen }: ProbeData): void {
  const agent = new Agent({ keepAlive: true, maxSockets: 1, rejectUnauthorized: false });
  const next = () => {
    if (Atomics.load(seen, 2) === 0) {
      setTimeout(next, PAUSE_MS);
      return;
    }
    const begun = performance.now();
    const used = loopMs(pid);
    const keepMost = (at: number, ms: number) => {
      const micros = Math.round(ms * 1000);
      if (micros > Atomics.load(seen, at)) Atomics.store(seen, at, micros);
    };
    const done = () => {
      keepMost(0, performance.now() - begun);
      keepMost(3, loopMs(pid) - used);
      Atomics.add(seen, 1, 1);
      Atomics.notify(seen, 1);
      setTimeout(next, PAUSE_MS);
    };
    const call = request(`${base}/livez`, { agent }, (response) => response.resume().once("end", done));
    call.once("error", done);
    call.end();
  };
  next();
}

probe(workerData as ProbeData);
