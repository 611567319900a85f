import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import type { KubeObject } from "../../base/api/object.ts";
import type { ResourceDefinition, ServedVersion, Subresource } from "../../resources/model/definition.ts";
import { builtInKinds, builtInPriorities } from "./all.ts";
import { ALL_VERBS } from "./row.ts";

/** Facts about one resource of kube-apiserver; default values are omitted. */
interface Fact {
  readonly resource: string;
  readonly nameRule?: string;
  readonly generation?: string;
  readonly storage?: string;
  readonly [member: string]: unknown;
}

const facts: readonly Fact[] = JSON.parse(readFileSync(new URL("kinds.fixture.json", import.meta.url), "utf8"));

/** Rules that a hook enforces, by their names in the facts. */
const HOOKED_NAMES: Readonly<Record<string, string>> = {
  clusterTrustBundleName: "own",
  pluralDotGroup: "own",
  versionDotGroup: "own",
  groupDotResource: "own",
  "dns1123Subdomain,max52": "dns1123Subdomain",
};

function describeSubresource(subresource: Subresource): string {
  const { kind, verbs } = subresource;
  const other = kind === undefined ? "" : ` ${kind.group === "" ? "" : `${kind.group}/`}${kind.version} ${kind.kind}`;
  return `${verbs.join()}${other}`;
}

function describeStorage({ group, storage }: ResourceDefinition): string | undefined {
  return storage && `${storage.group ?? group}/${storage.version} ${storage.prefix} ${storage.hash}`;
}

function describeRow(definition: ResourceDefinition, version: ServedVersion): Record<string, unknown> {
  const { group, kind, plural, rules, subresources } = definition;
  const subresourceFacts = Object.entries(version.subresources ?? subresources).map(([name, value]) => [
    name,
    describeSubresource(value),
  ]);
  const fields = version.selectableFields?.map((field) => field.name).filter((name) => name !== "spec.host");
  const row: Record<string, unknown> = {
    resource: `${group === "" ? "" : `${group}/`}${version.name}/${plural}`,
    kind,
    singular: definition.singular === kind.toLowerCase() ? undefined : definition.singular,
    listKind: definition.listKind === `${kind}List` ? undefined : definition.listKind,
    shortNames: definition.shortNames.join() || undefined,
    categories: definition.categories.join() || undefined,
    scope: definition.scope === "Namespaced" ? undefined : definition.scope,
    verbs: definition.verbs.join() === ALL_VERBS.join() ? undefined : definition.verbs.join(),
    subresources: subresourceFacts.length === 0 ? undefined : Object.fromEntries(subresourceFacts),
    storage: describeStorage(definition),
    nameRule: rules.nameRule === "dns1123Subdomain" ? undefined : rules.nameRule,
    generation: rules.generation,
    createsOnUpdate: rules.createsOnUpdate,
    requiresResourceVersion: (version.requiresResourceVersion ?? rules.requiresResourceVersion) || undefined,
    deleteReturnsObject: rules.deleteReturnsObject,
    garbageCollection: rules.garbageCollection,
    fields: fields?.join() || undefined,
    schema: version.schemaName,
  };
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== undefined));
}

/** The fact in the form of our rows. */
function translate(fact: Fact): Record<string, unknown> {
  const wanted: Record<string, unknown> = { ...fact };
  if (fact.nameRule !== undefined) {
    wanted.nameRule = HOOKED_NAMES[fact.nameRule] ?? fact.nameRule;
    if (wanted.nameRule === "dns1123Subdomain") delete wanted.nameRule;
  }
  // Its names are ordinary ones, but are checked by declarative validation.
  if (fact.kind === "DeviceClass") wanted.nameRule = "own";
  if (fact.generation === "setTo1OnCreateNeverBumped") wanted.generation = "fixed";
  // A hook counts these.
  if (fact.generation === "bumpedOnUpdateOnly") delete wanted.generation;
  // We store the served version and publish the hash of kube-apiserver's.
  if (fact.kind === "CustomResourceDefinition") wanted.storage = fact.storage?.replace("/v1beta1 ", "/v1 ");
  return wanted;
}

test("every row matches kube-apiserver", () => {
  const rows = new Map<string, Record<string, unknown>>();
  for (const definition of builtInKinds()) {
    for (const version of definition.versions) {
      const row = describeRow(definition, version);
      rows.set(String(row.resource), row);
    }
  }
  for (const fact of facts) assert.deepEqual(rows.get(fact.resource), translate(fact), fact.resource);
  assert.deepEqual([...rows.keys()].sort(), facts.map((fact) => fact.resource).sort());
});

test("kinds with special name rules check them", () => {
  const definitions = builtInKinds();
  for (const fact of facts) {
    if (HOOKED_NAMES[fact.nameRule ?? ""] === undefined) continue;
    const definition = definitions.find((one) => one.kind === fact.kind && fact.resource.includes(`/${one.plural}`));
    assert.ok(definition?.hooks?.validate, fact.resource);
  }
});

test("groups and versions are in the order of their priorities, preferred versions first", () => {
  const priority = builtInPriorities();
  let last = Number.POSITIVE_INFINITY;
  for (const { group, versions } of builtInKinds()) {
    const orders = versions.map((version) => priority(group, version.name));
    assert.ok(
      orders.every((order) => order.group === orders[0]?.group && order.group !== 1000),
      group,
    );
    assert.ok((orders[0]?.group ?? 0) <= last, group);
    last = orders[0]?.group ?? 0;
    for (const [index, order] of orders.entries()) {
      assert.ok(index === 0 || order.version < (orders[index - 1]?.version ?? 0), `${group} ${versions[index]?.name}`);
    }
  }
  assert.deepEqual(priority("widgets.example.com", "v1"), { group: 1000, version: 100 });
});

test("another domain renames groups everywhere", () => {
  const definitions = builtInKinds("api.example.net");
  const texts = JSON.stringify(
    definitions.map(({ storage, ...rest }) => [rest.group, rest.subresources, rest.versions]),
  );
  assert.ok(!texts.includes(".k8s.io"), texts.match(/.{30}\.k8s\.io/)?.[0]);
  const find = (kind: string) => definitions.find((definition) => definition.kind === kind);
  assert.equal(find("Lease")?.group, "coordination.api.example.net");
  assert.equal(find("FlowSchema")?.group, "flowcontrol.apiserver.api.example.net");
  assert.equal(find("Deployment")?.group, "apps");
  assert.equal(find("ServiceAccount")?.subresources.token?.kind?.group, "authentication.api.example.net");
  assert.notEqual(find("Lease")?.storage?.hash, builtInKinds().find(({ kind }) => kind === "Lease")?.storage?.hash);
  assert.equal(builtInPriorities("api.example.net")("coordination.api.example.net", "v1").group, 16500);
});

test("every cell of every kind can show an object that only has metadata", () => {
  for (const { kind, versions } of builtInKinds()) {
    for (const version of versions) {
      const bare: KubeObject = { kind, apiVersion: "v1", metadata: {} };
      for (const column of version.table?.columns ?? []) {
        assert.notEqual(column.cell(bare, 0), undefined, `${kind} ${column.name}`);
      }
    }
  }
});
