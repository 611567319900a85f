import type { Call, Outcome, Stage } from "../../base/api/call.ts";
import type { RequestInfo } from "../../base/api/request-info.ts";
import type { MetricRegistry } from "../../base/metrics/metrics.ts";
import type { Clock } from "../../base/util/clock.ts";
import type { ServedResource } from "../../resources/model/catalog.ts";

/** Options of the request metrics stage. */
export interface MeasureOptions {
  readonly registry: MetricRegistry;
  readonly clock: Clock;
  /** The resource of a path, if it and the subresource exist. Only then do they become labels. */
  readonly findServed: (info: RequestInfo) => ServedResource | undefined;
  readonly isLongRunning: (info: RequestInfo) => boolean;
}

const REQUEST_LABELS = ["component", "group", "resource", "scope", "subresource", "verb", "version"] as const;
const SLI_BOUNDS = [0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60] as const;
const SIZE_BOUNDS = [1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9] as const;

/** RequestInfo verbs to metric labels. */
const VERBS: ReadonlyMap<string, string> = new Map([
  ["get", "GET"],
  ["list", "LIST"],
  ["watch", "WATCH"],
  ["create", "POST"],
  ["update", "PUT"],
  ["patch", "PATCH"],
  ["delete", "DELETE"],
  ["deletecollection", "DELETECOLLECTION"],
]);
/** HTTP methods used as verb label if the path names no resource. */
const METHODS: ReadonlyMap<string, string> = new Map([
  ...["GET", "POST", "PUT", "PATCH", "DELETE"].map((method) => [method, method] as const),
  ["HEAD", "GET"],
]);
/** Compat: paths that `InstrumentHandlerFunc` counts by path; their `component` is empty. */
const COUNTED_PATHS: readonly string[] = ["/healthz", "/livez", "/readyz"];
/** Compat: MonitorRequest observes the response size of reads only. */
const SIZED_VERBS: readonly string[] = ["GET", "LIST", "WATCH"];
const READ_VERBS: readonly string[] = ["get", "list", "watch"];
const SERIES_LIMIT = 5000;

type RequestLabels = Readonly<Record<(typeof REQUEST_LABELS)[number], string>>;

/**
 * Counts requests from their first stage until their last byte is written, with kube-apiserver's names, labels and
 * buckets. Differs: also counts requests that no resource handler answers, which kube-apiserver's
 * `apiserver_request_total` leaves out. These are rejections such as 401 and 405, and all non-resource paths together,
 * with an empty `resource`.
 */
export function measure(options: MeasureOptions): Stage {
  const { clock, isLongRunning } = options;
  const series = new RequestSeries(options);
  const reading = new Load();
  const writing = new Load();
  options.registry.measured(
    "gauge",
    {
      name: "apiserver_current_inflight_requests",
      help: "[STABLE] Maximal number of currently used inflight request limit of this apiserver per request kind in last second.",
      labels: ["request_kind"],
    },
    () => [
      { labels: { request_kind: "mutating" }, value: writing.most(clock.monotonic()) },
      { labels: { request_kind: "readOnly" }, value: reading.most(clock.monotonic()) },
    ],
  );
  return (next) => (call) => {
    const start = clock.monotonic();
    const counted = series.of(call);
    const isLong = isLongRunning(call.info);
    const load = READ_VERBS.includes(call.info.verb) ? reading : writing;
    if (isLong) counted.running().add(1);
    else load.enter(start);
    call.whenFinished((outcome) => {
      const end = clock.monotonic();
      if (isLong) counted.running().add(-1);
      else load.leave(end);
      counted.finish(outcome, (end - start) / 1000);
    });
    return next(call);
  };
}

/** The series for requests whose labels differ only in the response code. */
interface Counted {
  running(): { add(amount: number): void };
  finish(outcome: Outcome, seconds: number): void;
}

/** Looks up the series of a request without formatting its labels. */
class RequestSeries {
  readonly #findServed: MeasureOptions["findServed"];
  readonly #isLongRunning: MeasureOptions["isLongRunning"];
  readonly #metrics: ReturnType<typeof requestMetrics>;
  /** Entries are dropped with their resource. The registry keeps the counted values, up to its limit. */
  readonly #byResource = new WeakMap<ServedResource, Map<string, Counted>>();
  readonly #others = new Map<string, Counted>();

  constructor({ registry, findServed, isLongRunning }: MeasureOptions) {
    this.#findServed = findServed;
    this.#isLongRunning = isLongRunning;
    this.#metrics = requestMetrics(registry);
  }

  of({ info, request }: Call): Counted {
    const dryRun = dryRunOf(request.query);
    const served = info.isResource ? this.#findServed(info) : undefined;
    if (served === undefined) return this.#ofOther(info, request.method, dryRun);
    let known = this.#byResource.get(served);
    if (known === undefined) {
      known = new Map();
      this.#byResource.set(served, known);
    }
    const { group, version, resource, subresource } = info;
    const verb = this.#verbOf(info, request.headers["content-type"]);
    const scope = scopeOf(info);
    // For most requests the verb alone is the key, which avoids building a string.
    const isPlain = scope === "resource" && subresource === "" && dryRun === "";
    const key = isPlain ? verb : `${verb} ${scope} ${subresource} ${dryRun}`;
    let counted = known.get(key);
    if (counted === undefined) {
      counted = this.#open(dryRun, { component: "apiserver", group, resource, scope, subresource, verb, version });
      known.set(key, counted);
    }
    return counted;
  }

  #ofOther({ path }: RequestInfo, method: string, dryRun: string): Counted {
    const subresource = COUNTED_PATHS.includes(path) ? path : "";
    const component = subresource === "" ? "apiserver" : "";
    const verb = METHODS.get(method) ?? "other";
    const key = `${verb} ${subresource} ${dryRun}`;
    let counted = this.#others.get(key);
    if (counted === undefined) {
      counted = this.#open(dryRun, { component, group: "", resource: "", scope: "", subresource, verb, version: "" });
      this.#others.set(key, counted);
    }
    return counted;
  }

  #verbOf(info: RequestInfo, contentType: unknown): string {
    if (info.verb === "watch") return "WATCH";
    if (info.subresource !== "" && this.#isLongRunning(info)) return "CONNECT";
    if (info.verb === "patch" && String(contentType).startsWith("application/apply-patch+")) return "APPLY";
    return VERBS.get(info.verb) ?? "other";
  }

  #open(dryRun: string, labels: RequestLabels): Counted {
    const { total, duration, sli, sizes, running } = this.#metrics;
    const withDryRun = { ...labels, dry_run: dryRun };
    const { verb } = labels;
    const durations = duration.of(withDryRun);
    // Compat: RecordRequestSLI ignores requests whose duration the client decides.
    const sliDurations = verb === "WATCH" || verb === "CONNECT" ? undefined : sli.of(labels);
    const bytes = SIZED_VERBS.includes(verb) ? sizes.of(labels) : undefined;
    const codes = new Map<number, { add(): void }>();
    let open: { add(amount: number): void } | undefined;
    return {
      running() {
        open ??= running.of(labels);
        return open;
      },
      finish(outcome, seconds) {
        let code = codes.get(outcome.code);
        if (code === undefined) {
          code = total.of({ ...withDryRun, code: String(outcome.code) });
          codes.set(outcome.code, code);
        }
        code.add();
        durations.observe(seconds);
        sliDurations?.observe(seconds);
        bytes?.observe(outcome.bytes);
      },
    };
  }
}

function requestMetrics(registry: MetricRegistry) {
  const limit = SERIES_LIMIT;
  return {
    total: registry.counter({
      name: "apiserver_request_total",
      help: "[STABLE] Counter of apiserver requests broken out for each verb, dry run value, group, version, resource, scope, component, and HTTP response code.",
      labels: [...REQUEST_LABELS, "dry_run", "code"],
      limit,
    }),
    duration: registry.histogram({
      name: "apiserver_request_duration_seconds",
      help: "[STABLE] Response latency distribution in seconds for each verb, dry run value, group, version, resource, subresource, scope and component.",
      labels: [...REQUEST_LABELS, "dry_run"],
      bounds: [0.005, 0.025, ...SLI_BOUNDS],
      limit,
    }),
    sli: registry.histogram({
      name: "apiserver_request_sli_duration_seconds",
      help: "[ALPHA] Response latency distribution (not counting webhook duration and priority & fairness queue wait times) in seconds for each verb, group, version, resource, subresource, scope and component.",
      labels: REQUEST_LABELS,
      bounds: SLI_BOUNDS,
      limit,
    }),
    sizes: registry.histogram({
      name: "apiserver_response_sizes",
      help: "[STABLE] Response size distribution in bytes for each group, version, verb, resource, subresource, scope and component.",
      labels: REQUEST_LABELS,
      bounds: SIZE_BOUNDS,
      limit,
    }),
    running: registry.gauge({
      name: "apiserver_longrunning_requests",
      help: "[STABLE] Gauge of all active long-running apiserver requests broken out by verb, group, version, resource, scope and component. Not all requests are tracked this way.",
      labels: REQUEST_LABELS,
      limit,
    }),
  };
}

/** Compat: CleanScope. A create has scope `resource` too. */
function scopeOf({ name, verb, isInNamespace }: RequestInfo): string {
  if (name !== "" || verb === "create") return "resource";
  return isInNamespace ? "namespace" : "cluster";
}

/** Compat: cleanDryRun. Anything but `All` becomes `invalid`. */
function dryRunOf(query: URLSearchParams): string {
  if (query.size === 0) return "";
  const values = query.getAll("dryRun");
  if (values.length === 0) return "";
  return values.every((value) => value === "All") ? "All" : "invalid";
}

/** Number of requests of one kind in flight, and its maximum over this second and the previous one. */
class Load {
  #now = 0;
  #second = 0;
  #most = 0;
  #mostBefore = 0;

  enter(at: number): void {
    this.#turn(at);
    this.#now++;
    if (this.#now > this.#most) this.#most = this.#now;
  }

  leave(at: number): void {
    this.#turn(at);
    this.#now--;
  }

  most(at: number): number {
    this.#turn(at);
    return Math.max(this.#most, this.#mostBefore);
  }

  #turn(at: number): void {
    const second = Math.floor(at / 1000);
    if (second === this.#second) return;
    this.#mostBefore = second === this.#second + 1 ? this.#most : this.#now;
    this.#most = this.#now;
    this.#second = second;
  }
}
