import assert from "node:assert/strict";
import { AdmissionChain } from "../../access/admission/chain.ts";
import type { AdmissionRequest } from "../../access/admission/plugin.ts";
import { alwaysAllow } from "../../access/authorization/always.ts";
import type { Json, KubeObject } from "../../base/api/object.ts";
import type { ApiReply, WatchEvent } from "../../base/api/reply.ts";
import { drivenEnvironment } from "../../base/util/environment.suite.ts";
import { testActions } from "../../kinds/built-in/actions/actions.suite.ts";
import { builtInKinds } from "../../kinds/built-in/all.ts";
import { builtInSchema } from "../../kinds/schema-files/built-in-schemas.ts";
import { Catalog } from "../../resources/model/catalog.ts";
import { KeySpace } from "../../resources/model/keys.ts";
import { Resources } from "../../resources/resources.ts";
import { MemoryStore } from "../../storage/memory.ts";
import { makeCall } from "../pipeline/in-process.ts";
import { dispatch } from "./dispatch.ts";

/** Parts of a test request besides method and path. */
export interface Ask {
  readonly body?: Json | KubeObject;
  /** The content type of a patch. */
  readonly type?: string;
  readonly signal?: AbortSignal;
}

/** Collection path of the config maps in tests. */
export const CONFIG_MAPS = "/api/v1/namespaces/n/configmaps";

/** All built-in kinds on a memory store, called without HTTP. Records admission requests. */
export class World {
  readonly store = new MemoryStore();
  readonly environment = drivenEnvironment();
  /** Admission requests in short, such as `mutate CREATE configmaps/a`. */
  readonly admitted: string[] = [];
  /** The admission requests in full. */
  readonly requests: AdmissionRequest[] = [];
  /** Called by admission. */
  onAdmission = (): void => {};
  /** The Warning headers of the last call. */
  warnings: readonly string[] = [];
  readonly #context;

  constructor() {
    const { clock, random } = this.environment;
    const resources = new Resources({
      store: this.store,
      catalog: new Catalog(builtInKinds()),
      clock,
      random,
      keys: new KeySpace("/registry"),
      actions: testActions,
    });
    const note = (phase: string) => async (request: AdmissionRequest) => {
      this.onAdmission();
      this.requests.push(request);
      const { operation, resource, name, dryRun } = request;
      this.admitted.push(`${phase} ${operation} ${resource.definition.plural}/${name}${dryRun ? " (dry run)" : ""}`);
    };
    const plugin = { name: "Note", handles: () => true, mutate: note("mutate"), validate: note("validate") };
    this.#context = {
      resources,
      admission: new AdmissionChain([plugin]),
      identities: { ...alwaysAllow, authenticateToken: undefined as never },
      minRequestTimeout: 1800,
      deleteOptionsSchema: () => builtInSchema("io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions"),
    };
  }

  /** Calls the verb that method and path select. */
  async ask(method: string, url: string, { body, type, signal }: Ask = {}): Promise<ApiReply> {
    const [path = "", query] = url.split("?");
    const headers = { "user-agent": "tester/1", ...(type === undefined ? {} : { "content-type": type }) };
    const user = { name: "ann", groups: ["system:authenticated"] };
    const wanted = { method, path, query: new URLSearchParams(query), headers, body: body as Json, user, signal };
    const call = makeCall(wanted, this.environment.random);
    try {
      return await dispatch(this.#context, call);
    } finally {
      this.warnings = call.warnings;
    }
  }

  /** Returns the object of the reply and checks its status code. */
  async object(method: string, url: string, ask: Ask & { readonly code?: number } = {}): Promise<KubeObject> {
    const reply = await this.ask(method, url, ask);
    assert.ok(reply.type === "object", reply.type);
    assert.equal(reply.code, ask.code ?? (method === "POST" ? 201 : 200));
    return reply.view.object;
  }

  /** Returns the names of the list items and the list itself. */
  async list(url: string, method = "GET") {
    const reply = await this.ask(method, url);
    assert.ok(reply.type === "list", reply.type);
    return { names: [...reply.items].map(({ object }) => object.metadata.name), ...reply };
  }

  /** Creates config maps with the given labels. */
  async configMaps(labels: Readonly<Record<string, Readonly<Record<string, string>>>>): Promise<KubeObject[]> {
    const made: KubeObject[] = [];
    for (const [name, own] of Object.entries(labels))
      made.push(await this.object("POST", CONFIG_MAPS, { body: configMap(name, { metadata: { labels: own } }) }));
    return made;
  }
}

/** Returns a config map that is not stored yet. */
export function configMap(name: string, more: { metadata?: object; data?: Record<string, string> } = {}): KubeObject {
  const { metadata, ...rest } = more;
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, ...metadata }, ...rest };
}

/** Returns a function that reads the next watch event, in short form. */
export function readWatch(reply: ApiReply): () => Promise<string> {
  assert.ok(reply.type === "watch", reply.type);
  const batches = reply.events[Symbol.asyncIterator]();
  const held: WatchEvent[] = [];
  return async () => {
    while (held.length === 0) {
      const { value, done } = await batches.next();
      if (done) return "END";
      held.push(...value);
    }
    const event = held.shift() as WatchEvent;
    return event.type === "ERROR" ? `ERROR ${event.status.code}` : `${event.type} ${event.view.object.metadata.name}`;
  };
}

/** Returns a matcher for an ApiError with this code and message. */
export const refusal = (code: number, message: RegExp) => (error: unknown) => {
  const { status } = error as { status: { code: number; message: string } };
  assert.equal(status.code, code, status.message);
  assert.match(status.message, message);
  return true;
};
