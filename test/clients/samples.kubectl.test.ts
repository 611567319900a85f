import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { type RunningBinnacle, type StoreName, startBinnacle } from "../support/binnacle.ts";
import { type Kubectl, kubectlFor, startKubectl } from "../support/kubectl.ts";
import { readSamples } from "../support/samples.ts";
import { eventually } from "../support/time.ts";
import { needsStore } from "../support/tools.ts";

const NAMESPACE = "kubectl-test";
const samples = readSamples(NAMESPACE, "k");
/** Two versions of one kind share one store, so each version gets names of its own. */
const manifests = samples.map((sample, index) => {
  const name = sample.body.metadata.name;
  const isFixed = sample.resource.startsWith("apiservices") || name.includes(":");
  const metadata = { ...sample.body.metadata, name: isFixed ? name : `${name}-${index}` };
  return {
    ...sample,
    body: { ...sample.body, metadata: sample.isNamespaced ? { ...metadata, namespace: NAMESPACE } : metadata },
  };
});
/** One document each, as a file of manifests has them. */
const listOf = (items: readonly unknown[]) => items.map((item) => JSON.stringify(item)).join("\n---\n");

interface StoredObject {
  readonly metadata: { readonly labels?: Record<string, string> };
}

for (const store of ["memory", "sqlite", "etcd"] satisfies StoreName[]) {
  describe(`kubectl on ${store}`, { ...needsStore(store, "kubectl") }, () => {
    let server: RunningBinnacle;
    let kubectl: Kubectl;

    async function succeed(args: readonly string[], input?: string): Promise<string> {
      const { code, stdout, stderr } = await kubectl(args, { input });
      assert.equal(code, 0, `kubectl ${args.join(" ")}\n${stderr}`);
      return stdout;
    }

    before(async () => {
      server = await startBinnacle({ store });
      kubectl = kubectlFor(server.kubeconfig);
      const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: NAMESPACE } };
      const account = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "default", namespace: NAMESPACE } };
      await succeed(["create", "-f", "-"], listOf([namespace, account]));
    });
    after(() => server.kill());

    test("api-resources lists every kind of the specification", async () => {
      const names = new Set((await succeed(["api-resources", "-o", "name"])).split("\n"));
      for (const { resource } of manifests) {
        const [plural, , ...group] = resource.split(".");
        assert.ok(names.has([plural, ...group].join(".")), resource);
      }
    });

    test("explain knows every kind of the specification", async () => {
      for (const { resource, body } of manifests) {
        const [plural = ""] = resource.split(".");
        const text = await succeed(["explain", plural, `--api-version=${body.apiVersion}`]);
        assert.match(text, new RegExp(`KIND: +${body.kind}\\n`));
        assert.match(text, /metadata\t<ObjectMeta>/);
      }
    });

    test("every kind of the specification is created, watched, read, replaced and deleted", async (t) => {
      const watches = await Promise.all(
        manifests.map(({ resource }) =>
          startKubectl(server.kubeconfig, ["get", resource, "-n", NAMESPACE, "-w", "-o", "name"]),
        ),
      );
      t.after(() => Promise.all(watches.map((watch) => watch.kill())));
      const all = listOf(manifests.map(({ body }) => body));
      const created = await succeed(["create", "-f", "-"], all);
      assert.equal(created.trim().split("\n").length, manifests.length);

      const table = await succeed(["get", "-f", "-", "-o", "wide"], all);
      for (const { body } of manifests) assert.ok(table.includes(body.metadata.name), body.metadata.name);

      const stored = JSON.parse(await succeed(["get", "-f", "-", "-o", "json"], all)) as { items: StoredObject[] };
      const changed = stored.items.map(({ metadata, ...rest }) => ({
        ...rest,
        metadata: { ...metadata, labels: { ...metadata.labels, changed: "yes" } },
      }));
      const replaced = await succeed(["replace", "-f", "-"], listOf(changed));
      assert.equal(replaced.trim().split("\n").length, manifests.length);
      const selected = await succeed(["get", "-f", "-", "-o", "jsonpath={.items[*].metadata.labels.changed}"], all);
      assert.equal(selected.split(" ").length, manifests.length);

      const deleted = await succeed(["delete", "--wait=false", "--grace-period=0", "--force", "-f", "-"], all);
      assert.equal(deleted.trim().split("\n").length, manifests.length);

      // One line each for the creation, the replacement and the deletion.
      for (const [index, { body, resource }] of manifests.entries()) {
        const seen = () => watches[index]?.output() ?? "";
        const lines = () =>
          seen()
            .split("\n")
            .filter((line) => line.endsWith(`/${body.metadata.name}`)).length;
        const what = () => `${resource} ${body.metadata.name}: ${seen()}`;
        await eventually(() => lines() >= 3, { everyMs: 20, what });
      }
    });
  });
}
