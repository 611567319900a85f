import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { clientFor } from "../test/support/client.ts";
import { cpuMs, median } from "./support.ts";

/** How long it takes from `binnacle up --detach` to a Deployment whose three Pods are Ready. Needs `npm run build`. */
export interface UpFigures {
  /** Milliseconds until `up --detach` returns. */
  readonly upMs: number;
  /** Milliseconds until all replicas are available. */
  readonly readyMs: number;
  /** Processor time of the server until then, in milliseconds. */
  readonly processorMs: number;
}

const ownCli = path.join(import.meta.dirname, "..", "dist", "cli.js");
const REPLICAS = 3;
const DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments";
const labels = { app: "web" };
const DEPLOYMENT = {
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "web", labels },
  spec: {
    replicas: REPLICAS,
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [{ name: "nginx", image: "nginx" }] } },
  },
};

/** Starts a cluster in a new folder, creates a Deployment and waits for its Pods. */
export async function measureUp(cli: string = ownCli): Promise<UpFigures> {
  const folder = await mkdtemp(path.join(tmpdir(), "binnacle-bench-up-"));
  const binnacle = (...args: string[]) =>
    promisify(execFile)(process.execPath, [cli, ...args], { cwd: folder, env: { ...process.env, HOME: folder } });
  try {
    const began = performance.now();
    await binnacle("up", "--detach", "--secure-port=0");
    const upMs = performance.now() - began;
    await deploy(path.join(folder, "binnacle-data"));
    const readyMs = performance.now() - began;
    const { pid } = await readJson(path.join(folder, "binnacle-data", "instance.json"));
    return { upMs, readyMs, processorMs: await cpuMs(pid) };
  } finally {
    await binnacle("down").catch(() => {});
    await rm(folder, { recursive: true, force: true });
  }
}

async function deploy(data: string): Promise<void> {
  const { url } = await readJson(path.join(data, "instance.json"));
  const client = clientFor(url, (await readFile(path.join(data, "admin-token"), "utf8")).trim());
  const { status, body } = await client.call("POST", DEPLOYMENTS, DEPLOYMENT);
  if (status !== 201) throw new Error(`creating the Deployment failed: ${JSON.stringify(body)}`);
  const stopping = new AbortController();
  const since = body.metadata.resourceVersion;
  for await (const { object } of client.watch(`${DEPLOYMENTS}?watch=1&resourceVersion=${since}`, stopping.signal)) {
    if (object.status?.availableReplicas === REPLICAS) stopping.abort();
  }
}

async function readJson(file: string): Promise<{ pid: number; url: string }> {
  return JSON.parse(await readFile(file, "utf8"));
}

if (import.meta.main) {
  const figures: UpFigures[] = [];
  for (let run = 0; run < Number(process.argv[2] ?? 10); run += 1) figures.push(await measureUp());
  const text = (name: keyof UpFigures) => {
    const values = figures.map((one) => one[name]).sort((a, b) => a - b);
    return `${median(values).toFixed(0)} ms (${values[0]?.toFixed(0)}–${values.at(-1)?.toFixed(0)})`;
  };
  process.stdout.write(
    `up --detach returns after ${text("upMs")}, ${REPLICAS} replicas are available after ${text("readyMs")}, ` +
      `processor time of the server ${text("processorMs")}; median of ${figures.length}\n`,
  );
}
