import { ApiError } from "../../../../base/api/api-error.ts";
import { isObject, type KubeObject } from "../../../../base/api/object.ts";
import { runTogether } from "../../../../base/util/run-together.ts";
import { WorkQueue } from "../../../../base/util/work-queue.ts";
import type { ServedResource } from "../../../../resources/model/catalog.ts";
import type { ObjectClient } from "../../../../resources/object-client.ts";
import { type Follower, follow } from "../../../../resources/read/follow.ts";
import type { Resources } from "../../../../resources/resources.ts";
import { readObject } from "../../../../resources/stored-kinds.ts";
import type { ControllerContext } from "../../shared/controller.ts";

/** An object that must exist in every active Namespace, such as a ServiceAccount. */
export interface NamespaceFixture {
  /** Name of the controller. */
  readonly controller: string;
  /** Plural name of its resource in core/v1. */
  readonly plural: string;
  /** Its name in every namespace. */
  readonly objectName: string;
  /** Creates a new object without its namespace. The caller owns it. */
  make(): KubeObject;
  /** Whether an existing object is as it should be. */
  isRight(current: KubeObject): boolean;
  /** Corrects an object. May change `current`. */
  repair(current: KubeObject): void;
}

const WORKERS = 5;

/** Keeps the object in all active namespaces until the signal aborts. Several instances may run concurrently. */
export async function keepInNamespaces(
  context: ControllerContext,
  fixture: NamespaceFixture,
  signal: AbortSignal,
): Promise<void> {
  const { resources, report } = context;
  const keeper = new Keeper(context, fixture);
  const queue = new WorkQueue<string>({
    clock: resources.clock,
    concurrency: WORKERS,
    work: (namespace) => keeper.ensure(namespace),
    onError: (error) => {
      if (!hasCode(error, 409)) report(fixture.controller, error);
    },
  });
  const runs = keeper
    .followers((namespace) => queue.add(namespace))
    .map(
      ([prefix, follower]) =>
        (either: AbortSignal) =>
          follow(resources.store, prefix, follower, either),
    );
  try {
    await runTogether(runs, signal);
  } finally {
    await queue.close();
  }
}

class Keeper {
  readonly #resources: Resources;
  readonly #client: ObjectClient;
  readonly #fixture: NamespaceFixture;
  readonly #namespaces: ServedResource;
  readonly #objects: ServedResource;

  constructor({ resources, client }: ControllerContext, fixture: NamespaceFixture) {
    const namespaces = resources.catalog.find("", "v1", "namespaces");
    const objects = resources.catalog.find("", "v1", fixture.plural);
    if (!namespaces || !objects) throw new Error(`namespaces or ${fixture.plural} are not served`);
    this.#resources = resources;
    this.#client = client;
    this.#fixture = fixture;
    this.#namespaces = namespaces;
    this.#objects = objects;
  }

  /** The watches that find namespaces to process. */
  followers(enqueue: (namespace: string) => void): [prefix: string, follower: Follower][] {
    const { keys } = this.#resources;
    const nameOf = (storeKey: string) => keys.parse(this.#namespaces.definition, storeKey).name;
    const namespaces: Follower = {
      found: ({ key }) => enqueue(nameOf(key)),
      loaded: () => undefined,
      changed: (events) => {
        for (const { key, entry } of events) if (entry) enqueue(nameOf(key));
      },
    };
    const ending = `/${this.#fixture.objectName}`;
    const objects: Follower = {
      found: () => undefined,
      loaded: () => undefined,
      changed: (events) => {
        for (const { key } of events) {
          if (key.endsWith(ending)) enqueue(keys.parse(this.#objects.definition, key).namespace);
        }
      },
    };
    return [
      [keys.prefix(this.#namespaces.definition), namespaces],
      [keys.prefix(this.#objects.definition), objects],
    ];
  }

  async ensure(namespace: string): Promise<void> {
    if (!(await this.#isActive(namespace))) return;
    const key = { namespace, name: this.#fixture.objectName };
    const current = await this.#read(this.#objects, key);
    if (!current) await this.#create(namespace);
    else if (!this.#fixture.isRight(current)) await this.#repair(current);
  }

  async #create(namespace: string): Promise<void> {
    const object = this.#fixture.make();
    object.metadata.namespace = namespace;
    const created = await this.#client.create(this.#objects, object).catch(async (error: unknown) => {
      // Compat: NamespaceLifecycle rejects new content in a namespace that is being deleted.
      if (await this.#isActive(namespace)) throw error;
    });
    // If the deletion of the namespace started meanwhile, the object might not be deleted otherwise.
    if (!created || (await this.#isActive(namespace))) return;
    const key = { namespace, name: this.#fixture.objectName };
    await this.#client
      .delete(this.#objects, key, { preconditions: { uid: created.metadata.uid } })
      .catch((error: unknown) => {
        if (!hasCode(error, 404)) throw error;
      });
  }

  async #repair(current: KubeObject): Promise<void> {
    this.#fixture.repair(current);
    await this.#client.update(this.#objects, current).catch((error: unknown) => {
      if (!hasCode(error, 404)) throw error;
    });
  }

  async #isActive(name: string): Promise<boolean> {
    const namespace = await this.#read(this.#namespaces, { namespace: "", name });
    if (!namespace || namespace.metadata.deletionTimestamp !== undefined) return false;
    return !isObject(namespace.status) || namespace.status.phase !== "Terminating";
  }

  async #read(resource: ServedResource, key: { namespace: string; name: string }): Promise<KubeObject | undefined> {
    const { store, keys, codec } = this.#resources;
    const entry = await store.get(keys.key(resource.definition, key));
    return entry && readObject(codec, entry);
  }
}

function hasCode(error: unknown, code: number): boolean {
  return error instanceof ApiError && error.code === code;
}
