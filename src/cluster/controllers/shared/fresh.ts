import type { KubeObject } from "../../../base/api/object.ts";
import type { ServedResource } from "../../../resources/model/catalog.ts";
import type { Resources } from "../../../resources/resources.ts";

/** Reads the stored state of an object, because that of an informer may be old. */
export async function readFresh(
  { store, keys, codec }: Resources,
  { definition }: ServedResource,
  { metadata: { namespace = "", name = "" } }: Pick<KubeObject, "metadata">,
): Promise<KubeObject | undefined> {
  const entry = await store.get(keys.key(definition, { namespace, name }));
  return entry && codec.read(entry);
}
