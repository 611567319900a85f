import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import { type RunningBinnacle, startBinnacle } from "../support/binnacle.ts";
import { type Client, clientFor } from "../support/client.ts";
import { tokens } from "../support/oracle.ts";
import { eventually } from "../support/time.ts";

const GROUP = "rbac.authorization.k8s.io";
const RBAC = `/apis/${GROUP}/v1`;
const ROLES = `${RBAC}/clusterroles`;
const BINDINGS = `${RBAC}/clusterrolebindings`;
const REVIEWS = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
const TOKENS = "/api/v1/namespaces/kube-system/serviceaccounts/default/token";
const REQUESTS = "/apis/certificates.k8s.io/v1/certificatesigningrequests";

type Content = Readonly<Record<string, unknown>>;

const EVERYTHING = [{ apiGroups: ["*"], resources: ["*"], verbs: ["*"] }];
const GET_PODS = { apiGroups: [""], resources: ["pods"], verbs: ["get"] };
/** Alice may write roles and bindings, but neither escalate nor bind, except for the role `view`. */
const RIGHTS = [
  {
    apiGroups: [GROUP],
    resources: ["roles", "rolebindings", "clusterroles", "clusterrolebindings"],
    verbs: ["get", "list", "create", "update", "patch", "delete"],
  },
  { apiGroups: [GROUP], resources: ["clusterroles"], verbs: ["bind"], resourceNames: ["view"] },
  GET_PODS,
  { apiGroups: [""], resources: ["pods/log"], verbs: ["get"] },
  { apiGroups: [""], resources: ["users"], verbs: ["impersonate"], resourceNames: ["frank"] },
  { apiGroups: ["authentication.k8s.io"], resources: ["userextras/scopes"], verbs: ["impersonate"] },
];

const role = (name: string, rules: readonly Content[], more: Content = {}): Content => ({
  ...{ apiVersion: `${GROUP}/v1`, kind: "ClusterRole", metadata: { name } },
  ...{ rules, ...more },
});
const aggregated = (labels: Content): Content => ({
  aggregationRule: { clusterRoleSelectors: [{ matchLabels: labels }] },
});
const ALICE = [{ kind: "User", apiGroup: GROUP, name: "alice" }];
const binding = (name: string, to: string, kind = "ClusterRole"): Content => ({
  ...{ metadata: { name }, roleRef: { apiGroup: GROUP, kind, name: to } },
  subjects: ALICE,
});

interface Attempt {
  /** Default: POST. */
  readonly method?: "PUT" | "PATCH" | "GET";
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Default: 403. */
  readonly code?: number;
}

const created = (rule: Content): Attempt => ({ path: ROLES, body: role("new", [rule]) });
const patched = (type: string, body: unknown, query = ""): Attempt => ({
  ...{ method: "PATCH", path: `${ROLES}/held${query}`, body },
  headers: { "content-type": `application/${type}` },
});
const impersonated = (headers: Readonly<Record<string, string>>, code = 403): Attempt => ({
  ...{ path: REVIEWS, body: {}, headers, code },
});

const ATTEMPTS: Readonly<Record<string, Attempt>> = {
  "a role with all rights": { path: ROLES, body: role("new", EVERYTHING) },
  "a role with all subresources of pods": created({ ...GET_PODS, resources: ["pods/*"] }),
  "a role with the logs of everything": created({ ...GET_PODS, resources: ["*/log"] }),
  "a role with another subresource": created({ ...GET_PODS, resources: ["pods/exec"] }),
  "a role with another verb": created({ ...GET_PODS, verbs: ["get", "delete"] }),
  "a role with another group": created({ ...GET_PODS, apiGroups: ["", "apps"] }),
  "a role with all paths": created({ nonResourceURLs: ["*"], verbs: ["get"] }),
  "a role with the path of metrics": created({ nonResourceURLs: ["/metrics"], verbs: ["get"] }),
  "a role in a namespace with all rights": {
    path: `${RBAC}/namespaces/default/roles`,
    body: { metadata: { name: "new" }, rules: EVERYTHING },
  },
  "a role that aggregates all others": {
    path: ROLES,
    body: role("new", [], { aggregationRule: { clusterRoleSelectors: [{}] } }),
  },
  "a role that aggregates none yet": { path: ROLES, body: role("new", [], aggregated({ a: "b" })) },
  "a merge patch of a role": patched("merge-patch+json", { rules: EVERYTHING }),
  "a JSON patch of a role": patched("json-patch+json", [{ op: "replace", path: "/rules", value: EVERYTHING }]),
  "a strategic merge patch of a role": patched("strategic-merge-patch+json", { rules: EVERYTHING }),
  "an apply of a role": patched("apply-patch+yaml", role("held", EVERYTHING), "?fieldManager=x&force=true"),
  "an apply that creates a role": {
    ...patched("apply-patch+yaml", role("applied", EVERYTHING)),
    path: `${ROLES}/applied?fieldManager=x&force=true`,
  },
  "an update of a role": { method: "PUT", path: `${ROLES}/held`, body: role("held", EVERYTHING) },
  "an update that creates a role": { method: "PUT", path: `${ROLES}/new`, body: role("new", EVERYTHING) },
  "an aggregation rule for a role": patched(
    "merge-patch+json",
    aggregated({ "kubernetes.io/bootstrapping": "rbac-defaults" }),
  ),
  "an old version of roles": { path: ROLES.replace("/v1/", "/v1beta1/"), body: role("new", EVERYTHING), code: 404 },
  "a dry run": { path: `${ROLES}?dryRun=All`, body: role("new", EVERYTHING) },
  "a binding to cluster-admin": { path: BINDINGS, body: binding("new", "cluster-admin") },
  "a binding to cluster-admin in a namespace": {
    path: `${RBAC}/namespaces/default/rolebindings`,
    body: binding("new", "cluster-admin"),
  },
  "a binding to another role than the one she may bind": {
    path: BINDINGS,
    body: binding("new", "system:aggregate-to-edit"),
  },
  "a binding to a Role with the name of the ClusterRole": {
    ...{ path: `${RBAC}/namespaces/default/rolebindings`, body: binding("new", "view", "Role") },
    code: 404,
  },
  "a binding to a role that may exist later": { path: BINDINGS, body: binding("new", "later"), code: 404 },
  "another subject of cluster-admin": {
    ...{ method: "PATCH", path: `${BINDINGS}/cluster-admin`, body: { subjects: ALICE } },
    headers: { "content-type": "application/merge-patch+json" },
  },
  "the administrator's name": impersonated({ "impersonate-user": "admin" }),
  "the group of administrators": impersonated({ "impersonate-user": "frank", "impersonate-group": "system:masters" }),
  "a group without a user": impersonated({ "impersonate-group": "system:masters" }, 400),
  "a service account": impersonated({ "impersonate-user": "system:serviceaccount:kube-system:default" }),
  "a uid": impersonated({ "impersonate-user": "frank", "impersonate-uid": "1" }),
  "another extra": impersonated({
    "impersonate-user": "frank",
    "impersonate-extra-authentication.kubernetes.io%2fpod-name": "a",
  }),
  "a token of another account": { path: TOKENS, body: { spec: {} } },
  "an explanation of the rights of others": {
    path: "/binnacle/auth/explain",
    body: { spec: { user: "frank", resourceAttributes: { verb: "get", resource: "secrets" } } },
  },
  "a certificate request": {
    path: REQUESTS,
    body: {
      metadata: { name: "masters" },
      spec: { request: "eA==", signerName: "kubernetes.io/kube-apiserver-client", usages: ["client auth"] },
    },
  },
  metrics: { method: "GET", path: "/metrics" },
  "metrics with a path of dots": { method: "GET", path: "/healthz/../metrics" },
  "metrics with an escape": { method: "GET", path: "/%6detrics" },
  secrets: { method: "GET", path: "/api/v1/secrets" },
};

/** What she may do: the rejections have other reasons than mistakes of this test. */
const ALLOWED: Readonly<Record<string, Attempt>> = {
  "a role with her own rights": { path: ROLES, body: role("own", [GET_PODS]), code: 201 },
  "a binding to the role she may bind": { path: BINDINGS, body: binding("view", "view"), code: 201 },
  "the user she may impersonate": impersonated({ "impersonate-user": "frank", "impersonate-extra-scopes": "a" }, 201),
};

suite("a user who may write roles cannot escalate by", () => {
  let server: RunningBinnacle;
  let alice: Client;

  const send = ({ method, path, body, headers }: Attempt) => alice.call(method ?? "POST", path, body, { ...headers });

  before(async () => {
    server = await startBinnacle();
    const admin = clientFor(server.base, tokens.admin);
    alice = clientFor(server.base, tokens.alice);
    for (const [path, body] of [
      [ROLES, role("writer", RIGHTS)],
      [ROLES, role("held", [GET_PODS])],
      [BINDINGS, binding("writer", "writer")],
    ] as const) {
      assert.equal((await admin.call("POST", path, body)).status, 201);
    }
    await eventually(async () => (await alice.call("GET", ROLES)).status === 200);
  });
  after(() => server?.kill());

  for (const [name, attempt] of Object.entries(ATTEMPTS)) {
    test(name, async () => {
      const { status, body } = await send(attempt);
      assert.equal(status, attempt.code ?? 403, JSON.stringify(body));
    });
  }

  test("but may do what her rights allow", async () => {
    for (const [name, attempt] of Object.entries(ALLOWED)) {
      const { status, body } = await send(attempt);
      assert.equal(status, attempt.code, `${name}: ${JSON.stringify(body)}`);
    }
  });

  test("X-Remote-* headers without the front proxy's certificate", async () => {
    const headers = { "x-remote-user": "admin", "x-remote-group": "system:masters" };
    const { body } = await send({ path: REVIEWS, body: {}, headers });
    assert.equal(body.status.userInfo.username, "alice");
    assert.ok(!body.status.userInfo.groups.includes("system:masters"));
  });

  test("and nothing of it has had an effect", async () => {
    const admin = clientFor(server.base, tokens.admin);
    assert.deepEqual((await admin.call("GET", `${ROLES}/held`)).body.rules, [GET_PODS]);
    for (const name of ["new", "applied"]) assert.equal((await admin.call("GET", `${ROLES}/${name}`)).status, 404);
    assert.equal((await admin.call("GET", `${BINDINGS}/new`)).status, 404);
    assert.equal((await alice.call("GET", "/api/v1/secrets")).status, 403);
  });
});
