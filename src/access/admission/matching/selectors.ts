import { internalError, notFound } from "../../../base/api/api-error.ts";
import { type LabelSelector, matchesLabels } from "../../../base/api/label-selector.ts";
import { isObject, type Json, type KubeObject } from "../../../base/api/object.ts";
import { readSelectorObject } from "../../../base/api/selector-object.ts";
import type { LabelSelector as SelectorObject } from "../../../kinds/types/meta.ts";
import type { ObjectAccess } from "../../../resources/model/definition.ts";
import type { AdmissionRequest } from "../plugin.ts";
import { isNamespaces } from "./rules.ts";

/** The objects that selectors are matched against. */
export type SelectedObjects = Pick<AdmissionRequest, "object" | "previous">;

const NOT_READABLE = "the selector is invalid";

/** `namespaceSelector` and `objectSelector`, parsed once. */
export class Selectors {
  readonly #namespace: LabelSelector | undefined;
  readonly #object: LabelSelector | undefined;

  constructor(given: { namespaceSelector?: SelectorObject; objectSelector?: SelectorObject } = {}) {
    this.#namespace = readSelectorObject(given.namespaceSelector);
    this.#object = readSelectorObject(given.objectSelector);
  }

  /** Whether the selectors match everything. */
  get areEmpty(): boolean {
    return this.#namespace?.length === 0 && this.#object?.length === 0;
  }

  /**
   * Whether both selectors match the request. Throws NotFound if the namespace does not exist, so call it only if the
   * rules match.
   */
  async match(request: AdmissionRequest, objects: SelectedObjects, access: ObjectAccess): Promise<boolean> {
    if (this.areEmpty) return true;
    if (!this.#object) throw internalError(NOT_READABLE);
    if (!this.#matchesObject(this.#object, objects)) return false;
    if (!this.#namespace) throw internalError(NOT_READABLE);
    if (this.#namespace.length === 0) return true;
    const { group, plural } = request.resource.definition;
    const isNamespace = isNamespaces({ group, resource: plural });
    if (!isNamespace && request.namespace === "") return true;
    return matchesLabels(this.#namespace, await namespaceLabels(request, isNamespace, objects.object, access));
  }

  /** Matches the object or the old object. Upstream: `MatchObjectSelector`. */
  #matchesObject(selector: LabelSelector, { object, previous }: SelectedObjects): boolean {
    if (selector.length === 0) return true;
    return [object, previous].some((one) => one && isObject(one.metadata) && matchesLabels(selector, labelsOf(one)));
  }
}

/**
 * Labels of the request's namespace. A Namespace that is created or updated is matched by its new labels, all others by
 * their known ones. Upstream: `GetNamespaceLabels`.
 */
async function namespaceLabels(
  { operation, subresource, namespace, name }: AdmissionRequest,
  isNamespace: boolean,
  object: KubeObject | undefined,
  access: ObjectAccess,
): Promise<Readonly<Record<string, string>>> {
  const isWritten = isNamespace && subresource === "" && (operation === "CREATE" || operation === "UPDATE");
  if (isWritten) return object ? labelsOf(object) : {};
  const wanted = isNamespace ? name : namespace;
  const found = await access.find("", "namespaces", { namespace: "", name: wanted }, "any");
  const known = found ?? (await access.find("", "namespaces", { namespace: "", name: wanted }, "newest"));
  if (!known) throw notFound({ group: "", resource: "namespaces" }, wanted);
  return labelsOf(known);
}

function labelsOf({ metadata }: KubeObject): Record<string, string> {
  const { labels } = metadata as { labels?: Json };
  return isObject(labels) ? (labels as Record<string, string>) : {};
}
