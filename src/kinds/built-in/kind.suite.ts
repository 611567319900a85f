import { defaultFeatureGates, type FeatureGates } from "../../base/api/feature-gates.ts";
import { type FieldError, printFieldError } from "../../base/api/field-error.ts";
import { apiVersionOf, type Json, type JsonObject, type KubeObject } from "../../base/api/object.ts";
import { cloneJson } from "../../base/util/clone.ts";
import { ManualClock } from "../../base/util/environment.suite.ts";
import { decodeBySchema } from "../../data/schema/decode.ts";
import { convertObject, storedApiVersion } from "../../resources/model/conversion.ts";
import type { ResourceDefinition, WriteContext } from "../../resources/model/definition.ts";
import { Draft } from "../../resources/model/draft.ts";
import { emptyStatus } from "../../resources/write/empty-status.ts";

const NOW = Date.parse("2030-01-01T00:00:00Z");

/** Tests objects of one kind without a server. */
export interface KindUnderTest {
  /** The body after decoding and defaulting, in its own version. */
  complete(body: JsonObject, version?: string): KubeObject;
  /** The object that a create would store, before validation. */
  created(body: JsonObject, version?: string): KubeObject;
  /** Field errors as lines: of a create, or of an update of `previous` through a subresource; all in one version. */
  problems(body: JsonObject, write?: { previous?: JsonObject; subresource?: string; version?: string }): string[];
  /** Warnings of a create. */
  warnings(body: JsonObject): string[];
}

/** The kind with that name among definitions. `features` defaults to the default feature gates. */
export function kindUnderTest(
  definitions: readonly ResourceDefinition[],
  kind: string,
  features: FeatureGates = defaultFeatureGates,
): KindUnderTest {
  const definition = definitions.find((one) => one.kind === kind);
  if (definition === undefined) throw new Error(`no kind ${kind}`);
  const { hooks, group, versions } = definition;
  const stored = storedApiVersion(definition);
  const contextOf = (draft: Draft, subresource = "", version?: string): WriteContext => {
    return {
      subresource,
      apiVersion: version === undefined ? stored : apiVersionOf(group, version),
      now: NOW,
      features,
      draft,
    };
  };

  function complete(body: JsonObject, version = versions[0]?.name ?? ""): KubeObject {
    const apiVersion = apiVersionOf(group, version);
    const schema = versions.find(({ name }) => name === version)?.schema() ?? {};
    const { value, error } = decodeBySchema({ ...cloneJson(body), kind, apiVersion }, schema);
    if (error !== undefined) throw new Error(error);
    const object = { ...value, kind, apiVersion, metadata: { name: "one", ...(value.metadata as JsonObject) } };
    hooks?.setDefaults?.(object, apiVersion, { clock: new ManualClock(NOW), features });
    return object;
  }

  function draftOf(body: JsonObject, version?: string): Draft {
    const object = convertObject(definition as ResourceDefinition, complete(body, version), stored);
    object.metadata.uid ??= "uid-1";
    object.metadata.generation = 1;
    const status = emptyStatus(definition as ResourceDefinition);
    if (status !== undefined) object.status = status;
    const draft = new Draft(object);
    hooks?.prepare?.(object, undefined, contextOf(draft));
    return draft;
  }

  const created = (body: JsonObject, version?: string): KubeObject => draftOf(body, version).object;

  return {
    complete,
    created,
    problems(body, { previous, subresource, version } = {}) {
      const print = (errors: readonly FieldError[] = []) => [...new Set(errors.map(printFieldError))];
      if (previous === undefined) {
        const draft = draftOf(body, version);
        return print(hooks?.validate?.(draft.object, undefined, contextOf(draft, subresource, version)));
      }
      const before = { ...created(previous, version), ...(previous.status ? { status: previous.status as Json } : {}) };
      const wanted = convertObject(definition, complete(body, version), stored, before);
      const next = { ...cloneJson(before), ...(subresource === "status" ? {} : specOf(wanted, before)) };
      if (subresource === "status") next.status = body.status as Json;
      const context = contextOf(new Draft(next), subresource, version);
      if (subresource !== "status") hooks?.prepare?.(next, before, context);
      return print(hooks?.validate?.(next, before, context));
    },
    warnings(body) {
      const draft = draftOf(body);
      return [...draft.warnings, ...(hooks?.warn?.(draft.object, undefined, contextOf(draft)) ?? [])];
    },
  };
}

/** The parts that a replace may change; metadata stays that of the stored object. */
function specOf({ metadata: _, ...wanted }: KubeObject, before: KubeObject): JsonObject {
  return { ...wanted, status: before.status };
}
