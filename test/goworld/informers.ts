import assert from "node:assert/strict";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { Random } from "../model/random.ts";
import { compactEtcd, type ModelServer, Setting } from "../model/servers.ts";
import { Traffic } from "../model/traffic.ts";
import { Wire } from "../model/wire.ts";
import { buildGoProgram, startGoFollower } from "../support/go-program.ts";
import { tokens } from "../support/oracle.ts";
import { TcpProxy } from "../support/tcp-proxy.ts";
import { eventually } from "../support/time.ts";
import { defineKinds, writesToKinds } from "./written-kinds.ts";

const usage = `npm run compare informers -- [OPTION...]

client-go's dynamic and metadata informers of every resource, under constant writes: a server on etcd is killed and started again,
then three of them are restarted in turn, and etcd is compacted all along. At the end every informer must hold what a list shows,
and none may have been told of an older version of an object than before.

   --kills N      kill -9 of a server that is alone (default 20)
   --rounds N     restarts of each of the three replicas (default 3)
   --seed N       of the writes and pauses (default: random, printed)
`;

const PATIENCE_MS = 120_000;
/** More than a handshake: at least some events have passed. */
const ENOUGH_BYTES = 8000;
/** What is written between two failures at least. */
const ENOUGH_WRITES = 50;
const KINDS = ["dynamic", "metadata"] as const;

type Held = Readonly<Record<string, Readonly<Record<string, string>>>>;

interface Report {
  /** By group/version/resource, and namespace/name: uid and resourceVersion. */
  readonly held: Readonly<Record<(typeof KINDS)[number], Held>>;
  readonly unsynced: readonly string[];
  readonly complaints: readonly string[];
  readonly counts: Readonly<Record<string, number>>;
}

const print = (line: string) => process.stdout.write(`${line}\n`);

/** The three replicas, the relay before those of them that run, and what writes to them. */
class Replicas {
  readonly #alive: ModelServer[] = [];
  readonly #relay: TcpProxy;
  #turn = 0;

  constructor() {
    this.#relay = new TcpProxy(() => Number(new URL(this.any().secureBase).port));
  }

  any(): ModelServer {
    this.#turn += 1;
    const [first] = this.#alive;
    if (first === undefined) throw new Error("no server was started");
    return this.#alive[this.#turn % this.#alive.length] ?? first;
  }

  get address(): string {
    return `https://127.0.0.1:${this.#relay.port}`;
  }

  async open(setting: Setting): Promise<void> {
    await this.#relay.listen();
    setting.atEnd(() => this.#relay.close());
  }

  add(server: ModelServer): void {
    this.#alive.push(server);
  }

  /** Connections that are made from now on go to the others. */
  remove(server: ModelServer): void {
    this.#alive.splice(this.#alive.indexOf(server), 1);
  }

  /** Resolves once clients have heard of something since the connections were cut. */
  async isHeard(): Promise<void> {
    await eventually(() => this.#relay.heardBytes > ENOUGH_BYTES, { withinMs: PATIENCE_MS, everyMs: 20 });
  }

  cut(): void {
    this.#relay.cut();
  }
}

async function startInformers(server: string, setting: Setting): Promise<() => Promise<Report>> {
  const program = await buildGoProgram(path.join(import.meta.dirname, "informers"));
  const { ask, stop } = startGoFollower<Report>(program, server, tokens.admin);
  setting.atEnd(stop);
  return () => ask("report");
}

/** What lists show now, in the form of a report. */
async function listAll(wire: Wire, resources: readonly string[]): Promise<Held> {
  const lists: Record<string, Record<string, string>> = {};
  for (const resource of resources) {
    const at = resource.split("/").length === 2 ? `/api/${resource}` : `/apis/${resource}`;
    const { status, body } = await wire.call("GET", at);
    assert.equal(status, 200, `${at}: ${JSON.stringify(body)}`);
    const entries = (body.items ?? []).map(({ metadata: { namespace = "", name, uid, resourceVersion } }) => [
      `${namespace}/${name}`,
      `${uid} ${resourceVersion}`,
    ]);
    lists[resource] = Object.fromEntries(entries);
  }
  return lists;
}

/** Where informers and lists differ. */
function differences(report: Report, listed: Held): string[] {
  const found: string[] = [];
  for (const kind of KINDS) {
    for (const [resource, wanted] of Object.entries(listed)) {
      const held = report.held[kind][resource] ?? {};
      for (const name of new Set([...Object.keys(wanted), ...Object.keys(held)])) {
        if (held[name] !== wanted[name])
          found.push(`${kind} ${resource} ${name}: ${held[name]}, list: ${wanted[name]}`);
      }
    }
  }
  return [...found, ...report.unsynced.map((name) => `${name} has not synced`)];
}

async function ride(setting: Setting, options: { kills: number; rounds: number; seed: number }): Promise<void> {
  const random = new Random(options.seed);
  const etcd = await setting.etcd();
  const first = await setting.server(etcd);
  const replicas = new Replicas();
  replicas.add(first);
  await replicas.open(setting);
  const wire = new Wire(first.base);
  await defineKinds(wire);
  const traffic = new Traffic(
    writesToKinds(() => replicas.any().base),
    20,
  );
  const report = await startInformers(replicas.address, setting);
  const areSynced = async () => (await report()).unsynced.length === 0;
  await eventually(areSynced, { withinMs: PATIENCE_MS, everyMs: 200, what: "the informers have their first lists" });
  const writers = Array.from({ length: 4 }, () => traffic.run(random.fork()));
  try {
    for (let kill = 1; kill <= options.kills; kill++) {
      const enough = traffic.writes + ENOUGH_WRITES;
      await eventually(() => traffic.writes >= enough, { withinMs: PATIENCE_MS, everyMs: 20 });
      await replicas.isHeard();
      await sleep(random.between(0, 300));
      if (kill % 4 === 0) await compactEtcd(etcd, await wire.newest());
      await first.crash();
      replicas.cut();
      await first.start();
    }
    print(`${options.kills} kills, ${traffic.writes} writes`);
    const servers = [first, await setting.server(etcd), await setting.server(etcd)];
    for (const server of servers.slice(1)) replicas.add(server);
    for (let round = 1; round <= options.rounds; round++) {
      for (const server of servers) {
        replicas.remove(server);
        await server.stop();
        await compactEtcd(etcd, await new Wire(replicas.any().base).newest());
        await server.start();
        replicas.add(server);
        replicas.cut();
        await replicas.isHeard();
      }
    }
    print(`${options.rounds} rolling restarts, ${traffic.writes} writes`);
  } finally {
    traffic.stop();
    await Promise.all(writers);
  }
  await conclude(wire, report);
}

async function conclude(wire: Wire, report: () => Promise<Report>): Promise<void> {
  const resources = Object.keys((await report()).held.dynamic);
  const look = async () => differences(await report(), await listAll(wire, resources));
  const areEqual = async () => (await look()).length === 0;
  await eventually(areEqual, { withinMs: PATIENCE_MS, everyMs: 500 }).catch(() => undefined);
  const last = await report();
  const found = [...(await look()), ...last.complaints];
  for (const line of found) print(line);
  const objects = Object.values(last.held.dynamic).reduce((sum, held) => sum + Object.keys(held).length, 0);
  for (const [what, count] of Object.entries(last.counts).sort()) print(`  ${count} ${what}`);
  print(`${resources.length} resources, ${objects} objects, ${found.length} differences`);
  if (found.length > 0) process.exitCode = 1;
}

const text = { type: "string" } as const;
const { values } = parseArgs({ options: { kills: text, rounds: text, seed: text, help: { type: "boolean" } } });
if (values.help) {
  print(usage);
} else {
  const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 32));
  print(`--seed ${seed}`);
  const setting = new Setting();
  const began = performance.now();
  try {
    await ride(setting, { kills: Number(values.kills ?? 20), rounds: Number(values.rounds ?? 3), seed });
  } finally {
    await setting.close();
  }
  print(`${Math.round((performance.now() - began) / 1000)} s`);
}
