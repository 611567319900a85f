import assert from "node:assert/strict";
import { afterEach, beforeEach, suite, test } from "node:test";
import type { KubeObject } from "../../../../base/api/object.ts";
import { makeCertificate } from "../../../../base/pki/certificates.suite.ts";
import { makeCa } from "../../../../base/pki/make-certificate.ts";
import { printTime } from "../../../../resources/write/metadata.ts";
import { until } from "../../shared/controllers.suite.ts";
import { CertificateCluster } from "./certificates.suite.ts";
import { trustBundlePublisher } from "./clustertrustbundle-publisher.ts";
import { podRequestCleaner } from "./podcertificaterequest-cleaner.ts";

const MINUTE_MS = 60_000;

suite("other controllers of certificates", () => {
  let cluster: CertificateCluster;
  beforeEach(() => {
    cluster = new CertificateCluster();
  });
  afterEach(() => cluster.end());

  /** Stores a PodCertificateRequest past all checks. */
  const store = async (name: string) => {
    const { definition, apiVersion } = cluster.resource("podcertificaterequests");
    const creationTimestamp = printTime(cluster.clock.now());
    const metadata = { name, namespace: "default", uid: name, creationTimestamp };
    const object = { kind: definition.kind, apiVersion, metadata };
    const key = cluster.resources.keys.key(definition, { namespace: "default", name });
    await cluster.store.put(key, Buffer.from(JSON.stringify(object)), 0);
  };

  test("deletes PodCertificateRequests 15 minutes after their creation", async () => {
    cluster.start(podRequestCleaner(cluster));
    await cluster.clock.advance(MINUTE_MS);
    await store("old");
    await cluster.clock.advance(10 * MINUTE_MS);
    await store("new");
    await cluster.clock.advance(4 * MINUTE_MS);
    assert.ok(await cluster.find("podcertificaterequests", "old"));
    await cluster.clock.advance(5 * MINUTE_MS);
    await until(async () => (await cluster.find("podcertificaterequests", "old")) === undefined);
    assert.ok(await cluster.find("podcertificaterequests", "new"));
  });

  const bundles = async () => (await cluster.list<KubeObject>("clustertrustbundles", "")) as KubeObject[];
  const named = async (count: number) => {
    await until(async () => (await bundles()).length === count);
    return bundles();
  };

  test("publishes the CA as a ClusterTrustBundle", async () => {
    const rootCa = makeCa("one", cluster.clock.now()).certificate;
    cluster.start(trustBundlePublisher(cluster, { rootCa }));
    const [bundle] = await named(1);
    assert.match(bundle?.metadata.name ?? "", /^kubernetes\.io:kube-apiserver-serving:[0-9a-f]{24}$/);
    assert.deepEqual(bundle?.spec, { signerName: "kubernetes.io/kube-apiserver-serving", trustBundle: rootCa });
  });

  test("recreates and repairs the bundle, and deletes others of the signer", async () => {
    const [one, two] = ["one", "two"].map((name) => makeCa(name, cluster.clock.now()).certificate) as [string, string];
    cluster.start(trustBundlePublisher(cluster, { rootCa: one }));
    const [{ metadata } = assert.fail()] = await named(1);
    const { name = "" } = metadata;
    await cluster.delete("clustertrustbundles", name);
    await named(1);
    await cluster.change("clustertrustbundles", name, (bundle) =>
      Object.assign(bundle.spec ?? {}, { trustBundle: two }),
    );
    await until(async () =>
      (await bundles()).every(({ spec }) => (spec as { trustBundle: string }).trustBundle === one),
    );
    const signerName = "kubernetes.io/kube-apiserver-serving";
    const content = { spec: { signerName, trustBundle: two } };
    await cluster.create("clustertrustbundles", "kubernetes.io:kube-apiserver-serving:other", { content });
    await cluster.create("clustertrustbundles", "own", { content: { spec: { trustBundle: two } } });
    const names = async () => (await bundles()).map((one) => one.metadata.name);
    await until(async () => (await names()).length === 2);
    assert.deepEqual(await names(), [name, "own"]);
  });

  test("publishes nothing without a CA", async () => {
    for (const rootCa of ["", makeCertificate().pem]) cluster.start(trustBundlePublisher(cluster, { rootCa }));
    await cluster.clock.advance(MINUTE_MS);
    assert.deepEqual(await bundles(), []);
  });
});
