import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { connect } from "node:tls";
import { eventually } from "../support/time.ts";
import { acknowledgedStates, differences, listed } from "./compare.ts";
import { credentialsOf } from "./credentials.ts";
import { http1Line } from "./lines.ts";
import type { Load } from "./load.ts";
import type { Services } from "./services.ts";
import type { Shell } from "./shell.ts";
import type { Host, Site } from "./site.ts";

/** What a phase works with. */
export interface Stage {
  readonly site: Site;
  readonly services: Services;
  readonly shell: Shell;
  readonly load: Load;
}

/** Some writes, with nothing else going on. */
export async function steady({ load }: Stage, writes: number): Promise<string> {
  await acknowledgedWrites(load, writes);
  return "4 writers, 2 readers, 4 watchers";
}

/** Waits until so many more writes are acknowledged. */
async function acknowledgedWrites(load: Load, count: number): Promise<void> {
  const wanted = load.ledger.acknowledged + count;
  const areThere = () => {
    load.check();
    return load.ledger.acknowledged >= wanted;
  };
  await eventually(areThere, { withinMs: 60_000, everyMs: 20, what: `${count} more writes` });
}

/** All writers have ended: every replica and every watcher has what was acknowledged, and nothing else. */
export async function settled({ site, load }: Stage): Promise<string> {
  await load.stopWriting();
  const wanted = acknowledgedStates(load.ledger.snapshot());
  for (const host of site.hosts) {
    const line = http1Line(site.urlOf(host), await credentialsOf(site));
    const wrong = differences(wanted, await listed(line));
    line.close();
    if (wrong.length > 0) throw new Error(`lost or wrong at ${host.name}: ${wrong.join("; ")}`);
  }
  for (const { states } of load.watchers) {
    const isEqual = () => {
      load.check();
      return differences(wanted, states).length === 0;
    };
    const what = () => `a watcher has what lists show: ${differences(wanted, states).join("; ")}`;
    await eventually(isEqual, { withinMs: 20_000, everyMs: 50, what });
  }
  return `3 replicas and ${load.watchers.length} watchers have the ${wanted.size} objects that were acknowledged`;
}

/** The replicas are restarted by the commands of the page. While one stops, it is no endpoint of the Service kubernetes. */
export async function rollingRestart({ shell, load }: Stage): Promise<string> {
  const counts = new Set<number>();
  const looking = new AbortController();
  const looked = load.whileRunning(looking.signal, async () => void counts.add((await endpoints(load)).length));
  try {
    await shell.run("Rolling restart");
  } finally {
    looking.abort();
    await looked;
  }
  if (!counts.has(2)) throw new Error(`replicas that stop stay endpoints: ${[...counts]}`);
  await eventually(async () => (await endpoints(load)).length === 3, { withinMs: 60_000, everyMs: 100 });
  return "3 replicas, each left the endpoints of the Service kubernetes first";
}

async function endpoints(load: Load): Promise<string[]> {
  const { body } = await load.call("GET", "/api/v1/namespaces/default/endpoints/kubernetes");
  const subsets: { addresses?: { ip: string }[] }[] = body.subsets ?? [];
  return subsets.flatMap(({ addresses = [] }) => addresses.map(({ ip }) => ip));
}

const etcdctl = (endpoint: string) =>
  `etcdctl --endpoints ${endpoint} --cacert cluster/etcd-ca.crt --cert cluster/etcd-admin.crt --key cluster/etcd-admin.key`;

/** The leader of etcd is killed, and started again once writes were acknowledged without it. */
export async function killedMember({ site, services, shell, load }: Stage): Promise<string> {
  const leader = await leaderOf(site, shell);
  await services.kill(leader, "etcd");
  const began = performance.now();
  await acknowledgedWrites(load, 50);
  const tookMs = performance.now() - began;
  await services.start(leader, "etcd");
  await memberIsBack(leader, site, shell);
  return `the leader; 50 writes later after ${(tookMs / 1000).toFixed(1)} s, then it came back`;
}

async function memberIsBack({ address }: Host, site: Site, shell: Shell): Promise<void> {
  const health = `${etcdctl(`https://${address}:${site.ports.client}`)} endpoint health`;
  const isHealthy = () =>
    shell.command(health).then(
      () => true,
      () => false,
    );
  await eventually(isHealthy, { withinMs: 60_000, everyMs: 200, what: "the member is back" });
}

async function leaderOf(site: Site, shell: Shell): Promise<Host> {
  for (const host of site.hosts) {
    const status = await shell.command(
      `${etcdctl(`https://${host.address}:${site.ports.client}`)} endpoint status -w json`,
    );
    // Numbers of members are longer than a number of JavaScript.
    const [, member] = /"member_id":(\d+)/.exec(status) ?? [];
    const [, leader] = /"leader":(\d+)/.exec(status) ?? [];
    if (member !== undefined && member === leader) return host;
  }
  throw new Error("etcd has no leader");
}

/** Certificates are renewed by the commands of the page, and shown without a restart; connections to etcd are made anew. */
export async function renewal(stage: Stage): Promise<string> {
  const { site, services, shell } = stage;
  await shell.run("Renewal of certificates");
  const began = performance.now();
  for (const host of site.hosts) {
    const file = path.join(host.root, "etc/binnacle/apiserver.crt");
    const wanted = new X509Certificate(await readFile(file)).fingerprint256;
    const isShown = async () => (await shownBy(site, host)) === wanted;
    await eventually(isShown, { withinMs: 30_000, everyMs: 100, what: `${host.name} shows the new certificate` });
  }
  const tookMs = performance.now() - began;
  const shown = await shell.run("Renewal of certificates 2");
  if (!shown.includes("notAfter=")) throw new Error(shown);
  // Every replica has to make a new connection with the new client certificate.
  for (const host of site.hosts) {
    await services.restart(host, "etcd");
    await memberIsBack(host, site, shell);
  }
  return `shown by all replicas after ${(tookMs / 1000).toFixed(1)} s, none restarted; etcd's members restarted in turn`;
}

async function shownBy(site: Site, { address }: Host): Promise<string> {
  const ca = await site.read("cluster", "ca.crt");
  const socket = connect({ host: address, port: site.ports.api, ca });
  try {
    await once(socket, "secureConnect");
    return socket.getPeerX509Certificate()?.fingerprint256 ?? "";
  } finally {
    socket.destroy();
  }
}
