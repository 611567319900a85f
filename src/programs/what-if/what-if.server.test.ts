import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, suite, test } from "node:test";
import type { KubeObject } from "../../base/api/object.ts";
import { printYaml } from "../../data/encoding/yaml/yaml-print.ts";
import type { Judgement } from "./judge.ts";
import { printDiff } from "./print-diff.ts";
import { type Output, reporterFor } from "./report.ts";
import { configMap, established, owned, policy, stored, widget, widgets } from "./shop.suite.ts";
import { type WhatIfOptions, whatIf } from "./what-if.ts";

async function all(judgements: AsyncIterable<Judgement>): Promise<Judgement[]> {
  const list: Judgement[] = [];
  for await (const one of judgements) list.push(one);
  return list;
}

suite("whatIf", () => {
  let folder: string;
  let files = 0;
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "binnacle-what-if-"));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  const write = async (text: string, end = "yaml"): Promise<string> => {
    const file = path.join(folder, `${++files}.${end}`);
    await writeFile(file, text);
    return file;
  };
  const yaml = (objects: readonly object[]) => objects.map((one) => `---\n${printYaml(one as KubeObject)}`).join("");

  async function judgements(
    state: readonly object[],
    manifests: readonly object[],
    more: Partial<WhatIfOptions> = {},
  ): Promise<Judgement[]> {
    const list = { apiVersion: "v1", kind: "List", metadata: {}, items: state };
    const options = {
      state: [await write(JSON.stringify(list), "json")],
      files: [await write(yaml(manifests))],
      ...more,
    };
    return all(whatIf(options));
  }

  const verdicts = (judged: readonly Judgement[]) =>
    judged.map(
      ({ verdict, kind, name, refusal }) => `${kind} ${name}: ${verdict}${refusal ? ` ${refusal.rule.type}` : ""}`,
    );

  test("reports created, changed, unchanged and conflicting objects", async () => {
    const fields = { "f:data": { "f:a": {} } };
    const state = [
      stored(configMap("mine", { a: "1", b: "2" }, { managedFields: owned("v1", fields) })),
      stored(configMap("same", { a: "1" }, { managedFields: owned("v1", fields) })),
      stored(configMap("theirs", { a: "1" })),
    ];
    const manifests = ["mine", "same", "theirs", "new"].map((name) =>
      configMap(name, { a: name === "same" ? "1" : "2" }),
    );
    const judged = await judgements(state, manifests);
    assert.deepEqual(verdicts(judged), [
      "ConfigMap mine: changed",
      "ConfigMap same: unchanged",
      "ConfigMap theirs: refused field ownership",
      "ConfigMap new: created",
    ]);
    const [mine, , theirs] = judged;
    assert.match(
      mine?.diff ?? "",
      /^--- live\/v1\.ConfigMap\.shop\.mine\n\+\+\+ merged\/.*\n@@ [^\n]+\n( [^\n]*\n)*- {2}a: "1"\n\+ {2}a: "2"\n/,
    );
    assert.ok(!mine?.diff.includes("managedFields"));
    assert.deepEqual([theirs?.refusal?.code, theirs?.refusal?.causes[0]?.field], [409, ".data.a"]);
    const forced = await judgements(state, manifests, { apply: { forceConflicts: true } });
    assert.deepEqual(verdicts(forced)[2], "ConfigMap theirs: changed");
    assert.equal(forced[2]?.object?.metadata.uid, state[2]?.metadata.uid);
  });

  test("reports denials by policies, quotas, schemas, roles and unknown fields", async () => {
    const quota = { hard: { configmaps: "2" } };
    const state = [
      stored(widget("old", 2)),
      stored({ ...widgets, status: established }),
      ...policy.map((one) => stored(one)),
      stored(configMap("one", {})),
      stored({
        apiVersion: "v1",
        kind: "ResourceQuota",
        metadata: { name: "few", namespace: "shop" },
        spec: quota,
        status: { ...quota, used: { configmaps: "1" } },
      }),
    ];
    const manifests = [
      configMap("secretive", { password: "x" }),
      configMap("two", {}),
      configMap("three", {}),
      widget("big", 5),
      widget("plain"),
      { ...widget("odd"), spec: { colour: "red" } },
      { ...widget("lost"), metadata: { name: "lost", namespace: "nowhere" } },
      { ...widget("x"), kind: "Gadget" },
    ];
    const judged = await judgements(state, manifests);
    assert.deepEqual(verdicts(judged), [
      "ConfigMap secretive: refused ValidatingAdmissionPolicy",
      "ConfigMap two: created",
      "ConfigMap three: refused ResourceQuota",
      "Widget big: refused validation",
      "Widget plain: created",
      "Widget odd: refused schema",
      "Widget lost: refused Namespace",
      "Gadget x: refused kind",
    ]);
    assert.deepEqual(judged[0]?.refusal?.rule, {
      type: "ValidatingAdmissionPolicy",
      name: "no-secrets-in-maps",
      binding: "everywhere",
    });
    assert.match(judged[2]?.refusal?.message ?? "", /exceeded quota: few, requested: configmaps=1, used: configmaps=2/);
    assert.deepEqual(judged[4]?.object?.spec, { size: 1 });
    const isolated = await judgements(state, manifests.slice(0, 3), { apply: { isIsolated: true } });
    assert.deepEqual(verdicts(isolated).slice(1), ["ConfigMap two: created", "ConfigMap three: created"]);
    const jane = await judgements(state, [configMap("two", {})], {
      apply: { as: { user: "jane", groups: ["readers"] } },
    });
    assert.deepEqual([jane[0]?.refusal?.code, jane[0]?.refusal?.rule.type], [403, "RBAC"]);
  });

  test("counts the usage of quotas in a state without it, and enforces quotas of manifests", async () => {
    const metadata = { name: "few", namespace: "shop" };
    const quota = { apiVersion: "v1", kind: "ResourceQuota", metadata, spec: { hard: { configmaps: "2" } } };
    const maps = ["a", "b", "c"].map((name) => configMap(name, {}));
    const [, ...fresh] = maps;
    const expected = ["ConfigMap b: created", "ConfigMap c: refused ResourceQuota"];
    // Manifests as the state: the order does not matter, and objects of the state may exceed the quota.
    assert.deepEqual(verdicts(await judgements([quota, configMap("a", {})], fresh)), expected);
    assert.deepEqual(verdicts(await judgements([quota, ...maps], [configMap("d", {})])), [
      "ConfigMap d: refused ResourceQuota",
    ]);
    // An export of a server that ran no resourcequota-controller.
    assert.deepEqual(verdicts(await judgements([stored(quota), stored(configMap("a", {}))], fresh)), expected);
    const zero = { ...quota, spec: { hard: { configmaps: "0" } } };
    assert.deepEqual(verdicts(await judgements([stored(configMap("x", {}))], [zero, configMap("a", {})])), [
      "ResourceQuota few: created",
      "ConfigMap a: refused ResourceQuota",
    ]);
  });

  test("keeps the recorded usage of a quota if the dump lacks objects", async () => {
    const hard = { configmaps: "3", secrets: "1" };
    const used = { configmaps: "2", secrets: "1" };
    const quota = { apiVersion: "v1", kind: "ResourceQuota", metadata: { name: "few", namespace: "shop" } };
    const state = [stored({ ...quota, spec: { hard }, status: { hard, used } })];
    const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "s", namespace: "shop" } };
    assert.deepEqual(verdicts(await judgements(state, [configMap("a", {}), configMap("b", {}), secret])), [
      "ConfigMap a: created",
      "ConfigMap b: refused ResourceQuota",
      "Secret s: refused ResourceQuota",
    ]);
  });

  test("warns about quotas that were not enforced", async () => {
    const quota = {
      ...{ apiVersion: "v1", kind: "ResourceQuota", metadata: { name: "few", namespace: "shop" } },
      spec: { hard: { configmaps: "0" } },
    };
    const told: string[] = [];
    const options = { config: { controllers: "none" }, warn: (text: string) => void told.push(text) };
    await judgements([quota], [configMap("a", {})], options);
    assert.deepEqual(told, [
      "ResourceQuota shop/few was not enforced: its usage is unknown, because resourcequota-controller does not run",
    ]);
  });

  test("names the missing permission of a user who may patch, but not create", async () => {
    const apiVersion = "rbac.authorization.k8s.io/v1";
    const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "patcher" };
    const state = [
      configMap("x", {}),
      {
        ...{ apiVersion, kind: "ClusterRole", metadata: { name: "patcher" } },
        rules: [{ apiGroups: [""], resources: ["configmaps"], verbs: ["patch"] }],
      },
      {
        ...{ apiVersion, kind: "ClusterRoleBinding", metadata: { name: "patcher" }, roleRef },
        subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "jane" }],
      },
    ];
    const [judged] = await judgements(state, [configMap("a", {})], { apply: { as: { user: "jane", groups: [] } } });
    assert.equal(judged?.refusal?.rule.type, "RBAC");
    assert.equal(
      judged?.refusal?.message,
      'configmaps "a" is forbidden: User "jane" cannot create resource "configmaps" in API group "" in the namespace "shop"',
    );
  });

  test("applies manifests in order: a namespace, a definition, a policy, and objects that need them", async () => {
    const inside = { metadata: { name: "x", namespace: "fresh" } };
    const pod = { apiVersion: "v1", kind: "Pod", ...inside, spec: { containers: [{ name: "c", image: "i" }] } };
    const manifests = [
      { ...widget("early"), metadata: inside.metadata },
      { apiVersion: "v1", kind: "Namespace", metadata: { name: "fresh" } },
      pod,
      widgets,
      { ...widget("late"), metadata: inside.metadata },
      { ...configMap("x", { password: "y" }), metadata: inside.metadata },
      ...policy,
      { ...configMap("z", { password: "y" }), metadata: { name: "z", namespace: "fresh" } },
    ];
    assert.deepEqual(verdicts(await judgements([], manifests)), [
      "Widget x: refused kind",
      "Namespace fresh: created",
      "Pod x: created",
      "CustomResourceDefinition widgets.shop.example: created",
      "Widget x: created",
      "ConfigMap x: created",
      "ValidatingAdmissionPolicy no-secrets-in-maps: created",
      "ValidatingAdmissionPolicyBinding everywhere: created",
      "ConfigMap z: refused ValidatingAdmissionPolicy",
    ]);
  });

  test("accepts separate definitions, and manifests as the state", async () => {
    const crds = [await write(yaml([widgets]))];
    const judged = await judgements([configMap("mine", { a: "1" })], [widget("w"), configMap("mine", { a: "1" })], {
      crds,
    });
    assert.deepEqual(verdicts(judged), ["Widget w: created", "ConfigMap mine: unchanged"]);
  });

  test("adds missing namespaces of the state with their ServiceAccounts", async () => {
    const spec = { containers: [{ name: "c", image: "i" }] };
    const pod = { apiVersion: "v1", kind: "Pod", metadata: { name: "p", namespace: "shop" }, spec };
    const judged = await judgements([stored(configMap("x", {}))], [pod]);
    assert.deepEqual(verdicts(judged), ["Pod p: created"]);
    const alone = await judgements([stored(configMap("x", {}))], [pod], { config: { controllers: "none" } });
    assert.deepEqual(verdicts(alone), ["Pod p: refused ServiceAccount"]);
  });

  test("warns about objects of unknown kinds, and skips them", async () => {
    const told: string[] = [];
    await judgements([stored(widget("w"))], [configMap("x", {})], { warn: (text) => told.push(text) });
    assert.deepEqual(told, [
      "skipped 1 objects of Widget in shop.example/v1: the dump lacks their CustomResourceDefinition",
    ]);
  });

  test("does not call webhooks, and warns about them", async () => {
    const webhook = {
      name: "w.shop.example",
      clientConfig: { url: "https://127.0.0.1:1/" },
      rules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["*"], resources: ["configmaps"], scope: "*" }],
      failurePolicy: "Fail",
      sideEffects: "None",
      admissionReviewVersions: ["v1"],
    };
    const kind = "ValidatingWebhookConfiguration";
    const apiVersion = "admissionregistration.k8s.io/v1";
    const told: string[] = [];
    const state = [
      stored({ apiVersion, kind, metadata: { name: "w" }, webhooks: [webhook] }),
      stored(configMap("a", {})),
    ];
    const manifest = { apiVersion, kind, metadata: { name: "m" }, webhooks: [webhook] };
    for (const one of [state, [manifest, configMap("a", {})]]) {
      const judged = await judgements(one, [configMap("b", {})], { warn: (text) => told.push(text) });
      assert.deepEqual(verdicts(judged), ["ConfigMap b: created"]);
    }
    assert.deepEqual(told, [
      "webhook w was not called; its verdict is unknown",
      "webhook m was not called; its verdict is unknown",
    ]);
  });

  test("rejects names with slashes and of a wrong type", async () => {
    const named = (metadata: object) => ({ apiVersion: "v1", kind: "ConfigMap", metadata });
    const manifests = [
      named({ name: "../x" }),
      named({ name: ".." }),
      named({ name: 5 }),
      named({ name: "x", namespace: "a/b" }),
      named({ name: "x", namespace: 5 }),
      named({ generateName: "x-" }),
    ];
    const judged = await judgements([], manifests);
    assert.ok(judged.every(({ refusal }) => refusal?.rule.type === "manifest" && refusal.code === 0));
  });

  test("masks values of Secrets in all formats", async () => {
    const secret = (data: object) => ({
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "s", namespace: "shop" },
      type: "Opaque",
      data,
    });
    const [before, next] = ["b2xkLXNlY3JldA==", "bmV3LXNlY3JldA=="];
    const state = await write(JSON.stringify(stored(secret({ a: before, b: before }))), "json");
    const manifests = await write(yaml([secret({ a: next, c: next })]));
    const print = async (output: Output) => {
      let text = "";
      const judged = whatIf({ state: [state], files: [manifests], apply: { forceConflicts: true } });
      const code = await printDiff(judged, reporterFor(output), (piece) => {
        text += piece;
      });
      assert.equal(code, 1);
      return text;
    };
    for (const output of ["text", "markdown", "json", "junit"] as const) {
      const text = await print(output);
      assert.ok(!text.includes(before) && !text.includes(next), text);
      assert.match(text, /\*\*\* \(before\)/);
    }
  });

  test("exits with 2 after a denial and 0 without changes, and prints the reason in all formats", async () => {
    const state = await write(
      JSON.stringify(stored(configMap("a", { x: "1" }, { managedFields: owned("v1", { "f:data": { "f:x": {} } }) }))),
      "json",
    );
    const print = async (manifests: readonly object[], output: Output) => {
      let text = "";
      const files = [await write(yaml(manifests))];
      const code = await printDiff(whatIf({ state: [state], files }), reporterFor(output), (piece) => {
        text += piece;
      });
      return { code, text };
    };
    const same = configMap("a", { x: "1" });
    assert.deepEqual(await print([same], "text"), { code: 0, text: "0 created, 0 changed, 1 unchanged, 0 denied\n" });
    const bad = { ...configMap("no <name>", {}), data: { x: "1" } };
    const { code, text } = await print([same, bad], "text");
    assert.equal(code, 2);
    assert.match(text, /ConfigMap shop\/no <name> would be denied by validation\n {2}in .*, line 9\n/);
    const json = JSON.parse((await print([same, bad], "json")).text);
    assert.deepEqual(json.summary, { created: 0, changed: 0, unchanged: 1, refused: 1 });
    assert.equal(json.objects[1].refusal.reason, "Invalid");
    const junit = (await print([same, bad], "junit")).text;
    assert.match(junit, /<testsuite name="binnacle diff" tests="2" failures="1"/);
    assert.match(junit, /<testcase name="ConfigMap shop\/no &lt;name&gt;" .*<failure type="validation"/);
  });

  const wrong: Readonly<Record<string, readonly [state: string, manifests: string, message: RegExp]>> = {
    "a state that is not YAML": ["a: [", "", /1\.yaml|line 1: cannot decode the object that begins here/],
    "an object that does not match its schema": [
      printYaml(stored({ ...configMap("x", {}), data: { a: ["no text"] } })),
      "",
      /line 1: ConfigMap shop\/x does not match its kind: .*data/,
    ],
    "a name with a slash": [printYaml(stored(configMap("../x", {}))), "", /has no valid metadata\.name/],
    "manifests that are not YAML": ["", "kind: A\n  b: c", /line 1: cannot decode the object that begins here/],
  };
  for (const [what, [state, manifests, message]] of Object.entries(wrong)) {
    test(`reports ${what} with the file`, async () => {
      const options = { state: [await write(state)], files: [await write(manifests)] };
      await assert.rejects(all(whatIf(options)), (error: Error) => {
        assert.match(error.message, message);
        assert.match(error.message, /\d\.yaml: /);
        return true;
      });
    });
  }
});
