import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, suite, test } from "node:test";
import { clientFor } from "../../../../test/support/client.ts";
import { eventually } from "../../../../test/support/time.ts";
import type { JsonObject, KubeObject } from "../../../base/api/object.ts";
import { widgetsDefinition } from "../../../base/util/widgets.suite.ts";
import { readObjects } from "../../../data/encoding/documents/read-objects.ts";
import { startServer } from "../../library/start-server.ts";
import { runCommandLine } from "../command-line.ts";
import { silentIo } from "../io.suite.ts";

const definition = widgetsDefinition({ size: { type: "integer" } });
const widget = {
  apiVersion: "shop.example/v1",
  kind: "Widget",
  metadata: { name: "w", namespace: "default", ownerReferences: [] },
  spec: { size: 1 },
};
const settings = {
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "settings", namespace: "default", labels: { app: "x" } },
  data: { text: "a\nb\n" },
};

type Ask = (method: string, path: string, body?: object) => Promise<JsonObject>;

/** Compares what JSON can say. */
const plain = (value: unknown) => JSON.parse(JSON.stringify(value ?? null));

suite("binnacle export, import and diff", () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "binnacle-state-"));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  const at = (name: string) => path.join(folder, name);

  async function run(...args: string[]): Promise<{ code: number; out: string; err: string }> {
    const io = silentIo({}, folder);
    const code = await runCommandLine(args, io);
    return { code, out: io.out(), err: io.err() };
  }

  /** The objects of a dump by kind and name. */
  async function objects(text: string): Promise<Map<string, KubeObject>> {
    async function* pieces() {
      yield Buffer.from(text);
    }
    const found = new Map<string, KubeObject>();
    for await (const { object } of readObjects(pieces())) {
      const { namespace = "", name } = object.metadata;
      found.set(`${object.apiVersion} ${object.kind} ${namespace}/${name}`, object);
    }
    return found;
  }

  /** Starts a server on a file, does something with it and stops it. */
  async function serving<T>(file: string, work: (ask: Ask, kubeconfig: string) => Promise<T>): Promise<T> {
    const options = { store: { type: "sqlite", file } as const, log: false, controllers: "none" } as const;
    await using server = await startServer({ ...options, customObjects: "defined", shutdownGraceMs: 0 });
    await writeFile(at("kubeconfig"), server.kubeconfig);
    const client = clientFor(server.url, server.token);
    const ask: Ask = async (method, path, body) => {
      const answer = await client.call(method, path, body);
      assert.ok(answer.status < 300, JSON.stringify(answer.body));
      return answer.body;
    };
    return await work(ask, at("kubeconfig"));
  }

  test("exports the state of a server and imports it unchanged", async () => {
    const dump = await serving(at("first.db"), async (ask, kubeconfig) => {
      await ask("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition);
      const widgets = "/apis/shop.example/v1/namespaces/default/widgets";
      await eventually(() => ask("GET", widgets).then(Boolean, () => false), { everyMs: 20 });
      await ask("POST", widgets, widget);
      await ask("POST", "/api/v1/namespaces/default/configmaps", settings);
      const { code, out, err } = await run("export", "--kubeconfig", kubeconfig);
      assert.deepEqual([code, err], [0, ""]);
      return out;
    });
    const exported = await objects(dump);
    const [first, second] = exported.keys();
    assert.match(`${first}; ${second}`, /CustomResourceDefinition \/widgets\.shop\.example; v1 Namespace /);
    const { uid, resourceVersion, managedFields } = exported.get("v1 ConfigMap default/settings")?.metadata ?? {};
    assert.ok(uid && Number(resourceVersion) > 0 && managedFields?.length === 1);
    await writeFile(at("dump.yaml"), dump);

    const imported = await run("import", "-f", at("dump.yaml"), "--store", `sqlite:${at("second.db")}`);
    assert.match(imported.out, /^Imported \d+ objects with their resource versions, up to \d+\.\n$/);
    const fromFile = await run("export", "--store", `sqlite:${at("second.db")}`, "-o", "json");
    assert.equal(fromFile.code, 0);
    const again = await objects(fromFile.out);
    for (const [name, object] of exported) {
      const stored = [...again.values()].find(({ metadata, kind }) => {
        return kind === object.kind && metadata.uid === object.metadata.uid;
      });
      assert.deepEqual(plain(stored?.metadata), plain(object.metadata), name);
      if (stored?.apiVersion === object.apiVersion) assert.deepEqual(plain(stored), plain(object));
    }
    assert.equal(again.size, exported.size);

    await serving(at("second.db"), async (ask) => {
      const served = await ask("GET", "/apis/shop.example/v1/namespaces/default/widgets/w");
      assert.deepEqual(plain(served), plain(exported.get("shop.example/v1 Widget default/w")));
      const map = await ask("GET", "/api/v1/namespaces/default/configmaps/settings");
      assert.deepEqual(plain(map), plain(exported.get("v1 ConfigMap default/settings")));
      const made = await ask("POST", "/api/v1/namespaces/default/configmaps", {
        ...settings,
        metadata: { name: "new" },
      });
      assert.ok(Number((made as KubeObject).metadata.resourceVersion) > Number(resourceVersion));
    });

    await writeFile(at("m.yaml"), JSON.stringify({ ...settings, data: { text: "c" } }));
    const diff = await run("diff", "-f", at("m.yaml"), "--state", at("dump.yaml"), "--force-conflicts");
    assert.match(diff.out, /^ConfigMap default\/settings would change$/m);
    assert.match(diff.out, /^\+ {2}text: c$/m);
    assert.match(diff.out, /^0 created, 1 changed, 0 unchanged, 0 denied$/m);
    assert.deepEqual([diff.code, diff.err], [1, ""]);
    const fromStore = await run("diff", "-f", at("m.yaml"), "--state", at("first.db"), "--force-conflicts");
    assert.deepEqual([fromStore.code, fromStore.out], [1, diff.out]);
    const refused = await run("diff", "-f", at("m.yaml"), "--state", at("dump.yaml"), "--as", "jane", "-o", "json");
    assert.equal(refused.code, 2);
    assert.equal(JSON.parse(refused.out).objects[0].refusal.rule.type, "RBAC");
  });

  test("does not import into an existing file, duplicate revisions, or manifests", async () => {
    const stored = (name: string, resourceVersion: string) => ({
      ...settings,
      metadata: { ...settings.metadata, name, uid: name, resourceVersion },
    });
    const list = (items: readonly object[]) => JSON.stringify({ apiVersion: "v1", kind: "List", items });
    await writeFile(at("twice.json"), list([stored("a", "7"), stored("a", "7"), stored("b", "7")]));
    await writeFile(at("manifest.json"), list([settings]));
    await writeFile(
      at("unknown.json"),
      list([{ ...widget, metadata: { ...widget.metadata, uid: "x", resourceVersion: "1" } }]),
    );
    const cases: readonly (readonly [file: string, message: RegExp])[] = [
      ["twice.json", /configmaps\/default\/a and \S+configmaps\/default\/b have the same revision, 7/],
      ["manifest.json", /ConfigMap default\/settings has no metadata\.uid: it is a manifest/],
      ["unknown.json", /unknown kind Widget in shop\.example\/v1/],
    ];
    for (const [file, message] of cases) {
      const { code, err } = await run("import", "-f", at(file), "--store", `sqlite:${at("third.db")}`);
      assert.equal(code, 1);
      assert.match(err, message);
      assert.ok(!existsSync(at("third.db")), "nothing is left");
    }
    const store = ["--store", `sqlite:${at("third.db")}`];
    const counted = await run("import", "-f", at("twice.json"), ...store, "--resource-versions", "new");
    assert.equal(counted.out, "Imported 3 objects with new resource versions.\n");
    assert.match((await run("import", "-f", at("twice.json"), ...store)).err, /already exists/);
    await writeFile(at("other.json"), list([{ ...stored("a", "9"), data: {} }]));
    const other = await run("import", "-f", at("other.json"), ...store, "--resource-versions", "new");
    assert.match(other.err, /configmaps\/default\/a already exists in the store/);
  });

  test("reports errors, and a failed diff has its own exit code", async () => {
    const cases: readonly (readonly [args: readonly string[], code: number, message: RegExp])[] = [
      [["diff"], 3, /flag --filename or --kustomize is required/],
      [["diff", "-f", at("none.yaml")], 3, /none\.yaml: no such file or folder/],
      [["diff", "-f", at("m.yaml"), "--state", at("none.yaml")], 3, /none\.yaml: no such file or folder/],
      [["diff", "-f", at("m.yaml"), "-o", "html"], 3, /--output=html/],
      [["import", "-f", at("m.yaml")], 1, /no store to import to/],
      [["export", "--snapshot", at("none.db")], 1, /none\.db/],
      [["export", "--snapshot", "x", "--store", "sqlite:y"], 1, /more than one source/],
      [["export", "--store", "memory"], 1, /only a running server has a memory store/],
      [["export", "--kubeconfig", at("none")], 1, /--kubeconfig=.*none: no such file/],
    ];
    for (const [args, expected, message] of cases) {
      const { code, err } = await run(...args);
      assert.match(err, message);
      assert.equal(code, expected, args.join(" "));
    }
  });
});
