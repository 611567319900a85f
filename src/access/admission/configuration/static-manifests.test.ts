import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { World } from "../admission.suite.ts";
import { readAdmissionFile } from "./configuration-file.ts";
import { readStaticPolicies } from "./static-policies.ts";
import { readStaticWebhooks } from "./static-webhooks.ts";

const KIND = "ValidatingAdmissionPolicy";
const apiVersion = "admissionregistration.k8s.io/v1";
const rules = [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods"] }];
const policy = (name: string, spec: object = {}) => ({
  ...{ apiVersion, kind: KIND, metadata: { name } },
  spec: { matchConstraints: { resourceRules: rules }, validations: [{ expression: "true" }], ...spec },
});
const binding = (name: string, spec: object = {}) => ({
  ...{ apiVersion, kind: `${KIND}Binding`, metadata: { name } },
  spec: { policyName: "a.static.k8s.io", validationActions: ["Deny"], ...spec },
});
const a = policy("a.static.k8s.io");

test("rejects invalid manifests with the file and the reason", async (t) => {
  const folder = await mkdtemp(path.join(tmpdir(), "binnacle-manifests-"));
  t.after(() => rm(folder, { recursive: true }));
  const { resources } = new World();
  let count = 0;
  const folderOf = async (...texts: (object | string)[]) => {
    count += 1;
    const own = path.join(folder, String(count));
    await mkdir(own);
    for (const [index, text] of texts.entries()) {
      await writeFile(path.join(own, `${index}.yaml`), typeof text === "string" ? text : JSON.stringify(text));
    }
    return own;
  };
  for (const [texts, message] of [
    [[policy("a")], /"a" in file ".*0.yaml" must have a name ending with ".static.k8s.io"/],
    [[{ ...a, metadata: {} }], /resource in file ".*" must have a name/],
    [[a, a], /duplicate name "a.static.k8s.io" found in file ".*1.yaml" \(previously seen in ".*0.yaml"\)/],
    [
      [policy("a.static.k8s.io", { validations: [{ expression: "1 +" }] })],
      /error loading .*spec.validations\[0\].expression/,
    ],
    [[{ ...a, surprise: 1 }], /strict decoding error: unknown field "surprise"/],
    [
      [policy("a.static.k8s.io", { paramKind: { apiVersion: "v1", kind: "ConfigMap" } })],
      /spec.paramKind is not supported/,
    ],
    [
      [a, binding("b.static.k8s.io", { paramRef: { name: "x", parameterNotFoundAction: "Deny" } })],
      /spec.paramRef is not supported/,
    ],
    [[a, binding("b.static.k8s.io", { policyName: "a" })], /spec.policyName "a" must end with ".static.k8s.io"/],
    [
      [binding("b.static.k8s.io")],
      /references policy "a.static.k8s.io" which does not exist in the manifest directory/,
    ],
    [
      [{ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a.static.k8s.io" } }],
      /unsupported resource type v1 ConfigMap/,
    ],
    [[{ ...a, apiVersion: "admissionregistration.k8s.io/v1beta1" }], /unsupported resource type/],
    [["just text"], /not an object/],
    [["a: [1"], /error loading .*0.yaml/],
    [["x".repeat(4 * 1024 * 1024 + 1)], /larger than/],
  ] as const) {
    await assert.rejects(readStaticPolicies(await folderOf(...texts), KIND, resources), message);
  }
  await assert.rejects(readStaticPolicies(path.join(folder, "missing"), KIND, resources), /ENOENT/);
  const list = { apiVersion, kind: `${KIND}BindingList`, items: [{ ...binding("c.static.k8s.io"), kind: undefined }] };
  const both = await folderOf(`${JSON.stringify(a)}\n---\n---\n${JSON.stringify(list)}`, "");
  const read = await readStaticPolicies(both, KIND, resources);
  assert.deepEqual([read.policies.length, read.bindings.length], [1, 1]);
  assert.deepEqual(
    read.policies.map(({ spec }) => (spec as { failurePolicy: string }).failurePolicy),
    ["Fail"],
  );
  const webhook = (clientConfig: object) => ({
    ...{ apiVersion, kind: "ValidatingWebhookConfiguration", metadata: { name: "w.static.k8s.io" } },
    webhooks: [{ name: "w.example.com", clientConfig, rules, sideEffects: "None", admissionReviewVersions: ["v1"] }],
  });
  const atService = await folderOf(webhook({ service: { namespace: "n", name: "s" } }));
  const kind = "ValidatingWebhookConfiguration";
  await assert.rejects(
    readStaticWebhooks(atService, kind, resources),
    /clientConfig.service is not supported for static/,
  );
  const { webhooks } = await readStaticWebhooks(await folderOf(webhook({ url: "https://127.0.0.1" })), kind, resources);
  assert.deepEqual([webhooks.length, webhooks[0]?.isFixed], [1, true]);
});

test("reads the manifest folders of an AdmissionConfiguration", async (t) => {
  const folder = await mkdtemp(path.join(tmpdir(), "binnacle-manifests-"));
  t.after(() => rm(folder, { recursive: true }));
  const file = path.join(folder, "admission.yaml");
  const write = (...plugins: object[]) => writeFile(file, JSON.stringify({ kind: "AdmissionConfiguration", plugins }));
  const own = { kind: `${KIND}Configuration`, staticManifestsDir: folder };
  await writeFile(path.join(folder, "own.yaml"), JSON.stringify(own));
  for (const plugin of [{ configuration: own }, { path: "own.yaml" }]) {
    await write({ name: KIND, ...plugin });
    assert.equal((await readAdmissionFile(file)).ValidatingAdmissionPolicy?.manifests, folder);
  }
  await write({ name: KIND, configuration: { ...own, staticManifestsDir: "relative" } });
  await assert.rejects(readAdmissionFile(file), /staticManifestsDir: Invalid value: "relative": must be an absolute/);
  await write({ name: KIND, configuration: { ...own, kind: "WebhookAdmissionConfiguration" } });
  await assert.rejects(readAdmissionFile(file), /unexpected type: WebhookAdmissionConfiguration/);
  await write({ name: "PodSecurity", configuration: {} });
  await assert.rejects(readAdmissionFile(file), /plugin "PodSecurity" cannot be configured/);
});
