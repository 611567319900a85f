import assert from "node:assert/strict";
import { test } from "node:test";
import { AdmissionChain } from "../../access/admission/chain.ts";
import { alwaysAllow } from "../../access/authorization/always.ts";
import { ApiError } from "../../base/api/api-error.ts";
import type { Handler, Outcome } from "../../base/api/call.ts";
import type { KubeObject } from "../../base/api/object.ts";
import type { ApiReply } from "../../base/api/reply.ts";
import type { RequestInfo } from "../../base/api/request-info.ts";
import { systemClock } from "../../base/util/clock.ts";
import { systemRandom } from "../../base/util/random.ts";
import { builtInKinds } from "../../kinds/built-in/all.ts";
import { builtInSchema } from "../../kinds/schema-files/built-in-schemas.ts";
import { Catalog } from "../../resources/model/catalog.ts";
import { KeySpace } from "../../resources/model/keys.ts";
import { Resources } from "../../resources/resources.ts";
import { MemoryStore } from "../../storage/memory.ts";
import { dispatch } from "../verbs/dispatch.ts";
import { keepUser } from "./authenticate.ts";
import { type CallRequest, callInProcess as callWith, makeCall as makeCallWith } from "./in-process.ts";
import { compose, stagesFor } from "./pipeline.ts";
import { route } from "./router.ts";

const user = {
  name: "system:serviceaccount:kube-system:generic-garbage-collector",
  groups: ["system:serviceaccounts"],
};
const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";

const makeCall = (wanted: CallRequest) => makeCallWith(wanted, systemRandom);
const callInProcess = (handler: Handler, wanted: CallRequest) => callWith(handler, wanted, systemRandom);

function composed(): { handler: Handler; users: string[] } {
  const catalog = new Catalog(builtInKinds());
  const resources = new Resources({
    store: new MemoryStore(),
    catalog,
    clock: systemClock,
    random: systemRandom,
    keys: new KeySpace("/registry"),
  });
  const users: string[] = [];
  const context = {
    resources,
    admission: new AdmissionChain([
      {
        name: "Listener",
        handles: () => true,
        async validate(request) {
          users.push(request.user.name);
        },
      },
    ]),
    identities: undefined as never,
    minRequestTimeout: 1800,
    deleteOptionsSchema: () => builtInSchema("io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions"),
  };
  const options = {
    reportError: (error: unknown) => assert.fail(String(error)),
    requestTimeoutMs: 1000,
    clock: systemClock,
    isLongRunning: ({ verb }: RequestInfo) => verb === "watch",
    hasTable: () => true,
    isUnstructured: () => false,
    authorizer: alwaysAllow,
  };
  const innermost = route({ catalog, objects: (call) => dispatch(context, call), endpoints: [] });
  return { handler: compose(stagesFor(options, keepUser), innermost), users };
}

function objectOf(reply: ApiReply) {
  assert.ok(reply.type === "object");
  return reply.view.object;
}

/** Field managers sorted by name. The server sorts its entries by time first, which varies between test runs. */
const managersOf = ({ metadata }: KubeObject): unknown[] =>
  (metadata.managedFields as { manager: string }[]).map(({ manager }) => manager).sort();

test("an in-process call passes the stages, verbs and admission as its user", async () => {
  const { handler, users } = composed();
  const ask = async (wanted: Omit<CallRequest, "user">): Promise<ApiReply> => handler(makeCall({ user, ...wanted }));
  const created = objectOf(
    await ask({ method: "POST", path: CONFIG_MAPS, body: { metadata: { name: "a" }, data: { x: "1" } } }),
  );
  assert.deepEqual(managersOf(created), ["unknown"]);
  const path = `${CONFIG_MAPS}/a`;
  const headers = { "content-type": "application/merge-patch+json", "user-agent": "gc/1" };
  const patched = objectOf(await ask({ method: "PATCH", path, headers, body: { data: { x: "2" } } }));
  assert.deepEqual(patched.data, { x: "2" });
  assert.deepEqual(managersOf(patched), ["gc", "unknown"]);
  assert.equal(objectOf(await ask({ method: "GET", path })).metadata.resourceVersion, patched.metadata.resourceVersion);
  const preconditions = { uid: "another" };
  await assert.rejects(
    ask({ method: "DELETE", path, body: { preconditions } }),
    (error) => error instanceof ApiError && error.code === 409,
  );
  assert.equal((await ask({ method: "DELETE", path })).type, "status");
  await assert.rejects(ask({ method: "GET", path }), (error) => error instanceof ApiError && error.code === 404);
  assert.deepEqual([...new Set(users)], [user.name]);
});

test("an in-process watch ends when its signal is aborted", async () => {
  const { handler } = composed();
  const stop = new AbortController();
  const query = new URLSearchParams({ watch: "1" });
  const reply = await handler(makeCall({ user, method: "GET", path: CONFIG_MAPS, query, signal: stop.signal }));
  assert.ok(reply.type === "watch");
  const body = { metadata: { name: "a" } };
  await handler(makeCall({ user, method: "POST", path: CONFIG_MAPS, body }));
  const types: string[] = [];
  for await (const events of reply.events) {
    types.push(...events.map(({ type }) => type));
    stop.abort();
  }
  assert.deepEqual(types, ["ADDED"]);
});

test("an in-process call finishes with its reply, a watch with its last event", async () => {
  const { handler } = composed();
  const outcomes: Outcome[] = [];
  const observed: Handler = (call) => {
    call.whenFinished((outcome) => outcomes.push(outcome));
    return handler(call);
  };
  await callInProcess(observed, { user, method: "POST", path: CONFIG_MAPS, body: { metadata: { name: "a" } } });
  await assert.rejects(callInProcess(observed, { user, method: "GET", path: `${CONFIG_MAPS}/missing` }));
  assert.deepEqual(
    outcomes.splice(0).map(({ code }) => code),
    [201, 404],
  );
  const query = new URLSearchParams({ watch: "1", resourceVersion: "0" });
  const reply = await callInProcess(observed, { user, method: "GET", path: CONFIG_MAPS, query });
  assert.ok(reply.type === "watch");
  assert.deepEqual(outcomes, []);
  for await (const _ of reply.events) break;
  assert.deepEqual(outcomes, [{ code: 200, bytes: 0 }]);
});

test("the error for an invalid body quotes the body", async () => {
  const { handler } = composed();
  const call = makeCall({ user, method: "POST", path: CONFIG_MAPS, body: { kind: 1 } });
  await assert.rejects(async () => handler(call), /unrecognized.*\{"kind":1\}/);
});
