import { existsSync } from "node:fs";
import { parseArgs } from "node:util";
import { eventually } from "../support/time.ts";
import { requireTool, wants } from "../support/tools.ts";
import { Balancer } from "./balancer.ts";
import { acknowledgedStates, differences, listed } from "./compare.ts";
import { backup, credentialsOf, restore } from "./copies.ts";
import { startHaproxy } from "./haproxy.ts";
import { http1Line } from "./lines.ts";
import { Load } from "./load.ts";
import { scraped } from "./metrics.ts";
import { killedMember, renewal, rollingRestart, type Stage } from "./phases.ts";
import { Prometheus } from "./prometheus.ts";
import { Services } from "./services.ts";
import { Shell } from "./shell.ts";
import { Site } from "./site.ts";

const usage = `npm run production [-- --haproxy PROGRAM]

Builds the cluster of docs/production.md on loopback addresses of this machine, with its files and by its commands: three members
of etcd, three replicas, TLS everywhere, a balancer of TCP connections. Under load it restarts the replicas in turn, kills the
leader of etcd, renews all certificates, takes backups and restores one. Fails when a write that was acknowledged is lost, when a
request fails however often it is repeated, or when a watcher does not end up with what a list shows.

   --haproxy PROGRAM   HAProxy with deploy/haproxy.cfg instead of a small balancer of our own

BINNACLE_CLI names another program than the sources, such as dist/cli.js.
`;

const print = (line: string) => process.stdout.write(`${line}\n`);

/** Runs a phase, and prints what it tells and how long it took. */
async function phase(name: string, { load, services }: Stage, work: () => Promise<string>): Promise<void> {
  const began = performance.now();
  const { requests, healed } = load.record;
  const { acknowledged } = load.ledger;
  load.ledger.longestGapMs = 0;
  const told = await work();
  load.check();
  if (services.ended.length > 0) throw new Error(`ended by itself: ${services.ended.join(", ")}`);
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  const counts = [
    load.ledger.acknowledged - acknowledged,
    load.record.requests - requests,
    load.record.healed - healed,
  ];
  const gap = counts[0] ? `${(load.ledger.longestGapMs / 1000).toFixed(2)} s` : "";
  print(`| ${name} | ${seconds} s | ${counts.join(" | ")} | ${gap} | ${told} |`);
}

/** All writers have ended: every replica and every watcher has what was acknowledged, and nothing else. */
async function settled({ site, load }: Stage): Promise<string> {
  await load.stopWriting();
  const wanted = acknowledgedStates(load.ledger.snapshot());
  for (const host of site.hosts) {
    const line = http1Line(site.urlOf(host), await credentialsOf(site));
    const wrong = differences(wanted, await listed(line));
    line.close();
    if (wrong.length > 0) throw new Error(`lost or wrong at ${host.name}: ${wrong.join("; ")}`);
  }
  for (const { states } of load.watchers) {
    const isEqual = () => differences(wanted, states).length === 0;
    const what = () => `a watcher has what lists show: ${differences(wanted, states).join("; ")}`;
    await eventually(isEqual, { withinMs: 20_000, everyMs: 50, what });
  }
  return `3 replicas and ${load.watchers.length} watchers have the ${wanted.size} objects that were acknowledged`;
}

async function main(stack: AsyncDisposableStack, haproxy: string | undefined): Promise<void> {
  for (const tool of ["etcd", "etcdctl", "etcdutl", "kubectl", "openssl"] as const) requireTool(tool);
  const { skip: noPrometheus } = wants("prometheus", "promtool");
  const site = await Site.make();
  stack.defer(() => site.remove());
  const services = new Services(site);
  stack.defer(() => services.stopAll());
  const shell = new Shell(site, services);
  await shell.open();
  stack.defer(() => shell.close());
  let began = performance.now();
  const seconds = () => ((performance.now() - began) / 1000).toFixed(1);
  await shell.run("Hosts");
  await shell.run("Certificates and keys");
  await shell.run("Start");
  const credentials = await credentialsOf(site);
  if (haproxy !== undefined) {
    const running = await startHaproxy(haproxy, site);
    stack.defer(() => running.kill());
  } else {
    const backends = site.hosts.map(({ address }) => ({ address, port: site.ports.api }));
    const balancer = new Balancer(backends, credentials.ca);
    await balancer.listen(site.apiAddress, site.ports.api);
    stack.defer(() => balancer.close());
  }
  const greeting = await shell.run("Load balancer");
  if (!greeting.includes("readyz check passed")) throw new Error(greeting);
  print(`Three members of etcd, three replicas and the balancer at ${site.apiUrl}: ready after ${seconds()} s.`);
  const prometheus = noPrometheus === undefined ? await Prometheus.start(site) : undefined;
  stack.defer(() => prometheus?.stop());

  const load = new Load(site.apiUrl, credentials);
  stack.defer(() => load.stop());
  const stage: Stage = { site, services, shell, load };
  began = performance.now();
  load.start();
  print(
    "\n| phase | time | writes acknowledged | requests | healed by a retry | longest time without an acknowledged write | |\n|---|---|---|---|---|---|---|",
  );
  await phase("steady", stage, async () => {
    await eventually(() => load.ledger.acknowledged >= 300, { withinMs: 60_000, what: "300 writes" });
    return "4 writers, 2 readers, 4 watchers";
  });
  await phase("rolling restart", stage, () => rollingRestart(stage));
  await phase("a member of etcd killed", stage, () => killedMember(stage));
  await phase("renewal of certificates", stage, () => renewal(stage));
  let snapshot: Awaited<ReturnType<typeof backup>>["states"] = new Map();
  await phase("backup", stage, async () => {
    const { told, states } = await backup(stage);
    snapshot = states;
    return told;
  });
  await phase("writers end", stage, () => settled(stage));
  const writingSeconds = Number(seconds());
  const { requests, healed, longestHealMs } = load.record;
  const failures = [...load.record.failures];
  const [events, resumed, relisted] = (["events", "resumed", "relisted"] as const).map((name) =>
    load.watchers.reduce((sum, watcher) => sum + watcher[name], 0),
  );
  if (prometheus) await phase("metrics", stage, () => scraped(stage, prometheus));
  else print(`| metrics | | | | | | SKIPPED: ${noPrometheus} |`);
  await phase("restore", stage, () => restore(stage, snapshot));
  await load.stop();
  load.check();
  const { creates, updates, deletes, acknowledged } = load.ledger;
  print(
    `\n${acknowledged} writes acknowledged (${creates} creates, ${updates} updates, ${deletes} deletes) in ${writingSeconds} s: none lost.`,
  );
  print(
    `${requests} requests, ${healed} healed by a retry, the slowest after ${Math.round(longestHealMs)} ms: none failed for good.`,
  );
  for (const [reason, count] of failures.sort(([, a], [, b]) => b - a)) print(`  ${count} × ${reason}`);
  print(
    `${load.watchers.length} watchers: ${events} events in order, resumed ${resumed} times, listed ${relisted} times: equal to LIST.`,
  );
  const unused = shell.unused;
  if (unused.length > 0) throw new Error(`docs/production.md has commands that were not run: ${unused.join(", ")}`);
}

const { values } = parseArgs({ options: { help: { type: "boolean" }, haproxy: { type: "string" } } });
if (values.help) {
  process.stdout.write(usage);
} else if (process.platform !== "linux" || !existsSync("/proc")) {
  throw new Error("only Linux has loopback addresses besides 127.0.0.1");
} else {
  // What was started ends with this process.
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));
  const began = performance.now();
  await using stack = new AsyncDisposableStack();
  await main(stack, values.haproxy);
  print(`All in ${Math.round((performance.now() - began) / 1000)} s.`);
}
