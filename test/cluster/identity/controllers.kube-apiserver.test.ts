import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, suite, test } from "node:test";
import { isDeepStrictEqual, promisify } from "node:util";
import { RUNNABLE_CONTROLLERS } from "../../../src/cluster/controllers/manager/all.ts";
import { MANAGER_CONTROLLERS } from "../../../src/cluster/controllers/manager/manager-controllers.ts";
import { type Client, clientFor } from "../../support/client.ts";
import { tokens } from "../../support/oracle.ts";
import { freePort } from "../../support/ports.ts";
import { startProcess } from "../../support/process.ts";
import { eventually } from "../../support/time.ts";
import { requireTool, wants } from "../../support/tools.ts";
import { type ClusterServer, startClusterServer } from "../server.ts";
import { comparable } from "./comparable.ts";
import { ROUNDS, type Round, type Step } from "./steps.ts";

const COMPARED = [
  ...["serviceaccount-token", "certificatesigningrequest-approving", "certificatesigningrequest-signing"],
  ...["certificatesigningrequest-cleaner", "token-cleaner", "bootstrap-signer", "service-cidr"],
  ...["podcertificaterequest-cleaner", "kube-apiserver-serving-clustertrustbundle-publisher"],
  ...["legacy-serviceaccount-token-cleaner", "storage-version-migrator", "garbage-collector"],
]
  .map((name) => `${name}-controller`)
  .join(",");

/** An API server with the compared controllers. */
interface Cluster {
  readonly client: Client;
  /** The CA, in PEM. */
  readonly authority: string;
}

// biome-ignore lint/suspicious/noExplicitAny: objects of any kind
type Objects = Map<string, any>;

suite(
  "controllers of credentials, compared with kube-controller-manager",
  wants("etcd", "kube-apiserver", "kube-controller-manager"),
  () => {
    const cleanUps: (() => Promise<unknown>)[] = [];
    const clusters: Cluster[] = [];

    before(async () => {
      const folder = await mkdtemp(path.join(tmpdir(), "binnacle-identity-"));
      cleanUps.push(() => rm(folder, { recursive: true, force: true }));
      for (const name of ["kube-apiserver", "binnacle"] as const) {
        const own = path.join(folder, name);
        await mkdir(own);
        const [ca, key] = ["ca.crt", "ca.key"].map((file) => path.join(own, file)) as [string, string];
        const signing = [
          `--cluster-signing-cert-file=${ca}`,
          `--cluster-signing-key-file=${key}`,
          `--root-ca-file=${ca}`,
        ];
        const flags = [`--controllers=${COMPARED}`, ...signing];
        const server = await startClusterServer(name, own, { store: "memory", flags });
        cleanUps.push(() => server.kill());
        if (name === "kube-apiserver") {
          const manager = await startManager(server, own, flags);
          cleanUps.push(() => manager.kill());
        }
        clusters.push({ client: clientFor(server.base, tokens.admin), authority: await readFile(ca, "utf8") });
      }
    });
    after(async () => {
      for (const cleanUp of cleanUps.toReversed()) await cleanUp();
    });

    for (const [what, rounds] of Object.entries(ROUNDS)) {
      test(`${what} end up the same`, async () => {
        for (const round of rounds) {
          for (const step of round.steps) await sendBoth(clusters, step);
          await compare(clusters, round);
        }
      });
    }
  },
);

test("the table of controllers is that of kube-controller-manager", wants("kube-controller-manager"), async () => {
  const { stdout } = await promisify(execFile)(requireTool("kube-controller-manager"), ["--help"]);
  const listed = (title: string) =>
    new RegExp(`${title} controllers: ([a-z, -]+)`).exec(stdout)?.[1]?.trim().split(", ");
  const sorted = (names: readonly string[]) => names.toSorted();
  assert.deepEqual(sorted(MANAGER_CONTROLLERS.map(({ name }) => name)), sorted(listed("All") ?? []));
  const optional = RUNNABLE_CONTROLLERS.filter(({ isOptional }) => isOptional).map(({ name }) => name);
  const own = new Set(RUNNABLE_CONTROLLERS.map(({ name }) => name));
  assert.deepEqual(sorted(optional), sorted((listed("Disabled-by-default") ?? []).filter((name) => own.has(name))));
});

async function startManager(server: ClusterServer, folder: string, flags: readonly string[]) {
  const kubeconfig = await server.kubeconfig("manager", { commonName: "system:kube-controller-manager" });
  return startProcess(requireTool("kube-controller-manager"), [
    ...flags,
    ...["", "authentication-", "authorization-"].map((part) => `--${part}kubeconfig=${kubeconfig}`),
    "--use-service-account-credentials=true",
    `--service-account-private-key-file=${server.accountKeyFile}`,
    "--bind-address=127.0.0.1",
    `--secure-port=${await freePort()}`,
    `--cert-dir=${path.join(folder, "manager")}`,
    "--leader-elect=false",
  ]);
}

async function sendBoth(clusters: readonly Cluster[], step: Step): Promise<void> {
  const { method, path: place, body, user, groups } = step;
  const headers = {
    ...(user !== undefined && { "impersonate-user": user, "impersonate-group": groups ?? "" }),
    ...(method === "PATCH" && { "content-type": "application/merge-patch+json" }),
  };
  const answers = await Promise.all(clusters.map(({ client }) => client.call(method, place, body, headers)));
  const [real, own] = answers.map(({ status, body: { message } }) => [status, message]);
  assert.deepEqual(own, real, JSON.stringify(step));
  assert.ok(Number(real?.[0]) < 300, JSON.stringify([step, real]));
}

async function compare(clusters: readonly Cluster[], { collections, isDone }: Round): Promise<void> {
  let seen: Objects[] = [];
  const areSame = async () => {
    seen = await Promise.all(clusters.map((cluster) => objectsOf(cluster, collections)));
    const [real, own] = seen;
    return seen.every((one) => isDone(one)) && isDeepStrictEqual(own, real);
  };
  const isSettled = () => eventually(areSame, { everyMs: 200 });
  await isSettled().catch(() => assert.deepEqual(seen[1], seen[0], `not done: ${collections.join()}`));
}

/** Comparable objects by name. */
async function objectsOf({ client, authority }: Cluster, collections: readonly string[]): Promise<Objects> {
  const objects: Objects = new Map();
  for (const collection of collections) {
    const { body } = await client.call("GET", collection);
    for (const item of body.items) {
      const object = comparable(item, authority);
      objects.set(object.metadata.name, object);
    }
  }
  return objects;
}
