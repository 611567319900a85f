import type { JsonObject } from "../../../src/base/api/object.ts";
import type { Pod } from "../../../src/kinds/types/workloads.ts";
import { Random } from "../random.ts";
import { randomChange } from "./changes.ts";
import type { SchedulerCluster } from "./clusters.ts";
import { PRIORITIES, randomNode, randomPod } from "./shapes.ts";
import { type NewObject, randomStorage, randomVolumes, sharedStorage } from "./volumes.ts";

/** Both clusters, the one with the real scheduler first. */
export type Twins = readonly [theirs: SchedulerCluster, ours: SchedulerCluster];

/** What a sequence found. */
export interface Outcome {
  readonly seed: number;
  readonly decisions: Readonly<Record<Kind, number>>;
  /** Empty if all decisions were the same. */
  readonly differences: readonly string[];
}

type Kind = "bound" | "tied" | "rejected" | "preempted" | "nudged";

const PODS = "/api/v1/namespaces/default/pods";
const NODES = "/api/v1/nodes";
const MERGE = { "content-type": "application/merge-patch+json" };
const NOW = { gracePeriodSeconds: 0 };
const SENTINEL = "sentinel";
/** Start times of Pods are all different, so that victims of preemption have an order. */
const FIRST_START = Date.UTC(2026, 0, 1);

/** Creates what all sequences need. */
export async function prepare(twins: Twins): Promise<void> {
  for (const { client } of twins) {
    for (const value of PRIORITIES) {
      await client.call("POST", "/apis/scheduling.k8s.io/v1/priorityclasses", {
        metadata: { name: `p${value}` },
        value,
      });
    }
    await client.call("POST", "/api/v1/namespaces/default/services", {
      metadata: { name: "cache" },
      spec: { clusterIP: "None", selector: { app: "cache" } },
    });
    for (const { path, object } of sharedStorage()) await client.call("POST", path, object);
    await client.call("POST", NODES, {
      metadata: { name: SENTINEL },
      status: { allocatable: { cpu: "1", memory: "1Gi", pods: "10" } },
    });
    for (;;) if ((await client.call("GET", "/api/v1/namespaces/default/serviceaccounts/default")).status === 200) break;
  }
}

/** Runs the sequence of a seed in both clusters until they differ. */
export async function runSequence(twins: Twins, seed: number): Promise<Outcome> {
  const sequence = new Sequence(twins, seed);
  try {
    await sequence.prepare();
    return await sequence.run();
  } finally {
    await sequence.cleanUp();
  }
}

class Sequence {
  readonly #twins: Twins;
  readonly #seed: number;
  readonly #random: Random;
  readonly #nodes: readonly string[];
  readonly #decisions: Record<Kind, number> = { bound: 0, tied: 0, rejected: 0, preempted: 0, nudged: 0 };
  readonly #claims: string[] = [];
  #storage: readonly NewObject[] = [];
  /** Whether the clusters have different volumes because of a tie. */
  #isOver = false;
  #started = 0;
  #probes = 0;

  constructor(twins: Twins, seed: number) {
    this.#twins = twins;
    this.#seed = seed;
    this.#random = new Random(seed);
    const count = 1 + this.#random.below(8);
    this.#nodes = Array.from({ length: count }, (_, index) => `n${seed}-${index}`);
  }

  async prepare(): Promise<void> {
    for (const name of this.#nodes) {
      const node = randomNode(this.#random, name);
      await this.#both(({ client }) => client.call("POST", NODES, node));
      // Admission adds a taint to new nodes, because they are not ready.
      const taints = (node.spec as JsonObject).taints ?? [];
      await this.#both(({ client }) => client.call("PATCH", `${NODES}/${name}`, { spec: { taints } }, MERGE));
    }
    this.#storage = randomStorage(this.#random, this.#seed, this.#nodes);
    for (const { path, object } of this.#storage) await this.#both(({ client }) => client.call("POST", path, object));
    await this.#settle();
  }

  /** Resolves when both schedulers have seen all changes so far. */
  async #settle(): Promise<void> {
    const number = ++this.#probes;
    await this.#both((cluster) => this.#probe(cluster, `probe-${this.#seed}-${number}`));
  }

  /** Waits until a Pod runs on a node that changed after all others. */
  async #probe({ client, pods }: SchedulerCluster, name: string): Promise<void> {
    const labels = { seen: name };
    await client.call("PATCH", `${NODES}/${SENTINEL}`, { metadata: { labels } }, MERGE);
    const containers = [{ name: "c", image: "probe" }];
    const spec = { containers, nodeSelector: labels, tolerations: [{ operator: "Exists" }] };
    await client.call("POST", PODS, { metadata: { name }, spec });
    await pods.until(`${name} is bound`, () => pods.get(name)?.spec?.nodeName);
    await client.call("DELETE", `${PODS}/${name}`, NOW);
  }

  async cleanUp(): Promise<void> {
    await this.#both(async ({ client, pods }) => {
      for (const { metadata } of pods.all()) await client.call("DELETE", `${PODS}/${metadata.name}`, NOW);
      await pods.until("all Pods are gone", () => pods.all().length === 0 || undefined);
      for (const name of this.#nodes) await client.call("DELETE", `${NODES}/${name}`);
      for (const { path, object } of this.#storage) {
        await client.call("DELETE", `${path}/${(object.metadata as JsonObject).name}`);
      }
    });
  }

  async run(): Promise<Outcome> {
    const differences: string[] = [];
    const count = 8 + this.#random.below(25);
    for (let number = 0; number < count && differences.length === 0 && !this.#isOver; number += 1) {
      const name = `p${this.#seed}-${number}`;
      const labels = {
        app: this.#random.pick(["web", "db", "cache"]),
        ...(this.#random.chance(0.5) && { version: this.#random.pick(["1", "2"]) }),
      };
      const spec = randomPod(this.#random, this.#seed * 1000 + number, this.#nodes);
      const { volumes, claim } = randomVolumes(this.#random, this.#seed, number, this.#claims);
      if (claim) await this.#both(({ client }) => client.call("POST", claim.path, claim.object));
      const pod = { metadata: { name, labels }, spec: { ...spec, volumes } };
      const [{ status }] = await this.#both(({ client }) => client.call("POST", PODS, pod));
      // Some random Pods are invalid.
      if (status !== 201) continue;
      const found = await this.#compare(name, pod);
      if (found) differences.push(found, JSON.stringify(pod));
      else if (this.#random.chance(0.1)) await this.#deleteSome();
    }
    return { seed: this.#seed, decisions: this.#decisions, differences };
  }

  /** Returns how the outcomes of a Pod differ. `nudges`: how often something may change that could help it. */
  async #compare(name: string, pod: JsonObject, nudges = 3): Promise<string | undefined> {
    const outcomes = () => this.#twins.map(({ pods }) => outcomeOf(pods.get(name)));
    const isSame = () => {
      const [theirs, ours] = outcomes();
      const areBound = theirs !== undefined && "node" in theirs && ours !== undefined && "node" in ours;
      return areBound || (theirs !== undefined && JSON.stringify(theirs) === JSON.stringify(ours)) || undefined;
    };
    await this.#twins[0].pods.until(name, isSame, 5000).catch(() => undefined);
    const [theirs, ours] = outcomes();
    if (theirs === undefined || ours === undefined || !isSame()) return differ(name, theirs, ours);
    if ("node" in theirs && "node" in ours) return this.#bound(name, pod, theirs.node, ours.node);
    return this.#rejected(name, pod, nudges);
  }

  /** Changes something that may or may not make a rejected Pod schedulable. */
  async #nudge(name: string): Promise<void> {
    this.#decisions.nudged += 1;
    const running = this.#twins[0].pods
      .all()
      .flatMap(({ spec, metadata }) => (spec?.nodeName ? [metadata.name ?? ""] : []));
    const { method, path, body } = randomChange(this.#random, name, running.sort(), this.#nodes);
    await this.#both(({ client }) => client.call(method, path, body, method === "PATCH" ? MERGE : {}));
    await this.#settle();
    await this.#settle();
  }

  async #bound(name: string, pod: JsonObject, theirs: string, ours: string): Promise<string | undefined> {
    const scores = this.#twins[0].scores.of(`default/${name}`);
    const isTie = scores.size > 1 && scores.get(ours) === Math.max(...scores.values());
    if (theirs !== ours && !isTie) return `${name}: ${theirs} and ${ours}, scores ${JSON.stringify([...scores])}`;
    this.#decisions[theirs === ours ? "bound" : "tied"] += 1;
    this.#isOver = theirs !== ours && ((pod.spec as JsonObject).volumes as JsonObject[]).length > 0;
    if (theirs !== ours) {
      const { client, pods } = this.#twins[1];
      await client.call("DELETE", `${PODS}/${name}`, NOW);
      await pods.until(`${name} is gone`, () => pods.get(name) === undefined || undefined);
      await client.call("POST", PODS, { ...pod, spec: { ...(pod.spec as JsonObject), nodeName: theirs } });
    }
    await this.#start(name);
    return undefined;
  }

  /** Lets the Pod begin to run, at another time than all others. */
  async #start(name: string): Promise<void> {
    const startTime = new Date(FIRST_START + 1000 * this.#started++).toISOString().replace(".000", "");
    await this.#both(({ client }) => client.call("PATCH", `${PODS}/${name}/status`, { status: { startTime } }, MERGE));
  }

  /** Compares the victims, if there are some, and where the Pod goes when they are gone. */
  async #rejected(name: string, pod: JsonObject, nudges: number): Promise<string | undefined> {
    const { message = "", nominated } = outcomeOf(this.#twins[0].pods.get(name)) as Rejected;
    const [, count] = /preempting (\d+) victims/.exec(message) ?? [];
    if (count === undefined) {
      this.#decisions.rejected += 1;
      if (nudges > 0 && this.#random.chance(0.4)) {
        await this.#nudge(name);
        return this.#compare(name, pod, nudges - 1);
      }
      await this.#both(({ client }) => client.call("DELETE", `${PODS}/${name}`, NOW));
      return undefined;
    }
    this.#decisions.preempted += 1;
    const [theirs, ours] = await this.#both(({ pods }) =>
      pods.until(`victims of ${name}`, () => {
        const victims = pods.all().filter(({ metadata }) => metadata.deletionTimestamp !== undefined);
        return victims.length >= Number(count) ? victims.map(describeVictim).sort() : undefined;
      }),
    );
    if (JSON.stringify(theirs) !== JSON.stringify(ours)) return differ(name, theirs, ours);
    await this.#both(async ({ client, pods }) => {
      const victims = pods.all().filter(({ metadata }) => metadata.deletionTimestamp !== undefined);
      for (const { metadata } of victims) await client.call("DELETE", `${PODS}/${metadata.name}`, NOW);
      await pods.until(`${name} follows`, () => pods.get(name)?.spec?.nodeName);
    });
    const [there, here] = this.#twins.map(({ pods }) => pods.get(name)?.spec?.nodeName ?? "");
    if (there !== nominated || here !== nominated)
      return `${name}: nominated ${nominated}, bound to ${there} and ${here}`;
    return this.#bound(name, pod, there, here);
  }

  async #deleteSome(): Promise<void> {
    const running = this.#twins[0].pods.all().map(({ metadata }) => metadata.name ?? "");
    if (running.length === 0) return;
    const name = this.#random.pick(running.sort());
    await this.#both(async ({ client, pods }) => {
      await client.call("DELETE", `${PODS}/${name}`, NOW);
      await pods.until(`${name} is gone`, () => pods.get(name) === undefined || undefined);
    });
  }

  async #both<T>(act: (cluster: SchedulerCluster) => Promise<T>): Promise<[theirs: T, ours: T]> {
    const [theirs, ours] = this.#twins;
    return Promise.all([act(theirs), act(ours)]);
  }
}

interface Rejected {
  readonly message: string;
  readonly reason: string | undefined;
  readonly nominated: string;
}

/** Undefined if the Pod has not been tried yet. */
function outcomeOf(pod: Pod | undefined): { readonly node: string } | Rejected | undefined {
  if (pod?.spec?.nodeName) return { node: pod.spec.nodeName };
  const condition = pod?.status?.conditions?.find(({ type }) => type === "PodScheduled");
  if (condition?.message === undefined) return undefined;
  return { message: condition.message, reason: condition.reason, nominated: pod?.status?.nominatedNodeName ?? "" };
}

function describeVictim({ metadata, status }: Pod): string {
  const condition = status?.conditions?.find(({ type }) => type === "DisruptionTarget");
  return `${metadata.name} ${condition?.status} ${condition?.reason} ${condition?.message}`;
}

function differ(name: string, theirs: unknown, ours: unknown): string {
  return `${name}\n  theirs ${JSON.stringify(theirs)}\n  ours   ${JSON.stringify(ours)}`;
}
