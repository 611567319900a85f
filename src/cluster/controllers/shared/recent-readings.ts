import type { KubeObject } from "../../../base/api/object.ts";
import type { ObjectCodec } from "../../../resources/model/object-codec.ts";
import { readObject } from "../../../resources/stored-kinds.ts";
import type { Entry } from "../../../storage/store.ts";

/** Several controllers read the same entry soon after it was written. */
const SIZE = 128;
/** Larger values are not kept. */
const MAX_BYTES = 32 * 1024;

/** The objects of the entries that were read last. Forked control planes share entries, so it may be global. */
const recent = new Map<Entry, KubeObject>();

/** Decodes the object of an entry like `readObject`. Controllers share the result, which must not be changed. */
export function readShared(codec: ObjectCodec, entry: Entry): KubeObject | undefined {
  const known = recent.get(entry);
  if (known !== undefined) return known;
  const object = readObject(codec, entry);
  if (object === undefined || entry.value.length > MAX_BYTES) return object;
  recent.set(entry, object);
  if (recent.size > SIZE) {
    const [oldest] = recent.keys();
    if (oldest !== undefined) recent.delete(oldest);
  }
  return object;
}
