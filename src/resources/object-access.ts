import type { KubeObject } from "../api/object.ts";
import { cloneJson } from "../lib/clone.ts";
import type { ServedResource } from "./catalog.ts";
import { storedApiVersion } from "./conversion.ts";
import type { ObjectAccess } from "./definition.ts";
import type { DeletionRequest } from "./deletion.ts";
import type { ObjectKey } from "./keys.ts";
import { listObjects } from "./object-list.ts";
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

  async list(group: string, plural: string, namespace: string): Promise<KubeObject[]> {
    const resource = this.#resource(group, plural);
    const { items } = await listObjects(this.#resources, resource, {
      selection: parseSelection(resource, { namespace, labelSelector: "", fieldSelector: "", shardSelector: "" }),
      limit: 0,
      continueToken: "",
      resourceVersion: undefined,
      resourceVersionMatch: "",
    });
    return items.map(({ object }) => object);
  }

  async create(group: string, plural: string, object: KubeObject): Promise<KubeObject> {
    const resource = this.#resource(group, plural);
    return (await this.#resources.collection(resource).create(resource, object, {})).object;
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

  async delete(group: string, plural: string, key: ObjectKey, request: DeletionRequest = {}): Promise<void> {
    const resource = this.#resource(group, plural);
    await this.#resources.collection(resource).delete(resource, key, request, {});
  }

  /** The kind in its stored version. A kind that is not served is a mistake of the hook. */
  #resource(group: string, plural: string): ServedResource {
    const { catalog } = this.#resources;
    const definition = catalog.definitions.find((one) => one.group === group && one.plural === plural);
    if (!definition) throw new Error(`no kind is served as ${plural} of ${group || "the core group"}`);
    const stored = storedApiVersion(definition);
    const found =
      catalog.findKind(stored, definition.kind) ?? catalog.find(group, definition.versions[0]?.name ?? "", plural);
    if (!found) throw new Error(`${plural} is not served in the version it is stored in`);
    return found;
  }
}
