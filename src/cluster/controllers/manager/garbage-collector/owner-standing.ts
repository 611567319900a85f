import type { KubeObject, OwnerReference } from "../../../../base/api/object.ts";
import type { ServedResource } from "../../../../resources/model/catalog.ts";
import type { ObjectKey } from "../../../../resources/model/keys.ts";
import type { Resources } from "../../../../resources/resources.ts";
import { FOREGROUND } from "./owner-graph.ts";

/**
 * State of the owner that an ownerReference names.
 * - solid: it exists.
 * - absent: it does not exist, or another object has its name.
 * - waiting: it is being deleted with foregroundDeletion.
 * - unknown: its kind is not known, so nothing can be decided.
 * - impossible: a namespaced object cannot own a cluster-scoped one.
 */
export type Standing = "solid" | "absent" | "waiting" | "unknown" | "impossible";

/** The ownerReferences of one object by the state of their owners. */
export type Standings = Readonly<Record<Standing, readonly OwnerReference[]>>;

/** Where an ownerReference of a dependent in `namespace` points to. */
export function locateOwner(
  { catalog, keys }: Resources,
  reference: OwnerReference,
  namespace: string,
): { readonly storeKey: string } | "unknown" | "impossible" {
  const resource = catalog.findKind(reference.apiVersion, reference.kind);
  // The catalog also finds list kinds, but a list cannot be an owner.
  if (resource?.definition.kind !== reference.kind || !resource.definition.storage) return "unknown";
  const { definition } = resource;
  if (definition.scope === "Namespaced" && namespace === "") return "impossible";
  return { storeKey: keys.key(definition, { namespace, name: reference.name }) };
}

/** An object and what is needed to judge its owners. */
export interface Dependent {
  readonly object: KubeObject;
  readonly resource: ServedResource;
  readonly key: ObjectKey;
  /** Owners are read at this revision or a newer one. */
  readonly revision: number;
}

/** Called before an owner is read. The returned function is called if the owner exists. */
export type Sight = (uid: string, ownerKey: string) => () => void;

/**
 * Reads the owners of an object. An owner exists before its uid can be referenced, and uids are never reused. So an
 * owner that is absent in a state as new as the dependent stays absent.
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
  // Throws if the owner cannot be decoded: that is no reason to delete its dependents.
  const owner = entry && resources.codec.read(entry);
  if (owner?.metadata.uid !== reference.uid) return "absent";
  confirm();
  const { deletionTimestamp, finalizers } = owner.metadata;
  return deletionTimestamp !== undefined && finalizers?.includes(FOREGROUND) ? "waiting" : "solid";
}
