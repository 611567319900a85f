import { isObject, type JsonObject, type KubeObject } from "../../base/api/object.ts";
import { printYaml } from "../../data/encoding/yaml/yaml-print.ts";

/** How objects are printed. */
export interface ShowOptions {
  /** Whether their values are secret. */
  readonly isSecret: boolean;
  readonly showManagedFields: boolean;
}

const SECRET_MEMBERS = ["data", "stringData"];
const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";
const HIDDEN = "***";

/**
 * Prepares an object before and after a write for a diff: removes resource versions, generated UIDs and timestamps of new objects,
 * and secret values. Compat: `kubectl diff` also masks the values of Secrets, and only shows which of them differ.
 */
export function shownPair(
  before: KubeObject | undefined,
  after: KubeObject,
  options: ShowOptions,
): readonly [before: KubeObject | undefined, after: KubeObject] {
  const shown = [before, after].map((object) => object && withoutNoise(object, before === undefined, options));
  const [old, next] = shown as [KubeObject | undefined, KubeObject];
  return options.isSecret ? hidden(old, next) : [old, next];
}

/** As YAML; empty for undefined. */
export function printShown(object: KubeObject | undefined): string {
  return object === undefined ? "" : printYaml(object);
}

function withoutNoise(object: KubeObject, isNew: boolean, { showManagedFields }: ShowOptions): KubeObject {
  const { resourceVersion: _, managedFields, uid, creationTimestamp, ...rest } = object.metadata;
  const metadata = {
    ...rest,
    ...(!isNew && uid !== undefined && { uid }),
    ...(!isNew && creationTimestamp !== undefined && { creationTimestamp }),
    ...(showManagedFields && managedFields && { managedFields }),
  };
  return { ...object, metadata };
}

function hidden(
  before: KubeObject | undefined,
  after: KubeObject,
): readonly [before: KubeObject | undefined, after: KubeObject] {
  const old = before && { ...before };
  const next = { ...after };
  for (const member of SECRET_MEMBERS) {
    const [hiddenOld, hiddenNext] = hiddenMaps(valuesOf(old, member), valuesOf(next, member));
    if (old && old[member] !== undefined) old[member] = hiddenOld;
    if (next[member] !== undefined) next[member] = hiddenNext;
  }
  return [old && withoutLastApplied(old), withoutLastApplied(next)];
}

function valuesOf(object: KubeObject | undefined, member: string): JsonObject {
  const value = object?.[member];
  return isObject(value) ? value : {};
}

function hiddenMaps(before: JsonObject, after: JsonObject): readonly [JsonObject, JsonObject] {
  const hide = (values: JsonObject, others: JsonObject, mark: string): JsonObject => {
    const named = Object.entries(values).map(([name, value]) => {
      const differs = Object.hasOwn(others, name) && others[name] !== value;
      return [name, differs ? `${HIDDEN} (${mark})` : HIDDEN];
    });
    return Object.fromEntries(named);
  };
  return [hide(before, after, "before"), hide(after, before, "after")];
}

/** The annotation contains the values, too. */
function withoutLastApplied(object: KubeObject): KubeObject {
  const { annotations } = object.metadata;
  if (annotations?.[LAST_APPLIED] === undefined) return object;
  const hiddenAnnotations = { ...annotations, [LAST_APPLIED]: HIDDEN };
  return { ...object, metadata: { ...object.metadata, annotations: hiddenAnnotations } };
}
