import assert from "node:assert/strict";
import { invalidField } from "../../base/api/field-error.ts";
import type { KubeObject } from "../../base/api/object.ts";
import { drivenEnvironment } from "../../base/util/environment.suite.ts";
import type { Random } from "../../base/util/random.ts";
import { MemoryStore } from "../../storage/memory.ts";
import type { PutOptions, WriteResult } from "../../storage/store.ts";
import { FaultyStore } from "../../storage/suite/faulty-store.suite.ts";
import type { ReserveAction } from "../model/actions.ts";
import { Catalog } from "../model/catalog.ts";
import type { ResourceDefinition } from "../model/definition.ts";
import { Draft } from "../model/draft.ts";
import { KeySpace } from "../model/keys.ts";
import { Resources } from "../resources.ts";

/** A store that runs a competing operation right before a write. */
export class RacingStore extends FaultyStore {
  readonly #rivals: (() => Promise<unknown>)[] = [];

  /** Runs `rival` before the next write. Several calls apply to consecutive writes, in order. */
  meanwhile(rival: () => Promise<unknown>): void {
    this.#rivals.push(rival);
  }

  override async put(key: string, value: Uint8Array, expected: number, options?: PutOptions): Promise<WriteResult> {
    await this.#rivals.shift()?.();
    return super.put(key, value, expected, options);
  }

  override async delete(key: string, expected: number): Promise<WriteResult> {
    await this.#rivals.shift()?.();
    return super.delete(key, expected);
  }
}

const SHIPS: ResourceDefinition = {
  group: "sea.example",
  kind: "Ship",
  listKind: "ShipList",
  plural: "ships",
  singular: "ship",
  shortNames: [],
  categories: [],
  scope: "Namespaced",
  verbs: ["create", "get", "update", "delete"],
  reading: "typed",
  versions: [{ name: "v1", schema: () => ({ type: "object" }), schemaName: "" }],
  storage: { version: "v1", prefix: "ships", hash: "" },
  subresources: { status: { verbs: ["update"], writes: "status" } },
  rules: { generation: "counted" },
  hooks: {
    validate: ({ spec }) =>
      (spec as { sails?: number } | undefined)?.sails === 13 ? [invalidField("spec.sails", 13, "is unlucky")] : [],
  },
};

/** The kind of the tests with other rules, hooks or actions. */
export const shipsWith = (more: Partial<ResourceDefinition>): ResourceDefinition => ({
  ...SHIPS,
  ...more,
  rules: { ...SHIPS.rules, ...more.rules },
  hooks: { ...SHIPS.hooks, ...more.hooks },
});

/** Options of a `Harbour`. */
export interface HarbourOptions {
  readonly definition?: ResourceDefinition;
  readonly random?: Random;
  readonly reserve?: ReserveAction;
}

/** A collection of one kind on its own store, and a competing writer on the same store. */
export class Harbour {
  readonly inner = new MemoryStore();
  readonly store = new RacingStore(this.inner);
  readonly environment = drivenEnvironment();
  readonly ships;
  readonly rival;

  constructor(options: HarbourOptions = {}) {
    this.ships = this.#open(this.store, options);
    this.rival = this.#open(this.inner, options);
  }

  #open(store: FaultyStore | MemoryStore, { definition = SHIPS, random, reserve }: HarbourOptions) {
    const catalog = new Catalog([definition]);
    const resources = new Resources({
      store,
      catalog,
      clock: this.environment.clock,
      random: random ?? this.environment.random,
      keys: new KeySpace("/registry"),
      actions: { create: {}, compute: {}, reserve: reserve ? { berth: reserve } : {} },
    });
    const resource = catalog.find("sea.example", "v1", "ships") ?? assert.fail();
    const collection = resources.collection(resource);
    const key = (name: string) => ({ namespace: "n", name });
    return {
      create: async (object: KubeObject, options = {}) =>
        (await collection.create(resource, new Draft(object), options)).object,
      get: async (name: string) => (await collection.get(resource, key(name))).object,
      /** Changes the stored object; `seen` records the state of each attempt. */
      change: async (
        name: string,
        change: (object: KubeObject) => void,
        options: Parameters<typeof collection.update>[3] & { readonly seen?: (KubeObject | undefined)[] } = {},
      ) => {
        const { view, created } = await collection.update(
          resource,
          key(name),
          (current) => {
            options.seen?.push(structuredClone(current));
            const next = current ?? ship(name);
            change(next);
            return new Draft(next);
          },
          options,
        );
        return { object: view.object, created };
      },
      remove: async (
        name: string,
        request: Parameters<typeof collection.delete>[2] = {},
        options: Parameters<typeof collection.delete>[3] = {},
      ) => {
        const { view, removed } = await collection.delete(resource, key(name), request, options);
        return { object: view.object, removed };
      },
    };
  }
}

/** Returns a ship that is not stored yet. */
export function ship(name: string, more: { metadata?: object; spec?: object } = {}): KubeObject {
  const metadata = { ...(name === "" ? {} : { name }), namespace: "n", ...more.metadata };
  return { apiVersion: "sea.example/v1", kind: "Ship", metadata, spec: { sails: 3, ...more.spec } };
}

/** Returns a matcher for an ApiError with this code, reason and message. */
export const refusal = (code: number, reason: string, message: RegExp) => (error: unknown) => {
  const { status } = error as { status: { code: number; reason: string; message: string } };
  assert.deepEqual([status.code, status.reason], [code, reason], status.message);
  assert.match(status.message, message);
  return true;
};
