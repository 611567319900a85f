import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, describe, test } from "node:test";
import { startBinnacle } from "../support/binnacle.ts";
import { clientFor } from "../support/client.ts";
import { startOracle, tokens } from "../support/oracle.ts";
import { eventually } from "../support/time.ts";
import { needs } from "../support/tools.ts";

const POLICY = `
apiVersion: audit.k8s.io/v1
kind: Policy
rules:
- {level: None, users: ["system:apiserver"]}
- {level: None, nonResourceURLs: ["/readyz*"]}
- {level: Request, omitStages: [RequestReceived], resources: [{resources: [services]}]}
- {level: RequestResponse, omitManagedFields: true, resources: [{resources: [limitranges]}]}
- level: RequestResponse
  resources:
  - {resources: [configmaps, secrets, pods, serviceaccounts, "serviceaccounts/*", namespaces]}
  - {group: authorization.k8s.io}
  - {group: authentication.k8s.io}
- {level: Metadata}
`;

const NS = "/api/v1/namespaces/default";
const MAPS = `${NS}/configmaps`;
const map = (name: string, more: object = {}) => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name }, ...more });
const limits = { apiVersion: "v1", kind: "LimitRange", metadata: { name: "l" }, spec: { limits: [] } };
const service = {
  apiVersion: "v1",
  kind: "Service",
  metadata: { name: "s" },
  spec: { type: "ExternalName", externalName: "x.y" },
};
const review = {
  apiVersion: "authorization.k8s.io/v1",
  kind: "SelfSubjectAccessReview",
  spec: { resourceAttributes: { verb: "get", resource: "pods" } },
};
const merge = { "content-type": "application/merge-patch+json" };
const apply = { "content-type": "application/apply-patch+yaml" };
const as = (view: string) => ({ accept: `application/json;as=${view};v=v1;g=meta.k8s.io` });
const bob = { "impersonate-user": "bob", "impersonate-group": "g", "impersonate-extra-k": "v", "impersonate-uid": "u" };

interface Step {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
  /** Whose token; the administrator's unless told. */
  readonly token?: string;
}

const step = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
  token?: string,
): Step => ({
  ...{ method, path, body },
  ...(headers && { headers }),
  ...(token !== undefined && { token }),
});

const STEPS: readonly Step[] = [
  step("GET", NS),
  step("POST", MAPS, map("a", { data: { k: "v" } })),
  step("GET", `${MAPS}/a`),
  step("PUT", `${MAPS}/a`, map("a", { data: { k: "w" } })),
  step("PATCH", `${MAPS}/a`, { data: { k: "x" } }, merge),
  step("PATCH", `${MAPS}/a?fieldManager=m&force=true`, map("a", { data: { k: "z" } }), apply),
  step("POST", MAPS, map("large", { data: { k: "x".repeat(100_000) } })),
  step("PUT", `${MAPS}/large`, map("large", { data: { k: "y".repeat(100_000), "no key": "" } })),
  step("DELETE", `${MAPS}/large`),
  step("GET", MAPS),
  step("GET", MAPS, undefined, as("PartialObjectMetadataList")),
  step("GET", `${MAPS}?watch=1&timeoutSeconds=1&resourceVersion=abc`),
  step("DELETE", `${MAPS}/a`, { kind: "DeleteOptions", apiVersion: "v1", gracePeriodSeconds: 0 }),
  step("DELETE", `${MAPS}/a`),
  step("POST", MAPS, map("A")),
  step("POST", MAPS, { apiVersion: "v1", kind: "ConfigMap", metadata: { generateName: "g-" } }),
  step("DELETE", MAPS),
  step("POST", `${MAPS}?dryRun=All`, map("dry", { metadata: { name: "dry", namespace: "other" } })),
  step("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", review),
  step("GET", MAPS, undefined, bob),
  step("GET", `${MAPS}/none`, undefined, { "impersonate-user": "bob", "impersonate-group": "system:masters" }),
  step("GET", MAPS, undefined, { "impersonate-group": "x" }),
  step("GET", "/version"),
  step("GET", "/api"),
  step("GET", "/nonsense?a=b%20c"),
  step("GET", "/apis/nogroup/v1/things"),
  step("GET", MAPS, undefined, {}, tokens.alice),
  step("POST", MAPS, map("b"), {}, tokens.alice),
  step("GET", MAPS, undefined, {}, "wrong"),
  step("GET", "/version", undefined, {}, "wrong"),
  step("GET", "/apis/apps/v1/deployments", undefined, { "x-forwarded-for": "1.2.3.4, x, ::1", "x-real-ip": "9.9.9.9" }),
  step("PUT", "/apis/apps/v1/deployments", {}),
  step("GET", "/apis/apps/v1/deployments", undefined, { accept: "text/none" }),
  step("GET", "/version", undefined, { "user-agent": "u".repeat(1100) }),
  step("POST", `${NS}/limitranges`, limits),
  step("GET", `${NS}/limitranges`),
  step("POST", `${NS}/services`, service),
  step("DELETE", `${NS}/services/s`),
];

/** Requests about secrets, which kube-apiserver writes down as the policy says, and Binnacle never does. */
const SECRET_VALUE = "not-to-be-seen";
const TOKEN = { apiVersion: "authentication.k8s.io/v1", kind: "TokenReview", spec: { token: SECRET_VALUE } };
const secret = (name: string) => ({
  ...{ apiVersion: "v1", kind: "Secret", metadata: { name } },
  stringData: { k: SECRET_VALUE },
});
const SECRET_STEPS: readonly Step[] = [
  step("POST", `${NS}/secrets`, secret("s")),
  step("POST", `${NS}/secrets`, { ...secret("bad"), type: SECRET_VALUE.repeat(100) }),
  step("POST", `${NS}/secrets`, SECRET_VALUE),
  step("PATCH", `${NS}/secrets/s`, { stringData: { k: SECRET_VALUE } }, merge),
  step("GET", `${NS}/secrets`),
  step("POST", `${NS}/serviceaccounts`, { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "sa" } }),
  step("POST", `${NS}/serviceaccounts/sa/token`, {
    apiVersion: "authentication.k8s.io/v1",
    kind: "TokenRequest",
    spec: {},
  }),
  step("POST", "/apis/authentication.k8s.io/v1/tokenreviews", TOKEN),
];

type Event = Record<string, unknown> & { auditID: string; stage: string };

async function run(base: string, steps: readonly Step[], log: string, prefix: string): Promise<Event[]> {
  for (const [index, { method, path: target, body, headers, token }] of steps.entries()) {
    const client = clientFor(base, token ?? tokens.admin);
    await client.call(method, target, body, { ...headers, "audit-id": `${prefix}-${index}` });
  }
  const last = `${prefix}-${steps.length - 1}`;
  const read = async () => (await readFile(log, "utf8")).split("\n").filter((line) => line.includes(`"${prefix}-`));
  await eventually(async () =>
    (await read()).some((line) => line.includes(`"${last}"`) && line.includes("ResponseComplete")),
  );
  const events: Event[] = (await read()).map((line) => JSON.parse(line));
  // A request's last event may come after the first one of the next.
  return events.toSorted((a, b) => Number(a.auditID.split("-")[1]) - Number(b.auditID.split("-")[1]));
}

const VARYING = new Set([
  "uid",
  "resourceVersion",
  "creationTimestamp",
  "time",
  "requestReceivedTimestamp",
  "stageTimestamp",
]);

/** What must be alike, with everything that is made anew by each server replaced. */
function comparable(value: unknown, key = ""): unknown {
  if (Array.isArray(value)) return value.map((item) => comparable(item));
  if (typeof value === "string") return VARYING.has(key) ? `<${key}>` : value.replaceAll(/\bg-[a-z0-9]{5}\b/g, "g-x");
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).filter(([name]) => !name.startsWith("apiserver.latency.k8s.io/"));
  return Object.fromEntries(members.map(([name, member]) => [name, comparable(member, name)]));
}

describe("audit events, compared with the real kube-apiserver's", {
  ...needs("kube-apiserver", "etcd"),
}, async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "binnacle-audit-"));
  after(() => rm(folder, { recursive: true }));
  const policy = path.join(folder, "policy.yaml");
  const flags = (log: string) => [`--audit-policy-file=${policy}`, `--audit-log-path=${path.join(folder, log)}`];

  test("the same requests give the same events, and secrets give none of their values", async (t) => {
    await writeFile(policy, POLICY);
    const [oracle, binnacle] = await Promise.all([
      startOracle({ flags: flags("theirs") }),
      startBinnacle({ flags: [...flags("ours"), "--authorization-mode=RBAC", "--custom-objects=defined"] }),
    ]);
    t.after(() => Promise.all([oracle.kill(), binnacle.kill()]));
    const theirs = await run(oracle.base, STEPS, path.join(folder, "theirs"), "step");
    const ours = await run(binnacle.base, STEPS, path.join(folder, "ours"), "step");
    const order = (events: Event[]) => events.map(({ auditID, stage }) => `${auditID} ${stage}`);
    assert.deepEqual(order(ours), order(theirs));
    assert.ok(ours.length > 60, "events were written");
    for (const [index, event] of ours.entries()) {
      assert.deepEqual(comparable(event), comparable(theirs[index]), `${event.auditID} ${event.stage}`);
    }
    const secrets = await run(binnacle.base, SECRET_STEPS, path.join(folder, "ours"), "secret");
    assert.ok(secrets.every(({ level }) => level === "Metadata" || level === "RequestResponse"));
    const text = await readFile(path.join(folder, "ours"), "utf8");
    const encoded = Buffer.from(SECRET_VALUE).toString("base64");
    for (const value of [SECRET_VALUE, encoded, "eyJ"]) assert.ok(!text.includes(value), `the log has ${value}`);
    const issued = secrets.find(
      ({ objectRef, stage }) => JSON.stringify(objectRef).includes('"token"') && stage === "ResponseComplete",
    );
    assert.match(JSON.stringify(issued?.annotations), /"authentication.kubernetes.io\/issued-credential-id":"JTI=/);
  });
});
