import { setTimeout as sleep } from "node:timers/promises";
import type { Random } from "../model/random.ts";
import { type ModelServer, Setting } from "../model/servers.ts";
import { eventually } from "../support/time.ts";
import { Api } from "./api.ts";
import { Observer } from "./observer.ts";
import { isRoundOver, LISTS, runPods, startRound } from "./workloads.ts";

/** A store, and the number of servers on it. */
export interface Topology {
  readonly store: "sqlite" | "etcd";
  readonly servers: number;
}

/** What happened during a run. */
export interface Outcome {
  /** All workloads at the end, without random names, uids and times. */
  readonly objects: readonly string[];
  readonly problems: readonly string[];
  readonly rounds: number;
  readonly kills: number;
  readonly counts: Observer["counts"];
}

/** When to kill: `kills` times, at random moments. */
export interface Kills {
  readonly kills: number;
  readonly random: Random;
}

const FLAGS = ["--controllers=*"];

/** Lets workloads roll out again and again while servers are killed. With a number, exactly so many rounds, without kills. */
export async function runRounds({ store, servers: count }: Topology, plan: Kills | number): Promise<Outcome> {
  const setting = new Setting();
  const stop = new AbortController();
  try {
    const used = store === "etcd" ? await setting.etcd() : store;
    const servers: ModelServer[] = [];
    for (let index = 0; index < count; index += 1) servers.push(await setting.server(used, FLAGS));
    const api = new Api(
      servers.map(({ base }) => base),
      stop.signal,
    );
    const observer = new Observer();
    const background = [observer.run(api, stop.signal), runPods(api, stop.signal)];
    const failure = Promise.all(background);
    const work = typeof plan === "number" ? calmRounds(api, plan) : killedRounds(api, servers, plan);
    const { rounds, kills } = await Promise.race([work, failure.then(() => work)]);
    const objects = await finalObjects(api);
    stop.abort();
    await failure;
    return { objects, problems: observer.problems, rounds, kills, counts: observer.counts };
  } finally {
    stop.abort();
    await setting.close();
  }
}

async function playRound(api: Api, round: number): Promise<void> {
  await startRound(api, round);
  await eventually(() => isRoundOver(api, round), { everyMs: 50, what: `round ${round}` });
}

async function calmRounds(api: Api, rounds: number) {
  for (let round = 1; round <= rounds; round += 1) await playRound(api, round);
  return { rounds, kills: 0 };
}

/** Plays rounds until all kills have happened. The last round ends after the last kill. */
async function killedRounds(api: Api, servers: readonly ModelServer[], { kills, random }: Kills) {
  let left = kills;
  const killing = async () => {
    for (; left > 0; left -= 1) {
      const server = servers[random.between(0, servers.length - 1)];
      await sleep(random.between(0, 1500));
      await server?.crash();
      await server?.start();
    }
  };
  const killed = killing();
  let rounds = 0;
  do {
    rounds += 1;
    await Promise.race([playRound(api, rounds), killed.then(() => new Promise<never>(() => undefined))]);
  } while (left > 0);
  await killed;
  return { rounds, kills };
}

const TIME = /\d{4}-\d{2}-\d{2}T[\d:.]+Z/g;

/** All workloads. What differs between two runs is removed. */
async function finalObjects(api: Api): Promise<string[]> {
  const objects: string[] = [];
  for (const path of LISTS) {
    const { items } = await api.list(path);
    for (const item of items) objects.push(`${path} ${normalized(item)}`);
  }
  return objects.sort();
}

/** Members that differ, at any depth. Generations depend on the number of steps in which a rollout proceeds. */
const RANDOM_MEMBERS: ReadonlySet<string> = new Set([
  ...["uid", "resourceVersion", "managedFields", "controller-uid", "batch.kubernetes.io/controller-uid"],
  ...["generation", "observedGeneration"],
]);

function normalized(item: { readonly metadata: { readonly name: string; readonly generateName?: string } }): string {
  const { name, generateName } = item.metadata;
  const text = JSON.stringify(item, (key, value: unknown) => (RANDOM_MEMBERS.has(key) ? "RANDOM" : value));
  const named = generateName === undefined ? text : text.replaceAll(name, `${generateName}RANDOM`);
  // Volumes of service account tokens have random names.
  return named.replace(TIME, "TIME").replaceAll(/kube-api-access-\w{5}/g, "kube-api-access-RANDOM");
}

/** The objects of only one of two runs. */
export function differences(killed: readonly string[], calm: readonly string[]): string[] {
  return [
    ...killed.filter((one) => !calm.includes(one)).map((one) => `only with kills: ${one}`),
    ...calm.filter((one) => !killed.includes(one)).map((one) => `only without kills: ${one}`),
  ];
}
