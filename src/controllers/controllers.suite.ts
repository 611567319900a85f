import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { isObject, type KubeObject, type OwnerReference } from "../api/object.ts";
import { builtInKinds } from "../kinds/all.ts";
import { systemClock } from "../lib/clock.ts";
import { Catalog, type ServedResource } from "../resources/catalog.ts";
import type { ResourceDefinition } from "../resources/definition.ts";
import type { DeletionRequest } from "../resources/deletion.ts";
import { KeySpace } from "../resources/keys.ts";
import { Resources } from "../resources/resources.ts";
import { MemoryStore } from "../storage/memory.ts";
import { type Controller, runControllers } from "./controller.ts";
import { readObject } from "./stored-kinds.ts";

/** A namespace as the tests need it: held by spec.finalizers. Used until the kind itself does so. */
const heldNamespace: ResourceDefinition["hooks"] = {
  prepare: (next, previous) => {
    if (previous) return;
    next.spec = { finalizers: ["kubernetes"] };
    next.status = { phase: "Active" };
  },
  isHeld: ({ spec }) => isObject(spec) && Array.isArray(spec.finalizers) && spec.finalizers.length > 0,
  markDeleted: (object) => {
    object.status = { ...(isObject(object.status) ? object.status : {}), phase: "Terminating" };
  },
};

function kindsForTests(): ResourceDefinition[] {
  return builtInKinds().map((definition) =>
    definition.kind === "Namespace" && !definition.hooks?.isHeld ? { ...definition, hooks: heldNamespace } : definition,
  );
}

/** What is created: everything but the name may be left out. */
export interface NewObject {
  readonly namespace?: string;
  readonly owners?: readonly OwnerReference[];
  readonly finalizers?: readonly string[];
  readonly content?: Partial<KubeObject>;
}

/** All kinds over a store in memory, with controllers running beside. Ended by `stop`. */
export class TestCluster {
  readonly store = new MemoryStore();
  readonly catalog = new Catalog(kindsForTests());
  readonly resources: Resources = new Resources({
    store: this.store,
    catalog: this.catalog,
    clock: systemClock,
    keys: new KeySpace("registry"),
  });
  /** What controllers have complained of. */
  readonly problems: unknown[] = [];
  readonly report = (_controller: string, error: unknown): void => {
    this.problems.push(error);
  };
  readonly #stop = new AbortController();
  readonly #runs: Promise<void>[] = [];

  start(...controllers: readonly Controller[]): void {
    this.#runs.push(runControllers(controllers, this.#stop.signal, this.report));
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#runs);
    await this.store.close();
  }

  resource(plural: string): ServedResource {
    const definition = this.catalog.definitions.find((one) => one.plural === plural && one.storage);
    assert.ok(definition, plural);
    const resource = this.catalog.find(definition.group, definition.versions[0]?.name ?? "", plural);
    assert.ok(resource);
    return resource;
  }

  async create(plural: string, name: string, options: NewObject = {}): Promise<KubeObject> {
    const resource = this.resource(plural);
    const namespace = options.namespace ?? "default";
    const object: KubeObject = {
      kind: resource.definition.kind,
      apiVersion: resource.apiVersion,
      metadata: {
        name,
        ...(resource.definition.scope === "Namespaced" ? { namespace } : {}),
        ...(options.owners ? { ownerReferences: [...options.owners] } : {}),
        ...(options.finalizers ? { finalizers: [...options.finalizers] } : {}),
      },
      ...options.content,
    };
    return (await this.resources.collection(resource).create(resource, object, {})).object;
  }

  async find(plural: string, name: string, namespace = "default"): Promise<KubeObject | undefined> {
    const key = this.resources.keys.key(this.resource(plural).definition, { namespace, name });
    const entry = await this.store.get(key);
    return entry && readObject(entry);
  }

  async delete(plural: string, name: string, request: DeletionRequest = {}, namespace = "default"): Promise<void> {
    const resource = this.resource(plural);
    await this.resources.collection(resource).delete(resource, { namespace, name }, request, {});
  }

  async change(
    plural: string,
    name: string,
    change: (object: KubeObject) => void,
    namespace = "default",
  ): Promise<void> {
    const resource = this.resource(plural);
    await this.resources.collection(resource).update(
      resource,
      { namespace, name },
      (current) => {
        assert.ok(current);
        change(current);
        return current;
      },
      { isPatch: true },
    );
  }

  /** How many objects a kind has, in one namespace or in all. */
  async count(plural: string, namespace = ""): Promise<number> {
    const prefix = this.resources.keys.prefix(this.resource(plural).definition, namespace);
    return (await this.store.list(prefix)).entries.length;
  }
}

/** Resolves when the condition holds; fails when that takes too long. */
export async function until(condition: () => Promise<boolean> | boolean, timeoutMs = 10_000): Promise<void> {
  const deadlineMs = performance.now() + timeoutMs;
  while (!(await condition())) {
    assert.ok(performance.now() < deadlineMs, `not within ${timeoutMs} ms: ${condition}`);
    await sleep(1);
  }
}

/** A reference to an owner, as its dependents carry it. */
export function ownedBy(owner: KubeObject, blocks = false): OwnerReference {
  const { apiVersion, kind, metadata } = owner;
  const reference = { apiVersion, kind, name: metadata.name ?? "", uid: metadata.uid ?? "" };
  return blocks ? { ...reference, blockOwnerDeletion: true } : reference;
}
