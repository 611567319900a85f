import { availableParallelism } from "node:os";
import type { Call, Stage } from "../../api/call.ts";
import type { RequestInfo } from "../../api/request-info.ts";
import type { TokenIssuer } from "../../api/token-issuer.ts";
import { hooksByName } from "../../custom/coded-kind.ts";
import { systemClock } from "../../lib/clock.ts";
import type { Environment, Log } from "../../lib/environment.ts";
import type { MetricRegistry } from "../../lib/metrics.ts";
import { systemRandom } from "../../lib/random.ts";
import { isHeavy, LIGHT_BYTES } from "../../pipeline/body-weight.ts";
import { offload } from "../../pipeline/offload.ts";
import type { BodyContext } from "../../pipeline/read-body.ts";
import type { Catalog } from "../../resources/model/catalog.ts";
import type { ResourceDefinition } from "../../resources/model/definition.ts";
import type { Resources } from "../../resources/resources.ts";
import type { RulesObserver } from "../admission/dynamic-admission.ts";
import type { PreparedAdmission } from "../admission/prepare-admission.ts";
import type { Config } from "../config.ts";
import type { Judges, ObjectOptions } from "../object-parts.ts";
import type { PathFacts } from "../path-facts.ts";
import { type LargeRequestLimits, LargeRequests } from "./large-requests.ts";
import { shareStore } from "./remote-store.ts";
import type { IssuerLimits } from "./thread.ts";
import type { KindNames } from "./thread-kinds.ts";

/** What decides about large requests, and what their threads ask. */
export interface OffloadingOptions {
  readonly config: Config;
  readonly environment: Environment;
  /** Gets the log lines of threads, in which nothing is left that a client sent. */
  readonly lines: Log;
  readonly resources: Resources;
  readonly judges: Judges;
  readonly issuer: TokenIssuer;
  readonly facts: PathFacts;
  readonly registry: MetricRegistry;
  /** Whether a path that nothing is known of is answered all the same. */
  readonly isOpen: ((info: RequestInfo) => boolean) | undefined;
  readonly observer: RulesObserver;
  /** Whether something may have to be asked about a write that only this thread has. */
  readonly concernsOnlyThisThread: PreparedAdmission["concernsOnlyThisThread"];
}

/** Has large requests carried out in other threads. */
export interface Offloading {
  readonly stage: Stage;
  /** For `BodyContext`. Undefined: no request is. */
  readonly isLarge: BodyContext["isLarge"];
  close(): Promise<void>;
}

const MAX_MEMORY_BYTES = 512 * 1024 * 1024;
const LIMITS: LargeRequestLimits = {
  // One core is for the server's own thread.
  threads: Math.max(1, Math.min(2, availableParallelism() - 1)),
  threadsAway: 8,
  waiting: 100,
  waitingBytes: 64 * 1024 * 1024,
  idleMs: 30_000,
  patienceMs: 1000,
};

/** They read many objects, so that the store would have to be copied, or last until somebody ends them. */
const UNMOVABLE_VERBS: ReadonlySet<string> = new Set(["list", "watch", "deletecollection"]);

/**
 * Large requests go to other threads unless the server was given a clock or a source of chance of its own: those cannot be
 * shared with a thread, nor can the functions of kinds that a program brings with it.
 */
export function offloading(options: OffloadingOptions): Offloading {
  const { config, environment, resources, judges, issuer, facts, observer } = options;
  const { maxInlineBytes, customObjects, aggregatorRouting } = config;
  const isShareable = environment.clock === systemClock && environment.random === systemRandom;
  if (!isShareable || maxInlineBytes === 0) {
    return { stage: (next) => next, isLarge: undefined, close: async () => {} };
  }
  const { store, keys, catalog } = resources;
  const builtIn = new Set(catalog.definitions);
  const coded = hooksByName(config.kinds ?? []);
  /** A kind that is neither built in nor stored is one that somebody has put into the catalog. */
  const isKnown = (definition: ResourceDefinition): boolean => {
    const isStored = definition.presence !== undefined && !coded.has(`${definition.plural}.${definition.group}`);
    return isStored || builtIn.has(definition);
  };
  const isMovable = (info: RequestInfo): boolean => {
    if (UNMOVABLE_VERBS.has(info.verb) || facts.isLongRunning(info)) return false;
    const found = facts.findServed(info);
    if (found ? !isKnown(found.definition) : !options.isOpen?.(info)) return false;
    return !options.concernsOnlyThisThread(found, info.subresource);
  };
  const sizeOf = (info: RequestInfo): number => {
    const found = facts.findServed(info);
    if (found === undefined) return 0;
    const key = keys.key(found.definition, info);
    return store.snapshot?.(key)?.get(key)?.value.length ?? 0;
  };
  const isLargeObject = (info: RequestInfo, bytes = sizeOf(info)): boolean => bytes > maxInlineBytes && isMovable(info);
  const isLarge = (info: RequestInfo, body: Uint8Array): boolean =>
    isHeavy(body, maxInlineBytes) ? isMovable(info) : info.name !== "" && isLargeObject(info);
  const hasLargeQuery = ({ request, info }: Call): boolean =>
    request.uri.length > LIGHT_BYTES && info.verb !== "get" && isMovable(info);
  const { authorizer, identities, rights } = judges;
  const requests = new LargeRequests({
    ...LIMITS,
    clock: environment.clock,
    log: environment.log,
    lines: options.lines,
    maxMemoryBytes: MAX_MEMORY_BYTES,
    options: objectOptionsOf(config),
    kinds: { customObjects, aggregatorRouting, isShared: config.store.type === "etcd" },
    issuer: limitsOf(issuer),
    parts: { store: shareStore(store), authorizer, identities, issuer, rights, observer, names: kindNames(catalog) },
  });
  showMetrics(options.registry, requests);
  const carryOut = (call: Call, body: Uint8Array | undefined) => requests.carryOut(call, body);
  return {
    stage: offload({ hasLargeQuery, isLargeObject, isUnstructured: facts.isUnstructured, carryOut }),
    isLarge,
    close: () => requests.close(),
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

/** Only what a thread needs: it is told by a message. */
function objectOptionsOf({ apiDomain, eventTtlMs, featureGates, etcdPrefix, admissionPlugins }: Config): ObjectOptions {
  return { apiDomain, eventTtlMs, featureGates, etcdPrefix, admissionPlugins };
}

/** The key stays here: threads ask for signatures. */
function limitsOf({ issuer, audiences, maxExpirationSeconds, extendsExpiration }: TokenIssuer): IssuerLimits {
  return { issuer, audiences, maxExpirationSeconds, extendsExpiration };
}

function showMetrics(registry: MetricRegistry, requests: LargeRequests): void {
  registry.measured(
    "gauge",
    {
      name: "binnacle_request_threads",
      help: "Threads that carry out large requests; there are none while none come.",
    },
    () => requests.usage.threads,
  );
  registry.measured(
    "gauge",
    { name: "binnacle_requests_waiting_for_thread", help: "Large requests that wait for a thread." },
    () => requests.usage.waiting,
  );
  registry.measured(
    "counter",
    { name: "binnacle_offloaded_requests_total", help: "Requests that were handed to another thread." },
    () => requests.usage.carriedOut,
  );
  registry.measured(
    "counter",
    { name: "binnacle_lost_request_threads_total", help: "Threads that ended before their request was answered." },
    () => requests.usage.lost,
  );
}
