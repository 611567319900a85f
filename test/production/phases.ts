import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { connect } from "node:tls";
import { eventually } from "../support/time.ts";
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
  await eventually(async () => (await endpoints(load)).length === 3, { withinMs: 20_000, everyMs: 100 });
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
  const before = load.ledger.acknowledged;
  await eventually(() => load.ledger.acknowledged >= before + 50, { withinMs: 60_000, what: "writes go on" });
  const tookMs = performance.now() - began;
  await services.start(leader, "etcd");
  const health = `${etcdctl(`https://${leader.address}:${site.ports.client}`)} endpoint health`;
  const isHealthy = () =>
    shell.command(health).then(
      () => true,
      () => false,
    );
  await eventually(isHealthy, { withinMs: 60_000, everyMs: 200, what: "the member is back" });
  return `the leader; 50 writes later after ${(tookMs / 1000).toFixed(1)} s, then it came back`;
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
    const health = `${etcdctl(`https://${host.address}:${site.ports.client}`)} endpoint health`;
    const isHealthy = () =>
      shell.command(health).then(
        () => true,
        () => false,
      );
    await eventually(isHealthy, { withinMs: 60_000, everyMs: 200, what: "the member is back" });
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
