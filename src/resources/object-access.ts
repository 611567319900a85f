import type { KubeObject } from "../api/object.ts";
import { cloneJson } from "../lib/clone.ts";
import { allBut } from "../patch/apply/reset-fields.ts";
import type { TrackingScope } from "../patch/apply/scope.ts";
import { trackUpdate } from "../patch/apply/track-update.ts";
import type { ServedResource } from "./catalog.ts";
import { storedApiVersion } from "./conversion.ts";
import type { ObjectAccess } from "./definition.ts";
import type { DeletionRequest } from "./deletion.ts";
import type { ObjectKey } from "./keys.ts";
import { printTime } from "./metadata.ts";
import { listObjects } from "./object-list.ts";
import { decodeEntry, encodeObject } from "./object-view.ts";
import type { Preconditions } from "./preconditions.ts";
import type { Resources } from "./resources.ts";
import { parseSelection } from "./selection.ts";

/** The objects of all kinds, each in the version it is stored in, for hooks that need others than their own. */
export class StoredObjects implements ObjectAccess {
  readonly #resources: Resources;

  constructor(resources: Resources) {
    this.#resources = resources;
  }

  get now(): number {
    return this.#resources.clock.now();
  }

  find(group: string, plural: string, key: ObjectKey): Promise<KubeObject | undefined> {
    return this.#resources.peek(this.#resource(group, plural), key);
  }

  async list(
    group: string,
    plural: string,
    namespace: string,
    freshness: "newest" | "any" = "newest",
  ): Promise<KubeObject[]> {
    const resource = this.#resource(group, plural);
    const { items } = await listObjects(this.#resources, resource, {
      selection: parseSelection(resource, { namespace, labelSelector: "", fieldSelector: "", shardSelector: "" }),
      limit: 0,
      continueToken: "",
      resourceVersion: freshness === "any" ? 0 : undefined,
      resourceVersionMatch: "",
    });
    return items.map(({ object }) => object);
  }

  async create(group: string, plural: string, object: KubeObject): Promise<KubeObject> {
    const resource = this.#resource(group, plural);
    const next = { ...cloneJson(object), apiVersion: resource.apiVersion };
    resource.definition.hooks?.setDefaults?.(next, resource.apiVersion);
    own(resource, next, printTime(this.now));
    return (await this.#resources.collection(resource).create(resource, next, {})).object;
  }

  async update(
    group: string,
    plural: string,
    key: ObjectKey,
    change: (current: KubeObject) => KubeObject,
    subresource?: string,
  ): Promise<KubeObject> {
    const resource = this.#resource(group, plural);
    const { view } = await this.#resources.collection(resource).update(
      resource,
      key,
      // Only an existing object gets here: nothing allows this update to create one.
      (current) => change(cloneJson(current as KubeObject)),
      { subresource, isPatch: true },
    );
    return view.object;
  }

  async delete(
    group: string,
    plural: string,
    key: ObjectKey,
    request: DeletionRequest & { readonly preconditions?: Preconditions } = {},
  ): Promise<void> {
    const resource = this.#resource(group, plural);
    await this.#resources.collection(resource).delete(resource, key, request, {});
  }

  async findRecord(place: string): Promise<KubeObject | undefined> {
    const { store, keys } = this.#resources;
    const entry = await store.get(keys.root + place);
    return entry && decodeEntry(entry);
  }

  async changeRecord(
    place: string,
    change: (current: KubeObject | undefined) => KubeObject | undefined,
  ): Promise<void> {
    const { store, keys } = this.#resources;
    const key = keys.root + place;
    let entry = await store.get(key);
    for (;;) {
      const next = change(entry && decodeEntry(entry));
      if (next === undefined) return;
      const result = await store.put(key, encodeObject(next), entry?.modRevision ?? 0);
      if (result.ok) return;
      entry = result.current;
    }
  }

  /** The kind in its stored version. A kind that is not served is a mistake of the hook. */
  #resource(group: string, plural: string): ServedResource {
    const { catalog } = this.#resources;
    const candidates = catalog.definitions.filter((one) => one.plural === plural);
    // Built-in groups may be served under another domain than the one that hooks know them by.
    const [label] = group.split(".");
    const definition =
      candidates.find((one) => one.group === group) ?? candidates.find((one) => one.group.split(".")[0] === label);
    if (!definition) throw new Error(`no kind is served as ${plural} of ${group || "the core group"}`);
    const stored = storedApiVersion(definition);
    const found =
      catalog.findKind(stored, definition.kind) ?? catalog.find(group, definition.versions[0]?.name ?? "", plural);
    if (!found) throw new Error(`${plural} is not served in the version it is stored in`);
    return found;
  }
}

const MANAGER = "kube-apiserver";

/** Records the server itself as the owner of all that a new object says. Changes `next`. */
function own({ definition, apiVersion, version }: ServedResource, next: KubeObject, now: string): void {
  const scope: TrackingScope = {
    apiVersion,
    kind: definition.kind,
    subresource: "",
    schemaOf: (wanted) => (wanted === apiVersion ? version.schema() : undefined),
    convert: (object, wanted) => (wanted === apiVersion ? object : undefined),
    resetFields: () => (definition.subresources.status?.writes === "status" ? allBut("status") : undefined),
  };
  const managedFields = trackUpdate(scope, { live: undefined, next, manager: MANAGER, now });
  if (managedFields !== undefined) next.metadata.managedFields = managedFields;
}
