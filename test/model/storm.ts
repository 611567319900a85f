import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { DEFAULT_CONTROLLERS } from "../../src/cluster/controllers/manager/default-controllers.ts";
import { TcpProxy } from "../support/tcp-proxy.ts";
import { eventually } from "../support/time.ts";
import { Random, scaled } from "./random.ts";
import { compactEtcd, type ModelServer, type Setting } from "./servers.ts";
import { Traffic } from "./traffic.ts";
import { type Answer, Wire } from "./wire.ts";

/** A client that keeps a copy of all ConfigMaps. */
export interface Follower {
  /** namespace/name → resourceVersion of everything it holds. */
  held(): Promise<Readonly<Record<string, string>>>;
  /** Received changes that do not follow from its previous state. */
  complaints(): Promise<readonly string[]>;
  /** Figures for the report. */
  counts(): Promise<Readonly<Record<string, number>>>;
  stop(): Promise<void>;
}

/** The scenario for the follower. */
export interface Storm {
  readonly setting: Setting;
  readonly store: "sqlite" | "etcd";
  readonly seed: number;
  /** Starts the follower; it only connects to the given address. */
  follow(address: string): Promise<Follower>;
}

const CUTS = 50;
/** Before these cuts the server is killed or stopped, and restarted. */
const RESTARTS = [17, 34];
/** Before these cuts etcd is compacted as far as possible; SQLite compacts every second anyway. */
const COMPACTIONS = [8, 17, 34];
const NAMES = 60;
/** More than a handshake: at least some events were forwarded. */
const ENOUGH_BYTES = 8000;
const PATIENCE_MS = 300_000;

/**
 * Disconnects, compactions and restarts under constant writes. Afterwards the follower must have the same state as a
 * list.
 */
export async function rideStorm(storm: Storm): Promise<string> {
  const { setting, store, seed } = storm;
  const random = new Random(seed);
  const etcd = store === "etcd" ? await setting.etcd() : undefined;
  const flags = [`--controllers=${DEFAULT_CONTROLLERS}`, ...(etcd ? [] : ["--etcd-compaction-interval=1s"])];
  const server = await setting.server(etcd ?? "sqlite", flags);
  const relay = new TcpProxy(Number(new URL(server.secureBase).port));
  await relay.listen();
  setting.atEnd(() => relay.close());
  const follower = await storm.follow(`https://127.0.0.1:${relay.port}`);
  setting.atEnd(() => follower.stop());
  const wire = new Wire(server.base);
  const traffic = new Traffic((one) => writeOne(wire, one), 10);
  const writers = Array.from({ length: 4 }, () => traffic.run(random.fork()));
  try {
    const cuts = Math.round(scaled(CUTS));
    for (let cut = 1; cut <= cuts; cut++) {
      const what = `seed ${seed}: something is heard after ${cut - 1} cuts`;
      await eventually(() => relay.heardBytes > ENOUGH_BYTES, { withinMs: PATIENCE_MS, what });
      await sleep(random.between(0, 60));
      if (COMPACTIONS.includes(cut) && etcd) await compactEtcd(etcd, await wire.newest());
      if (RESTARTS.includes(cut)) await restart(server, cut === RESTARTS[0]);
      relay.cut();
    }
  } finally {
    traffic.stop();
    await Promise.all(writers);
  }
  return await compare(wire, follower, { seed, writes: traffic.writes });
}

/** Compares the follower's state, after it has caught up, with a fresh list. */
async function compare(wire: Wire, follower: Follower, run: { seed: number; writes: number }): Promise<string> {
  const { body } = await wire.call("GET", "/api/v1/configmaps");
  const listed: Record<string, string> = {};
  for (const { metadata } of body.items ?? [])
    listed[`${metadata.namespace}/${metadata.name}`] = metadata.resourceVersion;
  const sorted = (held: Readonly<Record<string, string>>) => Object.entries(held).sort(([a], [b]) => (a < b ? -1 : 1));
  const wanted = JSON.stringify(sorted(listed));
  const hasAll = async () => JSON.stringify(sorted(await follower.held())) === wanted;
  await eventually(hasAll, { withinMs: PATIENCE_MS, everyMs: 50 }).catch(() => undefined);
  assert.deepEqual(sorted(await follower.held()), sorted(listed), `seed ${run.seed}: not what a list shows`);
  assert.deepEqual(await follower.complaints(), [], `seed ${run.seed}`);
  const counts = Object.entries(await follower.counts()).map(([what, count]) => `${count} ${what}`);
  wire.close();
  return `seed ${run.seed}: ${run.writes} writes, ${Object.keys(listed).length} objects; the client had ${counts.join(", ")}`;
}

async function restart(server: ModelServer, isCrash: boolean): Promise<void> {
  await (isCrash ? server.crash() : server.stop());
  await server.start();
}

/** One write to a ConfigMap. */
function writeOne(wire: Wire, random: Random): Promise<Answer> {
  const folder = "/api/v1/namespaces/default/configmaps";
  const name = `object-${random.between(1, NAMES)}`;
  const data = { text: `${random.next()}`.repeat(20) };
  const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data };
  if (random.percent(35)) return wire.call("POST", folder, body);
  if (random.percent(35)) return wire.call("DELETE", `${folder}/${name}`);
  return wire.call("PUT", `${folder}/${name}`, body);
}
