import { TestCluster } from "../src/cluster/controllers/shared/controllers.suite.ts";
import { NodeChooser } from "../src/cluster/scheduler/choose-node.ts";
import { ClusterState } from "../src/cluster/scheduler/cluster-state.ts";
import { DEFAULT_CONFIGURATION } from "../src/cluster/scheduler/configuration.ts";
import { NominatedPods } from "../src/cluster/scheduler/nominated-pods.ts";
import type { PluginContext } from "../src/cluster/scheduler/plugin.ts";
import { node, requesting } from "../src/cluster/scheduler/plugins/plugins.suite.ts";
import { podInfoOf } from "../src/cluster/scheduler/pod-info.ts";
import { makeProfile } from "../src/cluster/scheduler/profile.ts";
import { Unfit } from "../src/cluster/scheduler/unfit.ts";

/**
 * How many decisions the scheduler makes per second of processor time, in memory: with all default plugins, for Pods that fit on
 * most nodes, and for Pods that fit on none. Arguments: numbers of nodes.
 */
const SIZES = [100, 1000, 10_000];
const PODS_PER_NODE = 10;
const MAX_PODS = 5000;

const print = (text: string) => void process.stdout.write(`${text}\n`);

function world(nodes: number) {
  const [defaults] = DEFAULT_CONFIGURATION.profiles;
  if (defaults === undefined) throw new Error("there is no default profile");
  const { resources, client, report, informers } = new TestCluster();
  const cluster = new ClusterState();
  const nominated = new NominatedPods();
  const unused = { record: () => undefined, retry: () => undefined };
  const context: PluginContext = { resources, client, report, informers, cluster, nominated, ...unused };
  for (let index = 0; index < nodes; index += 1) {
    const labels = { "topology.kubernetes.io/zone": `zone-${index % 3}` };
    cluster.setNode(node(`node-${index}`, { labels }));
  }
  return { cluster, profile: makeProfile(context, defaults), chooser: new NodeChooser(cluster, nominated) };
}

/** Decisions per second of processor time. */
function rate(count: number, decide: (number: number) => void): number {
  const before = process.cpuUsage();
  for (let number = 0; number < count; number += 1) decide(number);
  const { user, system } = process.cpuUsage(before);
  return Math.round(count / ((user + system) / 1e6));
}

const sizes = process.argv.length > 2 ? process.argv.slice(2).map(Number) : SIZES;
for (const nodes of sizes) {
  const { cluster, profile, chooser } = world(nodes);
  const pods = Math.min(MAX_PODS, nodes * PODS_PER_NODE);
  const bound = rate(pods, (number) => {
    const info = podInfoOf(requesting(`pod-${number}`, { cpu: "100m", memory: "128Mi" }));
    const choice = chooser.choose(info, profile);
    if (choice instanceof Unfit) throw new Error(choice.message);
    cluster.assume(info, choice.node.name);
  });
  const rejected = rate(200, (number) => {
    const result = chooser.choose(podInfoOf(requesting(`large-${number}`, { cpu: "100" })), profile);
    if (!(result instanceof Unfit) || result.message === "") throw new Error("a large Pod found a node");
  });
  print(`${nodes} nodes: ${bound} Pods bound per second, ${rejected} rejected per second`);
}
