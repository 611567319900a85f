import { conflict, internalError, invalid, plainError } from "../../base/api/api-error.ts";
import { invalidField } from "../../base/api/field-error.ts";
import { apiVersionOf, isObject, type Json, type JsonObject, type KubeObject } from "../../base/api/object.ts";
import type { ObjectView } from "../../base/api/reply.ts";
import { printLabelSelector, readLabelMap, readSelectorObject } from "../../base/api/selector-object.ts";
import { quote } from "../../base/go/quote.ts";
import { getMember, setMember } from "../../base/util/members.ts";
import { fromScaleFields, type ReplicasPaths, toScaleFields } from "../../data/patch/apply/scale.ts";
import { integerAt, textAt } from "../../data/schema/structural/replicas.ts";
import type { ServedResource } from "../../resources/model/catalog.ts";
import { convertEventually } from "../../resources/model/conversion.ts";
import type { ScalePaths, SubresourceKind } from "../../resources/model/definition.ts";
import { Draft } from "../../resources/model/draft.ts";
import type { ObjectKey } from "../../resources/model/keys.ts";
import { viewObject } from "../../resources/read/object-view.ts";
import { strategyOf } from "../../resources/strategies/strategy-of.ts";
import type { Change, UpdateOptions } from "../../resources/write/write-options.ts";
import { inPlaceOf, type ObjectAccessPoint, type Target } from "./target.ts";

/**
 * The scale of the object that `target` names, as a target that can be read, replaced and patched like an object.
 * Undefined if the subresource is not a scale.
 */
export function scaleTarget(target: Target): Target | undefined {
  const { scale, kind } = target.resource.subresources[target.subresource] ?? {};
  if (scale === undefined || kind === undefined) return undefined;
  return {
    ...target,
    parent: target.resource,
    resource: inPlaceOf(target.resource, kind),
    collection: new Scales(target, scale, kind),
  };
}

/** The scales of a kind's objects. They are computed from the objects; only the objects are stored. */
class Scales implements ObjectAccessPoint {
  readonly #parent: Target;
  readonly #paths: ScalePaths;
  readonly #kind: SubresourceKind;

  constructor(parent: Target, paths: ScalePaths, kind: SubresourceKind) {
    this.#parent = parent;
    this.#paths = paths;
    this.#kind = kind;
  }

  async get(_resource: ServedResource, key: ObjectKey, minRevision?: number): Promise<ObjectView> {
    const { collection, resource } = this.#parent;
    const { object } = await collection.get(resource, key, minRevision);
    const { specReplicas } = this.#paths;
    this.#requireReadable(object);
    // Compat: `ScaleREST.Get` of custom resources.
    if (isCustom(resource) && valueAt(object, specReplicas) === undefined) {
      throw internalError(`the spec replicas field ${quote(specReplicas)} does not exist`);
    }
    return viewObject(this.#scaleOf(object));
  }

  async update(
    _resource: ServedResource,
    key: ObjectKey,
    change: Change,
    options: UpdateOptions,
  ): Promise<{ view: ObjectView; created: boolean }> {
    const { collection, resource } = this.#parent;
    const { admit } = options;
    const shown = async (object: KubeObject) =>
      this.#scaleOf(await convertEventually(resource.definition, object, resource.apiVersion));
    const { view } = await collection.update(resource, key, (current) => this.#changeParent(current, change), {
      ...options,
      admit: admit && (async (next, previous) => admit(await shown(next), previous && (await shown(previous)))),
    });
    return { view: viewObject(this.#scaleOf(view.object)), created: false };
  }

  async #changeParent(parent: KubeObject | undefined, change: Change): Promise<Draft> {
    if (!parent) throw new Error("a scale does not create its object");
    this.#requireReadable(parent);
    const live = this.#scaleOf(parent);
    const replicasPaths = this.#replicasPaths();
    const { managedFields } = parent.metadata;
    const owned = toScaleFields(managedFields, replicasPaths);
    if (owned) live.metadata.managedFields = owned;
    const { object: next } = await change(live);
    this.#check(next, parent);
    write(parent, this.#paths.specReplicas, numberAt(next, ".spec.replicas"));
    const { apiVersion } = this.#parent.resource;
    const entries = { object: managedFields, scale: next.metadata.managedFields, apiVersion };
    const updated = fromScaleFields(entries, replicasPaths);
    const { resourceVersion } = next.metadata;
    const { managedFields: _fields, resourceVersion: _version, ...metadata } = parent.metadata;
    parent.metadata = {
      ...metadata,
      ...(updated ? { managedFields: updated } : {}),
      ...(resourceVersion ? { resourceVersion } : {}),
    };
    return new Draft(parent);
  }

  /** Upstream: `scaleFromCustomResource`. For other kinds the Go type guarantees that the fields are numbers. */
  #requireReadable(parent: KubeObject): void {
    if (!isCustom(this.#parent.resource)) return;
    const { specReplicas, statusReplicas, selector } = this.#paths;
    const found = [integerAt(parent, specReplicas), integerAt(parent, statusReplicas)];
    for (const one of selector === undefined ? found : [...found, textAt(parent, selector)]) {
      if ("error" in one) throw plainError(500, one.error);
    }
  }

  #check(next: KubeObject, { metadata }: KubeObject): void {
    const { group, kind } = this.#kind;
    const name = metadata.name ?? "";
    const replicas = numberAt(next, ".spec.replicas");
    // Compat: for custom resources the object itself is validated (`ValidateScaleSpec`), and names its own field.
    if (replicas < 0 && !isCustom(this.#parent.resource)) {
      throw invalid({ group, kind }, name, [
        invalidField("spec.replicas", replicas, "must be greater than or equal to 0"),
      ]);
    }
    const { uid } = next.metadata;
    if (!uid || uid === metadata.uid) return;
    const { resource, subresource } = this.#parent;
    const target = { group: resource.definition.group, resource: `${resource.definition.plural}/${subresource}` };
    const text = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${metadata.uid}`;
    throw conflict(target, name, text);
  }

  #scaleOf(parent: KubeObject): KubeObject {
    const { group, version, kind } = this.#kind;
    const { specReplicas, statusReplicas, selector } = this.#paths;
    const { name, namespace, uid, resourceVersion, creationTimestamp } = parent.metadata;
    const replicas = numberAt(parent, specReplicas);
    const text = selector === undefined ? "" : printSelector(valueAt(parent, selector));
    return {
      kind,
      apiVersion: apiVersionOf(group, version),
      metadata: compact({ name, namespace, uid, resourceVersion, creationTimestamp }),
      spec: replicas === 0 ? {} : { replicas },
      status: { replicas: numberAt(parent, statusReplicas), ...(text === "" ? {} : { selector: text }) },
    };
  }

  /** Where each version of the parent keeps its replicas, to translate managedFields. */
  #replicasPaths(): ReplicasPaths {
    const { resource, subresource } = this.#parent;
    const { group, versions, subresources } = resource.definition;
    return new Map(
      versions.map((version) => {
        const path = (version.subresources ?? subresources)[subresource]?.scale?.specReplicas;
        return [apiVersionOf(group, version.name), path?.replace(/^\./, "")];
      }),
    );
  }
}

function isCustom({ definition }: ServedResource): boolean {
  return strategyOf(definition).isUnstructured;
}

function compact(members: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

/** Prints a selector, which may be a label selector, a map of labels, or a string. */
function printSelector(selector: Json | undefined): string {
  if (typeof selector === "string") return selector;
  if (!isObject(selector)) return "";
  const isLabelSelector = isObject(selector.matchLabels) || Array.isArray(selector.matchExpressions);
  return printLabelSelector((isLabelSelector ? readSelectorObject(selector) : readLabelMap(selector)) ?? []);
}

function steps(path: string): string[] {
  return path.replace(/^\./, "").split(".");
}

function valueAt(object: JsonObject, path: string): Json | undefined {
  return steps(path).reduce<Json | undefined>((value, member) => (isObject(value) ? value[member] : undefined), object);
}

function numberAt(object: JsonObject, path: string): number {
  const value = valueAt(object, path);
  return typeof value === "number" ? value : 0;
}

/** Upstream: `unstructured.SetNestedField`. */
function write(object: JsonObject, path: string, value: Json): void {
  const members = steps(path);
  const last = members.pop() ?? "";
  let place = object;
  for (const [depth, member] of members.entries()) {
    const inner = getMember(place, member);
    if (inner !== undefined && !isObject(inner)) {
      const at = members.slice(0, depth + 1).join(".");
      throw plainError(500, `value cannot be set because .${at} is not a map[string]interface{}`);
    }
    const next: JsonObject = inner ?? {};
    setMember(place, member, next);
    place = next;
  }
  setMember(place, last, value);
}
