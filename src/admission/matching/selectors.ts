import { internalError, notFound } from "../../api/api-error.ts";
import { type LabelSelector, matchesLabels } from "../../api/label-selector.ts";
import { isObject, type Json, type KubeObject } from "../../api/object.ts";
import { readSelectorObject } from "../../api/selector-object.ts";
import type { ObjectAccess } from "../../resources/model/definition.ts";
import type { LabelSelector as SelectorObject } from "../../types/meta.ts";
import type { AdmissionRequest } from "../plugin.ts";
import { isNamespaces } from "./rules.ts";

/** The objects that selectors look at, as far as the request has come. */
export type SelectedObjects = Pick<AdmissionRequest, "object" | "previous">;

const NOT_READABLE = "the selector cannot be read";

/** `namespaceSelector` and `objectSelector`, parsed once. */
export class Selectors {
  readonly #namespace: LabelSelector | undefined;
  readonly #object: LabelSelector | undefined;

  constructor(given: { namespaceSelector?: SelectorObject; objectSelector?: SelectorObject } = {}) {
    this.#namespace = readSelectorObject(given.namespaceSelector);
    this.#object = readSelectorObject(given.objectSelector);
  }

  /** Whether they select everything. */
  get areEmpty(): boolean {
    return this.#namespace?.length === 0 && this.#object?.length === 0;
  }

  /**
   * Whether both select the request. Only for requests that the rules match: throws NotFound when the namespace does not
   * exist.
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

  /** Upstream: `MatchObjectSelector`: the object or the old object. */
  #matchesObject(selector: LabelSelector, { object, previous }: SelectedObjects): boolean {
    if (selector.length === 0) return true;
    return [object, previous].some((one) => one && isObject(one.metadata) && matchesLabels(selector, labelsOf(one)));
  }
}

/**
 * Upstream: `GetNamespaceLabels`. A Namespace that is created or changed is selected by what it will be, all others by
 * what is known of them.
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
