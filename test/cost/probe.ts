import { Agent, request } from "node:https";
import { workerData } from "node:worker_threads";

/**
 * Input of the prober, and its output: the maximum round trip in µs and the number of round trips. It probes while the third
 * element is not 0.
 */
export interface ProbeData {
  readonly base: string;
  readonly seen: Int32Array<SharedArrayBuffer>;
}

const PAUSE_MS = 5;

/** Requests /livez repeatedly on a separate connection, as long as the thread lives. */
function probe({ base, seen }: ProbeData): void {
  const agent = new Agent({ keepAlive: true, maxSockets: 1, rejectUnauthorized: false });
  const next = () => {
    if (Atomics.load(seen, 2) === 0) {
      setTimeout(next, PAUSE_MS);
      return;
    }
    const begun = performance.now();
    const done = () => {
      const micros = Math.round((performance.now() - begun) * 1000);
      if (micros > Atomics.load(seen, 0)) Atomics.store(seen, 0, micros);
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
