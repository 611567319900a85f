import type { MetricRegistry } from "../../base/metrics/metrics.ts";
import { SeriesBy } from "../../base/metrics/series-by.ts";
import type { Clock } from "../../base/util/clock.ts";
import type { Catalog } from "../../resources/model/catalog.ts";
import type { KeySpace } from "../../resources/model/keys.ts";
import type { CachedStoreOptions, CacheObserver } from "../../storage/cached-store.ts";
import { historyDefaults } from "../../storage/history-limit.ts";
import type { MeasuredOperation, RequestObserver, Snapshot, Store } from "../../storage/store.ts";
import { KeyLabels, type KindLabels } from "./key-labels.ts";

const BOUNDS = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
] as const;
const WAIT_BOUNDS = BOUNDS.filter((bound) => bound <= 3);
const LOAD_BOUNDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 180, 600] as const;
const KIND = ["group", "resource"] as const;
const UNKNOWN: KindLabels = { group: "", resource: "" };

/**
 * Counts requests to the store and to the cache in front of etcd, under kube-apiserver's metric names. Differs:
 * `etcd_request_duration_seconds` and the related metrics cover any store type. One cache serves all kinds, so
 * `apiserver_watch_cache_initialization_duration_seconds` covers all kinds together.
 */
export class StoreMetrics implements RequestObserver, CacheObserver {
  readonly clock: Clock;
  readonly #registry: MetricRegistry;
  readonly #operations = new Map<MeasuredOperation, OperationSeries>();
  readonly #waits: SeriesBy<KindLabels, "group" | "resource", { observe(seconds: number): void }>;
  readonly #reads: SeriesBy<KindLabels, string, { add(): void }>;
  readonly #fallbacks: SeriesBy<KindLabels, string, { add(): void }>;
  readonly #received: SeriesBy<KindLabels, string, { add(): void }>;
  readonly #requests: ReturnType<typeof requestFamilies>;
  readonly #loads: { observe(seconds: number): void };
  #labels: KeyLabels | undefined;

  constructor(registry: MetricRegistry, clock: Clock) {
    this.clock = clock;
    this.#registry = registry;
    this.#requests = requestFamilies(registry);
    const counter = (name: string, help: string, more: readonly string[] = []) =>
      registry.counter<string>({ name, help, labels: [...KIND, ...more] });
    const waits = registry.histogram({
      name: "apiserver_watch_cache_read_wait_seconds",
      help: "[ALPHA] Histogram of time spent waiting for a watch cache to become fresh.",
      labels: KIND,
      bounds: WAIT_BOUNDS,
    });
    // Registered at startup, even if there is no cache.
    waits.of(UNKNOWN);
    const reads = counter(
      "apiserver_watch_cache_consistent_read_total",
      "[ALPHA] Counter for consistent reads from cache.",
      ["fallback", "success"],
    );
    const received = counter(
      "apiserver_watch_cache_events_received_total",
      "[ALPHA] Counter of events received in watch cache broken by resource type.",
    );
    this.#waits = new SeriesBy(waits, ({ group, resource }) => ({ group, resource }));
    this.#reads = new SeriesBy(reads, (kind) => ({ ...kind, fallback: "false", success: "true" }));
    this.#fallbacks = new SeriesBy(reads, (kind) => ({ ...kind, fallback: "true", success: "false" }));
    this.#received = new SeriesBy(received, (kind) => ({ ...kind }));
    this.#loads = registry
      .histogram({
        name: "apiserver_watch_cache_initialization_duration_seconds",
        help: "[ALPHA] Histogram of watch cache initialization duration in seconds, broken by resource type.",
        labels: KIND,
        bounds: LOAD_BOUNDS,
      })
      .of(UNKNOWN);
  }

  /** Observer callbacks for a cache in front of a remote store. */
  get cacheOptions(): Pick<CachedStoreOptions, "observer" | "eventReceived" | "loaded"> {
    return {
      observer: this,
      eventReceived: (key) => this.#received.of(this.#kindOf(key)).add(),
      loaded: (seconds) => this.#loads.observe(seconds),
    };
  }

  readonly requestEnded: RequestObserver["requestEnded"] = (operation, key, seconds, isFailed) => {
    let series = this.#operations.get(operation);
    if (series === undefined) {
      series = operationSeries(this.#requests, operation);
      this.#operations.set(operation, series);
    }
    const kind = this.#kindOf(key);
    series.total.of(kind).add();
    series.durations.of(kind).observe(seconds);
    if (isFailed) series.errors.of(kind).add();
  };

  readonly consistentRead: CacheObserver["consistentRead"] = (key, waitSeconds, isFallback) => {
    const kind = this.#kindOf(key);
    (isFallback ? this.#fallbacks : this.#reads).of(kind).add();
    this.#waits.of(kind).observe(waitSeconds);
  };

  /** Starts labelling keys by kind and exposes gauges of the store's contents. */
  follow(catalog: Pick<Catalog, "definitions">, keys: KeySpace, store: Pick<Store, "snapshot">): void {
    const labels = new KeyLabels(catalog, keys);
    this.#labels = labels;
    const registry = this.#registry;
    const state = (): Snapshot | undefined => store.snapshot?.(keys.root);
    registry.measured<"group" | "resource">(
      "gauge",
      {
        name: "apiserver_resource_objects",
        help: "[ALPHA] Number of stored objects at the time of last check split by kind. In case of a fetching error, the value will be -1.",
        labels: KIND,
      },
      () => {
        const snapshot = state();
        return [...labels.all()].map(({ labels: kind, prefix }) => ({
          labels: { ...kind },
          value: snapshot?.count(prefix) ?? -1,
        }));
      },
    );
    const gauge = (name: string, help: string, read: (snapshot: Snapshot) => number) =>
      registry.measured("gauge", { name, help }, () => {
        const snapshot = state();
        return snapshot && read(snapshot);
      });
    gauge("binnacle_history_events", "Number of past changes kept for watches and lists.", (s) => s.eventCount);
    gauge(
      "binnacle_history_events_limit",
      "Maximum number of past changes that are kept.",
      () => historyDefaults.maxEvents,
    );
    gauge(
      "binnacle_history_bytes",
      "Total size of old object values kept for watches and lists.",
      (snapshot) => snapshot.historyBytes,
    );
    gauge(
      "binnacle_history_bytes_limit",
      "Maximum total size of old object values that are kept.",
      () => historyDefaults.maxBytes,
    );
    gauge("binnacle_store_revision", "Latest store revision that reads from memory can return.", (s) => s.revision);
  }

  #kindOf(key: string): KindLabels {
    return this.#labels === undefined || key === "" ? UNKNOWN : this.#labels.of(key);
  }
}

interface OperationSeries {
  readonly durations: SeriesBy<KindLabels, string, { observe(seconds: number): void }>;
  readonly total: SeriesBy<KindLabels, string, { add(): void }>;
  readonly errors: SeriesBy<KindLabels, string, { add(): void }>;
}

function operationSeries(families: ReturnType<typeof requestFamilies>, operation: string): OperationSeries {
  const labelsOf = (kind: KindLabels) => ({ ...kind, operation });
  return {
    durations: new SeriesBy(families.durations, labelsOf),
    total: new SeriesBy(families.total, labelsOf),
    errors: new SeriesBy(families.errors, labelsOf),
  };
}

function requestFamilies(registry: MetricRegistry) {
  const labels: readonly string[] = [...KIND, "operation"];
  return {
    durations: registry.histogram<string>({
      name: "etcd_request_duration_seconds",
      help: "[ALPHA] Etcd request latency in seconds for each operation and object type.",
      labels,
      bounds: BOUNDS,
    }),
    total: registry.counter<string>({
      name: "etcd_requests_total",
      help: "[ALPHA] Etcd request counts for each operation and object type.",
      labels,
    }),
    errors: registry.counter<string>({
      name: "etcd_request_errors_total",
      help: "[ALPHA] Etcd failed request counts for each operation and object type.",
      labels,
    }),
  };
}
