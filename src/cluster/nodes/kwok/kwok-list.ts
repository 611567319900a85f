import { isObject, type KubeObject } from "../../../base/api/object.ts";
import { type Follower, follow } from "../../../resources/read/follow.ts";
import type { Resources } from "../../../resources/resources.ts";
import type { Entry } from "../../../storage/store.ts";
import type { Controller, ReportProblem } from "../../controllers/shared/controller.ts";

/** What a list of KWOK's objects works with. */
export interface KwokListOptions<T> {
  readonly resources: Resources;
  readonly report: ReportProblem;
  /** The kind and its plural. */
  readonly kind: string;
  readonly plural: string;
  /** Reads an object. Undefined if it does not concern this server. Throws if it is not supported. */
  readonly read: (object: KubeObject) => T | undefined;
  /** Called when the list has changed. */
  readonly changed?: () => void;
}

/**
 * The objects of a kind of KWOK (`kwok.x-k8s.io`). They are found by their keys, with or without a definition. Those that
 * cannot be read are logged and ignored.
 */
export class KwokList<T> implements Controller {
  readonly name: string;
  readonly #options: KwokListOptions<T>;
  readonly #byKey = new Map<string, T>();
  readonly #loaded = Promise.withResolvers<void>();
  #sorted: readonly T[] = [];

  constructor(options: KwokListOptions<T>) {
    this.#options = options;
    this.name = options.plural;
  }

  /** The objects, by namespace and name. A new array after every change. */
  get all(): readonly T[] {
    return this.#sorted;
  }

  /** Resolves once all stored objects are known. */
  get loaded(): Promise<void> {
    return this.#loaded.promise;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { resources, plural } = this.#options;
    this.#byKey.clear();
    const prefix = `${resources.keys.root}kwok.x-k8s.io/${plural}/`;
    signal.addEventListener("abort", () => this.#loaded.resolve(), { once: true });
    const follower: Follower = {
      found: (entry) => this.#set(entry.key, entry),
      loaded: () => {
        this.#update();
        this.#loaded.resolve();
      },
      changed: (events) => {
        for (const { key, entry } of events) this.#set(key, entry);
        if (events.length > 0) this.#update();
      },
    };
    await follow(resources.store, prefix, follower, signal);
  }

  #set(key: string, entry: Entry | undefined): void {
    this.#byKey.delete(key);
    if (entry === undefined) return;
    const { resources, report, kind, read } = this.#options;
    try {
      const object = resources.codec.read(entry);
      const found = isObject(object.spec) ? read(object) : undefined;
      if (found !== undefined) this.#byKey.set(key, found);
    } catch (cause) {
      report(this.name, new Error(`${kind} ${key.split("/").at(-1)} is ignored`, { cause }));
    }
  }

  #update(): void {
    this.#sorted = [...this.#byKey].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, found]) => found);
    this.#options.changed?.();
  }
}
