import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { suite, test } from "node:test";
import { ApiError } from "../../../base/api/api-error.ts";
import { isObject, type Json, type JsonObject, type KubeObject } from "../../../base/api/object.ts";
import { findBuiltInSchema } from "../../../kinds/schema-files/built-in-schemas.ts";
import { applyPatch } from "./apply-patch.ts";
import { describePath } from "./conflicts.ts";
import { difference, type FieldSet, pathsOf } from "./field-set.ts";
import { parseManagers } from "./managers.ts";
import { allBut } from "./reset-fields.ts";
import { fromScaleFields, toScaleFields } from "./scale.ts";
import type { TrackingScope } from "./scope.ts";
import { trackUpdate } from "./track-update.ts";

interface Step {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: JsonObject;
  readonly rawBody?: string;
}
interface Answer {
  readonly status: number;
  readonly body?: KubeObject;
}

const golden = new URL("../../../../test/golden/", import.meta.url);
const read = (file: string) => JSON.parse(readFileSync(new URL(file, golden), "utf8"));
const stepsOf = (name: string): [Step, Answer][] => {
  const answers = read(`recorded/${name}`).steps as Record<string, Answer>;
  return (read(`scenarios/${name}`).steps as Step[]).flatMap((step) => {
    const answer = answers[step.id];
    return answer === undefined ? [] : [[step, answer]];
  });
};

const packages: Readonly<Record<string, string>> = { v1: "io.k8s.api.core.v1" };
const schemaOf = (apiVersion: string, kind: string) => {
  const [group = "", version = ""] = apiVersion.split("/");
  const name = packages[apiVersion] ?? `io.k8s.api.${group.split(".")[0]}.${version}`;
  return findBuiltInSchema(`${name}.${kind}`);
};

function scopeOf(apiVersion: string, kind: string, subresource: string): TrackingScope {
  const reset =
    subresource === "status"
      ? allBut("spec", "metadata.deletionTimestamp", "metadata.ownerReferences")
      : allBut("status");
  return {
    apiVersion,
    kind,
    subresource,
    schemaOf: (version) => schemaOf(version, kind),
    convert: () => undefined,
    resetFields: () => (subresource === "scale" ? undefined : reset),
  };
}

const now = "2030-01-01T00:00:00Z";

/** Entries without times and order, but with whether there is a time. */
function comparable(entries: readonly Json[] | undefined): Record<string, unknown> {
  const managers = [...parseManagers(entries ?? [], false)];
  return Object.fromEntries(
    managers.map(([id, { apiVersion, fields, time }]) => [
      id,
      { apiVersion, hasTime: time !== undefined, fields: JSON.stringify(fields) },
    ]),
  );
}
/** The recorder wrote `<time>` for times, which cannot be parsed. */
const withTimes = (object: KubeObject): KubeObject =>
  JSON.parse(JSON.stringify(object).replaceAll('"<time>"', `"${now}"`));

suite("recorded creates", () => {
  // Fields that admission and strategies add or remove after tracking.
  const later =
    /^\.(metadata\.(finalizers|labels)|spec\.(clusterIPs?|ipFamil|priority|preemptionPolicy|serviceAccount|tolerations|taints|finalizers|selector|template\.metadata\.labels|groups|request|signerName|uid|usages|username))/;
  const lost = /schedulingConstraints|^\.rules$/;
  for (const file of readdirSync(new URL("recorded/", golden))) {
    const created = stepsOf(file).filter(([step, { status, body }]) => {
      const entries = body?.metadata?.managedFields;
      return step.method === "POST" && status === 201 && entries?.length === 1;
    });
    if (created.length === 0) continue;
    test(`${file}: ownership of created objects`, () => {
      for (const [step, { body }] of created) {
        if (body === undefined || schemaOf(body.apiVersion, body.kind) === undefined) continue;
        const [entry] = body.metadata.managedFields ?? [];
        if (!isObject(entry) || entry.operation !== "Update") continue;
        const { managedFields: _, ...metadata } = body.metadata;
        const scope = scopeOf(body.apiVersion, body.kind, "");
        const update = { live: undefined, next: { ...body, metadata }, manager: String(entry.manager), now };
        const [got] = trackUpdate(scope, update).managedFields ?? [];
        const ours = (isObject(got) ? got.fieldsV1 : {}) as FieldSet;
        const theirs = entry.fieldsV1 as FieldSet;
        const extra = [...pathsOf(difference(ours, theirs))].map(describePath).filter((path) => !later.test(path));
        const missing = [...pathsOf(difference(theirs, ours))].map(describePath).filter((path) => !lost.test(path));
        assert.deepEqual({ step: step.id, extra, missing }, { step: step.id, extra: [], missing: [] });
      }
    });
  }
});

suite("recorded histories", () => {
  const isSkipped = (step: Step): boolean => JSON.stringify(step).includes("${repeat") || step.query?.manager === "";
  for (const name of ["apply-basics", "apply-lists", "apply-status"]) {
    for (const [step, answer, live] of withLive(`${name}.json`)) {
      if (isSkipped(step)) continue;
      test(`${name}: ${step.id}`, () => check(step, answer, live));
    }
  }
});

/** Every step with the object before it, as far as earlier responses show it. */
function* withLive(file: string): Generator<[Step, Answer, KubeObject | undefined]> {
  const objects = new Map<string, KubeObject>();
  for (const [step, answer] of stepsOf(file)) {
    const path = step.path.replace(/\/(status|scale)$/, "");
    yield [step, answer, objects.get(path)];
    const isShown = answer.body?.metadata?.name !== undefined && answer.body.kind !== "Scale" && answer.status < 300;
    if (!isShown || answer.body === undefined || step.query?.dryRun !== undefined) continue;
    const key = step.method === "POST" ? `${path}/${answer.body.metadata.name}` : path;
    objects.set(key, withTimes(answer.body));
    if (step.method === "DELETE") objects.delete(key);
  }
}

function check(step: Step, answer: Answer, live: KubeObject | undefined): void {
  const type = step.headers?.["content-type"] ?? "";
  const subresource = /\/(status|scale)$/.exec(step.path)?.[1] ?? "";
  if (type.startsWith("application/apply-patch")) {
    const body = step.body ?? parsed(step.rawBody);
    if (isObject(body)) checkApply({ ...step, body }, answer, live, subresource);
    return;
  }
  const isWrite = (step.method === "PATCH" || step.method === "PUT") && answer.status === 200;
  if (!isWrite || live === undefined || answer.body === undefined || subresource === "scale") return;
  if (JSON.stringify(step.body).includes("managedFields")) return;
  const next = withTimes(answer.body);
  const scope = scopeOf(next.apiVersion, next.kind, subresource);
  const { managedFields: _, ...metadata } = next.metadata;
  const agent = step.headers?.["user-agent"]?.split("/")[0];
  const manager = step.query?.fieldManager ?? agent ?? "golden";
  const { managedFields } = trackUpdate(scope, { live, next: { ...next, metadata }, manager, now });
  assert.deepEqual(comparable(managedFields), comparable(next.metadata.managedFields));
}

/** A body that is text in the scenario. Only JSON is relevant here. */
function parsed(text = ""): JsonObject | undefined {
  return text.startsWith('{"') ? JSON.parse(text) : undefined;
}

function checkApply(step: Step, answer: Answer, live: KubeObject | undefined, subresource: string): void {
  const { apiVersion, kind } =
    subresource === "scale" ? { apiVersion: "autoscaling/v1", kind: "Scale" } : kindOf(step, live);
  // Rejections by other code: options, names, versions, validation.
  if (![200, 201, 409, 500].includes(answer.status) || step.query?.fieldManager === undefined) return;
  if (subresource === "scale" || (answer.status === 409 && answer.body?.message === undefined)) return;
  const isForced = step.query.force === "true";
  const request = { live, applied: step.body ?? {}, manager: step.query.fieldManager, isForced, now };
  try {
    const got = applyPatch(scopeOf(apiVersion, kind, subresource), request);
    if (answer.status >= 300 || answer.body === undefined) {
      // Rejected after merging: a wrong resourceVersion or uid.
      assert.doesNotMatch(String(answer.body?.message), /^(Apply failed|failed to create typed)/);
      return;
    }
    const wanted = withTimes(answer.body);
    const unchanged = { ...comparable(got.metadata.managedFields) };
    assert.deepEqual(unchanged, comparable(wanted.metadata.managedFields));
    for (const [name, value] of Object.entries(got.metadata.labels ?? {}))
      assert.equal(wanted.metadata.labels?.[name], value);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { message, details, code, reason } = error.status;
    const order = (causes: readonly JsonObject[] = []) =>
      causes.map((one) => JSON.stringify([one.field, one.message])).sort();
    assert.deepEqual(
      { code, message, reason },
      { code: answer.status, message: answer.body?.message, reason: answer.body?.reason },
    );
    assert.deepEqual(
      order(details?.causes),
      order((answer.body?.details as { causes?: JsonObject[] } | undefined)?.causes),
    );
  }
}

function kindOf(step: Step, live: KubeObject | undefined): { apiVersion: string; kind: string } {
  if (live !== undefined) return live;
  return { apiVersion: String(step.body?.apiVersion), kind: String(step.body?.kind) };
}

suite("a recorded scale", () => {
  const answers = read("recorded/apply-lists.json").steps as Record<string, Answer>;
  const entriesOf = (step: string) => withTimes(answers[step]?.body ?? ({} as KubeObject)).metadata.managedFields;
  const paths = new Map([["apps/v1", "spec.replicas"]]);
  const scale = (replicas: number): KubeObject => ({
    ...{ apiVersion: "autoscaling/v1", kind: "Scale", metadata: { name: "one" } },
    spec: { replicas },
    status: { replicas: 0 },
  });
  const scope = scopeOf("autoscaling/v1", "Scale", "scale");

  test("takes over the replicas by update", () => {
    const object = entriesOf("replicas");
    const live = { ...scale(3), metadata: { name: "one", managedFields: toScaleFields(object, paths) } };
    const { managedFields: after } = trackUpdate(scope, { live, next: scale(5), manager: "autoscaler", now });
    const got = fromScaleFields({ object, scale: after, apiVersion: "apps/v1" }, paths);
    assert.deepEqual(comparable(got), comparable(entriesOf("after-scale")));
  });

  test("takes over the replicas by apply", () => {
    const object = entriesOf("after-scale");
    const live = { ...scale(5), metadata: { name: "one", managedFields: toScaleFields(object, paths) } };
    const applied = { apiVersion: "autoscaling/v1", kind: "Scale", metadata: { name: "one" }, spec: { replicas: 6 } };
    const refused = { live, applied, manager: "scale-applier", isForced: false, now };
    assert.throws(
      () => applyPatch(scope, refused),
      /conflict with "autoscaler" with subresource "scale" using autoscaling\/v1/,
    );
    const after = applyPatch(scope, { ...refused, isForced: true }).metadata.managedFields;
    const got = fromScaleFields({ object, scale: after, apiVersion: "apps/v1" }, paths);
    assert.deepEqual(comparable(got), comparable(entriesOf("after-scale-apply")));
  });
});
