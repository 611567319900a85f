import assert from "node:assert/strict";
import * as hooks from "node:test";
import { suite, test } from "node:test";
import { AppsV1Api, CoreV1Api } from "@kubernetes/client-node";
import { forkPerTest } from "./fork-per-test.ts";

const namespace = "default";
const cp = forkPerTest(hooks, {
  controllers: "*",
  manifests: `
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata:
  name: simulated
  annotations: { storageclass.kubernetes.io/is-default-class: "true" }
provisioner: simulated.binnacle.dev
allowVolumeExpansion: true
`,
});

const core = () => cp().client(CoreV1Api);
const labels = { app: "db" };
const claimTemplate = {
  metadata: { name: "data" },
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
};

suite("simulated storage", () => {
  test("lets StatefulSets run with the rights of each controller", async () => {
    const body = {
      metadata: { name: "db" },
      spec: {
        replicas: 2,
        serviceName: "db",
        podManagementPolicy: "Parallel",
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: "main", image: "db" }] } },
        volumeClaimTemplates: [claimTemplate],
        persistentVolumeClaimRetentionPolicy: { whenDeleted: "Delete" },
      },
    };
    await cp().client(AppsV1Api).createNamespacedStatefulSet({ namespace, body });
    await cp().settled();
    const claims = await core().listNamespacedPersistentVolumeClaim({ namespace });
    assert.deepEqual(
      claims.items.map(({ metadata, status }) => [metadata?.name, status?.phase, status?.capacity?.storage]),
      [
        ["data-db-0", "Bound", "1Gi"],
        ["data-db-1", "Bound", "1Gi"],
      ],
    );
    const patch = [{ op: "replace", path: "/spec/resources/requests/storage", value: "3Gi" }];
    await core().patchNamespacedPersistentVolumeClaim({ namespace, name: "data-db-0", body: patch });
    await cp().settled();
    const { status } = await core().readNamespacedPersistentVolumeClaim({ namespace, name: "data-db-0" });
    assert.equal(status?.capacity?.storage, "3Gi");
    await cp().client(AppsV1Api).deleteNamespacedStatefulSet({ namespace, name: "db" });
    await cp().settled();
    assert.deepEqual((await core().listPersistentVolume()).items, []);
  });

  test("creates the claims of ephemeral volumes", async () => {
    const volumes = [{ name: "data", ephemeral: { volumeClaimTemplate: { spec: claimTemplate.spec } } }];
    const spec = { containers: [{ name: "main", image: "web" }], volumes };
    await core().createNamespacedPod({ namespace, body: { metadata: { name: "web" }, spec } });
    await cp().settled();
    const { status } = await core().readNamespacedPersistentVolumeClaim({ namespace, name: "web-data" });
    assert.equal(status?.phase, "Bound");
  });
});
