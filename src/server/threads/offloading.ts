import { availableParallelism } from "node:os";
import type { Call, Stage } from "../../api/call.ts";
import type { RequestInfo } from "../../api/request-info.ts";
import type { TokenIssuer } from "../../api/token-issuer.ts";
import { systemClock } from "../../lib/clock.ts";
import type { Environment, Log } from "../../lib/environment.ts";
import type { MetricRegistry } from "../../lib/metrics.ts";
import { systemRandom } from "../../lib/random.ts";
import { isHeavy } from "../../pipeline/body-weight.ts";
import { offload } from "../../pipeline/offload.ts";
import type { BodyContext } from "../../pipeline/read-body.ts";
import type { ServedResource } from "../../resources/model/catalog.ts";
import type { Resources } from "../../resources/resources.ts";
import type { Config } from "../config.ts";
import type { Judges, ObjectOptions } from "../object-parts.ts";
import type { PathFacts } from "../path-facts.ts";
import { type LargeRequestLimits, LargeRequests } from "./large-requests.ts";
import { shareStore } from "./remote-store.ts";
import type { IssuerLimits } from "./thread.ts";

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
  /** Whether policies or webhooks may have to be asked about a write: only this thread can. */
  readonly isAdmittedHere: (resource: ServedResource, subresource: string) => boolean;
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
  waiting: 100,
  waitingBytes: 64 * 1024 * 1024,
  idleMs: 30_000,
  patienceMs: 1000,
};

/** They read many objects, so that the store would have to be copied, or last until somebody ends them. */
const UNMOVABLE_VERBS: ReadonlySet<string> = new Set(["list", "watch", "deletecollection"]);

/**
 * Large requests go to other threads unless the server was given a clock or a source of chance of its own: those cannot be
 * shared with a thread. Kinds that have come since the start are known to this thread only.
 */
export function offloading(options: OffloadingOptions): Offloading {
  const { config, environment, resources, judges, issuer, facts } = options;
  const { maxInlineBytes } = config;
  const isShareable = environment.clock === systemClock && environment.random === systemRandom;
  if (!isShareable || maxInlineBytes === 0) {
    return { stage: (next) => next, isLarge: undefined, close: async () => {} };
  }
  const { store, keys, catalog } = resources;
  const known = new Set(catalog.definitions);
  const findMovable = (info: RequestInfo): ServedResource | undefined => {
    if (UNMOVABLE_VERBS.has(info.verb) || facts.isLongRunning(info)) return undefined;
    const found = facts.findServed(info);
    if (found === undefined || !known.has(found.definition)) return undefined;
    return options.isAdmittedHere(found, info.subresource) ? undefined : found;
  };
  const sizeOf = ({ definition }: ServedResource, info: RequestInfo): number => {
    const key = keys.key(definition, info);
    return store.snapshot?.(key)?.get(key)?.value.length ?? 0;
  };
  const isLargeObject = (info: RequestInfo, bytes?: number): boolean => {
    if (bytes !== undefined && bytes <= maxInlineBytes) return false;
    const found = findMovable(info);
    return found !== undefined && (bytes ?? sizeOf(found, info)) > maxInlineBytes;
  };
  const isLarge = (info: RequestInfo, body: Uint8Array): boolean =>
    isHeavy(body, maxInlineBytes) ? findMovable(info) !== undefined : info.name !== "" && isLargeObject(info);
  const { authorizer, identities, rights } = judges;
  const requests = new LargeRequests({
    ...LIMITS,
    clock: environment.clock,
    log: environment.log,
    lines: options.lines,
    maxMemoryBytes: MAX_MEMORY_BYTES,
    options: objectOptionsOf(config),
    issuer: limitsOf(issuer),
    parts: { store: shareStore(store), authorizer, identities, issuer, rights },
  });
  showMetrics(options.registry, requests);
  const carryOut = (call: Call, body: Uint8Array | undefined) => requests.carryOut(call, body);
  return {
    stage: offload({ isLargeObject, isUnstructured: facts.isUnstructured, carryOut }),
    isLarge,
    close: () => requests.close(),
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
