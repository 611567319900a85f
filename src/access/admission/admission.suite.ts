import assert from "node:assert/strict";
import { ApiError } from "../../base/api/api-error.ts";
import type { KubeObject, ObjectMeta } from "../../base/api/object.ts";
import type { UserInfo } from "../../base/api/user-info.ts";
import { systemClock } from "../../base/util/clock.ts";
import { systemRandom } from "../../base/util/random.ts";
import { testActions } from "../../kinds/built-in/actions/actions.suite.ts";
import { builtInKinds } from "../../kinds/built-in/all.ts";
import { Catalog, type ServedResource } from "../../resources/model/catalog.ts";
import { KeySpace } from "../../resources/model/keys.ts";
import { Resources } from "../../resources/resources.ts";
import { MemoryStore } from "../../storage/memory.ts";
import type { Store } from "../../storage/store.ts";
import type { AdmissionPlugin, AdmissionRequest } from "./plugin.ts";

/** A write in a test; other attributes are derived from it. */
export interface Write {
  readonly group?: string;
  readonly plural: string;
  readonly subresource?: string;
  readonly operation?: AdmissionRequest["operation"];
  readonly object?: KubeObject;
  readonly previous?: KubeObject;
  readonly user?: UserInfo;
  readonly dryRun?: boolean;
}

/** Result of a write: the object after all changes, or the error message. */
export interface Verdict {
  readonly object: KubeObject | undefined;
  readonly refusal: string | undefined;
  readonly error: ApiError | undefined;
  readonly warnings: readonly string[];
  readonly annotations: Readonly<Record<string, string>>;
}

/** A store with objects, and writes that only pass the plugins under test. */
export class World {
  readonly resources: Resources;

  constructor(store: Store = new MemoryStore(), apiDomain?: string) {
    const catalog = new Catalog(builtInKinds(apiDomain));
    this.resources = new Resources({
      store,
      catalog,
      clock: systemClock,
      random: systemRandom,
      keys: new KeySpace("/registry"),
      actions: testActions,
    });
  }

  get access() {
    return this.resources.access;
  }

  resource(group: string, plural: string): ServedResource {
    const { catalog } = this.resources;
    const definition = catalog.definitions.find((one) => one.group === group && one.plural === plural);
    const found = definition && catalog.find(group, definition.versions[0]?.name ?? "", plural);
    assert.ok(found, `${plural} of ${group} is served`);
    return found;
  }

  /** Stores an object unchanged. */
  async given(plural: string, object: KubeObject, group = ""): Promise<void> {
    const { store, keys } = this.resources;
    const { name = "", namespace = "" } = object.metadata;
    const key = keys.key(this.resource(group, plural).definition, { name, namespace });
    const before = await store.get(key);
    const result = await store.put(key, this.resources.codec.write(object), before?.modRevision ?? 0);
    assert.ok(result.ok);
  }

  /** Runs plugins on a write, one after the other. */
  async judge(plugins: AdmissionPlugin | readonly AdmissionPlugin[], write: Write): Promise<Verdict> {
    const warnings: string[] = [];
    const annotations: Record<string, string> = {};
    const request = this.request(write, warnings, annotations);
    const list = (Array.isArray(plugins) ? plugins : [plugins]) as readonly AdmissionPlugin[];
    const verdict = { object: write.object, warnings, annotations };
    try {
      for (const plugin of list) if (plugin.handles(request)) await plugin.mutate?.(request);
      for (const plugin of list) if (plugin.handles(request)) await plugin.validate?.(request);
      return { ...verdict, refusal: undefined, error: undefined };
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      return { ...verdict, refusal: error.message, error };
    }
  }

  request(write: Write, warnings: string[] = [], annotations: Record<string, string> = {}): AdmissionRequest {
    const { group = "", plural, subresource = "", object, previous, dryRun = false } = write;
    const metadata: ObjectMeta = (object ?? previous)?.metadata ?? {};
    return {
      operation: write.operation ?? (previous ? "UPDATE" : "CREATE"),
      resource: this.resource(group, plural),
      body: this.resource(group, plural),
      options: () => undefined,
      subresource,
      namespace: metadata.namespace ?? "",
      name: metadata.name ?? "",
      user: write.user ?? { name: "alice", groups: [] },
      dryRun,
      object,
      previous,
      warn: (text) => warnings.push(text),
      annotate: (key, value) => {
        annotations[key] = value;
      },
    };
  }
}

/** A namespace with these labels. */
export function namespace(name: string, labels: Record<string, string> = {}): KubeObject {
  return { kind: "Namespace", apiVersion: "v1", metadata: { name, labels } };
}

/** A pod with one container, unless the spec has others. */
export function pod(spec: object = {}, metadata: object = {}): KubeObject {
  return {
    kind: "Pod",
    apiVersion: "v1",
    metadata: { name: "p", namespace: "ns", ...metadata },
    spec: { containers: [{ name: "a", image: "image" }], ...spec },
  };
}
