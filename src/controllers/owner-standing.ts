import type { KubeObject, OwnerReference } from "../api/object.ts";
import type { ServedResource } from "../resources/model/catalog.ts";
import type { ObjectKey } from "../resources/model/keys.ts";
import type { Resources } from "../resources/resources.ts";
import { FOREGROUND } from "./owner-graph.ts";

/**
 * How the owner of an ownerReference stands to a dependent. "solid": it is there. "absent": it is not, or another
 * object has its name. "waiting": it is being deleted with foregroundDeletion. "unknown": no such kind is known, so
 * nothing can be said. "impossible": a cluster-scoped object cannot be owned by a namespaced one.
 */
export type Standing = "solid" | "absent" | "waiting" | "unknown" | "impossible";

/** The ownerReferences of one object by how their owners stand. */
export type Standings = Readonly<Record<Standing, readonly OwnerReference[]>>;

/** Where an ownerReference points to, seen from a dependent in `namespace`. */
export function locateOwner(
  { catalog, keys }: Resources,
  reference: OwnerReference,
  namespace: string,
): { readonly storeKey: string } | "unknown" | "impossible" {
  const resource = catalog.findKind(reference.apiVersion, reference.kind);
  // The catalogue knows kinds of lists, too, but a list owns nothing.
  if (resource?.definition.kind !== reference.kind || !resource.definition.storage) return "unknown";
  const { definition } = resource;
  if (definition.scope === "Namespaced" && namespace === "") return "impossible";
  return { storeKey: keys.key(definition, { namespace, name: reference.name }) };
}

/** An object and everything that is needed to judge its owners. */
export interface Dependent {
  readonly object: KubeObject;
  readonly resource: ServedResource;
  readonly key: ObjectKey;
  /** Its owners are judged by a state at least as new as this one. */
  readonly revision: number;
}

/** Is told which owner is about to be read; what it returns is called when that owner is there. */
export type Sight = (uid: string, ownerKey: string) => () => void;

/**
 * Judges the owners of an object. An owner exists before anything can name its uid, and a uid never comes back: one that
 * is absent in any state as new as the dependent stays absent for ever.
 */
export async function judgeOwners(resources: Resources, dependent: Dependent, sight: Sight): Promise<Standings> {
  const standings: Record<Standing, OwnerReference[]> = {
    solid: [],
    absent: [],
    waiting: [],
    unknown: [],
    impossible: [],
  };
  for (const reference of dependent.object.metadata.ownerReferences ?? []) {
    standings[await judgeOwner(resources, dependent, reference, sight)].push(reference);
  }
  return standings;
}

async function judgeOwner(
  resources: Resources,
  { key, revision }: Dependent,
  reference: OwnerReference,
  sight: Sight,
): Promise<Standing> {
  const place = locateOwner(resources, reference, key.namespace);
  if (typeof place === "string") return place;
  const confirm = sight(reference.uid, place.storeKey);
  const entry = await resources.store.get(place.storeKey, { minRevision: revision });
  // An owner that cannot be read is no reason to delete what it owns: this throws.
  const owner = entry && resources.codec.read(entry);
  if (owner?.metadata.uid !== reference.uid) return "absent";
  confirm();
  const { deletionTimestamp, finalizers } = owner.metadata;
  return deletionTimestamp !== undefined && finalizers?.includes(FOREGROUND) ? "waiting" : "solid";
}
