import { ApiError, badRequest, requestEntityTooLarge, statusError } from "../../../base/api/api-error.ts";
import { MAX_BODY_BYTES } from "../../../base/api/body-limits.ts";
import { groupVersionPath, type Json, type KubeObject } from "../../../base/api/object.ts";
import type { ApiReply, WatchEvent } from "../../../base/api/reply.ts";
import type { UserInfo } from "../../../base/api/user-info.ts";
import { cloneJson } from "../../../base/util/clone.ts";
import { parseJson } from "../../../data/encoding/json/json.ts";
import type { CallRequest } from "../../../serving/pipeline/in-process.ts";
import type { KindReference } from "../kind-types.ts";
import type {
  ApplyInput,
  ApplyOptions,
  ClientOptions,
  DeleteOptions,
  Informer,
  KindClient,
  KindEvent,
  KindList,
  ListOptions,
  MergePatch,
  ObjectKey,
  PatchOperation,
  SelectOptions,
  StatusClient,
  Stored,
  WatchOptions,
  WriteOptions,
} from "./client-types.ts";
import type { Connection } from "./connection.ts";
import { startInformer } from "./informer.ts";
import { userInfoOf } from "./user.ts";

const DEFAULT_MANAGER = "binnacle-client";
const PAGE = 500;
const JSON_TYPE = "application/json";
const MERGE_PATCH = "application/merge-patch+json";
const JSON_PATCH = "application/json-patch+json";
const APPLY_PATCH = "application/apply-patch+yaml";

type Parameters = Readonly<Record<string, string | number | boolean | undefined>>;
type Request = Pick<CallRequest, "method" | "path" | "signal"> & {
  readonly query?: Parameters;
  readonly body?: unknown;
  readonly type?: string;
};

/** Something that runs until it is closed. */
export interface Background {
  /** Resolves when it is closed. */
  readonly ended: Promise<unknown>;
  close(): Promise<void>;
}

/** A client of a kind on a server in this process. `started` receives its informers, which end with the server. */
export class InProcessClient<Item extends Stored, Input> implements KindClient<Item, Input> {
  readonly status: StatusClient<Item>;
  readonly #connection: Connection;
  readonly #kind: KindReference<Item, Input>;
  readonly #user: UserInfo;
  readonly #namespace: string;
  readonly #fieldManager: string;
  readonly #started: (informer: Background) => void;

  constructor(
    connection: Connection,
    kind: KindReference<Item, Input>,
    options: ClientOptions,
    started: (informer: Background) => void,
  ) {
    const { user, namespace = "default", fieldManager = DEFAULT_MANAGER } = options;
    this.#connection = connection;
    this.#kind = kind;
    this.#user = user ? userInfoOf(user) : connection.administrator;
    this.#namespace = namespace;
    this.#fieldManager = fieldManager;
    this.#started = started;
    this.status = this.#statusClient();
  }

  async get(name: ObjectKey): Promise<Item> {
    return this.#object({ method: "GET", path: this.#pathOf(name) });
  }

  async find(name: ObjectKey): Promise<Item | undefined> {
    try {
      return await this.get(name);
    } catch (error) {
      if (error instanceof ApiError && error.code === 404) return undefined;
      throw error;
    }
  }

  async list(options: ListOptions = {}): Promise<KindList<Item>> {
    const { limit, continue: token, resourceVersion } = options;
    const query = { ...selectors(options), limit, continue: token, resourceVersion };
    const reply = await this.#send({ method: "GET", path: this.#collection(options), query });
    if (reply.type !== "list") throw unexpected(reply);
    const { resourceVersion: at = "", continue: next } = reply.metadata;
    return {
      items: Array.from(reply.items, ({ object }) => copyOf<Item>(object)),
      resourceVersion: at,
      continue: next,
    };
  }

  async *each(options: Omit<ListOptions, "continue"> = {}): AsyncGenerator<Item> {
    let token: string | undefined;
    do {
      const page = await this.list({ limit: PAGE, ...options, continue: token });
      yield* page.items;
      token = page.continue;
    } while (token);
  }

  async *watch(options: WatchOptions = {}): AsyncGenerator<KindEvent<Item>> {
    const { resourceVersion, timeoutSeconds, bookmarks: allowWatchBookmarks, signal } = options;
    const ended = new AbortController();
    const end = () => ended.abort(signal?.reason);
    signal?.addEventListener("abort", end, { once: true });
    if (signal?.aborted) end();
    const query = { ...selectors(options), watch: true, resourceVersion, timeoutSeconds, allowWatchBookmarks };
    try {
      if (ended.signal.aborted) return;
      const request = { method: "GET", path: this.#collection(options), query, signal: ended.signal };
      const reply = await this.#send(request);
      if (reply.type !== "watch") throw unexpected(reply);
      for await (const batch of reply.events) for (const event of batch) yield eventOf<Item>(event);
    } catch (error) {
      if (!signal?.aborted) throw error;
    } finally {
      signal?.removeEventListener("abort", end);
      ended.abort();
    }
  }

  async create(object: Input, options: WriteOptions = {}): Promise<Item> {
    const { namespace } = metadataOf(object);
    const path = this.#collection({ ...(namespace === undefined ? {} : { namespace }) });
    return this.#write({ method: "POST", path, body: this.#typed(object) }, options);
  }

  async update(object: Item, options: WriteOptions = {}): Promise<Item> {
    return this.#write({ method: "PUT", path: this.#pathOf(object.metadata), body: this.#typed(object) }, options);
  }

  async apply(object: ApplyInput<Input>, options: ApplyOptions = {}): Promise<Item> {
    return this.#apply(this.#pathOf(object.metadata), object, options);
  }

  async patch(
    name: ObjectKey,
    patch: MergePatch<Input> | readonly PatchOperation[],
    options: WriteOptions = {},
  ): Promise<Item> {
    const type = Array.isArray(patch) ? JSON_PATCH : MERGE_PATCH;
    return this.#write({ method: "PATCH", path: this.#pathOf(name), body: patch, type }, options);
  }

  async delete(name: ObjectKey, { dryRun, ...options }: DeleteOptions = {}): Promise<void> {
    const body = { kind: "DeleteOptions", apiVersion: "v1", ...options };
    await this.#send({ method: "DELETE", path: this.#pathOf(name), query: dryRunQuery(dryRun), body });
  }

  informer(options: SelectOptions = {}): Informer<Item> {
    const { clock, log } = this.#connection;
    const { kind } = this.#kind;
    const informer = startInformer(this, options, { clock, namespace: options.namespace ?? this.#namespace }, (error) =>
      log.warn("watching objects failed, retrying", { err: error, kind }),
    );
    this.#started(informer);
    return informer;
  }

  #statusClient(): StatusClient<Item> {
    const pathOf = (name: ObjectKey) => `${this.#pathOf(name)}/status`;
    return {
      update: (object, options = {}) =>
        this.#write({ method: "PUT", path: pathOf(object.metadata), body: this.#typed(object) }, options),
      patch: (name, status, options = {}) =>
        this.#write({ method: "PATCH", path: pathOf(name), body: { status }, type: MERGE_PATCH }, options),
      apply: (name, status, options = {}) =>
        this.#apply(pathOf(name), { metadata: this.#keyOf(name), status }, options),
    };
  }

  #apply(path: string, object: object, { force, ...options }: ApplyOptions): Promise<Item> {
    return this.#write(
      { method: "PATCH", path, body: this.#typed(object), type: APPLY_PATCH, query: { force } },
      options,
    );
  }

  #write(request: Request, { dryRun }: WriteOptions): Promise<Item> {
    const query = { fieldManager: this.#fieldManager, fieldValidation: "Strict", ...dryRunQuery(dryRun) };
    return this.#object({ ...request, query: { ...query, ...request.query } });
  }

  async #object(request: Request): Promise<Item> {
    const reply = await this.#send(request);
    if (reply.type !== "object") throw unexpected(reply);
    return copyOf<Item>(reply.view.object);
  }

  #send({ query, body, type = JSON_TYPE, ...request }: Request): Promise<ApiReply> {
    return this.#connection.call({
      ...request,
      ...(query ? { query: searchOf(query) } : {}),
      ...(body === undefined ? {} : { body: bodyOf(body) }),
      headers: { "content-type": type, "user-agent": this.#fieldManager },
      user: this.#user,
    });
  }

  #typed(object: unknown): object {
    const { apiVersion, kind } = this.#kind;
    return { ...(object as object), apiVersion, kind };
  }

  #pathOf(name: ObjectKey): string {
    const { namespace, name: own } = this.#keyOf(name);
    return `${this.#collection({ namespace })}/${segment("name", own)}`;
  }

  #keyOf(name: ObjectKey): { name: string; namespace: string } {
    const key = typeof name === "string" ? { name } : name;
    return { name: key.name, namespace: key.namespace ?? this.#namespace };
  }

  #collection({ namespace = this.#namespace, allNamespaces = false }: SelectOptions): string {
    const { apiVersion, plural, scope } = this.#kind;
    const place = allNamespaces || scope === "Cluster" ? "" : `/namespaces/${segment("namespace", namespace)}`;
    return `${groupVersionPath(apiVersion)}${place}/${plural}`;
  }
}

/** Throws BadRequest unless the text is one segment of a path, so that a name of a user cannot address something else. */
function segment(what: string, text: string): string {
  if (text === "" || text === "." || text === ".." || /[/%]/.test(text)) {
    throw badRequest(`invalid ${what} ${JSON.stringify(text)}`);
  }
  return text;
}

const dryRunQuery = (dryRun: boolean | undefined): Parameters => ({ dryRun: dryRun ? "All" : undefined });

function selectors({ labelSelector, fieldSelector }: SelectOptions): Parameters {
  return { labelSelector: selectorOf(labelSelector, labelValue), fieldSelector: selectorOf(fieldSelector, fieldValue) };
}

function selectorOf(selector: SelectOptions["labelSelector"], print: (value: string) => string): string | undefined {
  if (typeof selector !== "object") return selector;
  return Object.entries(selector)
    .map(([name, value]) => `${name}=${print(value)}`)
    .join(",");
}

/** Throws BadRequest if no label can have this value: a value that a user typed must not add requirements. */
function labelValue(value: string): string {
  if (!/^[\w.-]*$/.test(value)) throw badRequest(`invalid label value ${JSON.stringify(value)}`);
  return value;
}

const fieldValue = (value: string): string => value.replaceAll(/[\\,=]/g, "\\$&");

function searchOf(parameters: Parameters): URLSearchParams {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) if (value !== undefined) search.set(name, String(value));
  return search;
}

/** What the server would decode. It must not share parts with the caller. */
function bodyOf(body: unknown): Json {
  const bytes = Buffer.from(JSON.stringify(body));
  if (bytes.length > MAX_BODY_BYTES) throw requestEntityTooLarge(`limit is ${MAX_BODY_BYTES}`);
  return parseJson(bytes);
}

function metadataOf(object: unknown): { readonly namespace?: string } {
  return (object as { readonly metadata?: { readonly namespace?: string } }).metadata ?? {};
}

/** The server's objects are shared. Their type is that of the schema they were validated with. */
function copyOf<Item>(object: KubeObject): Item {
  return cloneJson(object) as unknown as Item;
}

function eventOf<Item>(event: WatchEvent): KindEvent<Item> {
  if (event.type === "ERROR") throw statusError(event.status.code ?? 500, event.status);
  const { object } = event.view;
  if (event.type !== "BOOKMARK") return { type: event.type, object: copyOf<Item>(object) };
  return { type: event.type, resourceVersion: object.metadata.resourceVersion ?? "" };
}

const unexpected = (reply: ApiReply): Error => new Error(`the server returned a ${reply.type}`);
