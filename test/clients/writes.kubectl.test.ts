import assert from "node:assert/strict";
import { chmod, writeFile } from "node:fs/promises";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { DEFAULT_CONTROLLERS } from "../../src/cluster/controllers/manager/default-controllers.ts";
import { type RunningBinnacle, startBinnacle } from "../support/binnacle.ts";
import { type Client, clientFor } from "../support/client.ts";
import { type CommandResult, type Kubectl, kubectlFor } from "../support/kubectl.ts";
import { tokens } from "../support/oracle.ts";
import { needs } from "../support/tools.ts";

const NAMESPACE = "writes";
const CORE = `/api/v1/namespaces/${NAMESPACE}`;
const APPS = `/apis/apps/v1/namespaces/${NAMESPACE}`;

const labels = { app: "web" };
const podTemplate = { metadata: { labels }, spec: { containers: [{ name: "main", image: "example/main:1" }] } };
const workload = (kind: "Deployment" | "ReplicaSet", name: string, metadata: object = {}) => ({
  apiVersion: "apps/v1",
  kind,
  metadata: { name, namespace: NAMESPACE, ...metadata },
  spec: { replicas: 1, selector: { matchLabels: labels }, template: podTemplate },
});
const configMap = (name: string, data: Record<string, string>) =>
  JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace: NAMESPACE }, data });

describe("kubectl changes objects", { concurrency: 4, ...needs("kubectl") }, () => {
  let server: RunningBinnacle;
  let kubectl: Kubectl;
  let client: Client;

  const run = (line: string, input?: string): Promise<CommandResult> =>
    kubectl(["-n", NAMESPACE, ...line.split(" ")], { input });

  async function succeed(line: string, input?: string): Promise<string> {
    const { code, stdout, stderr } = await run(line, input);
    assert.equal(code, 0, `kubectl ${line}\n${stdout}${stderr}`);
    return stdout.trim();
  }

  async function read(url: string) {
    const { status, body } = await client.call("GET", url);
    assert.equal(status, 200, url);
    return body;
  }

  async function create(url: string, object: object) {
    const { status, body } = await client.call("POST", url, object);
    assert.equal(status, 201, JSON.stringify(body));
    return body;
  }

  before(async () => {
    server = await startBinnacle({ flags: [`--controllers=${DEFAULT_CONTROLLERS}`] });
    kubectl = kubectlFor(server.kubeconfig);
    client = clientFor(server.base, tokens.admin);
    await create("/api/v1/namespaces", { metadata: { name: NAMESPACE } });
  });
  after(() => server.kill());

  test("apply creates, configures, leaves alone, and removes what is no longer in the file", async () => {
    const url = `${CORE}/configmaps/applied`;
    assert.equal(await succeed("apply -f -", configMap("applied", { a: "1", b: "2" })), "configmap/applied created");
    const { metadata } = await read(url);
    assert.match(metadata.annotations["kubectl.kubernetes.io/last-applied-configuration"], /"b":"2"/);

    assert.equal(await succeed("apply -f -", configMap("applied", { a: "1", b: "2" })), "configmap/applied unchanged");
    assert.equal((await read(url)).metadata.resourceVersion, metadata.resourceVersion);

    await succeed('patch configmap applied --type=merge -p {"data":{"other":"kept"}}');
    assert.equal(await succeed("apply -f -", configMap("applied", { a: "3" })), "configmap/applied configured");
    assert.deepEqual((await read(url)).data, { a: "3", other: "kept" });
  });

  test("apply --dry-run=server writes nothing", async () => {
    const text = await succeed("apply --dry-run=server -f -", configMap("dry", { a: "1" }));
    assert.equal(text, "configmap/dry created (server dry run)");
    assert.equal((await client.call("GET", `${CORE}/configmaps/dry`)).status, 404);
  });

  test("apply refuses a field that the kind does not have", async () => {
    const wrong = configMap("strict", {}).replace('"data"', '"date"');
    const { code, stderr } = await run("apply -f -", wrong);
    assert.equal(code, 1);
    assert.match(stderr, /strict decoding error: unknown field "date"/);
  });

  test("apply --prune deletes what is no longer among the labelled objects", async () => {
    const labelled = (name: string) =>
      configMap(name, { a: "1" }).replace('"metadata":{', '"metadata":{"labels":{"set":"pruned"},');
    const line = "apply --prune -l set=pruned --prune-allowlist=core/v1/ConfigMap -f -";
    await succeed(line, `${labelled("stays")}\n---\n${labelled("goes")}`);
    const text = await succeed(line, labelled("stays"));
    assert.deepEqual(text.split("\n"), ["configmap/stays unchanged", "configmap/goes pruned"]);
    assert.equal((await client.call("GET", `${CORE}/configmaps/goes`)).status, 404);
  });

  test("apply --server-side names conflicts and --force-conflicts takes the fields over", async () => {
    const url = `${CORE}/configmaps/shared`;
    const apply = (manager: string, data: Record<string, string>, more = "") =>
      run(`apply --server-side --field-manager=${manager}${more} -f -`, configMap("shared", data));
    const first = await apply("one", { a: "1", b: "1" });
    assert.equal(first.stdout.trim(), "configmap/shared serverside-applied");

    const refused = await apply("two", { a: "2", c: "2" });
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /Apply failed with 1 conflict: conflict with "one": \.data\.a/);
    assert.match(refused.stderr, /--force-conflicts/);
    assert.deepEqual((await read(url)).data, { a: "1", b: "1" });

    const forced = await apply("two", { a: "2", c: "2" }, " --force-conflicts");
    assert.equal(forced.code, 0, forced.stderr);
    const taken = await read(url);
    assert.deepEqual(taken.data, { a: "2", b: "1", c: "2" });
    const owned = taken.metadata.managedFields.map((entry: { manager: string; fieldsV1: Record<string, object> }) => [
      entry.manager,
      Object.keys(entry.fieldsV1["f:data"] ?? {}).filter((key) => key !== "."),
    ]);
    assert.deepEqual(Object.fromEntries(owned), { one: ["f:b"], two: ["f:a", "f:c"] });

    assert.equal((await apply("two", { a: "2" })).code, 0);
    assert.deepEqual((await read(url)).data, { a: "2", b: "1" });
  });

  test("diff shows what would change, and changes nothing", async () => {
    await succeed("apply -f -", configMap("differs", { a: "before" }));
    assert.equal(await succeed("diff -f -", configMap("differs", { a: "before" })), "");
    for (const mode of ["", " --server-side --force-conflicts"]) {
      const { code, stdout } = await run(`diff${mode} -f -`, configMap("differs", { a: "after" }));
      assert.equal(code, 1);
      assert.match(stdout, /^- {2}a: before$/m);
      assert.match(stdout, /^\+ {2}a: after$/m);
    }
    const absent = await run("diff -f -", configMap("not-there", { a: "new" }));
    assert.equal(absent.code, 1);
    assert.match(absent.stdout, /^\+ {2}name: not-there$/m);
    assert.deepEqual((await read(`${CORE}/configmaps/differs`)).data, { a: "before" });
  });

  test("patch takes all three types", async () => {
    await create(`${APPS}/deployments`, workload("Deployment", "patched"));
    const url = `${APPS}/deployments/patched`;
    const strategic = '{"spec":{"template":{"spec":{"containers":[{"name":"side","image":"example/side:1"}]}}}}';
    assert.equal(await succeed(`patch deployment patched -p ${strategic}`), "deployment.apps/patched patched");
    const images = async () =>
      (await read(url)).spec.template.spec.containers.map(({ image }: { image: string }) => image);
    assert.deepEqual(await images(), ["example/side:1", "example/main:1"]);
    assert.equal(
      await succeed(`patch deployment patched -p ${strategic}`),
      "deployment.apps/patched patched (no change)",
    );

    const operations =
      '[{"op":"test","path":"/spec/replicas","value":1},{"op":"replace","path":"/spec/replicas","value":3}]';
    await succeed(`patch deployment patched --type=json -p ${operations}`);
    assert.equal((await read(url)).spec.replicas, 3);
    const failed = await run(`patch deployment patched --type=json -p ${operations}`);
    assert.equal(failed.code, 1);
    assert.match(failed.stderr, /the server rejected our request due to an error in our request/i);

    const merge = '{"spec":{"template":{"spec":{"containers":[{"name":"only","image":"example/only:1"}]}}}}';
    await succeed(`patch deployment patched --type=merge -p ${merge}`);
    assert.deepEqual(await images(), ["example/only:1"]);

    await succeed('patch deployment patched --subresource=status --type=merge -p {"status":{"observedGeneration":7}}');
    assert.equal((await read(url)).status.observedGeneration, 7);
    await succeed("scale deployment patched --replicas=2 --current-replicas=3");
    assert.equal((await read(url)).spec.replicas, 2);
  });

  test("label and annotate add, refuse to overwrite, overwrite and remove", async () => {
    await create(`${CORE}/configmaps`, { metadata: { name: "marked" } });
    for (const [verb, field, done] of [
      ["label", "labels", "labeled"],
      ["annotate", "annotations", "annotated"],
    ] as const) {
      const marks = async () => (await read(`${CORE}/configmaps/marked`)).metadata[field];
      assert.equal(await succeed(`${verb} configmap marked tier=one`), `configmap/marked ${done}`);
      const refused = await run(`${verb} configmap marked tier=two`);
      assert.equal(refused.code, 1);
      assert.match(refused.stderr, /--overwrite is false/);
      await succeed(`${verb} configmap marked tier=two --overwrite`);
      assert.deepEqual(await marks(), { tier: "two" });
      await succeed(`${verb} configmap marked tier-`);
      assert.equal(await marks(), undefined);
    }
    const invalid = await run("label configmap marked tier=a/b");
    assert.equal(invalid.code, 1);
  });

  test("set changes images, environment and resources", async () => {
    await create(`${APPS}/deployments`, workload("Deployment", "setting"));
    const container = async () => (await read(`${APPS}/deployments/setting`)).spec.template.spec.containers[0];
    const text = await succeed("set image deployment/setting main=example/main:2");
    assert.equal(text, "deployment.apps/setting image updated");
    assert.equal((await container()).image, "example/main:2");
    await succeed("set env deployment/setting COLOUR=blue");
    assert.deepEqual((await container()).env, [{ name: "COLOUR", value: "blue" }]);
    await succeed("set env deployment/setting COLOUR-");
    assert.equal((await container()).env, undefined);
    await succeed("set resources deployment/setting --limits=cpu=200m");
    assert.deepEqual((await container()).resources, { limits: { cpu: "200m" } });
    const unknown = await run("set image deployment/setting none=example/main:3");
    assert.equal(unknown.code, 1);
    assert.match(unknown.stderr, /unable to find container named "none"/);
  });

  test("edit sends what the editor changed", async (t) => {
    await create(`${CORE}/configmaps`, { metadata: { name: "edited" }, data: { a: "before" } });
    const editor = path.join(server.directory, "editor.sh");
    await writeFile(editor, '#!/bin/sh\nexec sed -i "s/a: before/a: after/" "$1"\n');
    await chmod(editor, 0o755);
    process.env.KUBE_EDITOR = editor;
    t.after(() => {
      delete process.env.KUBE_EDITOR;
    });
    assert.equal(await succeed("edit configmap edited"), "configmap/edited edited");
    assert.deepEqual((await read(`${CORE}/configmaps/edited`)).data, { a: "after" });
    const { stderr, stdout } = await run("edit configmap edited");
    assert.match(stdout + stderr, /Edit cancelled, no changes made/);
  });

  test("replace needs the object, and --force makes it anew", async () => {
    const url = `${CORE}/configmaps/replaced`;
    const missing = await run("replace -f -", configMap("replaced", { a: "1" }));
    assert.equal(missing.code, 1);
    assert.match(missing.stderr, /configmaps "replaced" not found/);
    await succeed("create -f -", configMap("replaced", { a: "1" }));
    const { metadata } = await read(url);
    assert.equal(await succeed("replace -f -", configMap("replaced", { b: "2" })), "configmap/replaced replaced");
    const replaced = await read(url);
    assert.deepEqual(replaced.data, { b: "2" });
    assert.equal(replaced.metadata.uid, metadata.uid);

    const text = await succeed("replace --force -f -", configMap("replaced", { c: "3" }));
    assert.match(text, /configmap "replaced" deleted/);
    assert.match(text, /configmap\/replaced replaced/);
    const anew = await read(url);
    assert.deepEqual(anew.data, { c: "3" });
    assert.notEqual(anew.metadata.uid, metadata.uid);

    const stale = { ...replaced, data: { d: "4" } };
    const conflict = await run("replace -f -", JSON.stringify(stale));
    assert.equal(conflict.code, 1);
    assert.match(conflict.stderr, /Conflict|Precondition failed/);
  });

  /** A Deployment and a ReplicaSet of its own, made by hand. */
  async function createFamily(name: string) {
    const { metadata } = await create(`${APPS}/deployments`, workload("Deployment", name));
    const owner = { apiVersion: "apps/v1", kind: "Deployment", name, uid: metadata.uid, controller: true };
    const ownerReferences = [{ ...owner, blockOwnerDeletion: true }];
    return create(`${APPS}/replicasets`, workload("ReplicaSet", `${name}-1`, { ownerReferences }));
  }

  test("delete --cascade=background takes the owned objects along afterwards", async () => {
    await createFamily("background");
    const text = await succeed("delete deployment background --cascade=background");
    assert.match(text, /^deployment\.apps "background" deleted/);
    await succeed("wait --for=delete replicaset/background-1 --timeout=20s");
    assert.equal((await client.call("GET", `${APPS}/replicasets/background-1`)).status, 404);
  });

  test("delete --cascade=foreground keeps the owner until the owned objects are gone", async () => {
    const owned = await createFamily("foreground");
    const held = { metadata: { finalizers: ["example.com/hold"] } };
    const merge = { "content-type": "application/merge-patch+json" };
    const url = `${APPS}/replicasets/${owned.metadata.name}`;
    await client.call("PATCH", url, held, merge);
    await succeed("delete deployment foreground --cascade=foreground --wait=false");
    const waiting = succeed("wait --for=delete deployment/foreground --timeout=20s");
    const terminating = await read(`${APPS}/deployments/foreground`);
    assert.deepEqual(terminating.metadata.finalizers, ["foregroundDeletion"]);
    assert.ok(terminating.metadata.deletionTimestamp);
    await succeed("wait --for=jsonpath={.metadata.deletionTimestamp} replicaset/foreground-1 --timeout=20s");
    assert.equal((await client.call("GET", `${APPS}/deployments/foreground`)).status, 200);
    await client.call("PATCH", url, { metadata: { finalizers: null } }, merge);
    await waiting;
    assert.equal((await client.call("GET", url)).status, 404);
    assert.equal((await client.call("GET", `${APPS}/deployments/foreground`)).status, 404);
  });

  test("delete --cascade=orphan leaves the owned objects without an owner", async () => {
    const owned = await createFamily("orphan");
    await succeed("delete deployment orphan --cascade=orphan");
    assert.equal((await client.call("GET", `${APPS}/deployments/orphan`)).status, 404);
    const left = await read(`${APPS}/replicasets/orphan-1`);
    assert.equal(left.metadata.uid, owned.metadata.uid);
    assert.equal(left.metadata.ownerReferences, undefined);
  });

  test("wait --for=delete ends by time while a finalizer holds the object", async () => {
    const url = `${CORE}/configmaps/held`;
    await create(`${CORE}/configmaps`, { metadata: { name: "held", finalizers: ["example.com/hold"] } });
    await succeed("delete configmap held --wait=false");
    const late = await run("wait --for=delete configmap/held --timeout=1s");
    assert.equal(late.code, 1);
    assert.match(late.stderr, /timed out waiting for the condition on configmaps\/held/);
    await succeed('patch configmap held --type=json -p [{"op":"remove","path":"/metadata/finalizers"}]');
    assert.equal((await client.call("GET", url)).status, 404);
    const gone = await run("delete configmap held");
    assert.equal(gone.code, 1);
    assert.match(gone.stderr, /Error from server \(NotFound\): configmaps "held" not found/);
    assert.equal(await succeed("delete configmap held --ignore-not-found"), "");
  });

  test("delete by label takes all that match", async () => {
    for (const name of ["many-1", "many-2"]) {
      await create(`${CORE}/configmaps`, { metadata: { name, labels: { many: "yes" } } });
    }
    const text = await succeed("delete configmap -l many=yes");
    assert.equal(text.split("\n").length, 2);
    assert.deepEqual((await read(`${CORE}/configmaps?labelSelector=many%3Dyes`)).items, []);
  });

  test("create makes objects from flags", async () => {
    assert.equal(await succeed("create configmap made --from-literal=a=1"), "configmap/made created");
    assert.deepEqual((await read(`${CORE}/configmaps/made`)).data, { a: "1" });
    assert.equal(await succeed("create secret generic made --from-literal=a=1"), "secret/made created");
    const secret = await read(`${CORE}/secrets/made`);
    assert.deepEqual([secret.type, secret.data], ["Opaque", { a: "MQ==" }]);
    const deployment = await succeed("create deployment made --image=example/main:1 --replicas=2");
    assert.equal(deployment, "deployment.apps/made created");
    const { spec } = await read(`${APPS}/deployments/made`);
    assert.deepEqual([spec.replicas, spec.template.spec.containers[0].image], [2, "example/main:1"]);
    const role = await succeed("create role made --verb=get,list --resource=pods,deployments.apps");
    assert.equal(role, "role.rbac.authorization.k8s.io/made created");
    const { rules } = await read(`/apis/rbac.authorization.k8s.io/v1/namespaces/${NAMESPACE}/roles/made`);
    assert.deepEqual(rules, [
      { apiGroups: [""], resources: ["pods"], verbs: ["get", "list"] },
      { apiGroups: ["apps"], resources: ["deployments"], verbs: ["get", "list"] },
    ]);
    const again = await run("create configmap made");
    assert.equal(again.code, 1);
    assert.match(again.stderr, /error: failed to create configmap: configmaps "made" already exists/);
  });
});
