import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import { builtInKinds } from "../../src/kinds/built-in/all.ts";
import { KeySpace } from "../../src/resources/model/keys.ts";
import { bodyOf } from "../kinds/bodies.ts";
import { pathOf, prepareNamespace } from "../kinds/kind-suite.ts";
import { type RunningBinnacle, startBinnacle } from "../support/binnacle.ts";
import { type Answer, type Client, clientFor } from "../support/client.ts";
import { type EtcdCluster, startEtcd } from "../support/etcd.ts";
import { type Oracle, startOracle, tokens } from "../support/oracle.ts";
import { eventually } from "../support/time.ts";
import { needs } from "../support/tools.ts";

const MERGE_PATCH = { "content-type": "application/merge-patch+json" };
// Without these kube-apiserver does not serve all kinds that Binnacle does.
const GATES = "CompositePodGroup=true,EvictionRequestAPI=true";
const RENEW_TIME = new Date().toISOString().replace("Z", "000Z");
const keys = new KeySpace("registry");

/** Compat: kube-apiserver stores these as JSON whatever `--storage-media-type` says. */
const JSON_KINDS = ["CustomResourceDefinition", "APIService"];

/** Every stored kind with an object of its own, which kube-apiserver creates. */
const subjects = builtInKinds()
  .filter((definition) => definition.storage !== undefined)
  .map((definition, index) => {
    const version = definition.versions[0]?.name ?? "";
    const id = `k${index + 1}`;
    const place = { namespace: `stored-${id}`, id, number: index + 1 };
    const body = bodyOf(definition, version, place);
    // kube-apiserver deletes candidates that have not been renewed for long.
    if (definition.kind === "LeaseCandidate") Object.assign(body.spec as object, { renewTime: RENEW_TIME });
    return { definition, version, namespace: place.namespace, body };
  });

suite("an etcd that kube-apiserver has filled with protobuf", {
  concurrency: 4,
  ...needs("kube-apiserver", "etcd"),
}, () => {
  let etcd: EtcdCluster;
  let oracle: Oracle;
  let binnacle: RunningBinnacle;
  let ours: Client;
  let theirs: Client;
  /** Group, version and plural of everything that kube-apiserver serves. Binnacle serves versions that are gone there. */
  let served: ReadonlySet<string>;

  before(async () => {
    etcd = await startEtcd();
    const etcdEndpoint = etcd.endpoints[0] ?? assert.fail();
    oracle = await startOracle({ etcdEndpoint, flags: [`--feature-gates=${GATES}`] });
    theirs = clientFor(oracle.base, tokens.admin);
    for (const { definition, version, namespace, body } of subjects) {
      if (definition.scope === "Namespaced") await prepareNamespace(theirs, namespace);
      const { status, body: answer } = await theirs.call("POST", pathOf(definition, version, namespace), body);
      assert.equal(status, 201, `${definition.plural}.${definition.group}: ${JSON.stringify(answer)}`);
    }
    served = await servedBy(theirs);
    binnacle = await startBinnacle({ etcdEndpoint });
    ours = clientFor(binnacle.base, tokens.admin);
  });
  after(async () => {
    await binnacle?.kill();
    await oracle?.kill();
    await etcd?.stop();
  });

  for (const { definition, version, namespace, body } of subjects) {
    const { group, plural } = definition;
    const { name } = body.metadata;
    const pathIn = (version: string) => `${pathOf(definition, version, namespace)}/${encodeURIComponent(name)}`;
    const object = pathIn(version);

    test(`${plural}.${group}`, async () => {
      const key = keys.key(definition, { namespace, name });
      const isForm = JSON_KINDS.includes(definition.kind) ? /^\{/ : /^k8s\0/;
      assert.match(await storedValue(etcd, key), isForm);

      const versions = definition.versions
        .map(({ name }) => name)
        .filter((one) => served.has(`${group}/${one}/${plural}`));
      assert.ok(versions.includes(version));
      for (const one of versions) await bothSee(pathIn(one));
      const collection = pathOf(definition, version, namespace);
      const list = await eventually(async () => {
        const found = await call(ours, 200, "GET", collection);
        assert.equal(found.body.kind, definition.listKind);
        const item = found.body.items.find((one: typeof body) => one.metadata.name === name);
        const { kind: _kind, apiVersion: _apiVersion, ...expected } = await bothSee(object);
        // A controller of kube-apiserver, such as those of CustomResourceDefinitions, may have changed it in between.
        if (item?.metadata.resourceVersion !== expected.metadata.resourceVersion) return false;
        assert.deepEqual(item, expected);
        return found;
      });

      const stop = new AbortController();
      const query = `watch=1&resourceVersion=${list.body.metadata.resourceVersion}`;
      const events = ours.watch(`${collection}?${query}`, stop.signal);
      const patch = { metadata: { annotations: { "example.com/by": "kube-apiserver" } } };
      const patched = await call(theirs, 200, "PATCH", object, patch, MERGE_PATCH);
      const { resourceVersion } = patched.body.metadata;
      let event: { type: string; object: typeof body } | undefined;
      for await (event of events) if (event?.object.metadata.resourceVersion === resourceVersion) break;
      stop.abort();
      assert.deepEqual(event, { type: "MODIFIED", object: patched.body });
      assert.match(await storedValue(etcd, key), isForm);

      const own = { metadata: { annotations: { "example.com/by": "binnacle" } } };
      const answer = await call(ours, 200, "PATCH", object, own, MERGE_PATCH);
      assert.equal(answer.body.metadata.annotations["example.com/by"], "binnacle");
      for (const one of versions) await bothSee(pathIn(one));

      await call(ours, 200, "DELETE", `${object}?gracePeriodSeconds=0`);
      // kube-apiserver may remove a finalizer, and so the object, between the two requests.
      await eventually(async () => {
        const [mine, other] = await Promise.all([ours.call("GET", object), theirs.call("GET", object)]);
        if (mine.status !== other.status) return false;
        if (mine.status === 200)
          assert.ok(mine.body.metadata.deletionTimestamp && other.body.metadata.deletionTimestamp);
        else assert.equal(mine.status, 404);
        return true;
      });
    });
  }

  test("a CustomResourceDefinition whose versions differ", async () => {
    const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    const schema = { openAPIV3Schema: { type: "object", properties: { spec: { type: "object" } } } };
    const clientConfig = { url: "https://127.0.0.1:1/convert" };
    await call(theirs, 201, "POST", path, {
      metadata: { name: "gadgets.example.com" },
      spec: {
        group: "example.com",
        names: { plural: "gadgets", singular: "gadget", kind: "Gadget", listKind: "GadgetList" },
        scope: "Cluster",
        conversion: { strategy: "Webhook", webhook: { clientConfig, conversionReviewVersions: ["v1"] } },
        versions: [
          {
            ...{ name: "v2", served: true, storage: true, schema },
            additionalPrinterColumns: [{ name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" }],
            subresources: { status: {} },
          },
          { name: "v1", served: false, storage: false, schema, deprecated: true },
        ],
      },
    });
    await bothSee(`${path}/gadgets.example.com`);
  });

  test("what kube-apiserver allocated is known", async () => {
    // kube-apiserver keeps node ports in a RangeAllocation, which is no kind of the API.
    await prepareNamespace(theirs, "ports");
    const services = "/api/v1/namespaces/ports/services";
    const service = (name: string, nodePort?: number) => ({
      metadata: { name },
      spec: { type: "NodePort", ports: [{ port: 80, ...(nodePort ? { nodePort } : {}) }] },
    });
    const first = await call(theirs, 201, "POST", services, service("theirs"));
    const { nodePort } = first.body.spec.ports[0];
    assert.match(await storedValue(etcd, "/registry/ranges/servicenodeports"), /^k8s\0/);
    const refused = await call(ours, 422, "POST", services, service("taken", nodePort));
    assert.match(refused.body.message, /provided port is already allocated/);
    const second = await call(ours, 201, "POST", services, service("ours"));
    const own = second.body.spec.ports[0].nodePort;
    await call(theirs, 422, "POST", services, service("taken", own));
    await call(theirs, 422, "POST", services, service("taken", nodePort));
  });

  /** The object, which both servers must show alike. Asks again if a controller of kube-apiserver changed it in between. */
  async function bothSee(path: string): Promise<Answer["body"]> {
    return eventually(async () => {
      const expected = await call(theirs, 200, "GET", path);
      const { body } = await call(ours, 200, "GET", path);
      if (body.metadata.resourceVersion !== expected.body.metadata.resourceVersion) return undefined;
      assert.deepEqual(body, expected.body);
      return body;
    });
  }
});

async function call(client: Client, status: number, ...request: Parameters<Client["call"]>): Promise<Answer> {
  const answer = await client.call(...request);
  assert.equal(answer.status, status, `${request[0]} ${request[1]}: ${JSON.stringify(answer.body)}`);
  return answer;
}

async function servedBy(client: Client): Promise<ReadonlySet<string>> {
  const accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
  const documents = await Promise.all(["/api", "/apis"].map((path) => client.call("GET", path, undefined, { accept })));
  const found = new Set<string>();
  for (const { metadata, versions } of documents.flatMap(({ body }) => body.items)) {
    for (const { version, resources } of versions) {
      for (const { resource } of resources) found.add(`${metadata.name ?? ""}/${version}/${resource}`);
    }
  }
  return found;
}

/** The value of a key as etcd has it, a character per byte. */
async function storedValue(etcd: EtcdCluster, key: string): Promise<string> {
  const body = JSON.stringify({ key: Buffer.from(key).toString("base64") });
  const response = await fetch(`${etcd.endpoints[0]}/v3/kv/range`, { method: "POST", body });
  const { kvs = [] } = (await response.json()) as { kvs?: { value: string }[] };
  return Buffer.from(kvs[0]?.value ?? assert.fail(`${key} is not in etcd`), "base64").toString("latin1");
}
