import { generateKeyPairSync } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { signingKey } from "../../access/authentication/service-accounts/keys.ts";
import { isObject, type KubeObject } from "../../base/api/object.ts";
import type { ApiReply, ObjectView } from "../../base/api/reply.ts";
import type { UserInfo } from "../../base/api/user-info.ts";
import { systemClock } from "../../base/util/clock.ts";
import type { Environment } from "../../base/util/environment.ts";
import type { Eventually } from "../../base/util/eventually.ts";
import { systemRandom } from "../../base/util/random.ts";
import type { Catalog, ServedResource } from "../../resources/model/catalog.ts";
import type { ObjectKey } from "../../resources/model/keys.ts";
import { type CallRequest, callInProcess } from "../../serving/pipeline/in-process.ts";
import { type MemoryState, MemoryStore } from "../../storage/memory.ts";
import type { GivenParts } from "../library/given-parts.ts";
import { completeConfig, type ServerOptions } from "../library/options.ts";
import { quietTurns } from "../library/quiet-turns.ts";
import { SILENCE } from "../library/start-server.ts";
import { type Assembly, assemble } from "../server/assemble.ts";
import type { Config } from "../server/config.ts";
import { ADMINISTRATOR, type Identity } from "../server/identity.ts";
import { objectKinds } from "../server/object-kinds.ts";
import { readState, type StateSummary } from "../transfer/read-state.ts";
import { CollectedState } from "./memory-state.ts";

/** Options of an imagined cluster. */
export interface ImaginedOptions {
  /** Dumps of its state. Empty: a new cluster. */
  readonly state: readonly string[];
  /** Options of the server. */
  readonly config?: Omit<ServerOptions, "log" | "clock" | "random" | "store">;
}

/** A dry run must not call webhooks. */
const WEBHOOK_PLUGINS: readonly string[] = ["MutatingAdmissionWebhook", "ValidatingAdmissionWebhook"];
/** Controllers that objects of manifests depend on: ServiceAccounts for Pods of new Namespaces, aggregated ClusterRoles, quotas. */
export const DIFF_CONTROLLERS = "serviceaccount-controller,clusterrole-aggregation-controller,resourcequota-controller";
/** Number of event loop turns without a write after which watchers of the store are up to date. */
const QUIET_TURNS = 12;
const DEFINITION_WAIT_MS = 10_000;

/** A server in this process on a state in memory. It does not listen on a port and writes no files. */
export class ImaginedCluster implements AsyncDisposable {
  readonly catalog: Catalog;
  readonly summary: StateSummary;
  readonly #store: MemoryStore;
  readonly #assembly: Assembly;
  readonly #opened: AsyncDisposableStack;

  private constructor(store: MemoryStore, assembly: Assembly, opened: AsyncDisposableStack, summary: StateSummary) {
    this.#store = store;
    this.#assembly = assembly;
    this.#opened = opened;
    this.catalog = assembly.resources.catalog;
    this.summary = summary;
  }

  /** Reads the dumps and starts the server. Throws errors with the file and the position. */
  static async open({ state, config: options = {} }: ImaginedOptions): Promise<ImaginedCluster> {
    const own = completeConfig({ ...options, customObjects: "defined", shutdownGraceMs: 0, compactionIntervalMs: 0 });
    const { enabled, disabled } = own.admissionPlugins;
    const config: Config = {
      ...own,
      controllers: options.controllers ?? DIFF_CONTROLLERS,
      admissionPlugins: { enabled, disabled: [...new Set([...disabled, ...WEBHOOK_PLUGINS])] },
    };
    const environment: Environment = { clock: systemClock, random: systemRandom, log: SILENCE };
    const kinds = objectKinds(config, environment.clock);
    const collected = new CollectedState();
    const summary = await readState(state, kinds, collected);
    const genesis = summary.isWhole ? undefined : await makeGenesis(own, environment);
    const begin = collected.finish(summary, kinds, environment.random, genesis);
    const opened = new AsyncDisposableStack();
    try {
      const store = new MemoryStore({ begin, historyMs: Number.POSITIVE_INFINITY });
      const assembly = await start(config, environment, givenParts(environment, store, true), opened);
      const cluster = new ImaginedCluster(store, assembly, opened, summary);
      await cluster.settle();
      return cluster;
    } catch (error) {
      await opened.disposeAsync();
      throw error;
    }
  }

  /** The stored object in the version of `resource`, or undefined. Must not be changed. */
  find(resource: ServedResource, key: ObjectKey): Eventually<ObjectView | undefined> {
    return this.#assembly.resources.peekView(resource, key);
  }

  /** Names of the webhook configurations in the state. They are not called. */
  async webhooks(): Promise<string[]> {
    const { access } = this.#assembly.resources;
    const plurals = ["mutatingwebhookconfigurations", "validatingwebhookconfigurations"];
    const lists = plurals.map((plural) => access.list("admissionregistration.k8s.io", plural, ""));
    return (await Promise.all(lists)).flat().map(({ metadata }) => metadata.name ?? "");
  }

  /** ResourceQuotas, as namespace/name, whose limits are not in force because their usage was never counted. */
  async unenforcedQuotas(): Promise<string[]> {
    const quotas = await this.#assembly.resources.access.list("", "resourcequotas", "");
    const unenforced = quotas.filter(({ spec, status }) => {
      const { hard: wanted } = isObject(spec) ? spec : {};
      const { hard, used } = isObject(status) ? status : {};
      return isObject(wanted) && !(isDeepStrictEqual(wanted, hard) && isObject(used));
    });
    return unenforced.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
  }

  /** Sends a request as a user, by default an administrator. Throws ApiError. */
  ask(request: Omit<CallRequest, "user">, user: UserInfo = ADMINISTRATOR): Promise<ApiReply> {
    return callInProcess(this.#assembly.inProcess, { ...request, user }, systemRandom);
  }

  /** Resolves when the server and its controllers have processed the written object, or the initial state. */
  async settle(written?: KubeObject): Promise<void> {
    if (written?.kind === "CustomResourceDefinition") await this.#established(written);
    await quietTurns(
      () => QUIET_TURNS,
      () => this.#store.snapshot()?.revision ?? 0,
    );
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#opened.disposeAsync();
  }

  /** Waits until the definition is established. After a timeout, objects of its kind will be denied. */
  async #established({ metadata }: KubeObject): Promise<void> {
    const isServed = () =>
      this.catalog.definitions.some(
        ({ plural, group, presence }) => `${plural}.${group}` === metadata.name && presence?.isEstablished,
      );
    for (let waited = 0; waited < DEFINITION_WAIT_MS && !isServed(); waited++) await systemClock.sleep(1);
  }
}

async function start(
  config: Config,
  environment: Environment,
  given: GivenParts,
  opened: AsyncDisposableStack,
): Promise<Assembly> {
  const assembly = await assemble(config, environment, given, opened);
  assembly.start(config.securePort);
  await assembly.ready;
  return assembly;
}

/** The objects that a server creates at its start in an empty store. */
async function makeGenesis(config: Config, environment: Environment): Promise<MemoryState> {
  const store = new MemoryStore();
  await using opened = new AsyncDisposableStack();
  await start({ ...config, controllers: "none" }, environment, givenParts(environment, store, false), opened);
  return store.freeze();
}

function givenParts({ random }: Environment, store: MemoryStore, isGuest: boolean) {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const token = Buffer.from(random.bytes(24)).toString("base64url");
  const identity = identityOf(token);
  return {
    store,
    identity,
    accountKey: signingKey(privateKey),
    isGuest,
    isOffline: true,
    isPartial: true,
  } satisfies GivenParts;
}

/** There are no connections, so there are no certificates. */
function identityOf(token: string): Identity {
  const none = { certificate: "", key: "" };
  return {
    tls: none,
    refreshServing: async () => none,
    authority: "",
    ownAuthority: undefined,
    signingAuthority: undefined,
    tokens: [],
    admin: { token, user: ADMINISTRATOR },
    kubeconfig: () => "",
    saveKubeconfig: async () => undefined,
  };
}
