import { badRequest, forbidden, notFound } from "../../../base/api/api-error.ts";
import { BodyError, type Call } from "../../../base/api/call.ts";
import { isObject, type Json } from "../../../base/api/object.ts";
import type { RequestInfo } from "../../../base/api/request-info.ts";
import { quote } from "../../../base/go/quote.ts";
import { Once } from "../../../base/util/once.ts";
import { type CatalogChange, type ServedResource, serve } from "../../../resources/model/catalog.ts";
import type { ResourceDefinition } from "../../../resources/model/definition.ts";
import { translateStoreError } from "../../../resources/model/store-errors.ts";
import type { Resources } from "../../../resources/resources.ts";
import type { CatalogParts } from "../catalog-parts.ts";
import { openDefinition, unknownDefinition } from "./open-definition.ts";
import { OpenIndex } from "./open-index.ts";
import { isKindName, mayBeOpen } from "./open-names.ts";
import { type OpenRecord, SET_ASIDE } from "./open-record.ts";

/** Maximum number of resources without a definition, on all servers of one store together. */
export const MAX_OPEN_RESOURCES = 1000;
/** Maximum number that one user can introduce. All service accounts of a namespace count as one user. */
export const MAX_OPEN_BY_CREATOR = 100;
/** Maximum number that objects in one namespace can introduce. */
export const MAX_OPEN_IN_NAMESPACE = 250;
/** Maximum number of versions of one resource. */
export const MAX_OPEN_VERSIONS = 10;
/** A resource that has had no objects for this long makes room for another one. */
const IDLE_MS = 60_000;
/** How often idle resources are searched for. */
const LOOK_MS = 10_000;
/** How many objects are read at once to set them aside. */
const PAGE = 100;
const NEVER = new AbortController().signal;

/** A limit on resources without a definition. */
interface Limit {
  readonly most: number;
  /** Whether a resource counts. */
  readonly concerns: (record: OpenRecord) => boolean;
  readonly message: string;
}

/** The limits for a resource that is introduced by this user, in this namespace. */
function limitsFor(creator: string | undefined, namespace: string | undefined): Limit[] {
  const words = (most: number, where: string) => `there are already ${most} resources without a definition${where}`;
  const limits: Limit[] = [{ most: MAX_OPEN_RESOURCES, concerns: () => true, message: words(MAX_OPEN_RESOURCES, "") }];
  if (creator === undefined) return limits;
  const most = MAX_OPEN_BY_CREATOR;
  const own = (record: OpenRecord) => record.creator === creator;
  limits.push({ most, concerns: own, message: words(most, ` that ${quote(creator)} has created`) });
  if (namespace === undefined) return limits;
  const there = (record: OpenRecord) => record.creator !== undefined && record.namespace === namespace;
  const message = words(MAX_OPEN_IN_NAMESPACE, ` from the namespace ${quote(namespace)}`);
  return [...limits, { most: MAX_OPEN_IN_NAMESPACE, concerns: there, message }];
}

/** The user that limits count. Undefined for members of system:masters, who may do everything. */
function creatorOf({ user: { name, groups } }: Call): string | undefined {
  if (groups.includes("system:masters")) return undefined;
  const [, namespace] = /^system:serviceaccount:([^:]*):/.exec(name) ?? [];
  return namespace === undefined ? name : `system:serviceaccounts:${namespace}`;
}

/** The resource of a path without a definition. */
export interface FoundKind {
  readonly resource: ServedResource;
  /** Called before an admitted object is created: records the resource. */
  readonly created?: (() => Promise<void>) | undefined;
}

/** Dependencies of OpenKinds. */
export interface OpenKindsOptions {
  readonly resources: Resources;
  readonly parts: CatalogParts;
  /** Whether a CustomResourceDefinition or an APIService defines resources of this group. */
  isOwned(group: string): boolean;
  /** `--api-domain`. */
  readonly apiDomain: string;
  /** Throws Forbidden if the caller may not introduce a resource, or a version of one. */
  requireRight(call: Call): Promise<void>;
  /** Reports that objects were set aside, because a definition has another kind or scope. */
  setAside(resource: string, count: number): void;
  report(error: unknown): void;
}

/**
 * Serves resources without a definition, in groups without an owner: `--custom-objects=open`. The properties of a
 * resource are learned from its first object, stored next to the objects, and read from there by every server.
 */
export class OpenKinds {
  readonly #options: OpenKindsOptions;
  readonly #index: OpenIndex;
  #definitions = new Map<OpenRecord, ResourceDefinition>();
  #builtInGroups: ReadonlySet<string>;
  /** Since when resources are known to have no objects. */
  #emptySince = new Map<OpenRecord, number>();
  #lookedMs = Number.NEGATIVE_INFINITY;
  /** Records that are being written. They count as if they were known. */
  readonly #coming = new Set<OpenRecord>();
  /** Occurs when definitions change: watches of unknown resources end then. */
  #unknown = new Once();

  constructor(options: OpenKindsOptions) {
    const { resources, parts } = options;
    this.#options = options;
    this.#builtInGroups = new Set(parts.builtIn.map(({ group }) => group));
    this.#index = new OpenIndex(resources, () => this.#refresh());
    resources.catalog.subscribe((change) => this.#catalogChanged(change));
  }

  loaded(signal: AbortSignal): Promise<void> {
    return this.#index.loaded(signal);
  }

  run(signal: AbortSignal): Promise<void> {
    return this.#index.run(signal);
  }

  /** Whether a path without a definition is served. */
  takes(info: RequestInfo): boolean {
    if (!info.isResource || !mayBeOpen(info, this.#options.apiDomain)) return false;
    const { group, resource } = info;
    if (this.#index.find(group, resource)) return !this.#isDefined(group, resource);
    return !this.#builtInGroups.has(group) && !this.#options.isOwned(group);
  }

  /** The resource of a call's path, if it is served here; `served` is the catalog's resource for it. */
  async find(call: Call, served: ServedResource | undefined): Promise<FoundKind | undefined> {
    const { info } = call;
    if (served && !(isCreate(call) && (await isOther(call, served.definition)))) return { resource: served };
    if (!this.takes(info)) return served && { resource: served };
    return await this.#learn(call).catch((error: unknown) => {
      throw translateStoreError(error, { target: info, operation: isCreate(call) ? "create" : "get" });
    });
  }

  async #learn(call: Call): Promise<FoundKind> {
    const { info, signal } = call;
    const { group, version, resource: plural } = info;
    const record = await this.#index.newest(group, plural, signal);
    const known = this.#options.resources.catalog.find(group, version, plural);
    if (!isCreate(call)) {
      if (known && record?.scope === scopeOf(info)) return { resource: known };
      if (!known && info.name !== "" && !info.watchPath) throw notFound(info, info.name);
      return { resource: known ?? this.#unknownResource(info, record) };
    }
    if (record && !((await isOther(call, record)) && (await this.#isEmpty(record)))) {
      return known ? { resource: known } : await this.#newVersion(call, record);
    }
    return this.#newResource(call, record);
  }

  #unknownResource({ group, version, resource: plural, ...info }: RequestInfo, record?: OpenRecord): ServedResource {
    const scope = record?.scope ?? (info.isInNamespace ? "Namespaced" : "Cluster");
    const definition = unknownDefinition({ group, plural, scope, versions: [version] });
    return { ...servedAs(definition, version), withdrawn: this.#unknown };
  }

  async #newVersion(call: Call, record: OpenRecord): Promise<FoundKind> {
    const { group, plural, versions } = record;
    const { version } = call.info;
    await this.#options.requireRight(call);
    if (versions.length >= MAX_OPEN_VERSIONS) {
      throw forbidden({ group, resource: plural }, "", `it already has ${versions.length} versions`);
    }
    const add = (current: OpenRecord = record): OpenRecord | undefined =>
      current.versions.includes(version) ? undefined : { ...current, versions: [...current.versions, version] };
    return {
      resource: servedAs(openDefinition({ ...record, versions: [...versions, version] }), version),
      created: () => this.#write({ group, plural }, add, call.signal),
    };
  }

  /** `past` is the record from before all objects of the resource were deleted. */
  async #newResource(call: Call, past: OpenRecord | undefined): Promise<FoundKind> {
    const { group, version, resource: plural } = call.info;
    const name = { group, resource: plural };
    await this.#options.requireRight(call);
    const creator = creatorOf(call);
    const namespace = call.info.isInNamespace ? call.info.namespace : undefined;
    const limits = limitsFor(creator, namespace);
    for (const limit of past ? [] : limits) {
      const hasRoom = this.#count(limit) < limit.most || (await this.#makeRoom(limit, call.signal));
      if (!hasRoom) throw forbidden(name, "", limit.message);
    }
    const kind = await kindOf(call);
    const scope = scopeOf(call.info);
    const wanted: OpenRecord = { group, plural, kind, scope, versions: [version], creator, namespace };
    const change = (current: OpenRecord | undefined): OpenRecord | undefined => {
      if (current === undefined || (past && isSameResource(current, past))) return wanted;
      // Another request created it first.
      if (current.scope !== wanted.scope) throw forbidden(name, "", `its scope is ${quote(current.scope)}`);
      if (current.kind !== kind) throw forbidden(name, "", `its kind is ${quote(current.kind)}`);
      return current.versions.includes(version) ? undefined : { ...current, versions: [...current.versions, version] };
    };
    const created = async () => {
      // Others that were found at the same time may have been written since.
      const reached = past ? undefined : limits.find((limit) => this.#count(limit) >= limit.most);
      if (reached) throw forbidden(name, "", reached.message);
      this.#coming.add(wanted);
      try {
        await this.#write(wanted, change, call.signal);
      } finally {
        this.#coming.delete(wanted);
      }
    };
    return { resource: servedAs(openDefinition(wanted), version), created };
  }

  #count({ concerns }: Limit): number {
    let count = 0;
    for (const record of this.#index.all) if (concerns(record)) count++;
    for (const record of this.#coming) if (concerns(record) && !this.#index.find(record.group, record.plural)) count++;
    return count;
  }

  async #write(
    { group, plural }: Pick<OpenRecord, "group" | "plural">,
    change: (current: OpenRecord | undefined) => OpenRecord | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    await this.#index.change(group, plural, change, signal).catch((error: unknown) => {
      throw translateStoreError(error, { target: { group, resource: plural }, operation: "create" });
    });
  }

  /**
   * Removes a resource that counts towards a limit and has had no objects for a while. Returns false if there is none. The
   * delay protects clients that are about to create an object.
   */
  async #makeRoom({ concerns }: Limit, signal: AbortSignal): Promise<boolean> {
    const now = this.#options.resources.clock.now();
    if (now - this.#lookedMs >= LOOK_MS) {
      this.#lookedMs = now;
      await this.#lookForEmpty(now);
    }
    for (const [record, since] of this.#emptySince) {
      if (!concerns(record) || now - since < IDLE_MS) continue;
      this.#emptySince.delete(record);
      if (this.#index.find(record.group, record.plural) !== record || !(await this.#isEmpty(record))) continue;
      await this.#index.remove(record, signal);
      return true;
    }
    return false;
  }

  async #lookForEmpty(now: number): Promise<void> {
    const before = this.#emptySince;
    const found = new Map<OpenRecord, number>();
    for (const record of [...this.#index.all]) {
      if (await this.#isEmpty(record)) found.set(record, before.get(record) ?? now);
    }
    this.#emptySince = found;
  }

  /**
   * Makes way for a definition: if it has another kind or scope than the objects that are there, these are set aside, so
   * that it does not list them. Called before a definition is served.
   */
  async makeWay({ group, plural, kind, scope }: Omit<OpenRecord, "versions">, signal: AbortSignal): Promise<void> {
    const record = await this.#index.newest(group, plural, signal);
    if (record === undefined || (record.kind === kind && record.scope === scope)) return;
    // Without its record, the resource takes no further objects: the definition owns the group.
    await this.#index.remove(record, signal);
    const { store, keys } = this.#options.resources;
    const prefix = `${keys.root}${group}/${plural}/`;
    let count = 0;
    for (;;) {
      const { entries } = await store.list(prefix, { limit: PAGE });
      if (entries.length === 0) break;
      for (const { key, value, modRevision } of entries) {
        const place = `${keys.root}${SET_ASIDE}${group}/${plural}/${modRevision}/${key.slice(prefix.length)}`;
        await store.put(place, value, 0);
        await store.delete(key, modRevision);
        count++;
      }
    }
    if (count > 0) this.#options.setAside(`${plural}.${group}`, count);
  }

  async #isEmpty({ group, plural }: OpenRecord): Promise<boolean> {
    const { store, keys } = this.#options.resources;
    const { entries } = await store.list(`${keys.root}${group}/${plural}/`, { limit: 1 });
    return entries.length === 0;
  }

  #isDefined(group: string, plural: string): boolean {
    const { definitions } = this.#options.resources.catalog;
    return definitions.some((one) => one.group === group && one.plural === plural && one.reading !== "open");
  }

  #refresh(): void {
    const before = this.#definitions;
    const records = [...this.#index.all];
    this.#definitions = new Map(records.map((record) => [record, before.get(record) ?? openDefinition(record)]));
    this.#options.parts.set("open", [...this.#definitions.values()]);
  }

  #catalogChanged({ added, changed, withdrawn }: CatalogChange): void {
    if ([...added, ...changed, ...withdrawn].some(({ reading }) => reading !== "open")) {
      const past = this.#unknown;
      this.#unknown = new Once();
      past.happen();
    }
    // The objects are deleted with their definition, and so is the record.
    for (const { group, plural, presence, reading } of this.#options.resources.catalog.definitions) {
      const record = presence?.isTerminating && reading !== "open" ? this.#index.find(group, plural) : undefined;
      if (record) this.#index.remove(record, NEVER).catch((error: unknown) => this.#options.report(error));
    }
  }
}

function servedAs(definition: ResourceDefinition, name: string): ServedResource {
  const version = definition.versions.find((one) => one.name === name);
  if (!version) throw new Error(`${definition.plural}.${definition.group} has no version ${name}`);
  return serve(definition, version);
}

const scopeOf = ({ isInNamespace }: RequestInfo): OpenRecord["scope"] => (isInNamespace ? "Namespaced" : "Cluster");

const APPLY = "application/apply-patch";

/** Whether the call may create an object: a POST, or an apply. */
function isCreate({ info, request }: Call): boolean {
  if (info.subresource !== "") return false;
  if (info.verb === "create") return info.name === "";
  const type = request.headers["content-type"];
  return info.verb === "patch" && typeof type === "string" && type.startsWith(APPLY);
}

/** Whether the object to create has another scope or kind than the earlier ones. */
async function isOther(call: Call, known: Pick<OpenRecord, "scope" | "kind">): Promise<boolean> {
  if (scopeOf(call.info) !== known.scope) return true;
  const kind = await sentKind(call).catch((error: unknown) => {
    // The next reader of the body reports what is wrong with it.
    if (error instanceof BodyError) return undefined;
    throw error;
  });
  return typeof kind === "string" && kind !== known.kind && isKindName(kind);
}

function isSameResource(one: OpenRecord, other: OpenRecord): boolean {
  return one.kind === other.kind && one.scope === other.scope;
}

/** The kind in the body. The body, or its error, is kept for the next reader. */
async function sentKind(call: Call): Promise<Json | undefined> {
  const body = call.body(call.info.verb === "create" ? undefined : "yaml");
  call.body = () => body;
  const { value } = await body;
  return isObject(value) ? value.kind : undefined;
}

async function kindOf(call: Call): Promise<string> {
  const { group, resource } = call.info;
  const kind = await sentKind(call).catch((error: unknown) => {
    if (error instanceof BodyError) throw badRequest(error.message);
    throw error;
  });
  if (typeof kind === "string" && isKindName(kind)) return kind;
  const found = kind === undefined ? "it has none" : `${quote(String(kind))} is not valid`;
  throw badRequest(`the first object of ${resource}.${group} must have a kind: ${found}`);
}
