import { apiVersionOf, type JsonObject } from "../../../base/api/object.ts";
import { compareVersions } from "../../../base/api/version-order.ts";
import type { ResourceDefinition, ServedVersion, Subresource } from "../../../resources/model/definition.ts";

/** Sort order of a group version in discovery. Higher numbers come first. */
export interface DiscoveryPriority {
  readonly group: number;
  readonly version: number;
}

/** Input of the discovery documents. */
export interface DiscoverySource {
  /** All served kinds. Returns a new array after every change. */
  definitions(): readonly ResourceDefinition[];
  priority(group: string, version: string): DiscoveryPriority;
  /**
   * Group versions of aggregated API servers. Returns a new array after every change. Optional. If omitted, there are
   * none.
   */
  remote?(): readonly RemoteVersion[];
}

/** A group version that an aggregated API server serves. */
export interface RemoteVersion {
  readonly group: string;
  readonly version: string;
  readonly priority: DiscoveryPriority;
  readonly isCurrent: boolean;
  /** In the format of aggregated discovery. Undefined if the server was never queried. */
  readonly resources: readonly JsonObject[] | undefined;
}

/** A kind in one of its versions. */
export interface DiscoveredResource {
  readonly definition: ResourceDefinition;
  readonly version: ServedVersion;
}

/** A group and its versions, the preferred one first. */
export interface DiscoveredGroup {
  readonly name: string;
  readonly versions: readonly DiscoveredVersion[];
}

/** A version of a group, with kinds of this server or of an aggregated one. */
export interface DiscoveredVersion {
  readonly name: string;
  readonly resources: readonly DiscoveredResource[];
  readonly remote?: RemoteVersion | undefined;
}

/** Groups, versions and resources in the order in which discovery lists them. */
export function discoverGroups(source: DiscoverySource): DiscoveredGroup[] {
  const groups = new Map<string, Map<string, DiscoveredResource[]>>();
  for (const definition of source.definitions()) {
    if (definition.presence?.isEstablished === false) continue;
    const versions = groups.get(definition.group) ?? new Map<string, DiscoveredResource[]>();
    groups.set(definition.group, versions);
    for (const version of definition.versions) {
      const resources = versions.get(version.name) ?? [];
      versions.set(version.name, resources);
      resources.push({ definition, version });
    }
  }
  const remotes = new Map<string, RemoteVersion>();
  for (const remote of source.remote?.() ?? []) {
    remotes.set(`${remote.group}/${remote.version}`, remote);
    const versions = groups.get(remote.group) ?? new Map<string, DiscoveredResource[]>();
    groups.set(remote.group, versions.set(remote.version, []));
  }
  const ordered = [...groups].map(([name, versions]) => {
    const entries = [...versions].map(([version, resources]) => {
      resources.sort((a, b) => compareText(a.definition.plural, b.definition.plural));
      const remote = remotes.get(`${name}/${version}`);
      return { name: version, resources, remote, priority: remote?.priority ?? source.priority(name, version) };
    });
    entries.sort((a, b) => b.priority.version - a.priority.version || compareVersions(a.name, b.name));
    return { name, versions: entries, priority: Math.max(...entries.map((entry) => entry.priority.group)) };
  });
  return ordered.sort((a, b) => b.priority - a.priority || compareText(a.name, b.name));
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function subresourcesOf({ definition, version }: DiscoveredResource): [string, Subresource][] {
  const entries = Object.entries(version.subresources ?? definition.subresources);
  // Compat: the DiscoveryController lists `status` before `scale`, the order that custom kinds have here.
  if (definition.reading !== "typed") return entries;
  return entries.sort(([a], [b]) => compareText(a, b));
}

/** The group as APIGroupList contains it, without kind and apiVersion. */
export function apiGroup(group: DiscoveredGroup): JsonObject {
  const versions = group.versions.map(({ name }) => ({ groupVersion: apiVersionOf(group.name, name), version: name }));
  return { name: group.name, versions, preferredVersion: versions[0] };
}

/** The APIResourceList of a group version. */
export function apiResourceList(apiVersion: string, resources: readonly DiscoveredResource[]): JsonObject {
  return {
    kind: "APIResourceList",
    // Compat: the APIResourceList of `/api/v1` has no apiVersion.
    ...(apiVersion.includes("/") ? { apiVersion: "v1" } : {}),
    groupVersion: apiVersion,
    resources: resources.flatMap((resource) => apiResources(resource)),
  };
}

/** Compat: while a CustomResourceDefinition is terminating, discovery lists no verb that creates or changes objects. */
const TERMINATING_VERBS: readonly string[] = ["delete", "deletecollection", "get", "list", "watch"];

function verbsOf({ verbs, presence }: ResourceDefinition): string[] {
  return presence?.isTerminating ? [...TERMINATING_VERBS] : [...verbs];
}

function apiResources(resource: DiscoveredResource): JsonObject[] {
  const { definition, version } = resource;
  const namespaced = definition.scope === "Namespaced";
  const main: JsonObject = {
    name: definition.plural,
    singularName: definition.singular,
    namespaced,
    kind: definition.kind,
    verbs: verbsOf(definition),
  };
  if (definition.shortNames.length > 0) main.shortNames = [...definition.shortNames];
  if (definition.categories.length > 0) main.categories = [...definition.categories];
  if (definition.storage !== undefined) main.storageVersionHash = definition.storage.hash;
  const parts = subresourcesOf(resource).map(([name, { kind, verbs }]): JsonObject => {
    const isForeign = kind !== undefined && (kind.group !== definition.group || kind.version !== version.name);
    return {
      name: `${definition.plural}/${name}`,
      singularName: "",
      namespaced,
      ...(isForeign ? { group: kind.group, version: kind.version } : {}),
      kind: kind?.kind ?? definition.kind,
      verbs: [...verbs],
    };
  });
  return [main, ...parts];
}

/** The aggregated discovery document of all groups. */
export function apiGroupDiscoveryList(groups: readonly DiscoveredGroup[]): JsonObject {
  return {
    kind: "APIGroupDiscoveryList",
    apiVersion: "apidiscovery.k8s.io/v2",
    metadata: {},
    items: groups.map((group) => ({
      metadata: group.name === "" ? {} : { name: group.name },
      versions: group.versions.map(({ name, resources, remote }) =>
        remote
          ? remoteDiscovery(remote)
          : { version: name, resources: resources.map(resourceDiscovery), freshness: "Current" },
      ),
    })),
  };
}

/** Compat: a server that does not respond is `Stale`, with the resources it last had. */
function remoteDiscovery({ version, resources, isCurrent }: RemoteVersion): JsonObject {
  return {
    version,
    ...(resources && { resources: [...resources] }),
    freshness: isCurrent ? "Current" : "Stale",
  };
}

function responseKind({ definition, version }: DiscoveredResource, kind: Subresource["kind"]): JsonObject {
  // Compat: `responseKind` of custom resources is complete, even if it equals the enclosing group version.
  if (definition.reading !== "typed") {
    const { group, version: name, kind: own } = kind ?? { ...definition, version: version.name };
    return { group, version: name, kind: own };
  }
  if (kind === undefined) return { group: "", version: "", kind: definition.kind };
  // Compat: `responseKind` omits group and version if they equal the enclosing group version.
  const isOwn = kind.group === definition.group && kind.version === version.name;
  return { group: isOwn ? "" : kind.group, version: isOwn ? "" : kind.version, kind: kind.kind };
}

function resourceDiscovery(resource: DiscoveredResource): JsonObject {
  const { definition } = resource;
  const entry: JsonObject = {
    resource: definition.plural,
    responseKind: responseKind(resource, undefined),
    scope: definition.scope,
    singularResource: definition.singular,
    verbs: verbsOf(definition),
  };
  if (definition.shortNames.length > 0) entry.shortNames = [...definition.shortNames];
  if (definition.categories.length > 0) entry.categories = [...definition.categories];
  const parts = subresourcesOf(resource);
  if (parts.length > 0) {
    entry.subresources = parts.map(([subresource, { kind, verbs }]) => {
      return { subresource, responseKind: responseKind(resource, kind), verbs: [...verbs] };
    });
  }
  return entry;
}
