import type { Resources } from "../../resources/resources.ts";
import type { FindSecret } from "./bootstrap-tokens.ts";

/**
 * Finds Secrets of kube-system in the local snapshot of the store, if there is one. So guessing tokens causes no
 * requests to a remote store.
 */
export function secretsOfKubeSystem({ catalog, keys, store, codec }: Resources): FindSecret {
  const definition = catalog.findKind("v1", "Secret")?.definition;
  if (definition === undefined) throw new Error("kind v1 Secret is not registered");
  return async (name) => {
    const key = keys.key(definition, { namespace: "kube-system", name });
    const snapshot = store.snapshot?.(key);
    const entry = snapshot ? snapshot.get(key) : await store.get(key);
    if (entry === undefined) return undefined;
    const isCurrent = (): boolean => store.snapshot?.(key)?.get(key)?.modRevision === entry.modRevision;
    return { secret: codec.read(entry), isCurrent };
  };
}
