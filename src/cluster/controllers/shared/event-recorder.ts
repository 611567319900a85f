import type { JsonObject, KubeObject } from "../../../base/api/object.ts";
import type { ServedResource } from "../../../resources/model/catalog.ts";
import { storedResource } from "../../../resources/model/stored-resource.ts";
import type { Resources } from "../../../resources/resources.ts";
import { printTime } from "../../../resources/write/metadata.ts";
import { type ControllerContext, isNamespaceTerminating, isStatus } from "./controller.ts";

type EventType = "Normal" | "Warning";

/** An Event before it is written. */
interface Draft extends KubeObject {
  count: number;
  message: string;
  firstTimestamp: string;
  lastTimestamp: string;
}

/** Events about the same object for the same reason. */
interface Similar {
  readonly messages: Set<string>;
  lastMs: number;
}

interface Allowance {
  tokens: number;
  lastMs: number;
}

/** How client-go limits Events. Upstream: EventCorrelator of tools/record. */
const MAX_MESSAGES = 10;
const SIMILAR_MS = 600_000;
const BURST = 25;
const REFILL_MS = 300_000;
const CACHE_SIZE = 4096;
const MAX_PENDING = 1000;

/** The time in the name of the last Event. All controllers of a server share it, because they share objects. */
const lastNanoseconds = new WeakMap<Resources, bigint>();

/**
 * Writes Events about objects for one controller, in order. A repeated Event is counted instead of written again, many
 * similar ones are combined, and an object with very many Events is limited.
 */
export class EventRecorder {
  readonly #context: ControllerContext;
  readonly #component: string;
  readonly #host: string | undefined;
  readonly #events: ServedResource;
  readonly #similar = new Map<string, Similar>();
  readonly #written = new Map<string, Pick<Draft, "count" | "firstTimestamp" | "metadata">>();
  readonly #allowances = new Map<string, Allowance>();
  #pending = 0;
  #sent: Promise<void> = Promise.resolve();

  /** `host`: the node that the component runs on. Optional. */
  constructor(context: ControllerContext, component: string, host?: string) {
    this.#context = context;
    this.#component = component;
    this.#host = host;
    this.#events = storedResource(context.resources.catalog, "", "events");
  }

  /** Records an Event about an object, or about a field of it. Failures are reported, not thrown. */
  record(
    { definition, apiVersion }: ServedResource,
    object: KubeObject,
    type: EventType,
    reason: string,
    message: string,
    fieldPath?: string,
  ): void {
    if (this.#pending >= MAX_PENDING) return;
    const { name, namespace, uid, resourceVersion } = object.metadata;
    const involvedObject = { kind: definition.kind, namespace, name, uid, apiVersion, resourceVersion, fieldPath };
    this.#pending++;
    this.#sent = this.#sent
      .then(() => this.#send(involvedObject, { type, reason, message }))
      .finally(() => this.#pending--);
  }

  /** Resolves when all Events that have been recorded are written. */
  get written(): Promise<void> {
    return this.#sent;
  }

  async #send(
    involvedObject: JsonObject,
    { type, reason, message }: { type: EventType; reason: string; message: string },
  ) {
    const { clock } = this.#context.resources;
    const nowMs = clock.now();
    const { kind, namespace, name, uid, apiVersion, fieldPath } = involvedObject;
    const about = JSON.stringify([kind, namespace, name, uid, apiVersion, type]);
    const isCombined = this.#combine(`${about}${reason}`, message, nowMs);
    const key = isCombined ? `${about}${reason}` : JSON.stringify([about, fieldPath, reason, message]);
    const before = this.#written.get(key);
    const now = printTime(nowMs);
    const draft: Draft = {
      kind: "Event",
      apiVersion: this.#events.apiVersion,
      metadata: before?.metadata ?? {
        name: eventName(this.#context.resources, String(name), nowMs),
        namespace: String(namespace ?? "default"),
      },
      involvedObject,
      reason,
      message: isCombined ? `(combined from similar events): ${message}` : message,
      source: { component: this.#component, ...(this.#host !== undefined && { host: this.#host }) },
      firstTimestamp: before?.firstTimestamp ?? now,
      lastTimestamp: now,
      count: (before?.count ?? 0) + 1,
      type,
      ...(!isCombined && { reportingComponent: this.#component }),
      ...(!isCombined && this.#host !== undefined && { reportingInstance: this.#host }),
    };
    remember(this.#written, key, {
      count: draft.count,
      firstTimestamp: draft.firstTimestamp,
      metadata: { ...draft.metadata },
    });
    if (this.#isAllowed(about, nowMs)) await this.#write(draft);
  }

  /** Whether so many messages have the same reason that they share an Event from now on. */
  #combine(key: string, message: string, nowMs: number): boolean {
    const known = this.#similar.get(key);
    const similar =
      known && nowMs - known.lastMs <= SIMILAR_MS ? known : { messages: new Set<string>(), lastMs: nowMs };
    similar.messages.add(message);
    similar.lastMs = nowMs;
    remember(this.#similar, key, similar);
    if (similar.messages.size < MAX_MESSAGES) return false;
    const [first = message] = similar.messages;
    similar.messages.delete(first);
    return true;
  }

  /** A burst of Events per object, then one every five minutes. */
  #isAllowed(about: string, nowMs: number): boolean {
    const known = this.#allowances.get(about) ?? { tokens: BURST, lastMs: nowMs };
    const tokens = Math.min(BURST, known.tokens + (nowMs - known.lastMs) / REFILL_MS);
    const isAllowed = tokens >= 1;
    remember(this.#allowances, about, { tokens: isAllowed ? tokens - 1 : tokens, lastMs: nowMs });
    return isAllowed;
  }

  async #write(draft: Draft): Promise<void> {
    const { client, report } = this.#context;
    const { namespace = "", name = "" } = draft.metadata;
    const { count, message, lastTimestamp } = draft;
    try {
      if (count > 1) {
        try {
          await client.patch(
            this.#events,
            { namespace, name },
            { count, message, lastTimestamp },
            { isStrategic: true },
          );
          return;
        } catch (error) {
          if (!isStatus(error, 404)) throw error;
        }
      }
      await client.create(this.#events, draft);
    } catch (error) {
      // The Namespace may be gone by now.
      if (!isStatus(error, 404, 409) && !isNamespaceTerminating(error)) report(this.#component, error);
    }
  }
}

/** The name of an Event ends with the time in nanoseconds. Two Events of one millisecond get different names. */
export function eventName(resources: Resources, object: string, nowMs: number): string {
  const time = BigInt(Math.trunc(nowMs)) * 1_000_000n;
  const last = lastNanoseconds.get(resources) ?? 0n;
  const next = time > last ? time : last + 1n;
  lastNanoseconds.set(resources, next);
  return `${object}.${next.toString(16)}`;
}

/** Keeps the most recently used entries. */
function remember<V>(cache: Map<string, V>, key: string, value: V): void {
  cache.delete(key);
  cache.set(key, value);
  if (cache.size <= CACHE_SIZE) return;
  const [oldest] = cache.keys();
  if (oldest !== undefined) cache.delete(oldest);
}
