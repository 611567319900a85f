import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { eventually } from "../../../../test/support/time.ts";
import { AdmissionChain } from "../../../access/admission/chain.ts";
import type { AdmissionPlugin } from "../../../access/admission/plugin.ts";
import { alwaysAllow } from "../../../access/authorization/always.ts";
import type { Authorizer } from "../../../base/api/attributes.ts";
import type { Handler } from "../../../base/api/call.ts";
import { defaultFeatureGates, type FeatureGates } from "../../../base/api/feature-gates.ts";
import type { KubeObject, OwnerReference } from "../../../base/api/object.ts";
import type { UserInfo } from "../../../base/api/user-info.ts";
import { type Clock, systemClock } from "../../../base/util/clock.ts";
import { systemRandom } from "../../../base/util/random.ts";
import { testActions } from "../../../kinds/built-in/actions/actions.suite.ts";
import { builtInKinds } from "../../../kinds/built-in/all.ts";
import { builtInSchema } from "../../../kinds/schema-files/built-in-schemas.ts";
import { Catalog, type ServedResource } from "../../../resources/model/catalog.ts";
import { Draft } from "../../../resources/model/draft.ts";
import { KeySpace } from "../../../resources/model/keys.ts";
import type { DeletionRequest } from "../../../resources/model/write-request.ts";
import type { ObjectClient } from "../../../resources/object-client.ts";
import { Resources } from "../../../resources/resources.ts";
import { readObject } from "../../../resources/stored-kinds.ts";
import { LoopbackClient } from "../../../serving/pipeline/loopback-client.ts";
import { dispatch } from "../../../serving/verbs/dispatch.ts";
import { MemoryStore } from "../../../storage/memory.ts";
import type { Entry, GetOptions, PutOptions, Store, WriteResult } from "../../../storage/store.ts";
import { type Controller, runControllers } from "./controller.ts";
import type { Informers } from "./informers.ts";
import type { ManagerContext } from "./manager-context.ts";
import { AttributedInformers, attributed, checkPermission } from "./permissions.suite.ts";

/** Options of a new object. Everything but the name is optional. */
export interface NewObject {
  readonly namespace?: string;
  readonly owners?: readonly OwnerReference[];
  readonly finalizers?: readonly string[];
  readonly content?: Partial<KubeObject>;
}

/** Valid contents for kinds that require some. */
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

/** A store that responds and reports changes after a few turns of the event loop, derived from a seed. */
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

/** Options of a TestCluster. */
export interface ClusterOptions {
  readonly plugins?: readonly AdmissionPlugin[];
  readonly apiDomain?: string;
  /** Default: the system clock. */
  readonly clock?: Clock;
  /** Default: every gate at its default. */
  readonly features?: FeatureGates;
  /** Decides access reviews. Default: allows everything. */
  readonly authorizer?: Authorizer;
}

/**
 * All kinds over an in-memory store, with running controllers. Ended by `stop`, which fails if a controller sent a request
 * that its bootstrap role does not allow.
 */
export class TestCluster implements ManagerContext {
  readonly store: MemoryStore;
  readonly catalog: Catalog;
  readonly resources: Resources;
  readonly client: ObjectClient;
  /** Creates a client of another user. */
  readonly clientFor: (user: UserInfo) => ObjectClient;
  readonly informers: Informers;
  /** Errors that controllers reported. */
  readonly problems: unknown[] = [];
  readonly report = (_controller: string, error: unknown): void => {
    this.problems.push(error);
  };
  /** Requests of controllers that their bootstrap roles do not allow. */
  readonly #forbidden: unknown[] = [];
  readonly #stop = new AbortController();
  readonly #runs: Promise<void>[] = [];

  constructor(
    store: MemoryStore = new MemoryStore(),
    {
      plugins = [],
      apiDomain,
      clock = systemClock,
      features = defaultFeatureGates,
      authorizer = alwaysAllow,
    }: ClusterOptions = {},
  ) {
    this.store = store;
    const catalog = new Catalog(builtInKinds(apiDomain));
    this.catalog = catalog;
    const keys = new KeySpace("registry");
    const environment = { clock, random: systemRandom };
    this.resources = new Resources({ store, catalog, ...environment, keys, actions: testActions, features });
    this.informers = new AttributedInformers(this.resources, this.report);
    const context = {
      resources: this.resources,
      admission: new AdmissionChain(plugins),
      identities: { ...alwaysAllow, ...authorizer, authenticateToken: undefined as never },
      minRequestTimeout: 1800,
      deleteOptionsSchema: () => builtInSchema("io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions"),
    };
    const userAgent = "kube-controller-manager";
    const answer: Handler = async (call) => {
      try {
        checkPermission(call);
      } catch (error) {
        this.#forbidden.push(error);
        throw error;
      }
      return dispatch(context, call);
    };
    this.clientFor = (user) => new LoopbackClient(answer, { user, userAgent, isRemote: true }, systemRandom);
    this.client = this.clientFor({
      name: "system:serviceaccount:kube-system:test",
      groups: ["system:serviceaccounts"],
    });
  }

  start(...controllers: readonly Controller[]): void {
    this.#runs.push(runControllers(controllers.map(attributed), this.#stop.signal, this.resources.clock, this.report));
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#runs);
    await this.store.close();
    assert.deepEqual(this.#forbidden, []);
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

  /** All objects of a kind in one namespace, by name. */
  async list<T extends KubeObject = KubeObject>(plural: string, namespace = "default"): Promise<T[]> {
    const { entries } = await this.store.list(this.resources.keys.prefix(this.resource(plural).definition, namespace));
    return entries.flatMap((entry) => (readObject(this.resources.codec, entry) as T | undefined) ?? []);
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

  /** The number of objects of a kind, in one namespace or in all. */
  async count(plural: string, namespace = ""): Promise<number> {
    const prefix = this.resources.keys.prefix(this.resource(plural).definition, namespace);
    return (await this.store.list(prefix)).entries.length;
  }
}

/** Counts the reads and writes of a store from now on. Watches and questions for the revision do not count. */
export function countCalls(t: TestContext, store: Store): () => number {
  const mocks = (["get", "list", "put", "delete"] as const).map((name) => t.mock.method(store, name).mock);
  return () => mocks.reduce((sum, mock) => sum + mock.callCount(), 0);
}

/** Resolves when the condition holds. */
export async function until(condition: () => Promise<boolean> | boolean): Promise<void> {
  await eventually(condition, { everyMs: 1 });
}

/** An ownerReference to an owner, as used by its dependents. */
export function ownedBy(owner: KubeObject, blocks = false): OwnerReference {
  const { apiVersion, kind, metadata } = owner;
  const reference = { apiVersion, kind, name: metadata.name ?? "", uid: metadata.uid ?? "" };
  return blocks ? { ...reference, blockOwnerDeletion: true } : reference;
}
