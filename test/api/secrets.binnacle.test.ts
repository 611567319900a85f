import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { RawClient } from "../cost/raw-client.ts";
import type { CostlyRequest } from "../cost/server.ts";
import { startBinnacle } from "../support/binnacle.ts";
import { SECRET_MARK, SecretSearch } from "../support/secrets.ts";

const SECRETS = "/api/v1/namespaces/default/secrets";
const MAPS = "/api/v1/namespaces/default/configmaps";

const base64 = (text: string) => Buffer.from(text).toString("base64");
const json = (value: unknown) => Buffer.from(JSON.stringify(value));

/** A request with a value that only its own response may contain. */
type Telling = (value: string) => CostlyRequest;

const create = (rest: object, name = "bad"): CostlyRequest => ({
  method: "POST",
  path: SECRETS,
  body: json({ metadata: { name }, ...rest }),
});
const patch = (type: string, body: unknown): CostlyRequest => ({
  method: "PATCH",
  path: `${SECRETS}/kept?fieldManager=other`,
  headers: { "content-type": `application/${type}` },
  body: json(body),
});

/** Writes that succeed, are rejected or fail, each in another part of the server. */
const WRITES: Readonly<Record<string, Telling>> = {
  "a create": (value) => create({ data: { a: base64(value) }, stringData: { b: value } }, "kept"),
  "a create of what exists": (value) => create({ data: { a: base64(value) } }, "kept"),
  "a type that does not fit": (value) => create({ type: "kubernetes.io/dockerconfigjson", stringData: { x: value } }),
  "a key that is not valid": (value) => create({ stringData: { "a b": value } }),
  "a value that is no base64": (value) => create({ data: { a: `${value}!` } }),
  "a value of the wrong type": (value) => create({ data: [value] }),
  "a name that is no name": (value) => create({ stringData: { a: value } }, "A_B"),
  "an unknown field, Strict": (value) => ({ ...create({ other: value }), path: `${SECRETS}?fieldValidation=Strict` }),
  "a body that ends early": (value) => ({
    method: "POST",
    path: SECRETS,
    body: Buffer.from(`{"stringData":{"a":"${value}`),
  }),
  "a body that is no protobuf": (value) => ({
    method: "POST",
    path: SECRETS,
    headers: { "content-type": "application/vnd.kubernetes.protobuf" },
    body: Buffer.from(`k8s\0${value}`),
  }),
  "a body that is no YAML": (value) => ({
    method: "POST",
    path: SECRETS,
    headers: { "content-type": "application/yaml" },
    body: Buffer.from(`a: [${value}`),
  }),
  "a body of an unknown type": (value) => ({
    method: "POST",
    path: SECRETS,
    headers: { "content-type": "text/plain" },
    body: Buffer.from(value),
  }),
  "a value that is too large": (value) => create({ stringData: { a: value + "x".repeat(1_100_000) } }),
  "a patch to another version": () => patch("merge-patch+json", { apiVersion: "a/b/c" }),
  "a JSON patch that fails": (value) => patch("json-patch+json", [{ op: "test", path: "/data/a", value }]),
  "a strategic patch with a wrong directive": (value) =>
    patch("strategic-merge-patch+json", { data: { $patch: value }, stringData: { a: value } }),
  "an apply that conflicts": (value) =>
    patch("apply-patch+yaml", {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "kept" },
      data: { a: base64(value) },
    }),
  "an update of an old version": (value) => ({
    method: "PUT",
    path: `${SECRETS}/kept`,
    body: json({ metadata: { name: "kept", resourceVersion: "1" }, stringData: { a: value } }),
  }),
  "a delete with another uid": (value) => ({
    method: "DELETE",
    path: `${SECRETS}/kept`,
    body: json({ preconditions: { uid: value } }),
  }),
  "a token review": (value) => ({
    method: "POST",
    path: "/apis/authentication.k8s.io/v1/tokenreviews",
    body: json({ apiVersion: "authentication.k8s.io/v1", kind: "TokenReview", spec: { token: value } }),
  }),
  "a wrong token": (value) => ({ method: "GET", path: SECRETS, headers: { authorization: `Bearer ${value}` } }),
  "a password": (value) => ({
    method: "GET",
    path: SECRETS,
    headers: { authorization: `Basic ${base64(`a:${value}`)}` },
  }),
  "a token in a query": (value) => ({ method: "GET", path: `${MAPS}?access_token=${encodeURIComponent(value)}` }),
  "a token as a subprotocol": (value) => ({
    method: "GET",
    path: `${MAPS}?watch=1&timeoutSeconds=1`,
    headers: {
      authorization: "",
      "sec-websocket-protocol": `base64url.bearer.authorization.k8s.io.${Buffer.from(value).toString("base64url")}`,
    },
  }),
  "a cookie": (value) => ({ method: "GET", path: MAPS, headers: { cookie: `token=${value}` } }),
};

/** Requests of a user that must not see any of the values. */
const OTHERS: readonly CostlyRequest[] = [
  { method: "GET", path: `${SECRETS}/missing` },
  { method: "POST", path: MAPS, body: json({ metadata: { name: "A" } }) },
  { method: "GET", path: `${MAPS}?labelSelector=a%20b` },
  { method: "GET", path: "/api/v1/namespaces/default/nothing" },
  { method: "GET", path: "/metrics" },
  { method: "GET", path: "/readyz?verbose" },
  { method: "GET", path: `${SECRETS}/kept`, headers: { authorization: "" } },
];

suite("secrets and tokens", () => {
  test("are not in any output of the server, nor in responses to other requests", async (t) => {
    const server = await startBinnacle();
    const client = new RawClient(server.base, 300_000);
    // Ends with an error where the server wrote one of them.
    t.after(() => server.kill());
    t.after(() => client.close());
    const answers = new SecretSearch();
    for (const [index, [name, telling]] of Object.entries(WRITES).entries()) {
      const value = `${SECRET_MARK}-${index}-${"+/=?".repeat(3)}-${index}`;
      server.secrets.add(`the value of ${name}`, value);
      const { status } = await client.send(telling(value));
      assert.notEqual(status, 0, name);
      for (const other of OTHERS) answers.read(JSON.stringify((await client.send(other)).body));
      answers.add(`the value of ${name}`, value);
    }
    for (const other of OTHERS) answers.read(JSON.stringify((await client.send(other)).body));
    assert.deepEqual(answers.found, []);
  });

  test("are found if the server writes them", async () => {
    const program = `data:text/javascript,console.error("a line with ${base64(`x ${SECRET_MARK}`)}")`;
    const server = await startBinnacle({ nodeFlags: ["--import", program] });
    await assert.rejects(server.kill(), /the server wrote a Secret's value/);
  });
});
