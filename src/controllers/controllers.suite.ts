import assert from "node:assert/strict";
import { setImmediate as nextTurn } from "node:timers/promises";
import { eventually } from "../../test/support/time.ts";
import { testActions } from "../actions/actions.suite.ts";
import { AdmissionChain } from "../admission/chain.ts";
import type { AdmissionPlugin } from "../admission/plugin.ts";
import type { KubeObject, OwnerReference } from "../api/object.ts";
import { alwaysAllow } from "../auth/authorization/always.ts";
import { builtInKinds } from "../kinds/all.ts";
import { systemClock } from "../lib/clock.ts";
import { systemRandom } from "../lib/random.ts";
import { LoopbackClient } from "../pipeline/loopback-client.ts";
import { Catalog, type ServedResource } from "../resources/model/catalog.ts";
import { Draft } from "../resources/model/draft.ts";
import { KeySpace } from "../resources/model/keys.ts";
import type { DeletionRequest } from "../resources/model/write-request.ts";
import type { ObjectClient } from "../resources/object-client.ts";
import { Resources } from "../resources/resources.ts";
import { builtInSchema } from "../schema-files/built-in-schemas.ts";
import { MemoryStore } from "../storage/memory.ts";
import type { Entry, GetOptions, PutOptions, WriteResult } from "../storage/store.ts";
import { dispatch } from "../verbs/dispatch.ts";
import { type Controller, type ControllerContext, runControllers } from "./controller.ts";
import { readObject } from "./stored-kinds.ts";

/** What is created: everything but the name may be left out. */
export interface NewObject {
  readonly namespace?: string;
  readonly owners?: readonly OwnerReference[];
  readonly finalizers?: readonly string[];
  readonly content?: Partial<KubeObject>;
}

/** Contents that are valid for kinds which need some. */
const SAMPLES: Readonly<Record<string, Partial<KubeObject>>> = {
  pods: {
    spec: {
      restartPolicy: "Always",
      dnsPolicy: "ClusterFirst",
      schedulerName: "default-scheduler",
      terminationGracePeriodSeconds: 30,
      securityContext: {},
      containers: [
        {
          name: "main",
          image: "image",
          imagePullPolicy: "IfNotPresent",
          resources: {},
          terminationMessagePath: "/dev/termination-log",
          terminationMessagePolicy: "File",
        },
      ],
    },
  },
  services: {
    spec: {
      type: "ClusterIP",
      clusterIP: "None",
      clusterIPs: ["None"],
      ipFamilies: ["IPv4"],
      ipFamilyPolicy: "SingleStack",
      internalTrafficPolicy: "Cluster",
      sessionAffinity: "None",
      ports: [{ port: 80, targetPort: 80, protocol: "TCP" }],
    },
  },
};

/** Answers late, by a few turns of the event loop that follow from the seed, and tells of changes late, too. */
export class JitteryStore extends MemoryStore {
  #state: number;

  constructor(seed: number) {
    super();
    this.#state = seed;
  }

  async #jitter(): Promise<void> {
    this.#state = (Math.imul(this.#state, 1_103_515_245) + 12_345) >>> 0;
    for (let turns = (this.#state >>> 16) % 4; turns > 0; turns -= 1) await nextTurn();
  }

  override async get(key: string, options?: GetOptions): Promise<Entry | undefined> {
    await this.#jitter();
    const entry = await super.get(key, options);
    await this.#jitter();
    return entry;
  }

  override async put(key: string, value: Uint8Array, expected: number, options?: PutOptions): Promise<WriteResult> {
    await this.#jitter();
    const result = await super.put(key, value, expected, options);
    await this.#jitter();
    return result;
  }

  override async delete(key: string, expected: number): Promise<WriteResult> {
    await this.#jitter();
    const result = await super.delete(key, expected);
    await this.#jitter();
    return result;
  }

  override watch(prefix: string, revision: number, signal: AbortSignal): ReturnType<MemoryStore["watch"]> {
    const watch = super.watch(prefix, revision, signal);
    const inner = watch[Symbol.asyncIterator]();
    const next = async () => {
      const result = await inner.next();
      await this.#jitter();
      return result;
    };
    return Object.assign(watch, { [Symbol.asyncIterator]: () => ({ next, return: () => inner.return?.() ?? next() }) });
  }
}

/** What a cluster may have besides its store. */
export interface ClusterOptions {
  readonly plugins?: readonly AdmissionPlugin[];
  readonly apiDomain?: string;
}

/** All kinds over a store in memory, with controllers running beside. Ended by `stop`. */
export class TestCluster implements ControllerContext {
  readonly store: MemoryStore;
  readonly catalog: Catalog;
  readonly resources: Resources;
  readonly client: ObjectClient;
  /** What controllers have complained of. */
  readonly problems: unknown[] = [];
  readonly report = (_controller: string, error: unknown): void => {
    this.problems.push(error);
  };
  readonly #stop = new AbortController();
  readonly #runs: Promise<void>[] = [];

  constructor(store: MemoryStore = new MemoryStore(), { plugins = [], apiDomain }: ClusterOptions = {}) {
    this.store = store;
    const catalog = new Catalog(builtInKinds(apiDomain));
    this.catalog = catalog;
    const keys = new KeySpace("registry");
    const environment = { clock: systemClock, random: systemRandom };
    this.resources = new Resources({ store, catalog, ...environment, keys, actions: testActions });
    const context = {
      resources: this.resources,
      admission: new AdmissionChain(plugins),
      identities: { ...alwaysAllow, authenticateToken: undefined as never },
      deleteOptionsSchema: () => builtInSchema("io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions"),
    };
    const user = { name: "system:serviceaccount:kube-system:test", groups: ["system:serviceaccounts"] };
    this.client = new LoopbackClient(
      (call) => dispatch(context, call),
      { user, userAgent: "kube-controller-manager" },
      systemRandom,
    );
  }

  start(...controllers: readonly Controller[]): void {
    this.#runs.push(runControllers(controllers, this.#stop.signal, systemClock, this.report));
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#runs);
    await this.store.close();
  }

  resource(plural: string): ServedResource {
    const definition = this.catalog.definitions.find((one) => one.plural === plural && one.storage);
    assert.ok(definition, plural);
    const resource = this.catalog.find(definition.group, definition.versions[0]?.name ?? "", plural);
    assert.ok(resource);
    return resource;
  }

  async create(plural: string, name: string, options: NewObject = {}): Promise<KubeObject> {
    const resource = this.resource(plural);
    const namespace = options.namespace ?? "default";
    const object: KubeObject = {
      kind: resource.definition.kind,
      apiVersion: resource.apiVersion,
      metadata: {
        name,
        ...(resource.definition.scope === "Namespaced" ? { namespace } : {}),
        ...(options.owners ? { ownerReferences: [...options.owners] } : {}),
        ...(options.finalizers ? { finalizers: [...options.finalizers] } : {}),
      },
      ...structuredClone(SAMPLES[plural] ?? {}),
      ...(plural === "events" ? { involvedObject: { namespace } } : {}),
      ...options.content,
    };
    resource.definition.hooks?.setDefaults?.(object, resource.apiVersion, this.resources);
    return (await this.resources.collection(resource).create(resource, new Draft(object), {})).object;
  }

  async find(plural: string, name: string, namespace = "default"): Promise<KubeObject | undefined> {
    const key = this.resources.keys.key(this.resource(plural).definition, { namespace, name });
    const entry = await this.store.get(key);
    return entry && readObject(this.resources.codec, entry);
  }

  async delete(plural: string, name: string, request: DeletionRequest = {}, namespace = "default"): Promise<void> {
    const resource = this.resource(plural);
    await this.resources.collection(resource).delete(resource, { namespace, name }, request, {});
  }

  async change(
    plural: string,
    name: string,
    change: (object: KubeObject) => void,
    namespace = "default",
  ): Promise<void> {
    const resource = this.resource(plural);
    await this.resources.collection(resource).update(
      resource,
      { namespace, name },
      (current) => {
        assert.ok(current);
        change(current);
        return new Draft(current);
      },
      { isPatch: true },
    );
  }

  /** How many objects a kind has, in one namespace or in all. */
  async count(plural: string, namespace = ""): Promise<number> {
    const prefix = this.resources.keys.prefix(this.resource(plural).definition, namespace);
    return (await this.store.list(prefix)).entries.length;
  }
}

/** Resolves when the condition holds; fails when that takes too long. */
export async function until(condition: () => Promise<boolean> | boolean, timeoutMs = 10_000): Promise<void> {
  await eventually(condition, { withinMs: timeoutMs, everyMs: 1 });
}

/** A reference to an owner, as its dependents carry it. */
export function ownedBy(owner: KubeObject, blocks = false): OwnerReference {
  const { apiVersion, kind, metadata } = owner;
  const reference = { apiVersion, kind, name: metadata.name ?? "", uid: metadata.uid ?? "" };
  return blocks ? { ...reference, blockOwnerDeletion: true } : reference;
}
