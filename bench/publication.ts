import { startBinnacle } from "../test/support/binnacle.ts";
import { type Client, clientFor } from "../test/support/client.ts";
import { startOracle, tokens } from "../test/support/oracle.ts";
import { eventually } from "../test/support/time.ts";
import { median } from "./support.ts";

const DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const RUNS = 12;
const PATIENCE = { withinMs: 30_000, everyMs: 10 };

/** When a definition was first seen somewhere, in milliseconds after the request that created it was sent. */
type Seen = Record<"established" | "discovery" | "v3" | "v2", number>;

/** Creates definitions one after the other and asks, every 10 ms, whether they are published. */
async function publish(client: Client, number: number): Promise<Seen> {
  const group = `g${number}.example.com`;
  const shape = `com.example.g${number}.v1.Thing`;
  const schema = { type: "object", properties: { spec: { type: "object", properties: { a: { type: "string" } } } } };
  const versions = [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: schema } }];
  const spec = { group, scope: "Namespaced", names: { plural: "things", kind: "Thing" }, versions };
  const began = performance.now();
  const made = await client.call("POST", DEFINITIONS, { metadata: { name: `things.${group}` }, spec });
  if (made.status !== 201) throw new Error(JSON.stringify(made.body));
  // biome-ignore lint/suspicious/noExplicitAny: documents are explored freely
  const seen = async (path: string, isThere: (body: any) => unknown): Promise<number> => {
    await eventually(async () => {
      const { status, body } = await client.call("GET", path);
      return status === 200 && Boolean(isThere(body));
    }, PATIENCE);
    return performance.now() - began;
  };
  const isTrue = (one: { type: string; status: string }) => one.type === "Established" && one.status === "True";
  const [established, discovery, v3, v2] = await Promise.all([
    seen(`${DEFINITIONS}/things.${group}`, ({ status }) => status?.conditions?.some(isTrue)),
    seen(`/apis/${group}/v1`, () => true),
    seen(`/openapi/v3/apis/${group}/v1`, ({ components }) => components?.schemas?.[shape]),
    seen("/openapi/v2", ({ definitions }) => definitions?.[shape]),
  ]);
  return { established, discovery, v3, v2 };
}

async function measure(title: string, server: { readonly base: string; kill(): Promise<unknown> }): Promise<void> {
  try {
    const client = clientFor(server.base, tokens.admin);
    await client.call("GET", "/openapi/v2");
    const runs: Seen[] = [];
    for (let number = 0; number < RUNS; number += 1) runs.push(await publish(client, number));
    for (const place of ["established", "discovery", "v3", "v2"] as const) {
      const times = runs.map((run) => run[place]);
      const [middle, most] = [median(times), Math.max(...times)].map((time) => time.toFixed(0));
      process.stdout.write(`${title}, ${place}: median ${middle} ms, at most ${most} ms\n`);
    }
  } finally {
    await server.kill();
  }
}

await measure("Binnacle", await startBinnacle({ flags: ["--custom-objects=defined"] }));
await measure("kube-apiserver", await startOracle());
