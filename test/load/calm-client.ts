import { parentPort, workerData } from "node:worker_threads";
import { RawClient } from "../cost/raw-client.ts";

/** Input of the client. */
export interface CalmData {
  readonly base: string;
  readonly name: string;
}

/** Latencies of its requests in milliseconds, and its errors. */
export interface CalmFigures {
  readonly get: number[];
  readonly create: number[];
  readonly errors: string[];
}

const MAPS = "/api/v1/namespaces/default/configmaps";
const PAUSE_MS = 20;
const MOST_ERRORS = 20;

/** Reads, creates and deletes small objects one after the other with pauses, until it is stopped. */
async function run({ base, name }: CalmData): Promise<CalmFigures> {
  const client = new RawClient(base, 300_000);
  const figures: CalmFigures = { get: [], create: [], errors: [] };
  let isStopped = false;
  parentPort?.once("message", () => {
    isStopped = true;
  });
  const timed = async (method: string, path: string, expected: number, times?: number[], body?: object) => {
    const begun = performance.now();
    const answer = await client.send({ method, path, body: body && Buffer.from(JSON.stringify(body)) });
    times?.push(performance.now() - begun);
    if (answer.status !== expected && figures.errors.length < MOST_ERRORS)
      figures.errors.push(`${method} ${path}: ${answer.status} ${answer.body.message ?? ""}`);
  };
  for (let turn = 0; !isStopped; turn += 1) {
    const own = `${name}-${turn}`;
    await timed("POST", MAPS, 201, figures.create, { metadata: { name: own }, data: { turn: String(turn) } });
    await timed("GET", `${MAPS}/${own}`, 200, figures.get);
    await timed("DELETE", `${MAPS}/${own}`, 200);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  client.close();
  return figures;
}

parentPort?.postMessage(await run(workerData as CalmData));
