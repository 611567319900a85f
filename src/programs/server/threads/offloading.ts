import { availableParallelism } from "node:os";
import type { RulesObserver } from "../../../access/admission/configuration/dynamic-admission.ts";
import type { PreparedAdmission } from "../../../access/admission/configuration/prepare-admission.ts";
import { MAX_BODY_BYTES } from "../../../base/api/body-limits.ts";
import type { Call, Stage } from "../../../base/api/call.ts";
import type { RequestInfo } from "../../../base/api/request-info.ts";
import type { TokenIssuer } from "../../../base/api/token-issuer.ts";
import type { MetricRegistry } from "../../../base/metrics/metrics.ts";
import { systemClock } from "../../../base/util/clock.ts";
import type { Environment, Log } from "../../../base/util/environment.ts";
import { systemRandom } from "../../../base/util/random.ts";
import { hooksByName } from "../../../kinds/custom/coded-kind.ts";
import type { Catalog } from "../../../resources/model/catalog.ts";
import type { ResourceDefinition } from "../../../resources/model/definition.ts";
import type { Resources } from "../../../resources/resources.ts";
import { type LargeRequestLimits, LargeRequests } from "../../../serving/offload/large-requests.ts";
import { shareStore } from "../../../serving/offload/remote-store.ts";
import { isHeavy, isHeavyValue, LIGHT_BYTES } from "../../../serving/pipeline/body-weight.ts";
import { boundCost } from "../../../serving/pipeline/bound-cost.ts";
import { CostlyCalls } from "../../../serving/pipeline/costly-calls.ts";
import type { IsLargeCall } from "../../../serving/pipeline/in-process.ts";
import { offload } from "../../../serving/pipeline/offload.ts";
import type { PathFacts } from "../../../serving/pipeline/path-facts.ts";
import type { BodyContext } from "../../../serving/pipeline/read-body.ts";
import type { Config } from "../config.ts";
import type { Judges, ObjectOptions } from "../object-parts.ts";
import type { IssuerLimits, ThreadData } from "./thread.ts";
import type { KindNames } from "./thread-kinds.ts";

/** The program of worker threads. The compiled file has another extension than its source. */
export const THREAD_PROGRAM: URL = new URL(
  import.meta.url.endsWith(".ts") ? "./thread.ts" : "./thread.js",
  import.meta.url,
);

/** What decides which requests are large, and the parts that worker threads call. */
export interface OffloadingOptions {
  readonly config: Config;
  readonly environment: Environment;
  /** Receives log lines of worker threads, without data that clients sent. */
  readonly lines: Log;
  readonly resources: Resources;
  readonly judges: Judges;
  readonly issuer: TokenIssuer;
  readonly facts: PathFacts;
  readonly registry: MetricRegistry;
  /** Whether requests to an undefined resource are accepted. */
  readonly isOpen: ((info: RequestInfo) => boolean) | undefined;
  readonly observer: RulesObserver;
  /** Whether a write may need something that only this thread has. */
  readonly concernsOnlyThisThread: PreparedAdmission["concernsOnlyThisThread"];
}

/** Runs large requests in worker threads. */
export interface Offloading {
  readonly stage: Stage;
  /** For `BodyContext`. Undefined if no request is moved. */
  readonly isLarge: BodyContext["isLarge"];
  /** The same for calls from within this process. */
  readonly isLargeCall: IsLargeCall | undefined;
  close(): Promise<void>;
}

const MAX_MEMORY_BYTES = 512 * 1024 * 1024;
const LIMITS: LargeRequestLimits = {
  // One core is reserved for the main thread.
  threads: Math.max(1, Math.min(2, availableParallelism() - 1)),
  threadsForOthers: 1,
  threadsAway: 8,
  waiting: 100,
  waitingBytes: 64 * 1024 * 1024,
  waitingPerFlow: 50,
  waitingBytesPerFlow: 32 * 1024 * 1024,
  idleMs: 30_000,
  patienceMs: 1000,
};

const NOTHING = new Uint8Array();

/** Verbs that read many objects (the store would have to be copied) or that do not end by themselves. */
const UNMOVABLE_VERBS: ReadonlySet<string> = new Set(["list", "watch"]);

/**
 * Moves large requests to worker threads, unless the server has an injected clock or source of randomness: these cannot be shared
 * with a thread. Neither can the functions of kinds made by `defineKind`.
 */
export function offloading(options: OffloadingOptions): Offloading {
  const { config, environment, resources, judges, issuer, facts, observer } = options;
  const { maxInlineBytes, customObjects, aggregatorRouting } = config;
  const isShareable = environment.clock === systemClock && environment.random === systemRandom;
  if (!isShareable || maxInlineBytes === 0) {
    return { stage: boundCost, isLarge: undefined, isLargeCall: undefined, close: async () => {} };
  }
  const { store, keys, catalog } = resources;
  const isMovable = movability(options);
  const storedValue = (info: RequestInfo): Uint8Array => {
    const found = info.name === "" ? undefined : facts.findServed(info);
    if (found === undefined) return NOTHING;
    const key = keys.key(found.definition, info);
    return store.snapshot?.(key)?.get(key)?.value ?? NOTHING;
  };
  const isLargeObject = (info: RequestInfo, bytes = storedValue(info).length): boolean =>
    bytes > maxInlineBytes && isMovable(info);
  // A write decodes, compares and validates all values of the stored object, however small its body is.
  const isLarge = (info: RequestInfo, body: Uint8Array): boolean =>
    (isHeavy(body, maxInlineBytes) || isHeavy(storedValue(info), maxInlineBytes)) && isMovable(info);
  const isLargeCall: IsLargeCall = (info, body) =>
    (isHeavyValue(body, maxInlineBytes) || isHeavy(storedValue(info), maxInlineBytes)) && isMovable(info);
  const hasLargeQuery = ({ request, info }: Call): boolean =>
    request.uri.length > LIGHT_BYTES && info.verb !== "get" && isMovable(info);
  const { authorizer, identities, rights } = judges;
  const requests = new LargeRequests({
    ...LIMITS,
    clock: environment.clock,
    log: environment.log,
    lines: options.lines,
    maxMemoryBytes: MAX_MEMORY_BYTES,
    program: THREAD_PROGRAM,
    data: {
      options: objectOptionsOf(config),
      kinds: { customObjects, aggregatorRouting, apiDomain: config.apiDomain, isShared: config.store.type === "etcd" },
      issuer: limitsOf(issuer),
    } satisfies ThreadData,
    parts: { store: shareStore(store), authorizer, identities, issuer, rights, observer, names: kindNames(catalog) },
  });
  showMetrics(options.registry, requests);
  const { kindOf, isUnstructured } = facts;
  // A body that is not read takes no memory, and its client can go on sooner.
  const reject = (call: Call, bytes: number) =>
    bytes > maxInlineBytes && bytes <= MAX_BODY_BYTES && isMovable(call.info)
      ? requests.reject(call, bytes)
      : undefined;
  const carryOut = (call: Call, body: Uint8Array | undefined) => requests.carryOut(call, body);
  return {
    stage: offload({
      ...{ hasLargeQuery, isLargeObject, isMovable, isUnstructured, kindOf, reject, carryOut },
      costly: new CostlyCalls(environment.clock),
    }),
    isLarge,
    isLargeCall,
    close: () => requests.close(),
  };
}

/** Tells which calls can run on another thread. */
function movability({ config, resources, facts, isOpen, concernsOnlyThisThread }: OffloadingOptions) {
  const builtIn = new Set(resources.catalog.definitions);
  const coded = hooksByName(config.kinds ?? []);
  /** Kinds that are neither built in nor stored were added to the catalog by the program. */
  const isKnown = (definition: ResourceDefinition): boolean => {
    const isStored = definition.presence !== undefined && !coded.has(`${definition.plural}.${definition.group}`);
    return isStored || builtIn.has(definition);
  };
  return (info: RequestInfo): boolean => {
    if (UNMOVABLE_VERBS.has(info.verb) || facts.isLongRunning(info)) return false;
    const found = facts.findServed(info);
    if (found ? !isKnown(found.definition) : !isOpen?.(info)) return false;
    return !concernsOnlyThisThread(found, info.subresource);
  };
}

function kindNames(catalog: Catalog): KindNames {
  return {
    async resourceOf({ apiVersion = "", kind = "" }) {
      const { definition } = catalog.findKind(apiVersion, kind) ?? {};
      return definition && { group: definition.group, resource: definition.plural };
    },
  };
}

/** Only the options that a thread needs: they are sent in a message. */
function objectOptionsOf(config: Config): ObjectOptions {
  const { apiDomain, eventTtlMs, featureGates, etcdPrefix, admissionPlugins, minRequestTimeout } = config;
  return { apiDomain, eventTtlMs, featureGates, etcdPrefix, admissionPlugins, minRequestTimeout };
}

/** Everything but the key: threads request signatures. */
function limitsOf({ issuer, audiences, maxExpirationSeconds, extendsExpiration }: TokenIssuer): IssuerLimits {
  return { issuer, audiences, maxExpirationSeconds, extendsExpiration };
}

function showMetrics(registry: MetricRegistry, requests: LargeRequests): void {
  registry.measured(
    "gauge",
    {
      name: "binnacle_request_threads",
      help: "Worker threads for large requests. They are started on demand.",
    },
    () => requests.usage.threads,
  );
  registry.measured(
    "gauge",
    { name: "binnacle_requests_waiting_for_thread", help: "Large requests that wait for a worker thread." },
    () => requests.usage.waiting,
  );
  registry.measured(
    "counter",
    { name: "binnacle_offloaded_requests_total", help: "Requests that were moved to a worker thread." },
    () => requests.usage.carriedOut,
  );
  registry.measured(
    "counter",
    {
      name: "binnacle_lost_request_threads_total",
      help: "Worker threads that ended before they had answered their request.",
    },
    () => requests.usage.lost,
  );
}
