import assert from "node:assert/strict";
import { test } from "node:test";
import { AdmissionChain } from "../../access/admission/chain.ts";
import type { AdmissionRequest } from "../../access/admission/plugin.ts";
import { defaultPlugins } from "../../access/admission/plugins/all.ts";
import { alwaysAllow } from "../../access/authorization/always.ts";
import type { KubeObject } from "../../base/api/object.ts";
import { makeCa } from "../../base/pki/make-certificate.ts";
import { systemClock } from "../../base/util/clock.ts";
import { systemRandom } from "../../base/util/random.ts";
import { ABSENT_CONTROLLERS } from "../../cluster/controllers/manager/absent-controllers.ts";
import { RUNNABLE_CONTROLLERS } from "../../cluster/controllers/manager/all.ts";
import { DEFAULT_CONTROLLERS } from "../../cluster/controllers/manager/default-controllers.ts";
import { MANAGER_CONTROLLERS } from "../../cluster/controllers/manager/manager-controllers.ts";
import { until } from "../../cluster/controllers/shared/controllers.suite.ts";
import type { Credentials } from "../../cluster/controllers/shared/credentials.ts";
import { Informers } from "../../cluster/controllers/shared/informers.ts";
import { ContainerImages } from "../../cluster/nodes/behaviour/container-images.ts";
import { SimulatedKubelets } from "../../cluster/nodes/connect/simulated-kubelets.ts";
import { DEFAULT_CONFIGURATION } from "../../cluster/scheduler/configuration.ts";
import { testActions, testIssuer } from "../../kinds/built-in/actions/actions.suite.ts";
import { builtInKinds } from "../../kinds/built-in/all.ts";
import { builtInSchema } from "../../kinds/schema-files/built-in-schemas.ts";
import { Catalog } from "../../resources/model/catalog.ts";
import { KeySpace } from "../../resources/model/keys.ts";
import { storedResource } from "../../resources/model/stored-resource.ts";
import { Resources } from "../../resources/resources.ts";
import { keepUser } from "../../serving/pipeline/authenticate.ts";
import { loopbackClients } from "../../serving/pipeline/loopback.ts";
import { compose, stagesFor } from "../../serving/pipeline/pipeline.ts";
import { route } from "../../serving/pipeline/router.ts";
import { dispatch } from "../../serving/verbs/dispatch.ts";
import { MemoryStore } from "../../storage/memory.ts";
import { background } from "./background.ts";
import { defaultConfig } from "./config.ts";

const NO_TRUST = { current: () => ({}), onChange: () => {} };
const CREDENTIALS: Credentials = { rootCa: makeCa("test", Date.now()).certificate, signToken: testIssuer.sign };

/** A server without a listener whose admission writes down what it sees. */
function setUp(controllers: string, scheduler = false) {
  const catalog = new Catalog(builtInKinds());
  const store = new MemoryStore();
  const keys = new KeySpace("/registry");
  const environment = { clock: systemClock, random: systemRandom };
  const resources = new Resources({ store, catalog, ...environment, keys, actions: testActions });
  const seen: Pick<AdmissionRequest, "operation" | "user" | "name" | "subresource">[] = [];
  const witness = {
    name: "Witness",
    handles: () => true,
    async validate({ operation, user, name, subresource }: AdmissionRequest) {
      seen.push({ operation, user, name, subresource });
    },
  };
  const plugins = defaultPlugins({ resources, authorizer: alwaysAllow });
  const context = {
    resources,
    admission: new AdmissionChain([...plugins, witness]),
    identities: undefined as never,
    minRequestTimeout: 1800,
    deleteOptionsSchema: () => builtInSchema("io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions"),
  };
  const problems: unknown[] = [];
  const stages = stagesFor(
    {
      reportError: (error) => problems.push(error),
      requestTimeoutMs: 1000,
      clock: systemClock,
      isLongRunning: () => false,
      hasTable: () => true,
      isUnstructured: () => false,
      authorizer: alwaysAllow,
    },
    keepUser,
  );
  const innermost = route({ catalog, objects: (call) => dispatch(context, call), endpoints: [] });
  const clients = loopbackClients(compose(stages, innermost), systemRandom);
  const config = { ...defaultConfig, bindAddress: "192.0.2.1", controllers, scheduler };
  const report = (_: string, error: unknown) => problems.push(error);
  const trust = NO_TRUST;
  const waits: string[] = [];
  const loops = background({
    config,
    waits: (lease, holder) => void waits.push(`${lease} of ${holder}`),
    resources,
    clients,
    credentials: CREDENTIALS,
    schedulerConfiguration: DEFAULT_CONFIGURATION,
    trust,
    report,
    further: () => [],
    isGuest: false,
    isAlone: false,
    isPartial: false,
    isPrepared: false,
    images: new ContainerImages(),
    kubelets: new SimulatedKubelets(systemClock),
    rolesMade: () => {},
  });
  const find = (group: string, plural: string, name: string, namespace = "default") =>
    resources.access.find(group, plural, { namespace, name }, "newest");
  const managersOf = (object: KubeObject | undefined) => {
    const entries = (object?.metadata.managedFields ?? []) as { manager: string }[];
    return [...new Set(entries.map(({ manager }) => manager))];
  };
  const resource = (plural: string) => {
    const found = catalog.find("", "v1", plural);
    assert.ok(found);
    return found;
  };
  const stop = async () => {
    await loops.stop();
    await store.close();
    assert.deepEqual(problems, []);
  };
  return { resources, loops, clients, seen, waits, find, managersOf, resource, stop };
}

test("reports the holder of the Lease for which controllers wait, once", async () => {
  const { loops, clients, resources, waits, stop } = setUp("deployment-controller");
  await loops.prepare();
  const leases = storedResource(resources.catalog, "coordination.k8s.io", "leases");
  const spec = { holderIdentity: "other", leaseDurationSeconds: 3600, renewTime: "2026-01-01T00:00:00.000000Z" };
  const metadata = { name: "kube-controller-manager", namespace: "kube-system" };
  const lease: KubeObject = { kind: "Lease", apiVersion: "coordination.k8s.io/v1", metadata, spec };
  await clients.apiServer.create(leases, lease);
  loops.start(6443);
  await until(() => waits.length > 0);
  const renewed = { spec: { renewTime: "2026-01-01T00:00:02.000000Z" } };
  await clients.apiServer.patch(leases, metadata, renewed);
  await clients.apiServer.patch(leases, metadata, { spec: { holderIdentity: "third" } });
  await until(() => waits.length > 1);
  const name = "kube-system/kube-controller-manager";
  assert.deepEqual(waits, [`${name} of other`, `${name} of third`]);
  await stop();
});

test("admission sees deletions of the garbage collector and its user", async () => {
  const { loops, clients, seen, find, resource, stop } = setUp("garbage-collector-controller");
  await loops.prepare();
  loops.start(6443);
  const [owners, dependents] = [resource("configmaps"), resource("secrets")];
  const object = (kind: string, name: string): KubeObject => ({
    kind,
    apiVersion: "v1",
    metadata: { name, namespace: "default" },
  });
  const { metadata } = await clients.apiServer.create(owners, object("ConfigMap", "owner"));
  const dependent = object("Secret", "dependent");
  const reference = { apiVersion: "v1", kind: "ConfigMap", name: "owner", uid: metadata.uid ?? "" };
  dependent.metadata.ownerReferences = [reference];
  await clients.apiServer.create(dependents, dependent);
  await clients.apiServer.delete(owners, { namespace: "default", name: "owner" });
  await until(async () => (await find("", "secrets", "dependent")) === undefined);
  const deletion = seen.find(({ operation, name }) => operation === "DELETE" && name === "dependent");
  assert.deepEqual(deletion?.user, {
    name: "system:serviceaccount:kube-system:generic-garbage-collector",
    groups: ["system:serviceaccounts", "system:serviceaccounts:kube-system", "system:authenticated"],
  });
  await stop();
});

test("the namespace controller empties, updates and finalizes a namespace", async () => {
  const { loops, clients, seen, find, managersOf, resource, stop } = setUp("*");
  await loops.prepare();
  loops.start(6443);
  const namespaces = resource("namespaces");
  await clients.apiServer.create(namespaces, { kind: "Namespace", apiVersion: "v1", metadata: { name: "ns" } });
  await until(async () => (await find("", "configmaps", "kube-root-ca.crt", "ns")) !== undefined);
  await until(async () => (await find("", "serviceaccounts", "default", "ns")) !== undefined);
  assert.deepEqual(managersOf(await find("", "configmaps", "kube-root-ca.crt", "ns")), ["kube-controller-manager"]);
  await clients.apiServer.delete(namespaces, { namespace: "", name: "ns" });
  await until(async () => (await find("", "namespaces", "ns", "")) === undefined);
  const writers = (operation: string, name: string, subresource = "") =>
    new Set(
      seen
        .filter((one) => one.operation === operation && one.name === name && one.subresource === subresource)
        .map(({ user }) => user.name.replace("system:serviceaccount:kube-system:", "")),
    );
  assert.deepEqual([...writers("UPDATE", "ns", "status")], ["namespace-controller"]);
  assert.deepEqual([...writers("UPDATE", "ns", "finalize")], ["namespace-controller"]);
  assert.deepEqual([...writers("DELETE", "kube-root-ca.crt")], ["namespace-controller"]);
  assert.deepEqual([...writers("CREATE", "kube-root-ca.crt")], ["root-ca-cert-publisher"]);
  assert.ok(writers("CREATE", "default").has("service-account-controller"));
  await stop();
});

test("without controllers, only those of kube-apiserver run, as system:apiserver", async () => {
  const { loops, seen, find, managersOf, stop } = setUp("none");
  await loops.prepare();
  loops.start(6443);
  await until(async () => (await find("discovery.k8s.io", "endpointslices", "kubernetes")) !== undefined);
  const service = await find("", "services", "kubernetes");
  assert.partialDeepStrictEqual(service?.spec, { clusterIP: "10.0.0.1" });
  assert.deepEqual(managersOf(service), ["kube-apiserver"]);
  assert.deepEqual(managersOf(await find("", "namespaces", "kube-system", "")), ["kube-apiserver"]);
  assert.deepEqual(managersOf(await find("networking.k8s.io", "servicecidrs", "kubernetes", "")), [
    "kubernetes-service-cidr-controller",
    "kube-apiserver",
  ]);
  await until(() => seen.some(({ name }) => name.startsWith("apiserver-")));
  assert.deepEqual(new Set(seen.map(({ user }) => user.name)), new Set(["system:apiserver"]));
  assert.equal(await find("", "serviceaccounts", "default"), undefined);
  await stop();
});

const LEASE = ["coordination.k8s.io", "leases", "kube-controller-manager", "kube-system"] as const;

test("workload controllers run while the server holds the Lease of kube-controller-manager", async () => {
  const { loops, clients, seen, find, stop, resources } = setUp("serviceaccount-controller,replicaset-controller");
  await loops.prepare();
  const leases = resources.catalog.find("coordination.k8s.io", "v1", "leases") ?? assert.fail();
  const metadata = { name: "kube-controller-manager", namespace: "kube-system" };
  const spec = { holderIdentity: "real", leaseDurationSeconds: 3600 };
  const lease = { kind: "Lease", apiVersion: "coordination.k8s.io/v1", metadata, spec };
  const held = await clients.apiServer.create(leases, lease);
  loops.start(6443);
  await until(async () => (await find("discovery.k8s.io", "endpointslices", "kubernetes")) !== undefined);
  assert.equal(await find("", "serviceaccounts", "default"), undefined);
  await clients.apiServer.update(leases, { ...held, spec: { ...spec, holderIdentity: "" } });
  await until(async () => (await find("", "serviceaccounts", "default")) !== undefined);
  assert.partialDeepStrictEqual((await find(...LEASE))?.spec, { leaseDurationSeconds: 15, leaseTransitions: 1 });
  const writer = seen.findLast(({ name, operation }) => name === metadata.name && operation === "UPDATE")?.user.name;
  assert.equal(writer, "system:kube-controller-manager");
  await stop();
});

test("the default controllers leave the Lease to the real kube-controller-manager", async () => {
  const { loops, find, stop } = setUp(DEFAULT_CONTROLLERS);
  await loops.prepare();
  loops.start(6443);
  await until(async () => (await find("", "serviceaccounts", "default")) !== undefined);
  assert.equal(await find(...LEASE), undefined);
  await stop();
});

test("the scheduler runs while the server holds the Lease of kube-scheduler", async () => {
  const { loops, clients, find, stop, resource } = setUp("serviceaccount-controller", true);
  await loops.prepare();
  loops.start(6443);
  await until(async () => (await find("", "serviceaccounts", "default")) !== undefined);
  const allocatable = { cpu: "1", memory: "1Gi", pods: "1" };
  const node = { kind: "Node", apiVersion: "v1", metadata: { name: "a" }, status: { allocatable } };
  await clients.apiServer.create(resource("nodes"), node);
  // The node is tainted, because no kubelet reports that it is ready.
  const spec = { containers: [{ name: "c", image: "i" }], tolerations: [{ operator: "Exists" }] };
  const metadata = { name: "p", namespace: "default" };
  await clients.apiServer.create(resource("pods"), { kind: "Pod", apiVersion: "v1", metadata, spec });
  const nodeOf = async () => ((await find("", "pods", "p"))?.spec as { nodeName?: string } | undefined)?.nodeName;
  await until(async () => (await nodeOf()) === "a");
  const lease = await find("coordination.k8s.io", "leases", "kube-scheduler", "kube-system");
  assert.partialDeepStrictEqual(lease?.spec, { leaseDurationSeconds: 15, leaseTransitions: 0 });
  await stop();
});

test("controllers have the names of the table and of kube-controller-manager", () => {
  const { resources, clients } = setUp("none");
  const report = () => {};
  const informers = new Informers(resources, report);
  for (const { name, account = "none", make } of RUNNABLE_CONTROLLERS) {
    const client = clients.controller(account);
    assert.equal(make({ resources, client, report, informers }, CREDENTIALS).name, name);
    assert.ok(
      MANAGER_CONTROLLERS.some((one) => one.name === name),
      name,
    );
  }
});

test("every controller of kube-controller-manager is built in, or has a reason why not", () => {
  const own = new Set(RUNNABLE_CONTROLLERS.map(({ name }) => name));
  for (const { name } of MANAGER_CONTROLLERS) {
    const isAbsent = ABSENT_CONTROLLERS[name] !== undefined;
    assert.ok(own.has(name) || isAbsent, `${name} needs a reason in absent-controllers.ts`);
    assert.ok(!(own.has(name) && isAbsent), `${name} is built in: remove its reason from absent-controllers.ts`);
  }
  const known = new Set(MANAGER_CONTROLLERS.map(({ name }) => name));
  assert.deepEqual(
    Object.keys(ABSENT_CONTROLLERS).filter((name) => !known.has(name)),
    [],
  );
});

test("only controllers of kube-controller-manager can be selected", () => {
  for (const name of ["kubernetes-service", "service-allocation-repair", "persistentvolume-attach-detach-controller"]) {
    assert.throws(() => setUp(`*,-${name}`), /is not in the list of known controllers/);
  }
  for (const name of ["garbagecollector", "namespace", "serviceaccount", "root-ca-cert-publisher"]) setUp(`*,-${name}`);
});
