import { after, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { CoreV1Api, KubeConfig, makeInformer, type V1ConfigMap } from "@kubernetes/client-node";
import { chooseSeed } from "../model/random.ts";
import { Setting } from "../model/servers.ts";
import { type Follower, rideStorm } from "../model/storm.ts";
import { tokens } from "../support/oracle.ts";
import { needsStore } from "../support/tools.ts";

const keyOf = ({ metadata }: V1ConfigMap) => `${metadata?.namespace}/${metadata?.name}`;
const versionOf = ({ metadata }: V1ConfigMap) => metadata?.resourceVersion ?? "";

/** An informer as the client's documentation shows it, which starts again after every error. */
async function startInformer(server: string): Promise<Follower> {
  const config = new KubeConfig();
  config.loadFromOptions({
    clusters: [{ name: "test", server, skipTLSVerify: true }],
    users: [{ name: "admin", token: tokens.admin }],
    contexts: [{ name: "test", cluster: "test", user: "admin" }],
    currentContext: "test",
  });
  const api = config.makeApiClient(CoreV1Api);
  const list = () => api.listConfigMapForAllNamespaces();
  const informer = makeInformer(config, "/api/v1/configmaps", list);
  const told = new Map<string, string>();
  const complaints: string[] = [];
  const counts: Record<string, number> = { add: 0, update: 0, delete: 0, error: 0, connect: 0 };
  let isRunning = true;
  const count = (what: string) => {
    counts[what] = (counts[what] ?? 0) + 1;
  };
  const note = (what: "add" | "update" | "delete") => (object: V1ConfigMap) => {
    count(what);
    const [key, version] = [keyOf(object), versionOf(object)];
    const before = told.get(key);
    if ((what === "add") !== (before === undefined))
      complaints.push(`${what} of ${key} at ${version}, held: ${before}`);
    else if (what === "update" && Number(version) <= Number(before)) complaints.push(`${key} ${before} to ${version}`);
    if (what === "delete") told.delete(key);
    else told.set(key, version);
  };
  for (const what of ["add", "update", "delete"] as const) informer.on(what, note(what));
  informer.on("connect", () => count("connect"));
  informer.on("error", () => {
    count("error");
    void sleep(50).then(() => (isRunning ? informer.start() : undefined));
  });
  await informer.start();
  return {
    held: async () => Object.fromEntries(informer.list().map((object) => [keyOf(object), versionOf(object)])),
    complaints: async () => complaints,
    counts: async () => counts,
    async stop() {
      isRunning = false;
      await informer.stop();
    },
  };
}

const options = { concurrency: 2 };

describe("the JavaScript client's informer stays exact over disconnects, compactions and restarts", options, () => {
  const setting = new Setting();
  after(() => setting.close());

  for (const store of ["sqlite", "etcd"] as const) {
    test(`on ${store}`, needsStore(store), async (t) => {
      t.diagnostic(await rideStorm({ setting, store, seed: chooseSeed(), follow: startInformer }));
    });
  }
});
