import assert from "node:assert/strict";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import type { JsonObject } from "../../src/base/api/object.ts";
import { type CommandResult, helmFor } from "../support/kubectl.ts";
import { needs, wants } from "../support/tools.ts";
import { KubectlTwins } from "./kubectl-twins.ts";

const CHART = path.join(import.meta.dirname, "helm", "chart");
const NAMESPACE = "shop";

/** What controllers and kubelets would tell of objects that helm waits for. */
const DONE: Readonly<Record<string, JsonObject>> = {
  deployment: {
    observedGeneration: 1,
    replicas: 2,
    updatedReplicas: 2,
    readyReplicas: 2,
    availableReplicas: 2,
    conditions: [
      { type: "Available", status: "True" },
      { type: "Progressing", status: "True", reason: "NewReplicaSetAvailable" },
    ],
  },
  job: {
    startTime: "2026-01-01T00:00:00Z",
    completionTime: "2026-01-01T00:00:01Z",
    succeeded: 1,
    conditions: ["SuccessCriteriaMet", "Complete"].map((type) => ({ type, status: "True" })),
  },
  pod: { phase: "Succeeded" },
};

describe("helm has the same from both servers", {
  ...needs("kubectl", "kube-apiserver", "etcd"),
  ...wants("helm"),
}, () => {
  let kubectl: KubectlTwins;
  let helm: KubectlTwins;

  before(async () => {
    kubectl = await KubectlTwins.start();
    helm = kubectl.using(helmFor);
  });
  after(() => kubectl?.stop());

  const inNamespace = (line: string) => ["-n", NAMESPACE, ...line.split(" ")];
  /** Runs a command that must succeed. */
  const same = async (line: string): Promise<void> => {
    const { code, stderr } = await run(line);
    assert.equal(code, 0, `helm ${line}\n${stderr}`);
  };
  /** Runs a command that must fail, and say so. */
  const sameRefusal = async (line: string, told: string): Promise<void> => {
    const { code, stderr } = await run(line);
    assert.equal(code, 1, `helm ${line} succeeds`);
    assert.ok(stderr.includes(told), `helm ${line}\n${stderr}`);
  };
  const run = (line: string): Promise<CommandResult> =>
    helm.same(inNamespace(line).map((word) => (word === "CHART" ? CHART : word)));
  const sameObjects = () =>
    kubectl.same(
      inNamespace("get svc,deploy,cm,sa,roles,rolebindings,beacons -o yaml --show-managed-fields --ignore-not-found"),
    );

  /** Helm waits for an object, which becomes what it waits for. */
  async function finish(kind: string, name: string): Promise<void> {
    await kubectl.same(inNamespace(`wait --for=create --timeout=120s ${kind}/${name}`));
    const patch = JSON.stringify({ status: DONE[kind] });
    await kubectl.same(inNamespace(`patch ${kind} ${name} --subresource=status --type=merge -p ${patch}`));
  }

  test("a release is installed, upgraded, rolled back and uninstalled", async () => {
    await same("install east CHART --create-namespace --no-hooks --set replicas=1");
    await same("list");
    await same("status east -o yaml");
    await same("get all east");
    await sameObjects();
    await same("upgrade east CHART --no-hooks --dry-run=server --set greeting=hello --hide-secret");
    await same("upgrade east CHART --no-hooks --set greeting=hello --description louder");
    await same("rollback east 1 --no-hooks");
    await same("history east");
    await sameObjects();
    await same("uninstall east --no-hooks --wait --keep-history");
    await same("status east");
    await sameObjects();
    await same("uninstall east");
  });

  test("helm waits for workloads and hooks, and for its tests", async () => {
    const installing = same("install west CHART --create-namespace --wait --timeout=120s");
    await finish("deployment", "west");
    await finish("job", "west-migrate");
    await installing;
    await same("get hooks west");
    const testing = same("test west --timeout=120s");
    await finish("pod", "west-test");
    await testing;
    await sameObjects();
    await same("uninstall west --wait --timeout=120s");
    await sameObjects();
  });

  test("what a server refuses, helm tells", async () => {
    await same("upgrade --install north CHART --create-namespace --no-hooks --server-side=false");
    const upgrade = "upgrade north CHART --no-hooks --disable-openapi-validation --set";
    await same(`${upgrade} greeting=hello,replicas=3 --server-side=false`);
    await sameObjects();
    await sameRefusal(`${upgrade} app=other`, "field is immutable");
    await sameRefusal(`${upgrade} beacon.lumens=2000`, "a beacon has at most 1000 lumens");
    await sameRefusal(`${upgrade} port=70000`, "must be between 1 and 65535");
    await kubectl.same(inNamespace(`patch cm north-config -p {"data":{"greeting":"moin"}} --field-manager=somebody`));
    await sameRefusal(`${upgrade} greeting=salut --server-side=true`, 'conflict with "somebody"');
    await same(`${upgrade} greeting=salut --server-side=true --force-conflicts`);
    await same("history north -o yaml");
    await sameRefusal("list --kube-as-user alice", "forbidden");
    await kubectl.same(inNamespace("create configmap south-config"));
    await sameRefusal("install south CHART --no-hooks", "cannot be imported");
    await same("install south CHART --no-hooks --take-ownership");
    await sameObjects();
  });
});
