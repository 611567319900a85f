import type { Call } from "../api/call.ts";
import type { Json, JsonObject } from "../api/object.ts";
import type { ApiReply } from "../api/reply.ts";
import type { Controller, ControllerContext } from "../controllers/controller.ts";
import type { Resources } from "../resources/resources.ts";
import type { SwaggerPaths } from "../schema/swagger-paths.ts";
import type { RemoteApi } from "./api-service.ts";
import { ApiServiceIndex } from "./api-service-index.ts";
import { apiServiceAvailability } from "./availability-controller.ts";
import { ExtensionClient, type ProxyCertificate } from "./extension-client.ts";
import { proxy, remoteOf } from "./proxy.ts";
import { discoveredResources } from "./remote-discovery.ts";
import { type RemoteSwagger, readOpenApiHash, readSwagger } from "./remote-openapi.ts";
import type { ResolveService } from "./resolve.ts";

/** A group version of another server, as discovery tells of it. */
export interface RemoteVersion {
  readonly group: string;
  readonly version: string;
  readonly priority: { readonly group: number; readonly version: number };
  /** Whether it answers now. What it had before is told of all the same. */
  readonly isCurrent: boolean;
  readonly resources: readonly JsonObject[] | undefined;
  /** By which its OpenAPI v3 document is known; undefined if it does not tell. */
  readonly openApiHash: string | undefined;
}

/** How extension servers are reached. */
export interface AggregatorOptions {
  /** By which they know this server, as it is now. */
  certificate(): ProxyCertificate | undefined;
  readonly resolve: ResolveService;
}

/** The servers behind APIServices: their requests, their discovery, and whether they are there. */
export class Aggregator {
  readonly #index: ApiServiceIndex;
  readonly #client: ExtensionClient;
  readonly #resolve: ResolveService;
  readonly #resources = new Map<string, readonly JsonObject[]>();
  readonly #hashes = new Map<string, string | undefined>();
  readonly #documents = new Map<string, RemoteSwagger>();
  readonly pass: (call: Call) => Promise<ApiReply> | undefined;
  #versions: readonly RemoteVersion[] = [];
  #swaggers: readonly SwaggerPaths[] = [];

  constructor(resources: Resources, { certificate, resolve }: AggregatorOptions) {
    this.#index = new ApiServiceIndex(resources);
    this.#client = new ExtensionClient(resources.clock, certificate);
    this.#resolve = resolve;
    this.#index.subscribe(() => this.#refresh());
    this.pass = proxy({ index: this.#index, client: this.#client, resolve: this.#resolve });
  }

  /** All that other servers serve. A change gives a new array. */
  get versions(): readonly RemoteVersion[] {
    return this.#versions;
  }

  /** What other servers' OpenAPI v2 documents say about what they serve, in the order in which they are merged. A change gives a new array. */
  get swaggers(): readonly SwaggerPaths[] {
    return this.#swaggers;
  }

  hasGroup(group: string): boolean {
    return this.#index.hasGroup(group);
  }

  /** Whether requests for a path are passed on. */
  passes(path: string): boolean {
    return remoteOf(this.#index, path) !== undefined;
  }

  controllers(context: ControllerContext): Controller[] {
    const discovered = (api: RemoteApi, list: Json | undefined) => this.#discovered(api, list);
    const read = (api: RemoteApi, signal: AbortSignal) => this.#read(api, signal);
    const own = { index: this.#index, client: this.#client, resolve: this.#resolve };
    return [apiServiceAvailability(context, { ...own, discovered, read })];
  }

  run(signal: AbortSignal): Promise<void> {
    return this.#index.run(signal);
  }

  loaded(signal: AbortSignal): Promise<void> {
    return this.#index.loaded(signal);
  }

  close(): void {
    this.#client.close();
  }

  #discovered({ name, group, version }: RemoteApi, list: Json | undefined): void {
    if (list === undefined) return;
    this.#resources.set(name, discoveredResources(group, version, list));
    this.#refresh();
  }

  async #read(api: RemoteApi, signal: AbortSignal): Promise<void> {
    const { name } = api;
    const backend = await this.#resolve(api.service).catch(() => undefined);
    if (!backend) return;
    const reading = { client: this.#client, backend, signal };
    // A server without OpenAPI is no worse for it.
    const hash = await readOpenApiHash(reading, api).catch(() => undefined);
    const known = this.#documents.get(name);
    const document = await readSwagger(reading, api, known).catch(() => known);
    if (this.#hashes.has(name) && this.#hashes.get(name) === hash && document === known) return;
    this.#hashes.set(name, hash);
    if (document) this.#documents.set(name, document);
    this.#refresh();
  }

  #refresh(): void {
    const all = [...this.#index.all];
    const names = new Set(all.map(({ name }) => name));
    for (const known of [this.#resources, this.#hashes, this.#documents]) {
      for (const name of known.keys()) if (!names.has(name)) known.delete(name);
    }
    this.#versions = all.map(({ name, group, version, groupPriority, versionPriority, availability }) => ({
      group,
      version,
      priority: { group: groupPriority, version: versionPriority },
      isCurrent: availability?.status === "True" && this.#resources.has(name),
      resources: this.#resources.get(name),
      openApiHash: this.#hashes.get(name),
    }));
    const swaggers = inMergeOrder(all).flatMap(({ name }) => this.#documents.get(name)?.content ?? []);
    const isSame = swaggers.length === this.#swaggers.length && swaggers.every((one, at) => one === this.#swaggers[at]);
    if (!isSame) this.#swaggers = swaggers;
  }
}

/** Upstream: `sortByPriority`, in which versions of one group are in the order of their names. */
function inMergeOrder(all: readonly RemoteApi[]): readonly RemoteApi[] {
  const priorities = new Map<string, number>();
  for (const { group, groupPriority } of all) {
    priorities.set(group, Math.max(groupPriority, priorities.get(group) ?? Number.NEGATIVE_INFINITY));
  }
  const priorityOf = ({ group }: RemoteApi) => priorities.get(group) ?? 0;
  return all.toSorted((a, b) => priorityOf(b) - priorityOf(a) || (a.name < b.name ? -1 : 1));
}
