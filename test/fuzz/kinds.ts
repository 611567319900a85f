import { apiVersionOf, isObject, type Json, type JsonObject } from "../../src/base/api/object.ts";
import type { Schema } from "../../src/data/schema/schema.ts";
import { builtInKinds } from "../../src/kinds/built-in/all.ts";
import type { ResourceDefinition } from "../../src/resources/model/definition.ts";
import { readSamples } from "../support/samples.ts";

/** A kind in a version whose objects are fuzzed. */
export interface FuzzedKind {
  /** `apps/v1/deployments`. */
  readonly name: string;
  readonly apiVersion: string;
  readonly kind: string;
  /** Where objects are created. */
  readonly path: string;
  readonly schema: Schema;
  readonly hasStatus: boolean;
  /** The real server itself writes to such objects at any time. */
  readonly isWrittenByServer: boolean;
  /** Objects are not kept, so that they can only be created. */
  readonly isReview: boolean;
  /** Objects take from what all share, so that one goes after the other. */
  readonly isAlone: boolean;
}

const REVIEWS = ["authentication.k8s.io/v1/selfsubjectreviews", "authentication.k8s.io/v1/tokenreviews"];
const WRITTEN_BY_SERVER = ["apiservices", "flowschemas", "leasecandidates"];
const ALONE = ["services", "leasecandidates"];

/** Every built-in kind in every version. */
export function allKinds(): FuzzedKind[] {
  return builtInKinds().flatMap((definition) => definition.versions.map((version) => kindOf(definition, version.name)));
}

function kindOf(definition: ResourceDefinition, version: string): FuzzedKind {
  const { group, kind, plural, scope, versions, subresources, verbs } = definition;
  const apiVersion = apiVersionOf(group, version);
  const root = group === "" ? "/api/v1" : `/apis/${apiVersion}`;
  const served = versions.find(({ name }) => name === version);
  return {
    name: `${apiVersion}/${plural}`,
    apiVersion,
    kind,
    path: `${root}/${scope === "Namespaced" ? "namespaces/fuzz/" : ""}${plural}`,
    schema: served?.schema() ?? {},
    hasStatus: subresources.status?.writes === "status" && !WRITTEN_BY_SERVER.includes(plural),
    isWrittenByServer: WRITTEN_BY_SERVER.includes(plural),
    isReview: !verbs.includes("update"),
    isAlone: ALONE.includes(plural),
  };
}

/** Versions that the real server does serve of kinds whose version in the specification it does not. */
const STAND_INS = ["certificates.k8s.io/v1/clustertrustbundles", "storage.k8s.io/v1/volumeattributesclasses"];

/** Names of the kinds of the specification, and of those that stand in for some of them. */
export function kindsOfSpecification(): string[] {
  const stored = readSamples("fuzz", "x").map(({ body, path }) => `${body.apiVersion}/${path.split("/").at(-1)}`);
  return [...stored, ...REVIEWS, ...STAND_INS];
}

/** A body under another name, with what must agree with it. */
export function named(kind: FuzzedKind, body: JsonObject, name: string): JsonObject {
  const metadata = { ...(body.metadata as JsonObject) };
  delete metadata.generateName;
  if (kind.name.endsWith("/apiservices")) {
    const spec: JsonObject = { ...(body.spec as JsonObject), group: `${name}.example.com` };
    return { ...body, spec, metadata: { ...metadata, name: `${spec.version}.${name}.example.com` } };
  }
  const prefix = /^.*:/.exec(String(metadata.name ?? ""))?.[0] ?? "";
  return { ...body, metadata: { ...metadata, name: `${prefix}${name}` } };
}

/** An expression of the right type for each field that holds one. */
const EXPRESSIONS: Readonly<Record<string, string>> = {
  "MatchCondition.expression": "true",
  "CELDeviceSelector.expression": "true",
  "Validation.expression": "true",
  "Validation.messageExpression": "'m'",
  "Variable.expression": "1",
  "AuditAnnotation.valueExpression": "'a'",
  "ApplyConfiguration.expression": "Object{}",
  "JSONPatch.expression": '[JSONPatch{op: "test", path: "/kind", value: "a"}]',
};

/** Puts expressions that compile in the place of random ones, since compiling is not what is compared. Changes `value`. */
export function settleExpressions(value: Json | undefined, schema: Schema): void {
  if (Array.isArray(value)) {
    for (const item of value) settleExpressions(item, schema.items ?? {});
    return;
  }
  if (!isObject(value)) return;
  const struct = schema.component?.slice(schema.component.lastIndexOf(".") + 1);
  if (struct === "CELDeviceSelector") value.expression = "true";
  for (const [field, member] of Object.entries(value)) {
    const expression = EXPRESSIONS[`${struct}.${field}`];
    if (expression !== undefined && typeof member === "string") value[field] = expression;
    else
      settleExpressions(member, schema.properties?.get(field) ?? (schema.values === true ? {} : (schema.values ?? {})));
  }
}
