import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { clientFor } from "../test/support/client.ts";
import { startEtcd } from "../test/support/etcd.ts";
import { eventually } from "../test/support/time.ts";
import {
  type Contestant,
  describeMachine,
  median,
  printTable,
  residentMegabytes,
  say,
  startBuilt,
  token,
} from "./support.ts";
import { type LoadResult, loadCreates, loadHttp1 } from "./support-load.ts";

/** Objects of a defined kind and ConfigMaps of the same size, in one server: created, listed by pages, and listed whole. */

const OBJECTS = Number(process.env.BENCH_OBJECTS ?? 100_000);
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 3);
const SECONDS = Number(process.env.BENCH_SECONDS ?? 5);
const AT_ONCE = 32;
const GROUP = "bench.example.com";
const TEXT = "x".repeat(120);
const DATA = Object.fromEntries(["a", "b", "c", "d", "e", "f"].map((name) => [name, `${name} ${TEXT}`]));

const DEFINITION = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `notes.${GROUP}` },
  spec: {
    group: GROUP,
    scope: "Namespaced",
    names: { plural: "notes", kind: "Note" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: {
              data: { type: "object", additionalProperties: { type: "string", maxLength: 1000 } },
              mode: { type: "string", enum: ["A", "B"], default: "A" },
              count: { type: "integer", minimum: 0 },
            },
          },
        },
      },
    ],
  },
};

interface Kind {
  readonly name: string;
  readonly path: string;
  readonly body: object;
}

const KINDS: readonly Kind[] = [
  { name: "ConfigMap", path: "/api/v1/namespaces/default/configmaps", body: { data: DATA } },
  {
    name: "custom object",
    path: `/apis/${GROUP}/v1/namespaces/default/notes`,
    body: { apiVersion: `${GROUP}/v1`, kind: "Note", data: DATA },
  },
];

function create(server: Contestant, { path: place, body }: Kind, seconds: number): Promise<LoadResult> {
  const object = JSON.stringify({ ...body, metadata: { name: "object-@" } });
  return loadCreates(server, { path: place, body: object, connections: AT_ONCE, seconds });
}

/** Creates objects until there are as many as wanted. */
async function fill(server: Contestant, kind: Kind): Promise<void> {
  const client = clientFor(server.base, token);
  const { body } = await client.call("GET", `${kind.path}?limit=1`);
  let next = 1 + (body.metadata.remainingItemCount ?? 0);
  const lane = async () => {
    while (next < OBJECTS) {
      const object = { ...kind.body, metadata: { name: `filled-${next++}` } };
      const { status } = await client.call("POST", kind.path, object);
      if (status !== 201) throw new Error(`${kind.name}: ${status}`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
}

async function main(): Promise<void> {
  const directory = await mkdtemp(path.join(tmpdir(), "binnacle-bench-"));
  const etcd = await startEtcd({ isDurable: false, arguments: ["--quota-backend-bytes", String(8 * 2 ** 30)] });
  const server = await startBuilt(etcd.endpoints[0] ?? "", directory);
  try {
    const client = clientFor(server.base, token);
    await client.call("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", DEFINITION);
    await eventually(async () => (await client.call("GET", KINDS[1]?.path ?? "")).status === 200);
    const works: Record<string, (kind: Kind) => Promise<LoadResult>> = {
      created: (kind) => create(server, kind, SECONDS),
      "page of 500": (kind) =>
        loadHttp1(server, { paths: [`${kind.path}?limit=500`], connections: 4, seconds: SECONDS }),
      "whole list": (kind) => loadHttp1(server, { paths: [kind.path], connections: 1, seconds: SECONDS }),
      "single read": (kind) =>
        loadHttp1(server, { paths: [`${kind.path}/filled-${OBJECTS - 1}`], connections: AT_ONCE, seconds: SECONDS }),
    };
    for (const kind of KINDS) await create(server, kind, SECONDS);
    const rows: string[][] = [];
    for (const [what, work] of Object.entries(works)) {
      if (what === "page of 500") for (const kind of KINDS) await fill(server, kind);
      const figures = new Map<string, LoadResult[]>();
      for (let round = 0; round < ROUNDS; round++) {
        for (const kind of round % 2 === 0 ? KINDS : KINDS.toReversed()) {
          const result = await work(kind);
          figures.set(kind.name, [...(figures.get(kind.name) ?? []), result]);
          say(`${what}, ${kind.name}: ${result.perSecond.toFixed(1)}/s, ${result.cpuMsPerRequest.toFixed(3)} ms`);
        }
      }
      const [plain = [], custom = []] = KINDS.map(({ name }) => figures.get(name) ?? []);
      const ratios = custom.map(({ perSecond }, i) => perSecond / (plain[i]?.perSecond ?? Number.NaN));
      const costs = custom.map(({ cpuMsPerRequest }, i) => cpuMsPerRequest / (plain[i]?.cpuMsPerRequest ?? Number.NaN));
      const range = (list: readonly number[]) =>
        `${median(list).toFixed(2)} (${Math.min(...list).toFixed(2)}–${Math.max(...list).toFixed(2)})`;
      const rates = [plain, custom].map((list) => median(list.map(({ perSecond }) => perSecond)).toFixed(1));
      rows.push([what, ...rates, range(ratios), range(costs)]);
    }
    process.stdout.write(
      `${describeMachine()}; ${OBJECTS} of each, 1 KB; memory afterwards ${(await residentMegabytes(server.pid)).toFixed(0)} MB\n`,
    );
    printTable([["work", "ConfigMaps, per second", "custom objects", "ratio", "processor time, ratio"], ...rows]);
  } finally {
    await server.kill();
    await etcd.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

await main();
