import { existsSync } from "node:fs";
import { parseArgs } from "node:util";
import { requireTool, wants } from "../support/tools.ts";
import { buildCluster } from "./cluster.ts";
import { backup, restore } from "./copies.ts";
import { scraped } from "./metrics.ts";
import { killedMember, renewal, rollingRestart, settled, steady } from "./phases.ts";
import { Prometheus } from "./prometheus.ts";
import { Report, secondsSince } from "./report.ts";

const usage = `npm run compare production [-- --haproxy PROGRAM]

Builds the cluster of docs/production.md on loopback addresses of this machine, with its files and by its commands: three members
of etcd, three replicas, TLS everywhere, a balancer of TCP connections. Under load it restarts the replicas in turn, kills the
leader of etcd, renews all certificates, takes backups and restores one. Fails when a write that was acknowledged is lost, when a
request fails however often it is repeated, or when a watcher does not end up with what a list shows.

   --haproxy PROGRAM   HAProxy with deploy/haproxy.cfg instead of a small balancer of our own

BINNACLE_CLI names another program than the sources, such as dist/cli.js.
`;

const print = (line: string) => process.stdout.write(`${line}\n`);

async function main(stack: AsyncDisposableStack, haproxy: string | undefined): Promise<void> {
  for (const tool of ["etcd", "etcdctl", "etcdutl", "kubectl", "openssl"] as const) requireTool(tool);
  const { skip: noPrometheus } = wants("prometheus", "promtool");
  const began = performance.now();
  const stage = await buildCluster(stack, haproxy);
  const { site, shell, load } = stage;
  print(
    `Three members of etcd, three replicas and the balancer at ${site.apiUrl}: ready after ${secondsSince(began)} s.`,
  );
  print(await verifiedUnits(stage));
  const prometheus = noPrometheus === undefined ? await Prometheus.start(site) : undefined;
  stack.defer(() => prometheus?.stop());

  load.start();
  const report = new Report(stage);
  await report.phase("steady", () => steady(stage, 300));
  await report.phase("rolling restart", rollingRestart);
  await report.phase("a member of etcd killed", killedMember);
  await report.phase("renewal of certificates", renewal);
  let snapshot: Awaited<ReturnType<typeof backup>>["states"] = new Map();
  await report.phase("backup", async () => {
    const { told, states } = await backup(stage);
    snapshot = states;
    return told;
  });
  await report.phase("writers end", settled);
  report.count();
  await shell.run("Metrics");
  if (prometheus) await report.phase("metrics", () => scraped(stage, prometheus));
  else report.skip("metrics", noPrometheus ?? "");
  await report.phase("restore", () => restore(stage, snapshot));
  await load.stop();
  load.check();
  report.conclude();
  const { unused } = shell;
  if (unused.length > 0) throw new Error(`docs/production.md has commands that were not run: ${unused.join(", ")}`);
}

/** Has systemd look at the units. Programs that they start are not on this machine. */
async function verifiedUnits({ shell, site }: Awaited<ReturnType<typeof buildCluster>>): Promise<string> {
  if (!existsSync("/usr/bin/systemd-analyze")) return "The units are not verified: there is no systemd-analyze.";
  for (const unit of ["etcd.service", "binnacle.service"]) {
    const text = await site.read("node_modules", "binnacle", "deploy", unit);
    await site.write(unit, text.replace(/^ExecStart=\S+/m, "ExecStart=/bin/true"));
  }
  await shell.command("systemd-analyze verify ./etcd.service ./binnacle.service");
  return "systemd-analyze verify: etcd.service and binnacle.service are in order.";
}

const { values } = parseArgs({ options: { help: { type: "boolean" }, haproxy: { type: "string" } } });
if (values.help) {
  process.stdout.write(usage);
} else if (process.platform !== "linux") {
  throw new Error("only Linux has loopback addresses besides 127.0.0.1");
} else {
  const began = performance.now();
  await using stack = new AsyncDisposableStack();
  await main(stack, values.haproxy);
  print(`All in ${secondsSince(began)} s.`);
}
