import { Agent, request } from "node:https";
import { percentile } from "./support.ts";

/** The client of `million.ts`, in a process of its own so that it does not slow the server down. */

interface Plan {
  readonly url: string;
  readonly token: string;
  readonly objects: number;
  readonly perNamespace: number;
}

const { url, token, objects, perNamespace } = JSON.parse(process.env.READER ?? "{}") as Plan;
const GETS = 20_000;
const IN_FLIGHT = 8;
const agent = new Agent({ keepAlive: true, maxSockets: IN_FLIGHT, rejectUnauthorized: false });

/** Milliseconds until the whole answer was there. */
function read(path: string): Promise<number> {
  const began = performance.now();
  return new Promise((resolve, reject) => {
    const call = request(`${url}${path}`, { agent, headers: { authorization: `Bearer ${token}` } }, (response) => {
      response.on("end", () => {
        if (response.statusCode === 200) resolve(performance.now() - began);
        else reject(new Error(`${path}: ${response.statusCode}`));
      });
      response.resume();
    });
    call.on("error", reject);
    call.end();
  });
}

const times: number[] = [];
async function readSome(count: number): Promise<void> {
  for (let done = 0; done < count; done += 1) {
    const at = Math.floor(Math.random() * objects);
    const namespace = `ns-${Math.floor(at / perNamespace)}`;
    times.push(await read(`/api/v1/namespaces/${namespace}/configmaps/object-${at % perNamespace}`));
  }
}

const quantile = (values: readonly number[], share: number) => percentile(values, share).toFixed(2);

await Promise.all(Array.from({ length: IN_FLIGHT }, () => readSome(GETS / IN_FLIGHT)));
const lists: number[] = [];
for (let count = 0; count < 20; count += 1) {
  lists.push(await read(`/api/v1/namespaces/ns-${count % Math.ceil(objects / perNamespace)}/configmaps`));
}
process.stdout.write(
  `GET, ${IN_FLIGHT} in flight: p50 ${quantile(times, 0.5)} ms, p99 ${quantile(times, 0.99)} ms\n` +
    `list of one namespace of ${perNamespace}: ${quantile(lists, 0.5)} ms (median of 20)\n`,
);
agent.destroy();
