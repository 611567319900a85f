import { groupVersionPath, isObject, type Json, type JsonObject, type KubeObject } from "../api/object.ts";
import { type JsonClient, objectIn } from "../client/json-client.ts";

/** A resource of which a server stores objects. */
interface ListedResource {
  readonly path: string;
  readonly apiVersion: string;
  readonly kind: string;
}

const PAGE_ITEMS = 250;
const LIMITS = { timeoutMs: 60_000, maxBytes: 512 * 1024 * 1024 };
const EXPIRED = 410;
/** Kinds on which others depend, in their order. */
const FIRST: readonly string[] = ["CustomResourceDefinition", "Namespace"];

/**
 * All objects that a server stores, page by page: definitions and namespaces first. Each resource is listed in one version,
 * those that other servers answer for (APIServices with a Service) are left out. Throws an Error that says what was refused.
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
    // Compat: a list that took longer than history is kept goes on with a token of "ResourceExpired", at a newer state.
    const isExpired = status === EXPIRED && typeof next === "string" && next !== "";
    if (status !== 200 && !isExpired) throw new Error(`${path} cannot be listed: ${body.message ?? status}`);
    for (const item of isExpired ? [] : listOf(body.items)) yield { ...item, apiVersion, kind } as KubeObject;
    token = typeof next === "string" && next !== "" ? next : undefined;
  }
}

/** Everything that can be listed and is stored; what is served in several versions or groups only once. */
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
      // What is not stored has no hash, and what is stored once has one, in whichever group it is served.
      if (!isListed || typeof storageVersionHash !== "string" || seen.has(storageVersionHash)) continue;
      seen.add(storageVersionHash);
      found.push({ path: `${root}/${name}`, apiVersion: groupVersion, kind });
    }
  }
  return found;
}

/** Those of the core group first, then of every group the preferred one before the others. */
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

/** The group versions that are answered by other servers. */
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
  throw new Error(`the server answers ${path} with ${status}: ${body.message ?? "no message"}`);
}

async function ask(client: JsonClient, path: string, query?: URLSearchParams) {
  const { status, body } = await client.ask({ ...LIMITS, method: "GET", path: query ? `${path}?${query}` : path });
  return { status, body: objectIn(body) };
}

function listOf(value: Json | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}
