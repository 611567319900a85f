import { ApiError } from "../../../../base/api/api-error.ts";
import type { LabelSelector } from "../../../../base/api/label-selector.ts";
import { groupOf, isObject, type Json, type JsonObject } from "../../../../base/api/object.ts";
import { parseQuantity } from "../../../../base/api/quantity.ts";
import { roundUp } from "../../../../base/api/resource-amounts.ts";
import { printLabelSelector } from "../../../../base/api/selector-object.ts";
import { readDuration } from "../../../../base/go/duration.ts";
import type { Catalog } from "../../../../resources/model/catalog.ts";
import type { ObjectClient } from "../../../../resources/object-client.ts";
import { messageOf } from "../../shared/controller.ts";
import type { ObjectReference } from "./autoscaler-types.ts";

/** A sample of a Pod. */
export interface PodMetric {
  /** In thousandths. */
  readonly value: bigint;
  readonly timeMs: number;
  readonly windowMs: number;
}

/** Samples by the names of Pods. */
export type PodMetrics = Map<string, PodMetric>;

const CUSTOM = "custom.metrics.k8s.io";
const CUSTOM_API = "custom metrics API";
const CUSTOM_VERSIONS = [`${CUSTOM}/v1beta2`, `${CUSTOM}/v1beta1`];
/** Upstream: metricServerDefaultMetricWindow */
const DEFAULT_WINDOW_MS = 60_000;

/** A list to read, and what messages call it. */
interface MetricsRequest {
  readonly path: string;
  readonly query: Record<string, string>;
  readonly resource: string;
  readonly api: string;
  readonly name?: string;
}

/** Reads metrics from the APIs of extension servers. All methods throw errors with the messages of client-go. */
export class MetricsClient {
  readonly #client: ObjectClient;
  readonly #catalog: Catalog;

  constructor(client: ObjectClient, catalog: Catalog) {
    this.#client = client;
    this.#catalog = catalog;
  }

  /** The usage of a resource by the Pods of a selector, or by one of their containers. */
  async resource(name: string, namespace: string, selector: LabelSelector, container?: string): Promise<PodMetrics> {
    const path = `/apis/metrics.k8s.io/v1beta1/namespaces/${namespace}/pods`;
    const query = { labelSelector: printLabelSelector(selector) };
    const items = await this.#items({ path, query, resource: "pods.metrics.k8s.io", api: "resource metrics API" });
    const metrics: PodMetrics = new Map();
    for (const item of items) {
      const value = usageOf(item, name, container);
      const pod = objectAt(item.metadata).name;
      if (value !== undefined) metrics.set(String(pod), sampleOf(item, value, durationMs(item.window)));
    }
    return metrics;
  }

  /** A custom metric of the Pods of a selector. */
  async pods(
    metric: string,
    namespace: string,
    selector: LabelSelector,
    metricSelector: LabelSelector,
  ): Promise<PodMetrics> {
    const version = await this.#customVersion();
    const path = `/apis/${version}/namespaces/${namespace}/pods/*/${metric}`;
    const query = { labelSelector: printLabelSelector(selector), ...metricQuery(metricSelector) };
    const items = await this.#items({ path, query, resource: `pods.${CUSTOM}`, api: CUSTOM_API, name: "*" });
    const metrics: PodMetrics = new Map();
    for (const item of items) {
      const windowMs = typeof item.windowSeconds === "number" ? item.windowSeconds * 1000 : DEFAULT_WINDOW_MS;
      metrics.set(String(objectAt(item.describedObject).name), sampleOf(item, milli(item.value), windowMs));
    }
    return metrics;
  }

  /** A custom metric of an object, in thousandths. */
  async object(
    metric: string,
    namespace: string,
    target: ObjectReference,
    metricSelector: LabelSelector,
  ): Promise<bigint> {
    const version = await this.#customVersion();
    const group = groupOf(target.apiVersion ?? "v1");
    const isNamespace = target.kind === "Namespace" && group === "";
    const resource = isNamespace ? "metrics" : this.#resourceOf(group, target.kind);
    const name = isNamespace ? "" : `/${target.name}`;
    const path = `/apis/${version}/namespaces/${namespace}/${resource}${name}/${metric}`;
    const items = await this.#read({
      ...{ path, query: metricQuery(metricSelector), resource: `${resource}.${CUSTOM}`, api: CUSTOM_API },
      name: isNamespace ? metric : target.name,
    });
    if (items.length !== 1) {
      const text = `the custom metrics API server returned ${items.length} results when we asked for exactly one`;
      throw new Error(`unable to fetch metrics from custom metrics API: ${text}`);
    }
    return milli(items[0]?.value);
  }

  /** The values of an external metric, in thousandths. */
  async external(metric: string, namespace: string, selector: LabelSelector): Promise<bigint[]> {
    const path = `/apis/external.metrics.k8s.io/v1beta1/namespaces/${namespace}/${metric}`;
    const query = selectorQuery("labelSelector", selector);
    const resource = `${metric}.external.metrics.k8s.io`;
    const items = await this.#items({ path, query, resource, api: "external metrics API" });
    return items.map(({ value }) => milli(value));
  }

  async #items(request: MetricsRequest): Promise<JsonObject[]> {
    const items = await this.#read(request);
    if (items.length === 0) throw new Error(`no metrics returned from ${request.api}`);
    return items;
  }

  async #read({ path, query, resource, api, name }: MetricsRequest): Promise<JsonObject[]> {
    try {
      const { items } = await this.#client.read(path, query);
      return Array.isArray(items) ? items.filter(isObject) : [];
    } catch (error) {
      const what = name === undefined ? `get ${resource}` : `get ${resource} ${name}`;
      throw new Error(`unable to fetch metrics from ${api}: ${clientMessage(error, what)}`, { cause: error });
    }
  }

  async #customVersion(): Promise<string> {
    const prefix = "unable to fetch metrics from custom metrics API";
    const group = await this.#client.read(`/apis/${CUSTOM}`).catch(() => undefined);
    if (group === undefined) throw new Error(`${prefix}: no custom metrics API (${CUSTOM}) registered`);
    const versions = [group.preferredVersion, ...(Array.isArray(group.versions) ? group.versions : [])];
    const known = versions
      .map((version) => String(objectAt(version).groupVersion))
      .find((one) => CUSTOM_VERSIONS.includes(one));
    if (known === undefined) throw new Error(`${prefix}: no known available metric versions found`);
    return known;
  }

  #resourceOf(group: string, kind: string): string {
    const found = this.#catalog.definitions.find((one) => one.group === group && one.kind === kind);
    if (found) return group === "" ? found.plural : `${found.plural}.${group}`;
    const text = `no matches for kind ${JSON.stringify(kind)} in group ${JSON.stringify(group)}`;
    const name = group === "" ? kind : `${kind}.${group}`;
    throw new Error(`unable to fetch metrics from custom metrics API: unable to map kind ${name} to resource: ${text}`);
  }
}

/** What client-go says about responses without a Status. Upstream: NewGenericServerResponse */
const MESSAGES = new Map([
  [404, "the server could not find the requested resource"],
  [503, "the server is currently unable to handle the request"],
  [504, "the server was unable to return a response in the time allotted, but may still be processing the request"],
]);

function clientMessage(error: unknown, what: string): string {
  if (!(error instanceof ApiError) || error.status.reason !== undefined) return messageOf(error);
  const message =
    MESSAGES.get(error.code) ??
    `an error on the server (${JSON.stringify(error.message.trim())}) has prevented the request from succeeding`;
  return `${message} (${what})`;
}

const objectAt = (value: Json | undefined): JsonObject => (isObject(value) ? value : {});

const milli = (value: Json | undefined): bigint => roundUp(parseQuantity(String(value ?? "0")), 3);

function selectorQuery(name: string, selector: LabelSelector): Record<string, string> {
  return selector.length > 0 ? { [name]: printLabelSelector(selector) } : {};
}

const metricQuery = (selector: LabelSelector) => selectorQuery("metricLabelSelector", selector);

function sampleOf({ timestamp }: JsonObject, value: bigint, windowMs: number): PodMetric {
  return { value, timeMs: Date.parse(String(timestamp)), windowMs };
}

/** Undefined if a container does not report the resource. */
function usageOf({ containers }: JsonObject, resource: string, container: string | undefined): bigint | undefined {
  const all = (Array.isArray(containers) ? containers : []).map(objectAt);
  const chosen = container === undefined ? all : all.filter(({ name }) => name === container).slice(0, 1);
  const usages = chosen.map(({ usage }) => objectAt(usage)[resource]);
  if (usages.length === 0 || usages.includes(undefined)) return undefined;
  return usages.reduce((sum: bigint, usage) => sum + milli(usage), 0n);
}

/** Of `10s` or `1m0s`. */
function durationMs(text: Json | undefined): number {
  const nanoseconds = readDuration(String(text ?? "0s"));
  return typeof nanoseconds === "bigint" ? Number(nanoseconds) / 1e6 : 0;
}
