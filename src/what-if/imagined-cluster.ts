import { generateKeyPairSync } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { KubeObject } from "../api/object.ts";
import type { ApiReply, ObjectView } from "../api/reply.ts";
import type { UserInfo } from "../api/user-info.ts";
import { signingKey } from "../auth/service-accounts/keys.ts";
import { systemClock } from "../lib/clock.ts";
import type { Environment } from "../lib/environment.ts";
import type { Eventually } from "../lib/eventually.ts";
import { systemRandom } from "../lib/random.ts";
import { type CallRequest, callInProcess } from "../pipeline/in-process.ts";
import type { Catalog, ServedResource } from "../resources/model/catalog.ts";
import type { ObjectKey } from "../resources/model/keys.ts";
import type { Config } from "../server/config.ts";
import { ADMINISTRATOR, type Identity } from "../server/identity.ts";
import type { GivenParts } from "../server/library/given-parts.ts";
import { completeConfig, type ServerOptions } from "../server/library/options.ts";
import { SILENCE } from "../server/library/start-server.ts";
import { objectKinds } from "../server/object-kinds.ts";
import { type Assembly, assemble } from "../server/server.ts";
import { type MemoryState, MemoryStore } from "../storage/memory.ts";
import { nameOf } from "../transfer/placement.ts";
import { readState, type StateSummary } from "../transfer/read-state.ts";
import { CollectedState } from "./memory-state.ts";

/** What a cluster is imagined from. */
export interface ImaginedOptions {
  /** Dumps of its state. None: a cluster in which nothing was done yet. */
  readonly state: readonly string[];
  /** Options of the server. */
  readonly config?: Omit<ServerOptions, "log" | "clock" | "random" | "store">;
}

/** Webhooks would have to be called: whoever looks at a dump must not. */
const WEBHOOK_PLUGINS: readonly string[] = ["MutatingAdmissionWebhook", "ValidatingAdmissionWebhook"];
/** The loops on which further objects of manifests depend: accounts for the pods of new namespaces, aggregated roles. */
const CONTROLLERS = "serviceaccount-controller,clusterrole-aggregation-controller";
/** Turns of the event loop without a write after which whatever follows the store has followed it. */
const QUIET_TURNS = 12;
const DEFINITION_WAIT_MS = 10_000;

/** A server over a state in memory, which nobody but this process reaches. Nothing of it is kept. */
export class ImaginedCluster implements AsyncDisposable {
  readonly catalog: Catalog;
  readonly summary: StateSummary;
  readonly #assembly: Assembly;
  readonly #opened: AsyncDisposableStack;

  private constructor(assembly: Assembly, opened: AsyncDisposableStack, summary: StateSummary) {
    this.#assembly = assembly;
    this.#opened = opened;
    this.catalog = assembly.resources.catalog;
    this.summary = summary;
  }

  /** Reads the dumps and starts the server. Throws errors that name the file and the place. */
  static async open({ state, config: options = {} }: ImaginedOptions): Promise<ImaginedCluster> {
    const own = completeConfig({ ...options, customObjects: "defined", shutdownGraceMs: 0, compactionIntervalMs: 0 });
    const { enabled, disabled } = own.admissionPlugins;
    const config: Config = {
      ...own,
      controllers: options.controllers ?? CONTROLLERS,
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
      const cluster = new ImaginedCluster(assembly, opened, summary);
      await cluster.settle();
      return cluster;
    } catch (error) {
      await opened.disposeAsync();
      throw error;
    }
  }

  /** An object as it is stored now, in the version of `resource`; undefined: there is none. Nobody may change it. */
  find(resource: ServedResource, key: ObjectKey): Eventually<ObjectView | undefined> {
    return this.#assembly.resources.peekView(resource, key);
  }

  /** What the state has that would ask other servers, by name: nobody asks them here. */
  async webhooks(): Promise<string[]> {
    const { access } = this.#assembly.resources;
    const plurals = ["mutatingwebhookconfigurations", "validatingwebhookconfigurations"];
    const lists = plurals.map((plural) => access.list("admissionregistration.k8s.io", plural, ""));
    return (await Promise.all(lists)).flat().map(nameOf);
  }

  /** Asks the server as a user, or as an administrator. Throws ApiError. */
  ask(request: Omit<CallRequest, "user">, user: UserInfo = ADMINISTRATOR): Promise<ApiReply> {
    return callInProcess(this.#assembly.inProcess, { ...request, user }, systemRandom);
  }

  /** Resolves when whatever the server does because of an object that was written, or of the state, is done. */
  async settle(written?: KubeObject): Promise<void> {
    if (written?.kind === "CustomResourceDefinition") await this.#established(written);
    const { store } = this.#assembly.resources;
    let revision = await store.revision();
    for (let turns = 0; turns < QUIET_TURNS; turns++) {
      await nextTurn();
      const now = await store.revision();
      if (now !== revision) turns = -1;
      revision = now;
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#opened.disposeAsync();
  }

  /** A definition that is not accepted within the time is not: the objects of its kind will be refused. */
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

/** What a server makes at its start in an empty store. */
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
  return { store, identity, accountKey: signingKey(privateKey), isGuest, isOffline: true } satisfies GivenParts;
}

/** Nobody connects, so that there are no certificates. */
function identityOf(token: string): Identity {
  const none = { certificate: "", key: "" };
  return {
    tls: none,
    refreshServing: async () => none,
    authority: "",
    ownAuthority: undefined,
    tokens: [],
    admin: { token, user: ADMINISTRATOR },
    kubeconfig: () => "",
    saveKubeconfig: async () => undefined,
  };
}
