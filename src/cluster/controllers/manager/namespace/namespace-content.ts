import { ApiError } from "../../../../base/api/api-error.ts";
import { isObject, type KubeObject } from "../../../../base/api/object.ts";
import { forEachLimited } from "../../../../base/util/for-each-limited.ts";
import type { ServedResource } from "../../../../resources/model/catalog.ts";
import type { ObjectClient } from "../../../../resources/object-client.ts";
import type { Resources } from "../../../../resources/resources.ts";
import { readObject, type StoredKinds } from "../../../../resources/stored-kinds.ts";
import type { Entry } from "../../../../storage/store.ts";
import type { ControllerContext } from "../../shared/controller.ts";
import type { Emptying, RemainingKind } from "./namespace-conditions.ts";

/** The content of a terminating Namespace after an attempt to empty it. */
export interface Content extends Emptying {
  /** Store keys of the remaining objects. */
  readonly storeKeys: ReadonlySet<string>;
  /** Expected seconds until the remaining objects are gone. 0 if nothing is left, or it is unknown. */
  readonly estimateSeconds: number;
}

/** The content of a Namespace at one resourceVersion. Newer objects are never deleted. */
export interface ContentAt {
  readonly namespace: string;
  /** The revision at which the content is listed. Everything in it belongs to the Namespace that is being deleted. */
  readonly revision: number;
  /** When the namespace was deleted, in milliseconds since the epoch. */
  readonly deletedMs: number;
}

interface Found {
  readonly resource: ServedResource;
  readonly entry: Entry;
  readonly object: KubeObject;
}

const DELETIONS = 16;
const FINALIZER_SECONDS = 15;

/**
 * Deletes all content of a terminating Namespace, pods first, and returns what remains. Upstream: `deleteAllContent`.
 */
export async function emptyNamespace(
  context: ControllerContext,
  kinds: StoredKinds,
  where: ContentAt,
): Promise<Content> {
  const all = kinds.all().filter(isContent);
  const pods = all.filter(({ definition }) => definition.group === "" && definition.plural === "pods");
  const first = await emptyKinds(context, pods, where);
  // Compat: like `namespacedResourcesDeleter`, other objects are not deleted while pods remain, and the conditions
  // NamespaceContentRemaining and NamespaceFinalizersRemaining do not mention the pods.
  if (first.remaining.length > 0) return { ...first, remaining: [], finalizers: new Map() };
  const others = await emptyKinds(
    context,
    all.filter((resource) => !pods.includes(resource)),
    where,
  );
  return { ...others, failures: [...first.failures, ...others.failures] };
}

function isContent({ definition }: ServedResource): boolean {
  return definition.scope === "Namespaced" && definition.verbs.includes("delete");
}

async function emptyKinds(
  { resources, client }: ControllerContext,
  kinds: readonly ServedResource[],
  where: ContentAt,
): Promise<Content> {
  const failures: string[] = [];
  const found = await findContent(resources, kinds, where.namespace, where.revision);
  const graceSeconds = estimateGrace(found, where, resources.clock.now());
  await forEachLimited(found, DELETIONS, async (one) => {
    const failure = await deleteOne(client, one);
    if (failure !== undefined) failures.push(failure);
  });
  if (found.length === 0) return NOTHING;
  const left = await findContent(resources, kinds, where.namespace, await resources.store.revision());
  return describe(left, where.namespace, graceSeconds, failures);
}

const NOTHING: Content = {
  remaining: [],
  finalizers: new Map(),
  failures: [],
  storeKeys: new Set(),
  estimateSeconds: 0,
};

async function findContent(
  { store, keys, codec }: Resources,
  kinds: readonly ServedResource[],
  namespace: string,
  revision: number,
): Promise<Found[]> {
  const found: Found[] = [];
  await forEachLimited(kinds, DELETIONS, async (resource) => {
    const { entries } = await store.list(keys.prefix(resource.definition, namespace), { revision });
    for (const entry of entries) {
      const object = readObject(codec, entry);
      if (object) found.push({ resource, entry, object });
    }
  });
  return found;
}

/** Returns the error message, or undefined. NotFound and Conflict (another object has the name) are not failures. */
async function deleteOne(client: ObjectClient, { resource, object }: Found): Promise<string | undefined> {
  const { namespace = "", name = "", uid } = object.metadata;
  try {
    const key = { namespace, name };
    await client.delete(resource, key, { propagationPolicy: "Background", preconditions: { uid } });
    return undefined;
  } catch (error) {
    if (error instanceof ApiError && (error.code === 404 || error.code === 409)) return undefined;
    return error instanceof Error ? error.message : String(error);
  }
}

/**
 * How long pods may take to terminate: the longest terminationGracePeriodSeconds of a running pod, or 0 if that time
 * has passed.
 */
function estimateGrace(found: readonly Found[], { deletedMs }: ContentAt, nowMs: number): number {
  let seconds = 0;
  for (const { resource, object } of found) {
    if (!resource.definition.hooks?.gracePeriodSeconds) continue;
    const phase = isObject(object.status) ? object.status.phase : undefined;
    const grace = isObject(object.spec) ? object.spec.terminationGracePeriodSeconds : undefined;
    if (phase !== "Succeeded" && phase !== "Failed" && typeof grace === "number") seconds = Math.max(seconds, grace);
  }
  return nowMs - deletedMs >= seconds * 1000 ? 0 : seconds;
}

function describe(
  left: readonly Found[],
  namespace: string,
  graceSeconds: number,
  problems: readonly string[],
): Content {
  const failures = [...problems];
  const finalizers = new Map<string, number>();
  const byKind = Map.groupBy(left, ({ resource }) => resource);
  const remaining: RemainingKind[] = [];
  let estimateSeconds = 0;
  for (const [resource, objects] of byKind) {
    remaining.push({ resource, count: objects.length });
    const held = objects.flatMap(({ object }) => object.metadata.finalizers ?? []);
    for (const finalizer of held) finalizers.set(finalizer, (finalizers.get(finalizer) ?? 0) + 1);
    const grace = resource.definition.hooks?.gracePeriodSeconds ? graceSeconds : 0;
    estimateSeconds = Math.max(estimateSeconds, grace || (held.length > 0 ? FINALIZER_SECONDS : 0));
    if (grace === 0 && held.length === 0) failures.push(unexpected(resource, namespace));
  }
  return { remaining, finalizers, failures, estimateSeconds, storeKeys: new Set(left.map(({ entry }) => entry.key)) };
}

function unexpected({ definition }: ServedResource, namespace: string): string {
  const resource = `${definition.group}/${definition.versions[0]?.name}, Resource=${definition.plural}`;
  return `unexpected items still remain in namespace: ${namespace} for gvr: ${resource}`;
}
