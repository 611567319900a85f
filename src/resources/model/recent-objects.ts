import type { KubeObject } from "../../base/api/object.ts";

const MAX_OBJECTS = 128;
/** Stored size of all objects. Decoded ones take several times as much. */
const MAX_BYTES = 4 * 1024 * 1024;

/**
 * The objects decoded last, so that those who need the same one soon after each other decode it once. Limited by count
 * and bytes. `tag` identifies the form of the object; one form per key is kept.
 */
export class RecentObjects<Key extends object, Tag> {
  readonly #objects = new Map<Key, { readonly tag: Tag; readonly object: KubeObject; readonly bytes: number }>();
  #bytes = 0;

  /** The result of `decode` for this key and tag, perhaps that of an earlier call. It must not be changed. */
  get(key: Key, tag: Tag, bytes: number, decode: () => KubeObject): KubeObject {
    const known = this.#objects.get(key);
    if (known?.tag === tag) return known.object;
    const object = decode();
    this.#forget(key);
    this.#objects.set(key, { tag, object, bytes });
    this.#bytes += bytes;
    for (const oldest of this.#objects.keys()) {
      if (this.#objects.size <= MAX_OBJECTS && this.#bytes <= MAX_BYTES) break;
      this.#forget(oldest);
    }
    return object;
  }

  #forget(key: Key): void {
    this.#bytes -= this.#objects.get(key)?.bytes ?? 0;
    this.#objects.delete(key);
  }
}
