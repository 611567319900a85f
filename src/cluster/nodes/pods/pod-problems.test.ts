import assert from "node:assert/strict";
import { afterEach, beforeEach, suite, test } from "node:test";
import type { JsonObject } from "../../../base/api/object.ts";
import { makeCa } from "../../../base/pki/make-certificate.ts";
import { SimulatedCluster } from "../nodes.suite.ts";

const CERTIFICATE = makeCa("web", Date.parse("2026-01-01T00:00:00Z")).certificate;

suite("a Pod on a simulated node that cannot start", () => {
  let cluster: SimulatedCluster;

  beforeEach(async () => {
    cluster = new SimulatedCluster();
    await cluster.simulate();
  });
  afterEach(() => cluster.end());

  const container = (more: JsonObject) => ({ containers: [{ name: "main", image: "nginx", ...more }] });
  const waiting = async (name: string) =>
    (await cluster.stored(name)).status?.containerStatuses?.[0]?.state?.waiting ?? {};
  const phase = async (name: string) => (await cluster.stored(name)).status?.phase;
  const condition = async (name: string, type: string) =>
    (await cluster.stored(name)).status?.conditions?.find((one) => one.type === type)?.status;
  const make = (plural: string, name: string, content: JsonObject) => cluster.create(plural, name, { content });

  for (const [what, spec, message] of [
    ["a ConfigMap", { envFrom: [{ configMapRef: { name: "settings" } }] }, 'configmap "settings" not found'],
    [
      "a Secret",
      { env: [{ name: "A", valueFrom: { secretKeyRef: { name: "settings", key: "a" } } }] },
      'secret "settings" not found',
    ],
    [
      "a key",
      { env: [{ name: "A", valueFrom: { configMapKeyRef: { name: "other", key: "a" } } }] },
      "couldn't find key a in ConfigMap default/other",
    ],
  ] as const) {
    test(`waits while the environment of a container needs ${what}`, async () => {
      await make("configmaps", "other", { data: { b: "1" } });
      await cluster.run("web", container(structuredClone(spec) as unknown as JsonObject));
      assert.deepEqual(await waiting("web"), { reason: "CreateContainerConfigError", message });
      assert.deepEqual(
        [await phase("web"), await condition("web", "PodReadyToStartContainers"), await condition("web", "Ready")],
        ["Pending", "True", "False"],
      );
      await cluster.hasNews(`Warning Failed: Error: ${message}`, "web");
      await make("configmaps", "settings", { data: { a: "1" } });
      await make("secrets", "settings", { data: { a: "MQ==" } });
      await cluster.patch("configmaps", "other", { data: { a: "1" } });
      await cluster.wait(9);
      assert.equal(await phase("web"), "Pending");
      await cluster.wait(1);
      assert.equal(await phase("web"), "Running");
    });
  }

  test("starts without optional objects", async () => {
    const optional = true;
    await cluster.run("web", {
      ...container({ envFrom: [{ configMapRef: { name: "absent", optional } }] }),
      volumes: [{ name: "settings", secret: { secretName: "absent", optional } }],
    });
    assert.equal(await phase("web"), "Running");
  });

  for (const [what, volume, message] of [
    ["a ConfigMap", { configMap: { name: "settings" } }, 'SetUp: configmap "settings" not found'],
    [
      "a key of a ConfigMap",
      { configMap: { name: "other", items: [{ key: "a", path: "a" }] } },
      "SetUp: configmap references non-existent config key: a",
    ],
    ["a Secret", { secret: { secretName: "settings" } }, 'SetUp: secret "settings" not found'],
    [
      "projected objects",
      { projected: { sources: [{ configMap: { name: "settings" } }, { secret: { name: "settings" } }] } },
      'SetUp: [configmap "settings" not found, secret "settings" not found]',
    ],
    [
      "a ClusterTrustBundle",
      { projected: { sources: [{ clusterTrustBundle: { name: "trusted", path: "ca" } }] } },
      'SetUp: while getting ClusterTrustBundle: clustertrustbundle.certificates.k8s.io "trusted" not found',
    ],
    [
      "a ClusterTrustBundle of a signer",
      {
        projected: {
          sources: [
            {
              clusterTrustBundle: {
                signerName: "example.com/web",
                labelSelector: { matchLabels: { live: "yes" } },
                path: "ca",
              },
            },
          ],
        },
      },
      "SetUp: combination of signerName and labelSelector matched zero ClusterTrustBundles",
    ],
    [
      "a claim",
      { persistentVolumeClaim: { claimName: "settings" } },
      "error processing PVC default/settings: failed to fetch PVC from API server: persistentvolumeclaims " +
        '"settings" not found',
    ],
  ] as const) {
    test(`waits for a volume that needs ${what}`, async () => {
      await make("configmaps", "other", { data: { b: "1" } });
      await cluster.run("web", {
        ...container({}),
        volumes: [{ name: "v", ...structuredClone(volume) }],
      } as JsonObject);
      assert.deepEqual(await waiting("web"), { reason: "ContainerCreating" });
      assert.deepEqual([await phase("web"), await condition("web", "PodReadyToStartContainers")], ["Pending", "False"]);
      assert.equal((await cluster.stored("web")).status?.podIP, undefined);
      const expected = message.startsWith("SetUp: ")
        ? `MountVolume.SetUp failed for volume "v" : ${message.slice("SetUp: ".length)}`
        : `Unable to attach or mount volumes: unmounted volumes=[v], unattached volumes=[], failed to process volumes=[v]: ${message}`;
      await cluster.hasNews(`Warning FailedMount: ${expected}`, "web");
      await make("configmaps", "settings", { data: { a: "1" } });
      await make("secrets", "settings", { data: { a: "MQ==" } });
      await trust("trusted", undefined);
      await trust("example.com:web:a", "example.com/web");
      await cluster.patch("configmaps", "other", { data: { a: "1" } });
      const spec = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } }, volumeName: "v" };
      await make("persistentvolumeclaims", "settings", { spec });
      await bind("settings");
      await cluster.wait(1);
      assert.equal(await phase("web"), "Running");
      assert.equal((await cluster.stored("web")).status?.podIP, "10.64.0.2");
    });
  }

  const trust = (name: string, signerName: string | undefined) =>
    make("clustertrustbundles", name, {
      metadata: { name, labels: { live: "yes" } },
      spec: { trustBundle: CERTIFICATE, ...(signerName && { signerName }) },
    });

  const bind = async (name: string) => {
    const key = { namespace: "default", name };
    const options = { subresource: "status" };
    await cluster.client.patch(
      cluster.resource("persistentvolumeclaims"),
      key,
      { status: { phase: "Bound" } },
      options,
    );
  };

  test("can be deleted while it waits for a volume", async () => {
    await cluster.run("web", { ...container({}), volumes: [{ name: "v", configMap: { name: "absent" } }] });
    await cluster.client.delete(cluster.resource("pods"), { namespace: "default", name: "web" });
    await cluster.clock.advance(0);
    assert.equal(await cluster.pod("web"), undefined);
  });

  test("waits if its image has no valid name", async () => {
    await cluster.run("web", container({ image: "Nginx" }));
    const problem = "invalid reference format: repository name (library/Nginx) must be lowercase";
    const message = `Failed to apply default image tag "Nginx": couldn't parse image name "Nginx": ${problem}`;
    assert.deepEqual(await waiting("web"), { reason: "InvalidImageName", message });
    assert.deepEqual(await cluster.news("web"), [
      `Warning InspectFailed: ${message}`,
      "Warning Failed: Error: InvalidImageName",
    ]);
    const spec = { containers: [{ name: "main", image: "nginx" }] };
    const key = { namespace: "default", name: "web" };
    await cluster.client.patch(cluster.resource("pods"), key, { spec }, { isStrategic: true });
    await cluster.wait(10);
    assert.equal(await phase("web"), "Running");
  });

  test("waits if its container must not run as root and does", async () => {
    await cluster.run("web", {
      ...container({ securityContext: { runAsUser: 0 } }),
      securityContext: { runAsNonRoot: true, runAsUser: 1 },
    });
    const { uid } = (await cluster.stored("web")).metadata;
    const pod = `web_default(${uid})`;
    const message = `container's runAsUser breaks non-root policy (pod: "${pod}", container: main)`;
    assert.deepEqual(await waiting("web"), { reason: "CreateContainerConfigError", message });
  });
});
