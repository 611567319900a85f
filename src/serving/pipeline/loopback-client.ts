import { setImmediate as nextTurn } from "node:timers/promises";
import { statusError } from "../../base/api/api-error.ts";
import type { Handler } from "../../base/api/call.ts";
import { isObject, type Json, type JsonObject, type KubeObject } from "../../base/api/object.ts";
import type { ApiReply } from "../../base/api/reply.ts";
import type { UserInfo } from "../../base/api/user-info.ts";
import type { Random } from "../../base/util/random.ts";
import { parseJson } from "../../data/encoding/json/json.ts";
import type { ServedResource } from "../../resources/model/catalog.ts";
import type { ObjectKey } from "../../resources/model/keys.ts";
import { pathOf } from "../../resources/model/resource-path.ts";
import type {
  ClientDeleteOptions,
  ClientPatchOptions,
  ClientWriteOptions,
  ObjectClient,
} from "../../resources/object-client.ts";
import { LIGHT_VALUE_BYTES, ownTurn } from "../../resources/pace.ts";
import { type CallRequest, callInProcess, type IsLargeCall } from "./in-process.ts";

/** User and user agent of a loopback client. */
export interface LoopbackIdentity {
  readonly user: UserInfo;
  /** The program name in it becomes the field manager of the client's writes. */
  readonly userAgent: string;
  /** Elsewhere, another program makes these requests. Each takes a turn of the event loop, as if it came from there. */
  readonly isRemote?: boolean;
}

const MERGE_PATCH = "application/merge-patch+json";
const STRATEGIC_MERGE_PATCH = "application/strategic-merge-patch+json";
const JSON_PATCH = "application/json-patch+json";
const APPLY_PATCH = "application/apply-patch+yaml";

/**
 * A client of this server in the same process. It bypasses sockets and encoding, but passes all stages and admission.
 */
export class LoopbackClient implements ObjectClient {
  readonly #handler: Handler;
  readonly #user: UserInfo;
  readonly #userAgent: string;
  readonly #isRemote: boolean;
  readonly #random: Random;
  readonly #isLarge: IsLargeCall | undefined;

  /** `handler` must be composed with `keepUser`. If it offloads calls, `isLarge` tells which. */
  constructor(
    handler: Handler,
    { user, userAgent, isRemote = false }: LoopbackIdentity,
    random: Random,
    isLarge?: IsLargeCall,
  ) {
    this.#isRemote = isRemote;
    this.#random = random;
    this.#isLarge = isLarge;
    this.#handler = handler;
    this.#user = user;
    this.#userAgent = userAgent;
  }

  create(
    resource: ServedResource,
    object: KubeObject,
    { fieldManager, subresource }: ClientWriteOptions = {},
  ): Promise<KubeObject> {
    const query = queryOf({ fieldManager });
    if (subresource !== undefined) {
      return this.#write({ method: "POST", path: pathOf(resource, keyOf(object), subresource), query, body: object });
    }
    const path = pathOf(resource, { ...keyOf(object), name: "" });
    return this.#write({ method: "POST", path, query, body: typed(resource, object) });
  }

  update(
    resource: ServedResource,
    object: KubeObject,
    { fieldManager, subresource }: ClientWriteOptions = {},
  ): Promise<KubeObject> {
    const path = pathOf(resource, keyOf(object), subresource);
    const body = hasOwnKind(resource, subresource) ? object : typed(resource, object);
    return this.#write({ method: "PUT", path, query: queryOf({ fieldManager }), body });
  }

  patch(
    resource: ServedResource,
    key: ObjectKey,
    patch: JsonObject | JsonObject[],
    { isStrategic = false, subresource }: ClientPatchOptions = {},
  ): Promise<KubeObject> {
    const path = pathOf(resource, key, subresource);
    const type = Array.isArray(patch) ? JSON_PATCH : isStrategic ? STRATEGIC_MERGE_PATCH : MERGE_PATCH;
    return this.#write({ method: "PATCH", path, body: patch }, type);
  }

  apply(
    resource: ServedResource,
    object: KubeObject,
    { fieldManager, subresource }: ClientWriteOptions & { readonly fieldManager: string },
  ): Promise<KubeObject> {
    const path = pathOf(resource, keyOf(object), subresource);
    const query = queryOf({ fieldManager, force: "true" });
    return this.#write({ method: "PATCH", path, query, body: typed(resource, object) }, APPLY_PATCH);
  }

  async delete(resource: ServedResource, key: ObjectKey, options: ClientDeleteOptions = {}): Promise<void> {
    await this.#send({
      method: "DELETE",
      path: pathOf(resource, key),
      body: { kind: "DeleteOptions", apiVersion: "v1", ...(options as JsonObject) },
    });
  }

  async read(path: string, query: Readonly<Record<string, string>> = {}): Promise<JsonObject> {
    const reply = await this.#send({ method: "GET", path, query: new URLSearchParams(query) });
    if (reply.type === "object") return reply.view.object;
    if (reply.type === "document" && isObject(reply.value)) return reply.value;
    if (reply.type === "encoded") return decoded(reply);
    if (reply.type === "list") return { items: [...reply.items].map(({ object }) => object) };
    throw new Error(`GET ${path} returned no object`);
  }

  async #write(wanted: Pick<CallRequest, "method" | "path" | "query" | "body">, contentType?: string) {
    const reply = await this.#send(wanted, contentType);
    if (reply.type === "object") return reply.view.object;
    if (reply.type === "encoded") return (await decoded(reply)) as KubeObject;
    // The Status of a subresource with an action, such as pods/binding.
    if (reply.type === "status") return { ...reply.status, metadata: {} };
    throw new Error(`${wanted.method} ${wanted.path} returned no object`);
  }

  async #send(wanted: Pick<CallRequest, "method" | "path" | "query" | "body">, contentType = "application/json") {
    const headers = { "content-type": contentType, "user-agent": this.#userAgent };
    const request = { ...wanted, headers, user: this.#user, isLarge: this.#isLarge };
    // Controllers that learn of the same change must all see the state before one of them writes.
    if (this.#isRemote) await nextTurn();
    const reply = await callInProcess(this.#handler, request, this.#random);
    if (reply.type === "raw" && reply.code >= 400) throw statusError(reply.code, { message: String(reply.body) });
    if (reply.type === "encoded" && reply.code >= 400) throw statusError(reply.code, await decoded(reply));
    return reply;
  }
}

/** The object or Status in the response of another thread or server. */
async function decoded({ code, body }: Extract<ApiReply, { readonly type: "encoded" }>): Promise<JsonObject> {
  const bytes = body instanceof Uint8Array ? body : await collect(body);
  if (bytes.length > LIGHT_VALUE_BYTES) await ownTurn();
  try {
    const value = parseJson(bytes);
    if (isObject(value)) return value;
  } catch {
    // Extension servers may respond with text.
  }
  if (code < 400) throw statusError(500, { message: "the response is no JSON object" });
  return { message: Buffer.from(bytes).toString() };
}

/** Limits what an extension server can make this process store. */
const MAX_BODY_BYTES = 2 ** 26;

async function collect(body: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES)
      throw statusError(500, { message: `the response is larger than ${MAX_BODY_BYTES} bytes` });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Sets kind and apiVersion. The group may be served under another API domain than the one used in the code. */
function typed({ definition, apiVersion }: ServedResource, object: KubeObject): Json {
  return { ...object, kind: definition.kind, apiVersion };
}

/** Whether objects of a subresource are of another kind than the resource, such as Scale. */
function hasOwnKind({ subresources }: ServedResource, subresource: string | undefined): boolean {
  return subresource !== undefined && subresources[subresource]?.kind !== undefined;
}

function keyOf({ metadata }: KubeObject): ObjectKey {
  return { namespace: metadata.namespace ?? "", name: metadata.name ?? "" };
}

function queryOf(parameters: Readonly<Record<string, string | undefined>>): URLSearchParams | undefined {
  const given = Object.entries(parameters).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return given.length === 0 ? undefined : new URLSearchParams(given);
}
