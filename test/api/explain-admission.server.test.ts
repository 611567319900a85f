import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import type { KubeObject } from "../../src/base/api/object.ts";
import { systemEnvironment } from "../../src/base/log/system-environment.ts";
import { decodeYaml } from "../../src/data/encoding/yaml/yaml.ts";
import { runCommandLine } from "../../src/programs/cli/command-line.ts";
import { silentIo } from "../../src/programs/cli/io.suite.ts";
import { defaultConfig } from "../../src/programs/server/config.ts";
import { type Server, startServer } from "../../src/programs/server/server.ts";
import { type Client, clientFor } from "../support/client.ts";
import { eventually } from "../support/time.ts";

const PAGE = path.join(import.meta.dirname, "..", "..", "docs", "admission.md");
const EXPLAIN = "/binnacle/admission/explain";
const REGISTRATION = "/apis/admissionregistration.k8s.io/v1";
const BLUE = Buffer.from("blue").toString("base64");
const RBAC = "/apis/rbac.authorization.k8s.io/v1";

/** A policy for ConfigMaps, with params. */
const policy = {
  kind: "ValidatingAdmissionPolicy",
  metadata: { name: "color" },
  spec: {
    paramKind: { apiVersion: "v1", kind: "Secret" },
    matchConstraints: {
      resourceRules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["*"], resources: ["configmaps"] }],
    },
    matchConditions: [
      { name: "colored", expression: "request.operation != 'DELETE' && has(object.data) && has(object.data.color)" },
    ],
    variables: [{ name: "wanted", expression: "params.data.color" }],
    validations: [
      { expression: "object.data.color == variables.wanted", messageExpression: "'no ' + object.data.color" },
    ],
    auditAnnotations: [{ key: "wanted", valueExpression: "string(variables.wanted)" }],
  },
};
const binding = {
  kind: "ValidatingAdmissionPolicyBinding",
  metadata: { name: "color" },
  spec: {
    policyName: "color",
    validationActions: ["Deny"],
    paramRef: { name: "color", namespace: "kube-system", parameterNotFoundAction: "Deny" },
  },
};
const map = (name: string, data: object) => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data });

describe("what admission would do is explained", () => {
  let folder: string;
  let server: Server;
  let admin: Client;
  let alice: Client;
  let page: string;

  const create = async (at: string, object: object) => {
    const { status, body } = await admin.call("POST", at, object);
    assert.equal(status, 201, JSON.stringify(body));
  };
  const explain = async (args: readonly string[]): Promise<string> => {
    const io = silentIo();
    const kubeconfig = ["--kubeconfig", path.join(folder, "kubeconfig")];
    assert.equal(await runCommandLine(["explain-admission", ...args, ...kubeconfig], io), 0, io.err());
    return io.out();
  };

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "binnacle-explain-"));
    const tokenAuthFile = path.join(folder, "tokens");
    await writeFile(tokenAuthFile, "token-of-alice,alice,1\n");
    const own = { certDir: folder, securePort: 0, shutdownGraceMs: 100, tokenAuthFile } as const;
    server = await startServer({ ...defaultConfig, ...own }, systemEnvironment());
    admin = clientFor(server.url, server.token);
    alice = clientFor(server.url, "token-of-alice");
    page = await readFile(PAGE, "utf8");
    await create("/api/v1/namespaces", { metadata: { name: "dev" } });
    const section = page.slice(page.indexOf("## Policies"), page.indexOf("## Webhooks"));
    for (const [, text = ""] of section.matchAll(/```yaml\n(.*?)```/gs)) {
      for (const one of text.split("---\n")) {
        const object = decodeYaml(Buffer.from(one)).value as KubeObject;
        await create(`${REGISTRATION}/${`${object.kind.toLowerCase()}s`.replace(/ys$/, "ies")}`, object);
      }
    }
    await create("/api/v1/namespaces/kube-system/secrets", {
      metadata: { name: "color" },
      data: { color: BLUE },
    });
    await create(`${REGISTRATION}/validatingadmissionpolicies`, policy);
    await create(`${REGISTRATION}/validatingadmissionpolicybindings`, binding);
    const subjects = [{ kind: "User", apiGroup: "rbac.authorization.k8s.io", name: "alice" }];
    const rules = [{ apiGroups: ["", "apps"], resources: ["configmaps", "deployments"], verbs: ["*"] }];
    await create(`${RBAC}/clusterroles`, { metadata: { name: "writer" }, rules });
    await create(`${RBAC}/clusterrolebindings`, {
      metadata: { name: "alice" },
      subjects,
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "writer" },
    });
    await eventually(async () => {
      const { body } = await admin.call("POST", EXPLAIN, { object: map("a", { color: "red" }), user: "alice" });
      return body.steps?.some((step: { plugin: string }) => step.plugin === "ValidatingAdmissionPolicy") === true;
    });
  });
  after(async () => {
    await server.close();
    await rm(folder, { recursive: true });
  });

  test("prints the output shown in docs/admission.md", async () => {
    const section = page.slice(page.indexOf("## Explain a verdict"));
    const [, file = "", text = ""] = /`([\w.]+)`:\n\n```yaml\n(.*?)```/s.exec(section) ?? [];
    await writeFile(path.join(folder, file), text);
    const [, args = "", expected = ""] =
      /```console\n\$ binnacle explain-admission ([^\n]*)\n(.*?)```/s.exec(section) ?? [];
    const given = args.split(" ").map((one) => (one === file ? path.join(folder, file) : one));
    assert.equal(await explain(given), expected);
    const json = JSON.parse(await explain([...given, "-o", "json"]));
    assert.equal(json.verdict, "refused");
    assert.deepEqual(json.steps.at(-1).notes[0].expressions[0].inputs, [
      { expression: "object.spec.replicas", value: 9 },
    ]);
  });

  test("explains updates with the stored object, applies and deletes; stores nothing", async () => {
    await create("/api/v1/namespaces/dev/configmaps", map("kept", {}));
    for (const [operation, data, code, outcome] of [
      ["update", { color: "red" }, 422, "denied"],
      ["update", { color: BLUE }, 200, "allowed"],
      ["apply", { color: "green" }, 422, "denied"],
      ["delete", {}, 200, "skipped"],
    ] as const) {
      const asked = { operation, object: map("kept", data), namespace: "dev", user: "alice" };
      const { body } = await admin.call("POST", EXPLAIN, asked);
      assert.equal(body.code, code, JSON.stringify(body));
      const judged = body.steps.find((step: { plugin: string }) => step.plugin === "ValidatingAdmissionPolicy");
      assert.equal(judged.notes[0].outcome, outcome);
    }
    const { body } = await admin.call("GET", "/api/v1/namespaces/dev/configmaps/kept");
    assert.equal(body.data, undefined);
  });

  test("reports the source of a rejection outside of admission", async () => {
    const asked = (object: object, user = "alice") => admin.call("POST", EXPLAIN, { object, user });
    const bob = await asked(map("a", {}), "bob");
    assert.deepEqual([bob.body.code, bob.body.refusedBy], [403, "authorization, before admission"]);
    assert.deepEqual(bob.body.steps, []);
    const invalid = await asked(map("a", { "/": "x" }));
    assert.match(invalid.body.refusedBy, /^the validation of the object/);
    const gone = await admin.call("POST", EXPLAIN, { object: map("a", {}), user: "alice", namespace: "nowhere" });
    assert.deepEqual([gone.body.code, gone.body.refusedBy], [404, "NamespaceLifecycle"]);
  });

  test("requires permission, and impersonation rights for other users", async () => {
    const asked = { object: map("a", { color: "red" }), user: "alice" };
    assert.equal((await alice.call("POST", EXPLAIN, asked)).status, 403);
    assert.equal((await admin.call("GET", EXPLAIN)).status, 405);
    const roles = [
      { nonResourceURLs: [EXPLAIN], verbs: ["post"] },
      { apiGroups: ["admissionregistration.k8s.io"], resources: ["*"], verbs: ["get"] },
    ];
    await create(`${RBAC}/clusterroles`, { metadata: { name: "explain" }, rules: roles });
    await create(`${RBAC}/clusterrolebindings`, {
      metadata: { name: "explain" },
      subjects: [{ kind: "User", apiGroup: "rbac.authorization.k8s.io", name: "alice" }],
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "explain" },
    });
    await eventually(async () => (await alice.call("POST", EXPLAIN, { object: map("a", {}) })).status === 200);
    const other = await alice.call("POST", EXPLAIN, { ...asked, user: "bob" });
    assert.equal(other.status, 403);
    assert.match(other.body.message, /User "alice" cannot impersonate/);
    // Alice may read policies, but no Secrets of kube-system.
    const { body } = await alice.call("POST", EXPLAIN, { object: map("a", { color: "red" }) });
    assert.equal(body.code, 422);
    const note = body.steps.at(-1).notes[0];
    assert.deepEqual(note.expressions[1].inputs, [
      { expression: "object.data.color", value: "red" },
      { expression: "variables.wanted", error: "hidden: you may not get secrets kube-system/color" },
    ]);
    assert.ok(!JSON.stringify(body).includes(BLUE), JSON.stringify(body));
  });

  test("rejects malformed requests, and names that lead to other paths", async () => {
    const object = map("a", {});
    for (const body of [
      undefined,
      [],
      {},
      { object: 1 },
      { object, operation: "connect" },
      { object, user: 1 },
      { object, groups: [1] },
      { object: { ...object, kind: "None" } },
      { object: { ...object, metadata: { namespace: "a/pods" } } },
      { object, namespace: "../.." },
      { object: { ...object, metadata: { name: "a/status" } }, operation: "update" },
      { object: { ...object, metadata: {} }, operation: "delete" },
    ]) {
      const { status } = await admin.call("POST", EXPLAIN, body);
      assert.equal(status, 400, JSON.stringify(body));
    }
    const large = { object: map("a", { large: "x".repeat(3 * 1024 * 1024) }) };
    assert.equal((await admin.call("POST", EXPLAIN, large)).status, 413);
  });
});
