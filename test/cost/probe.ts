import { Agent, request } from "node:https";
import { workerData } from "node:worker_threads";

/** What the prober is told, and where it writes what it saw: the longest round trip in µs, and how many it made. It asks while the third is not 0. */
export interface ProbeData {
  readonly base: string;
  readonly seen: Int32Array<SharedArrayBuffer>;
}

const PAUSE_MS = 5;

/** Asks for /livez on one connection of its own, again and again, so long as the thread lives. */
function probe({ base, seen }: ProbeData): void {
  const agent = new Agent({ keepAlive: true, maxSockets: 1, rejectUnauthorized: false });
  const next = () => {
    if (Atomics.load(seen, 2) === 0) {
      setTimeout(next, PAUSE_MS);
      return;
    }
    const begun = performance.now();
    const done = () => {
      const took = Math.round((performance.now() - begun) * 1000);
      if (took > Atomics.load(seen, 0)) Atomics.store(seen, 0, took);
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
