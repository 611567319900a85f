import assert from "node:assert/strict";
import { apiVersionOf } from "../../src/base/api/object.ts";
import type { ResourceDefinition } from "../../src/resources/model/definition.ts";
import type { Answer, Client } from "../support/client.ts";
import { type Body, bodyOf, type Place } from "./bodies.ts";

/** A kind in one of its versions, with the server that is asked about it and the names that it may use there. */
export interface Subject {
  readonly client: Client;
  readonly definition: ResourceDefinition;
  readonly version: string;
  readonly place: Place;
}

const TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io";
const JSON_PATCH = "application/json-patch+json";
const MERGE_PATCH = "application/merge-patch+json";
const STRATEGIC_PATCH = "application/strategic-merge-patch+json";
const APPLY_PATCH = "application/apply-patch+yaml";

/** Does with one kind in one version all that every stored kind supports, and checks each answer. */
export async function checkKind(subject: Subject): Promise<void> {
  const { client, definition, version, place } = subject;
  const body = bodyOf(definition, version, place);
  const collection = pathOf(definition, version, place.namespace);
  const { name } = body.metadata;
  const object = `${collection}/${encodeURIComponent(name)}`;
  await checkDescriptions(subject);
  if (definition.scope === "Namespaced") await prepareNamespace(client, place.namespace);

  const before = await expect(client, 200, "GET", collection);
  assert.equal(before.body.kind, definition.listKind);
  const watcher = watch(client, `${collection}?watch=1&resourceVersion=${before.body.metadata.resourceVersion}`, name);
  try {
    const created = await expect(client, 201, "POST", collection, body);
    assert.equal(created.body.kind, definition.kind);
    assert.equal(created.body.apiVersion, body.apiVersion);
    await expect(client, 409, "POST", collection, body);
    await checkReads(subject, collection, name);
    await checkWrites(client, object, body);
    await remove(subject, object);
    const types = await watcher.finish();
    assert.equal(types[0], "ADDED");
    assert.equal(types.at(-1), "DELETED");
    assert.ok(types.length >= 7, `the watch saw only ${types.join()}`);
  } finally {
    watcher.stop();
  }
}

/** The path of a kind's collection. */
export function pathOf({ group, plural, scope }: ResourceDefinition, version: string, namespace: string): string {
  const root = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
  return scope === "Namespaced" ? `${root}/namespaces/${namespace}/${plural}` : `${root}/${plural}`;
}

async function expect(client: Client, status: number, ...request: Parameters<Client["call"]>): Promise<Answer> {
  const answer = await client.call(...request);
  assert.equal(answer.status, status, `${request[0]} ${request[1]}: ${JSON.stringify(answer.body)}`);
  return answer;
}

/** Creates a namespace that pods can be created in. */
export async function prepareNamespace(client: Client, name: string): Promise<void> {
  await expect(client, 201, "POST", "/api/v1/namespaces", { metadata: { name } });
  // Pods are refused until there is an account for them.
  await expect(client, 201, "POST", `/api/v1/namespaces/${name}/serviceaccounts`, { metadata: { name: "default" } });
}

/** Descriptions are the same for all kinds of a group version, and large. */
const descriptions = new WeakMap<Client, Map<string, Promise<Answer["body"]>>>();

function describe(client: Client, path: string): Promise<Answer["body"]> {
  const known = descriptions.get(client) ?? new Map<string, Promise<Answer["body"]>>();
  descriptions.set(client, known);
  const found = known.get(path) ?? expect(client, 200, "GET", path).then(({ body }) => body);
  known.set(path, found);
  return found;
}

async function checkDescriptions({ client, definition, version }: Subject): Promise<void> {
  const { group, kind, plural, scope, shortNames, verbs, storage, versions } = definition;
  const root = group === "" ? `api/${version}` : `apis/${group}/${version}`;
  const list = await describe(client, `/${root}`);
  const entry = list.resources.find((resource: { name: string }) => resource.name === plural);
  assert.equal(entry?.kind, kind);
  assert.equal(entry.namespaced, scope === "Namespaced");
  assert.deepEqual(entry.verbs, [...verbs]);
  assert.deepEqual(entry.shortNames ?? [], [...shortNames]);
  assert.equal(entry.storageVersionHash, storage?.hash);

  const document = await describe(client, `/openapi/v3/${root}`);
  const schemaName = versions.find((one) => one.name === version)?.schemaName ?? "";
  const schema = document.components.schemas[schemaName];
  assert.deepEqual(schema?.["x-kubernetes-group-version-kind"], [{ group, version, kind }], schemaName);
  const scoped = scope === "Namespaced" ? `/${root}/namespaces/{namespace}/${plural}` : `/${root}/${plural}`;
  assert.ok(document.paths[`${scoped}/{name}`]?.patch, `${scoped}/{name} is described`);
}

async function checkReads({ client, definition, version }: Subject, collection: string, name: string): Promise<void> {
  const { body: got } = await expect(client, 200, "GET", `${collection}/${encodeURIComponent(name)}`);
  assert.equal(got.metadata.name, name);
  assert.equal(got.apiVersion, apiVersionOf(definition.group, version));
  const selected = `${collection}?fieldSelector=${encodeURIComponent(`metadata.name=${name}`)}`;
  const { body: list } = await expect(client, 200, "GET", selected);
  assert.deepEqual(
    list.items.map((item: Body) => item.metadata.name),
    [name],
  );
  const { body: table } = await expect(client, 200, "GET", selected, undefined, { accept: TABLE });
  assert.equal(table.kind, "Table");
  assert.equal(table.rows.length, 1);
  assert.equal(table.rows[0].cells.length, table.columnDefinitions.length);
  assert.ok(table.rows[0].cells.includes(name) || /event/i.test(definition.kind), JSON.stringify(table.rows[0].cells));
  const columns = definition.versions.find((one) => one.name === version)?.table?.columns ?? [];
  assert.deepEqual(
    table.columnDefinitions.map((column: { name: string }) => column.name),
    columns.map((column) => column.name),
  );
}

/** Every way of changing an object that exists; each is seen in the answer. */
async function checkWrites(client: Client, object: string, { apiVersion, kind, metadata }: Body): Promise<void> {
  const label = (value: string) => ({ metadata: { labels: { suite: value } } });
  const patches: readonly [type: string, body: unknown, wanted: string][] = [
    [MERGE_PATCH, label("merge"), "merge"],
    [JSON_PATCH, [{ op: "replace", path: "/metadata/labels/suite", value: "json" }], "json"],
    [STRATEGIC_PATCH, label("strategic"), "strategic"],
  ];
  for (const [type, patch, wanted] of patches) {
    const { body } = await expect(client, 200, "PATCH", object, patch, { "content-type": type });
    assert.equal(body.metadata.labels.suite, wanted, type);
  }

  const applied = { apiVersion, kind, metadata: { name: metadata.name, annotations: { suite: "applied" } } };
  const headers = { "content-type": APPLY_PATCH };
  const { body: merged } = await expect(client, 200, "PATCH", `${object}?fieldManager=suite`, applied, headers);
  assert.equal(merged.metadata.annotations.suite, "applied");
  assert.equal(merged.metadata.labels.suite, "strategic");
  const owner = merged.metadata.managedFields.find((entry: { manager: string }) => entry.manager === "suite");
  assert.equal(owner?.operation, "Apply");
  assert.equal(owner.apiVersion, apiVersion);

  merged.metadata.labels.suite = "replaced";
  const { body: replaced } = await expect(client, 200, "PUT", object, merged);
  assert.equal(replaced.metadata.labels.suite, "replaced");
  assert.equal(replaced.metadata.annotations.suite, "applied");
  await expect(client, 409, "PUT", object, merged);
}

/**
 * Deletes the object and takes away what holds it, until it is gone. A loop of the server may be faster: the finalizer
 * `customresourcecleanup.apiextensions.k8s.io` is its own.
 */
async function remove({ client, definition }: Subject, object: string): Promise<void> {
  await expect(client, 200, "DELETE", `${object}?gracePeriodSeconds=0`);
  const { status, body } = await client.call("GET", object);
  if (status === 404) return;
  assert.ok(body.metadata.deletionTimestamp, "the object is being deleted");
  if (body.metadata.finalizers) {
    const patch = { metadata: { finalizers: null } };
    const patched = await client.call("PATCH", object, patch, { "content-type": MERGE_PATCH });
    assert.ok([200, 404].includes(patched.status), JSON.stringify(patched.body));
  }
  if (definition.subresources.finalize) {
    await expect(client, 200, "PUT", `${object}/finalize`, { ...body, spec: { ...body.spec, finalizers: [] } });
  }
  await expect(client, 404, "GET", object);
}

/** Follows one object; `finish` gives the types of its events up to its deletion. */
function watch(client: Client, path: string, name: string) {
  const stopped = new AbortController();
  const collect = async () => {
    const types: string[] = [];
    for await (const event of client.watch(path, stopped.signal)) {
      if (event.object.metadata?.name !== name) continue;
      types.push(event.type);
      if (event.type === "DELETED") break;
    }
    return types;
  };
  const events = collect();
  events.catch(() => undefined);
  return { finish: () => events, stop: () => stopped.abort() };
}
