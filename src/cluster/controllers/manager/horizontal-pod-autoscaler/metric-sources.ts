import type { LabelSelector } from "../../../../base/api/label-selector.ts";
import type { JsonObject } from "../../../../base/api/object.ts";
import { parseQuantity, printQuantity, type QuantityFormat } from "../../../../base/api/quantity.ts";
import { roundUp } from "../../../../base/api/resource-amounts.ts";
import { readSelectorObject } from "../../../../base/api/selector-object.ts";
import { getMember } from "../../../../base/util/members.ts";
import type { LabelSelector as SelectorObject } from "../../../../kinds/types/meta.ts";
import type { Pod } from "../../../../kinds/types/workloads.ts";
import { messageOf } from "../../shared/controller.ts";
import { printSelectorObject } from "../../shared/print-selector.ts";
import type { MetricSpec, MetricTarget } from "./autoscaler-types.ts";
import type { MetricsClient } from "./metrics-client.ts";
import {
  averageReplicas,
  type Proposal,
  ratioReplicas,
  sharedReplicas,
  type Tolerances,
  utilizationReplicas,
} from "./replica-calculator.ts";

/** The scale target of an autoscaler, and how to measure it. */
export interface Target {
  readonly client: MetricsClient;
  readonly namespace: string;
  readonly selector: LabelSelector;
  readonly pods: readonly Pod[];
  readonly specReplicas: number;
  readonly statusReplicas: number;
  readonly tolerances: Tolerances;
  readonly nowMs: number;
}

/** What a metric proposes. */
export interface MetricResult {
  readonly replicas: number;
  /** Of the metric, for messages. */
  readonly name: string;
  readonly status: JsonObject;
}

/** A metric that could not be computed. */
export class MetricError extends Error {
  /** Of the condition and the Event. */
  readonly reason: string;
  /** The message of the condition and the Event. */
  readonly detail: string;

  constructor(reason: string, detail: string, message: string) {
    super(message);
    this.reason = reason;
    this.detail = detail;
  }
}

interface Source {
  readonly reason: string;
  /** What failed, in the message of the error. */
  failure(spec: MetricSpec): string;
  compute(spec: MetricSpec, target: Target): Promise<MetricResult>;
}

const milliOf = (text: string | undefined) => roundUp(parseQuantity(text ?? "0"), 3);
const printMilli = (value: bigint, format: QuantityFormat = "DecimalSI") =>
  printQuantity({ mantissa: value, exponent: -3, format });

function selectorOf(selector: SelectorObject | undefined): LabelSelector {
  const read = readSelectorObject(selector);
  if (read === undefined) throw new Error("the selector of the metric is malformed");
  return read;
}

/** Wraps the errors of a computation. */
async function failing<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new Error(`${what}: ${messageOf(error)}`, { cause: error });
  }
}

const SOURCES: Readonly<Record<string, Source>> = {
  Resource: {
    reason: "FailedGetResourceMetric",
    failure: ({ resource }) => `failed to get ${resource?.name} resource metric value`,
    async compute({ resource }, target) {
      const { name = "", target: wanted = { type: "" } } = resource ?? {};
      const { replicas, current, isRaw } = await resourceProposal(name, wanted, target);
      const metric = isRaw ? `${name} resource` : `${name} resource utilization (percentage of request)`;
      return { replicas, name: metric, status: { type: "Resource", resource: { name, current } } };
    },
  },
  ContainerResource: {
    reason: "FailedGetContainerResourceMetric",
    failure: ({ containerResource }) => `failed to get ${containerResource?.container} container metric value`,
    async compute({ containerResource }, target) {
      const { name = "", container = "", target: wanted = { type: "" } } = containerResource ?? {};
      const { replicas, current, isRaw } = await resourceProposal(name, wanted, target, container);
      const metric = isRaw ? `${name} resource` : `${name} container resource utilization (percentage of request)`;
      const status = { type: "ContainerResource", containerResource: { name, container, current } };
      return { replicas, name: metric, status };
    },
  },
  Pods: {
    reason: "FailedGetPodsMetric",
    failure: () => "failed to get pods metric value",
    async compute({ pods: spec }, target) {
      const { metric = { name: "" }, target: wanted } = spec ?? {};
      const { client, namespace, selector } = target;
      const metrics = await failing(`unable to get metric ${metric.name}`, () =>
        client.pods(metric.name, namespace, selector, selectorOf(metric.selector)),
      );
      const { replicas, usage } = averageReplicas(
        { ...target, current: target.specReplicas, metrics },
        "",
        milliOf(wanted?.averageValue),
      );
      const status = { type: "Pods", pods: { metric, current: { averageValue: printMilli(usage) } } };
      return { replicas, name: `pods metric ${metric.name}`, status };
    },
  },
  Object: {
    reason: "FailedGetObjectMetric",
    failure: () => "failed to get object metric value",
    async compute({ object }, target) {
      const {
        metric = { name: "" },
        target: wanted = { type: "" },
        describedObject = { kind: "", name: "" },
      } = object ?? {};
      const { client, namespace } = target;
      const { kind, name } = describedObject;
      const usage = () =>
        failing(`unable to get metric ${metric.name} on ${kind} ${namespace}/${name}`, () =>
          client.object(metric.name, namespace, describedObject, selectorOf(metric.selector)),
        );
      const status = (current: JsonObject) => ({ type: "Object", object: { metric, current, describedObject } });
      if (wanted.type === "Value" && wanted.value !== undefined) {
        const found = ratioReplicas({ ...target, current: target.specReplicas }, await usage(), milliOf(wanted.value));
        const current = { value: printMilli(found.usage) };
        return { replicas: found.replicas, name: `${kind} metric ${metric.name}`, status: status(current) };
      }
      if (wanted.type === "AverageValue" && wanted.averageValue !== undefined) {
        const found = sharedReplicas(
          target.statusReplicas,
          target.tolerances,
          await usage(),
          milliOf(wanted.averageValue),
        );
        const current = { averageValue: printMilli(found.usage) };
        return { replicas: found.replicas, name: externalName(metric), status: status(current) };
      }
      throw new Error("invalid object metric source: neither a value target nor an average value target was set");
    },
  },
  External: {
    reason: "FailedGetExternalMetric",
    failure: ({ external }) => `failed to get ${external?.metric.name} external metric value`,
    async compute({ external }, target) {
      const { metric = { name: "" }, target: wanted = { type: "" } } = external ?? {};
      const { client, namespace } = target;
      const what = `unable to get external metric ${namespace}/${metric.name}/${printSelectorObject(metric.selector)}`;
      const usage = async () => {
        const values = await failing(what, () => client.external(metric.name, namespace, selectorOf(metric.selector)));
        return values.reduce((sum, value) => sum + value, 0n);
      };
      const status = (current: JsonObject) => ({ type: "External", external: { metric, current } });
      if (wanted.averageValue !== undefined) {
        const found = sharedReplicas(
          target.statusReplicas,
          target.tolerances,
          await usage(),
          milliOf(wanted.averageValue),
        );
        const current = { averageValue: printMilli(found.usage) };
        return { replicas: found.replicas, name: externalName(metric), status: status(current) };
      }
      if (wanted.value !== undefined) {
        const found = ratioReplicas({ ...target, current: target.specReplicas }, await usage(), milliOf(wanted.value));
        const current = { value: printMilli(found.usage) };
        return { replicas: found.replicas, name: externalName(metric), status: status(current) };
      }
      throw new Error("invalid external metric source: neither a value target nor an average value target was set");
    },
  },
};

const externalName = ({ name, selector }: { name: string; selector?: SelectorObject }) =>
  `external metric ${name}(${printSelectorObject(selector)})`;

/** Upstream: computeStatusForResourceMetricGeneric */
async function resourceProposal(
  name: string,
  { averageValue, averageUtilization }: MetricTarget,
  target: Target,
  container?: string,
): Promise<{ replicas: number; current: JsonObject; isRaw: boolean }> {
  const { client, namespace, selector } = target;
  const compute = async (rule: (metrics: Awaited<ReturnType<MetricsClient["resource"]>>) => Proposal) => {
    const metrics = await failing(`unable to get metrics for resource ${name}`, () =>
      client.resource(name, namespace, selector, container),
    );
    return rule(metrics);
  };
  const measured = { ...target, current: target.specReplicas };
  const format = name === "memory" ? "BinarySI" : "DecimalSI";
  if (averageValue !== undefined) {
    const { replicas, usage } = await failing(`failed to get ${name} usage`, () =>
      compute((metrics) => averageReplicas({ ...measured, metrics }, name, milliOf(averageValue))),
    );
    return { replicas, current: { averageValue: printMilli(usage, format) }, isRaw: true };
  }
  if (averageUtilization === undefined) {
    throw new Error(
      "invalid resource metric source: neither an average utilization target nor an average value (usage) target was set",
    );
  }
  const {
    replicas,
    usage,
    utilization = 0,
  } = await failing(`failed to get ${name} utilization`, () =>
    compute((metrics) => utilizationReplicas({ ...measured, metrics }, name, averageUtilization, container)),
  );
  const current = { averageUtilization: utilization, averageValue: printMilli(usage, format) };
  return { replicas, current, isRaw: false };
}

/** Computes the size that a metric proposes. Throws MetricError. */
export async function computeMetric(spec: MetricSpec, target: Target): Promise<MetricResult> {
  const source = getMember(SOURCES, spec.type);
  if (source === undefined) {
    const text = `unknown metric source type ${JSON.stringify(spec.type)}`;
    throw new MetricError("InvalidMetricSourceType", text, text);
  }
  try {
    return await source.compute(spec, target);
  } catch (error) {
    throw new MetricError(source.reason, messageOf(error), `${source.failure(spec)}: ${wrapped(spec, error)}`);
  }
}

/** Compat: for averages of Object and External metrics, `computeReplicasForMetric` repeats what failed. */
function wrapped({ type, object, external }: MetricSpec, error: unknown): string {
  const detail = messageOf(error);
  if (detail.startsWith("invalid ")) return detail;
  if (type === "External" && external) {
    const { name } = external.metric;
    return external.target.averageValue !== undefined
      ? `failed to get ${name} external metric: ${detail}`
      : `failed to get external metric ${name}: ${detail}`;
  }
  const isShared = type === "Object" && object?.target.type === "AverageValue";
  return isShared ? `failed to get ${object.metric.name} object metric: ${detail}` : detail;
}
