import { startControlPlane } from "../src/testing.ts";

/**
 * Processor time of rollouts of a Deployment whose Pods become ready at once, in one control plane. Arguments: the number of
 * replicas, and of rollouts.
 */
const [replicas = "10", rollouts = "20"] = process.argv.slice(2);

const DEPLOYMENTS = { apiVersion: "apps/v1", kind: "Deployment", plural: "deployments" };
const PODS = { apiVersion: "v1", kind: "Pod", plural: "pods" };

interface RolloutStatus {
  readonly updatedReplicas?: number;
  readonly availableReplicas?: number;
  readonly replicas?: number;
}

await using plane = await startControlPlane({ controllers: "*", seed: 1, clock: { at: "2026-01-01T00:00:00Z" } });
const labels = { app: "web" };

plane.reconcile(PODS, async ({ metadata, status }, { client }) => {
  if ((status as { phase?: string }).phase !== "Pending" || metadata.deletionTimestamp !== undefined) return;
  const lastTransitionTime = "2026-01-01T00:00:00Z";
  const conditions = [{ type: "Ready", status: "True", lastTransitionTime }];
  await client(PODS).status.patch(metadata.name, { phase: "Running", conditions });
});

/** Processor time until all replicas have the image. */
async function rollOut(image: string): Promise<number> {
  const template = { metadata: { labels }, spec: { containers: [{ name: "main", image }] } };
  const spec = { replicas: Number(replicas), selector: { matchLabels: labels }, template };
  const before = process.cpuUsage();
  await plane.client(DEPLOYMENTS).apply({ metadata: { name: "web" }, spec });
  await plane.settled();
  const { user, system } = process.cpuUsage(before);
  const { status } = await plane.client(DEPLOYMENTS).get("web");
  const { updatedReplicas, availableReplicas, replicas: all } = status as RolloutStatus;
  const counts = [updatedReplicas, availableReplicas, all];
  if (counts.some((count) => count !== Number(replicas))) throw new Error(`incomplete rollout: ${counts.join(", ")}`);
  return (user + system) / 1000;
}

const first = await rollOut("web:0");
const times: number[] = [];
for (let round = 1; round <= Number(rollouts); round += 1) times.push(await rollOut(`web:${round}`));
const sorted = times.toSorted((a, b) => a - b);
const ms = (value = 0) => `${value.toFixed(0)} ms`;
process.stdout.write(
  `${replicas} replicas: created in ${ms(first)}; rollouts: first ${ms(times[0])}, ` +
    `median ${ms(sorted[sorted.length >> 1])}, fastest ${ms(sorted[0])}\n`,
);
