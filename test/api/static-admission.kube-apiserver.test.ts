import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, suite, test } from "node:test";
import { type RunningBinnacle, startBinnacle } from "../support/binnacle.ts";
import { type Answer, type Client, clientFor } from "../support/client.ts";
import { type Oracle, startOracle, tokens } from "../support/oracle.ts";
import { eventually } from "../support/time.ts";
import { needs } from "../support/tools.ts";
import { patching, responding, startWebhookServer, type WebhookServer } from "../support/webhook-server.ts";

const apiVersion = "admissionregistration.k8s.io/v1";
const POLICIES = `/apis/${apiVersion}/validatingadmissionpolicies`;
const MAPS = "/api/v1/namespaces/default/configmaps";
const rule = (resources: string[], apiGroups = [""]) => ({
  resourceRules: [{ apiGroups, apiVersions: ["v1"], operations: ["CREATE", "UPDATE"], resources }],
});
const named = (name: string) => ({ name: `${name}.static.k8s.io` });
const policyName = named("p").name;

/** Policies that no API client can change: for ConfigMaps, and for policies. */
const validating = (word: string) => [
  {
    ...{ apiVersion, kind: "ValidatingAdmissionPolicy", metadata: named("p") },
    spec: {
      matchConstraints: rule(["configmaps"]),
      validations: [{ expression: `!has(object.data) || !('${word}' in object.data)`, message: `no ${word}` }],
    },
  },
  {
    ...{ apiVersion, kind: "ValidatingAdmissionPolicyBinding", metadata: named("b") },
    spec: { policyName, validationActions: ["Deny"] },
  },
  {
    ...{ apiVersion, kind: "ValidatingAdmissionPolicy", metadata: named("guard") },
    spec: {
      matchConstraints: rule(["validatingadmissionpolicies"], ["admissionregistration.k8s.io"]),
      validations: [{ expression: "object.metadata.name != 'forbidden'" }],
    },
  },
  {
    ...{ apiVersion, kind: "ValidatingAdmissionPolicyBinding", metadata: named("guard") },
    spec: { policyName: named("guard").name, validationActions: ["Deny", "Audit"] },
  },
];
const mutating = [
  {
    ...{ apiVersion, kind: "MutatingAdmissionPolicy", metadata: named("p") },
    spec: {
      matchConstraints: rule(["configmaps"]),
      reinvocationPolicy: "Never",
      mutations: [
        {
          patchType: "ApplyConfiguration",
          applyConfiguration: { expression: "Object{metadata: Object.metadata{labels: {'static': 'yes'}}}" },
        },
      ],
    },
  },
  { apiVersion, kind: "MutatingAdmissionPolicyBinding", metadata: named("b"), spec: { policyName } },
];
const documents = (objects: readonly object[]) => objects.map((one) => JSON.stringify(one)).join("\n---\n");

/** The parts of a response that both servers must have in common. */
const comparable = ({ status, headers, body }: Answer) => ({
  status,
  // The dump of a Go library's buffer is not part of the interface.
  warning: headers.warning?.replace(/, error found in #.*$/s, '"'),
  retryAfter: headers["retry-after"],
  message: body?.message,
  reason: body?.reason,
  details: body?.details,
  labels: body?.metadata?.labels,
  managers: body?.metadata?.managedFields?.map((one: { manager: string; operation: string }) => [
    one.manager,
    one.operation,
  ]),
});

suite("admission from files beside kube-apiserver", { ...needs("kube-apiserver", "etcd") }, () => {
  let folder: string;
  let hooks: WebhookServer;
  let oracle: Oracle;
  let binnacle: RunningBinnacle;
  let both: readonly Client[];

  const file = (name: string) => path.join(folder, name);
  const plugin = (name: string, manifests: string) => ({
    name,
    configuration: {
      ...{ apiVersion: "apiserver.config.k8s.io/v1", kind: `${name}Configuration` },
      staticManifestsDir: file(manifests),
    },
  });
  const same = async (method: string, at: string, body?: unknown, headers?: Record<string, string>) => {
    const answers = [];
    for (const client of both) answers.push(comparable(await client.call(method, at, body, headers)));
    assert.deepEqual(answers[1], answers[0], `${method} ${at}`);
    return answers[0] as ReturnType<typeof comparable>;
  };
  const map = (name: string, data: object) => ({ metadata: { name }, data });
  const isDenied = async (client: Client, word: string) =>
    (await client.call("POST", `${MAPS}?dryRun=All`, map("probe", { [word]: "x" }))).status === 422;

  /** Whether a folder could not be reloaded, according to metrics. */
  const hasFailed = async (client: Client) => {
    const text = String((await client.call("GET", "/metrics")).body);
    return /^apiserver_manifest_admission_config_controller_automatic_reloads_total{apiserver_id_hash="sha256:[0-9a-f]{64}",plugin="ValidatingAdmissionPolicy",status="failure"} /m.test(
      text,
    );
  };

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "binnacle-static-"));
    hooks = await startWebhookServer([]);
    await mkdir(file("validating"));
    await mkdir(file("mutating"));
    await writeFile(file("validating/a.yaml"), documents(validating("red")));
    await writeFile(file("validating/ignored.txt"), "not read");
    const items = { apiVersion: "v1", kind: "List", items: mutating };
    await writeFile(file("mutating/list.json"), JSON.stringify(items));
    const plugins = [plugin("ValidatingAdmissionPolicy", "validating"), plugin("MutatingAdmissionPolicy", "mutating")];
    const configuration = { apiVersion: "apiserver.config.k8s.io/v1", kind: "AdmissionConfiguration", plugins };
    await writeFile(file("admission.yaml"), JSON.stringify(configuration));
    const flags = [`--admission-control-config-file=${file("admission.yaml")}`];
    [oracle, binnacle] = await Promise.all([startOracle({ flags }), startBinnacle({ flags })]);
    both = [clientFor(oracle.base, tokens.admin), clientFor(binnacle.base, tokens.admin)];
  });
  after(async () => {
    await binnacle?.kill();
    await oracle?.kill();
    await hooks?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  test("policies from files are enforced, apply to policies, and cannot be named by the API", async () => {
    assert.equal((await same("POST", MAPS, map("denied", { red: "x" }))).status, 422);
    const created = await same("POST", MAPS, map("created", { blue: "x" }));
    assert.deepEqual(created.labels, { static: "yes" });
    assert.equal((await same("GET", `${POLICIES}/${policyName}`)).status, 404);
    const spec = { matchConstraints: rule(["pods"]), validations: [{ expression: "true" }] };
    assert.equal((await same("POST", POLICIES, { metadata: { name: "forbidden" }, spec })).status, 422);
    assert.equal((await same("POST", POLICIES, { metadata: { name: policyName }, spec })).status, 422);
    assert.equal((await same("POST", POLICIES, { metadata: { name: "allowed" }, spec })).status, 201);
  });

  test("counts decisions of policies like kube-apiserver", async () => {
    const spec = (failurePolicy: string) => ({
      failurePolicy,
      matchConstraints: rule(["endpoints"]),
      validations: [
        { expression: "object.metadata.labels.missing == 'x'" },
        { expression: "object.metadata.name != 'n'" },
      ],
    });
    for (const failurePolicy of ["Fail", "Ignore"]) {
      const name = failurePolicy.toLowerCase();
      await same("POST", POLICIES, { metadata: { name }, spec: spec(failurePolicy) });
      const bound = { policyName: name, validationActions: ["Warn", "Audit"] };
      await same("POST", `/apis/${apiVersion}/validatingadmissionpolicybindings`, { metadata: { name }, spec: bound });
    }
    const at = "/api/v1/namespaces/default/endpoints?dryRun=All";
    for (const client of both) {
      await eventually(async () =>
        /'ignore' .*'fail' |'fail' .*'ignore' /s.test(
          String((await client.call("POST", at, { metadata: { name: "n" } })).headers.warning),
        ),
      );
    }
    const series = async (client: Client) => {
      const text = String((await client.call("GET", "/metrics")).body);
      const lines = text
        .split("\n")
        .filter((line) => /^apiserver_(validating|mutating)_admission_policy_check/.test(line));
      const described = text
        .split("\n")
        .filter((line) => /^# .* apiserver_(validating|mutating)_admission_policy/.test(line));
      const names = lines.map((line) => line.replace(/ [^ ]*$/, "").replace(/le="[^"]*"/, "le"));
      return { described: described.sort(), names: [...new Set(names)].sort() };
    };
    const [theirs, ours] = [await series(both[0] as Client), await series(both[1] as Client)];
    assert.deepEqual(ours, theirs);
    assert.ok(theirs.names.length > 20, String(theirs.names.length));
  });

  test("reverts and warns about a mutating webhook that breaks managedFields, and passes on retryAfter of a denial", async () => {
    const wrong = { manager: "m", operation: "Update", apiVersion: "v1", fieldsType: "FieldsV1", fieldsV1: { x: {} } };
    hooks.behaviours.set("break", patching({ op: "replace", path: "/metadata/managedFields", value: [wrong] }));
    hooks.behaviours.set(
      "operation",
      patching({ op: "replace", path: "/metadata/managedFields/0/operation", value: "X" }),
    );
    hooks.behaviours.set("clear", patching({ op: "remove", path: "/metadata/managedFields" }));
    const busy = { code: 429, reason: "TooManyRequests", message: "busy", details: { retryAfterSeconds: 7 } };
    hooks.behaviours.set("busy", responding({ allowed: false, status: busy }));
    for (const [behaviour, kind, status] of [
      ["break", "mutating", 201],
      ["operation", "mutating", 201],
      ["clear", "mutating", 201],
      ["busy", "validating", 429],
      ["busy", "mutating", 429],
    ] as const) {
      const configurations = `/apis/${apiVersion}/${kind}webhookconfigurations`;
      const webhook = {
        name: "w.example.com",
        clientConfig: { url: hooks.url("both", behaviour), caBundle: hooks.caBundle },
        rules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["secrets"] }],
        sideEffects: "None",
        admissionReviewVersions: ["v1"],
      };
      await same("POST", configurations, { metadata: { name: "c" }, webhooks: [webhook] });
      const secrets = "/api/v1/namespaces/default/secrets?dryRun=All";
      hooks.received.length = 0;
      for (const [index, client] of both.entries()) {
        await eventually(async () => {
          await client.call("POST", secrets, { metadata: { name: `probe-${index}` } });
          return hooks.received.some(({ review }) => review.request.name === `probe-${index}`);
        });
      }
      const answer = await same("POST", secrets, { metadata: { name: "s" }, data: { a: "Yg==" } });
      assert.equal(answer.status, status, `${behaviour} ${JSON.stringify(answer)}`);
      for (const client of both) await client.call("DELETE", `${configurations}/c`);
      for (const client of both) {
        await eventually(async () => {
          hooks.received.length = 0;
          await client.call("POST", secrets, { metadata: { name: "gone" } });
          return hooks.received.length === 0;
        });
      }
    }
  });

  test("reloads a changed file, and keeps the previous state if one cannot be read", async () => {
    await writeFile(file("validating/a.yaml"), documents(validating("green")));
    for (const client of both) await eventually(() => isDenied(client, "green"));
    for (const client of both) assert.equal(await isDenied(client, "red"), false);
    await writeFile(file("validating/b.yaml"), documents(validating("blue")));
    // The folder has each name twice now: neither of the two servers takes it.
    for (const client of both) await eventually(() => hasFailed(client));
    await writeFile(file("mutating/list.json"), JSON.stringify({ apiVersion: "v1", kind: "List", items: [] }));
    const isUnlabelled = async (client: Client) => {
      const { body } = await client.call("POST", `${MAPS}?dryRun=All`, map("probe", {}));
      return body.metadata.labels === undefined;
    };
    for (const client of both) await eventually(() => isUnlabelled(client));
    for (const client of both) {
      assert.deepEqual([await isDenied(client, "green"), await isDenied(client, "blue")], [true, false]);
    }
  });
});
