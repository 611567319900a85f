import type { KubeObject } from "../../base/api/object.ts";
import { type Informer, keyOf } from "../controllers/shared/informer.ts";

/**
 * Objects of an informer as the scheduler is going to change them. An object that has changed since replaces the assumed
 * one. Upstream: passiveAssumeCache
 */
export class AssumedObjects<T extends KubeObject> {
  readonly #informer: Informer<T>;
  readonly #assumed = new Map<string, T>();

  constructor(informer: Informer<T>) {
    this.#informer = informer;
  }

  get(key: string): T | undefined {
    const known = this.#informer.get(key);
    return known && this.newest(known);
  }

  /** The assumed object, if there is one of the same version. */
  newest(known: T): T {
    const assumed = this.#assumed.get(keyOf(known));
    const isCurrent = assumed?.metadata.resourceVersion === known.metadata.resourceVersion;
    return assumed && isCurrent ? assumed : known;
  }

  assume(object: T): void {
    this.#assumed.set(keyOf(object), object);
  }

  /** Takes back `assume` of this object, unless it was replaced. */
  restore(object: T): void {
    const key = keyOf(object);
    if (this.#assumed.get(key) === object) this.#assumed.delete(key);
  }
}
