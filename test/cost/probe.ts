import { Agent, request } from "node:https";
import { workerData } from "node:worker_threads";
import { loopMs } from "./processor-time.ts";

/**
 * Input of the prober, and its output: the maximum round trip in µs, the number of round trips, and the maximum CPU
 * time in µs of the server's event loop during one of them. It probes while the third element is not 0.
 */
export interface ProbeData {
  readonly base: string;
  readonly pid: number;
  readonly seen: Int32Array<SharedArrayBuffer>;
}

const PAUSE_MS = 5;

/** Requests /livez repeatedly on a separate connection, as long as the thread lives. */
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
