import { groupVersionPath, isObject, type Json, type JsonObject, type KubeObject } from "../../base/api/object.ts";
import { type JsonClient, objectIn } from "../../base/net/json-client.ts";

/** A resource whose objects a server stores. */
interface ListedResource {
  readonly path: string;
  readonly apiVersion: string;
  readonly kind: string;
}

const PAGE_ITEMS = 250;
const LIMITS = { timeoutMs: 60_000, maxBytes: 512 * 1024 * 1024 };
const EXPIRED = 410;
/** Kinds that others depend on, in order. */
const FIRST: readonly string[] = ["CustomResourceDefinition", "Namespace"];

/**
 * All objects that a server stores, page by page: definitions and namespaces first. Each resource is listed in one
 * version. Resources of aggregated API servers (APIServices with a Service) are skipped. Throws an Error if a request
 * fails.
 */
export async function* serverObjects(client: JsonClient): AsyncGenerator<KubeObject> {
  const resources = await storedResources(client);
  const rank = ({ kind }: ListedResource) => (FIRST.includes(kind) ? FIRST.indexOf(kind) : FIRST.length);
  for (const resource of resources.toSorted((one, other) => rank(one) - rank(other)))
    yield* objectsOf(client, resource);
}

async function* objectsOf(client: JsonClient, { path, apiVersion, kind }: ListedResource): AsyncGenerator<KubeObject> {
  for (let token: string | undefined = ""; token !== undefined; ) {
    const query = new URLSearchParams({ limit: String(PAGE_ITEMS), ...(token !== "" && { continue: token }) });
    const { status, body } = await ask(client, path, query);
    const { continue: next } = isObject(body.metadata) ? body.metadata : {};
    // Compat: a list that outlasts the kept history continues with the token of "ResourceExpired", at a newer state.
    const isExpired = status === EXPIRED && typeof next === "string" && next !== "";
    if (status !== 200 && !isExpired) throw new Error(`listing ${path} failed: ${body.message ?? status}`);
    for (const item of isExpired ? [] : listOf(body.items)) yield { ...item, apiVersion, kind } as KubeObject;
    token = typeof next === "string" && next !== "" ? next : undefined;
  }
}

/** All resources that can be listed and are stored; those served in several versions or groups only once. */
async function storedResources(client: JsonClient): Promise<ListedResource[]> {
  const remote = await remoteVersions(client);
  const found: ListedResource[] = [];
  const seen = new Set<string>();
  for (const groupVersion of await groupVersions(client)) {
    if (remote.has(groupVersion)) continue;
    const root = groupVersionPath(groupVersion);
    const { resources } = await require200(client, root);
    for (const { name, kind, verbs, storageVersionHash } of listOf(resources)) {
      const isListed = Array.isArray(verbs) && verbs.includes("list") && typeof kind === "string";
      // Resources that are not stored have no hash. A stored resource has the same hash in every group that serves it.
      if (!isListed || typeof storageVersionHash !== "string" || seen.has(storageVersionHash)) continue;
      seen.add(storageVersionHash);
      found.push({ path: `${root}/${name}`, apiVersion: groupVersion, kind });
    }
  }
  return found;
}

/** Versions of the core group first, then for every group the preferred version before the others. */
async function groupVersions(client: JsonClient): Promise<string[]> {
  const core = await require200(client, "/api");
  const { groups } = await require200(client, "/apis");
  const names = listOf(groups).flatMap(({ preferredVersion, versions }) => {
    const preferred = isObject(preferredVersion) ? [preferredVersion] : [];
    return [...preferred, ...listOf(versions)].map((version) => String(version.groupVersion));
  });
  const versions = Array.isArray(core.versions) ? core.versions.map(String) : [];
  return [...new Set([...versions, ...names])];
}

/** Group versions served by aggregated API servers. */
async function remoteVersions(client: JsonClient): Promise<ReadonlySet<string>> {
  const { status, body } = await ask(client, "/apis/apiregistration.k8s.io/v1/apiservices");
  const remote = listOf(status === 200 ? body.items : []).flatMap(({ spec }) =>
    isObject(spec) && isObject(spec.service) ? [`${spec.group}/${spec.version}`] : [],
  );
  return new Set(remote);
}

async function require200(client: JsonClient, path: string): Promise<JsonObject> {
  const { status, body } = await ask(client, path);
  if (status === 200) return body;
  throw new Error(`GET ${path} failed with ${status}: ${body.message ?? "no message"}`);
}

async function ask(client: JsonClient, path: string, query?: URLSearchParams) {
  const { status, body } = await client.ask({ ...LIMITS, method: "GET", path: query ? `${path}?${query}` : path });
  return { status, body: objectIn(body) };
}

function listOf(value: Json | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}
