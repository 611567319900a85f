import type { Call } from "../../base/api/call.ts";
import type { Json, JsonObject } from "../../base/api/object.ts";
import type { ApiReply } from "../../base/api/reply.ts";
import type { ResolveService } from "../../base/net/service-backend.ts";
import type { SwaggerPaths } from "../../data/schema/swagger-paths.ts";
import type { Resources } from "../../resources/resources.ts";
import type { RemoteApi } from "./api-service.ts";
import { ApiServiceIndex } from "./api-service-index.ts";
import type { AvailabilityOptions } from "./availability.ts";
import { ExtensionClient, type ProxyCertificate } from "./extension-client.ts";
import { proxy, remoteOf } from "./proxy.ts";
import { discoveredResources } from "./remote-discovery.ts";
import { type RemoteSwagger, readOpenApiHash, readSwagger } from "./remote-openapi.ts";

/** A group version of an aggregated API server, for discovery. */
export interface RemoteVersion {
  readonly group: string;
  readonly version: string;
  readonly priority: { readonly group: number; readonly version: number };
  /** Whether the server responds now. If not, discovery still lists its last known resources. */
  readonly isCurrent: boolean;
  readonly resources: readonly JsonObject[] | undefined;
  /** Hash of its OpenAPI v3 document. Undefined if the server does not provide one. */
  readonly openApiHash: string | undefined;
}

/** How extension API servers are reached. */
export interface AggregatorOptions {
  /** The client certificate to present to extension servers. Called for each request. */
  certificate(): ProxyCertificate | undefined;
  readonly resolve: ResolveService;
}

/** The extension API servers behind APIServices: proxying, discovery, OpenAPI and availability. */
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

  /** Group versions of extension servers. Returns a new array after every change. */
  get versions(): readonly RemoteVersion[] {
    return this.#versions;
  }

  /**
   * Paths from the OpenAPI v2 documents of extension servers, in merge order. Returns a new array after every change.
   */
  get swaggers(): readonly SwaggerPaths[] {
    return this.#swaggers;
  }

  hasGroup(group: string): boolean {
    return this.#index.hasGroup(group);
  }

  /** Whether requests for a path are proxied to an extension server. */
  passes(path: string): boolean {
    return remoteOf(this.#index, path) !== undefined;
  }

  /** For the controller that checks the extension servers. */
  get availability(): AvailabilityOptions {
    return {
      index: this.#index,
      client: this.#client,
      resolve: this.#resolve,
      discovered: (api, list) => this.#discovered(api, list),
      read: (api, signal) => this.#read(api, signal),
    };
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
    // OpenAPI is optional for an extension server.
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

/** Upstream: `sortByPriority`; versions of a group are sorted by name. */
function inMergeOrder(all: readonly RemoteApi[]): readonly RemoteApi[] {
  const priorities = new Map<string, number>();
  for (const { group, groupPriority } of all) {
    priorities.set(group, Math.max(groupPriority, priorities.get(group) ?? Number.NEGATIVE_INFINITY));
  }
  const priorityOf = ({ group }: RemoteApi) => priorities.get(group) ?? 0;
  return all.toSorted((a, b) => priorityOf(b) - priorityOf(a) || (a.name < b.name ? -1 : 1));
}
