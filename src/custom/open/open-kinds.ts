import { badRequest, forbidden, notFound } from "../../api/api-error.ts";
import { BodyError, type Call } from "../../api/call.ts";
import { isObject, type Json } from "../../api/object.ts";
import type { RequestInfo } from "../../api/request-info.ts";
import { quote } from "../../lib/go/quote.ts";
import { Once } from "../../lib/once.ts";
import { type CatalogChange, type ServedResource, serve } from "../../resources/model/catalog.ts";
import type { ResourceDefinition } from "../../resources/model/definition.ts";
import { translateStoreError } from "../../resources/model/store-errors.ts";
import type { Resources } from "../../resources/resources.ts";
import type { CatalogParts } from "../catalog-parts.ts";
import { openDefinition, unknownDefinition } from "./open-definition.ts";
import { OpenIndex } from "./open-index.ts";
import { isKindName, mayBeOpen } from "./open-names.ts";
import type { OpenRecord } from "./open-record.ts";

/** So many resources may be there without a definition, on all servers of one store together. */
export const MAX_OPEN_RESOURCES = 1000;
/** In so many versions one of them may be written. */
export const MAX_OPEN_VERSIONS = 10;
/** A resource that has had no objects for so long makes room for another one. */
const IDLE_MS = 60_000;
/** How often it is looked for one. */
const LOOK_MS = 10_000;

/** What a path without a definition is about. */
export interface FoundKind {
  readonly resource: ServedResource;
  /** Called when an object is about to be created that everybody lets pass: writes down what there is from now on. */
  readonly created?: (() => Promise<void>) | undefined;
}

/** What is served without a definition depends on. */
export interface OpenKindsOptions {
  readonly resources: Resources;
  readonly parts: CatalogParts;
  /** Whether somebody else says what there is in a group: a CustomResourceDefinition or an APIService. */
  isOwned(group: string): boolean;
  report(error: unknown): void;
}

/**
 * Serves resources that nobody defined, in groups that nobody owns: `--custom-objects=open`. What there is is learned from
 * the first object, written down beside the objects, and read from there by every server.
 */
export class OpenKinds {
  readonly #options: OpenKindsOptions;
  readonly #index: OpenIndex;
  #definitions = new Map<OpenRecord, ResourceDefinition>();
  #builtInGroups: ReadonlySet<string>;
  /** Since when resources are known to have no objects. */
  #emptySince = new Map<OpenRecord, number>();
  #lookedMs = Number.NEGATIVE_INFINITY;
  /** Happens when definitions change: watches of what was not there before end then. */
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

  /** Whether a path that no definition has is answered all the same. */
  takes(info: RequestInfo): boolean {
    if (!info.isResource || !mayBeOpen(info)) return false;
    const { group, resource } = info;
    if (this.#index.find(group, resource)) return !this.#isDefined(group, resource);
    return !this.#builtInGroups.has(group) && !this.#options.isOwned(group);
  }

  /** What the path of a call is about, if that is ours to say; `served` is what the catalog has for it. */
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
      return known ? { resource: known } : this.#newVersion(record, version, signal);
    }
    return this.#newResource(call, record);
  }

  #unknownResource({ group, version, resource: plural, ...info }: RequestInfo, record?: OpenRecord): ServedResource {
    const scope = record?.scope ?? (info.isInNamespace ? "Namespaced" : "Cluster");
    const definition = unknownDefinition({ group, plural, scope, versions: [version] });
    return { ...servedAs(definition, version), withdrawn: this.#unknown };
  }

  #newVersion(record: OpenRecord, version: string, signal: AbortSignal): FoundKind {
    const { group, plural, versions } = record;
    if (versions.length >= MAX_OPEN_VERSIONS) {
      throw forbidden({ group, resource: plural }, "", `there are ${versions.length} versions of it already`);
    }
    const add = (current: OpenRecord = record): OpenRecord | undefined =>
      current.versions.includes(version) ? undefined : { ...current, versions: [...current.versions, version] };
    return {
      resource: servedAs(openDefinition({ ...record, versions: [...versions, version] }), version),
      created: () => this.#write({ group, plural }, add, signal),
    };
  }

  /** `past` is what was known before all objects of the resource went. */
  async #newResource(call: Call, past: OpenRecord | undefined): Promise<FoundKind> {
    const { group, version, resource: plural } = call.info;
    const name = { group, resource: plural };
    if (!past && this.#index.size >= MAX_OPEN_RESOURCES && !(await this.#makeRoom())) {
      throw forbidden(name, "", `there are ${MAX_OPEN_RESOURCES} resources without a definition already`);
    }
    const kind = await kindOf(call);
    const wanted: OpenRecord = { group, plural, kind, scope: scopeOf(call.info), versions: [version] };
    const change = (current: OpenRecord | undefined): OpenRecord | undefined => {
      if (current === undefined || (past && isSameResource(current, past))) return wanted;
      // Somebody else was faster.
      if (current.scope !== wanted.scope) throw forbidden(name, "", `its scope is ${quote(current.scope)}`);
      if (current.kind !== kind) throw forbidden(name, "", `its kind is ${quote(current.kind)}`);
      return current.versions.includes(version) ? undefined : { ...current, versions: [...current.versions, version] };
    };
    const created = () => this.#write(wanted, change, call.signal);
    return { resource: servedAs(openDefinition(wanted), version), created };
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
   * Forgets a resource that has had no objects for a while, so that whoever was about to create one has. False: there is
   * none, or it was looked for just now.
   */
  async #makeRoom(): Promise<boolean> {
    const now = this.#options.resources.clock.now();
    if (now - this.#lookedMs < LOOK_MS) return false;
    this.#lookedMs = now;
    const before = this.#emptySince;
    this.#emptySince = new Map();
    for (const record of [...this.#index.all]) {
      if (!(await this.#isEmpty(record))) continue;
      const since = before.get(record) ?? now;
      if (now - since >= IDLE_MS) {
        await this.#index.remove(record);
        return true;
      }
      this.#emptySince.set(record, since);
    }
    return false;
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
    // The objects go with their definition, and with them all that is known of them.
    for (const { group, plural, presence, reading } of this.#options.resources.catalog.definitions) {
      const record = presence?.isTerminating && reading !== "open" ? this.#index.find(group, plural) : undefined;
      if (record) this.#index.remove(record).catch((error: unknown) => this.#options.report(error));
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

/** Whether an object may come of it that was not there before: a POST, or an apply. */
function isCreate({ info, request }: Call): boolean {
  if (info.subresource !== "") return false;
  if (info.verb === "create") return info.name === "";
  const type = request.headers["content-type"];
  return info.verb === "patch" && typeof type === "string" && type.startsWith(APPLY);
}

/** Whether an object that is to be created is of another scope or kind than those before it. */
async function isOther(call: Call, known: Pick<OpenRecord, "scope" | "kind">): Promise<boolean> {
  if (scopeOf(call.info) !== known.scope) return true;
  const kind = await sentKind(call).catch((error: unknown) => {
    // Whoever reads the body next says what is wrong with it.
    if (error instanceof BodyError) return undefined;
    throw error;
  });
  return typeof kind === "string" && kind !== known.kind && isKindName(kind);
}

function isSameResource(one: OpenRecord, other: OpenRecord): boolean {
  return one.kind === other.kind && one.scope === other.scope;
}

/** The kind that the body says it is. The body, or what is wrong with it, is kept for whoever reads it next. */
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
  const found = kind === undefined ? "it has none" : `${quote(String(kind))} cannot be one`;
  throw badRequest(`the first object of ${resource}.${group} must say its kind: ${found}`);
}
