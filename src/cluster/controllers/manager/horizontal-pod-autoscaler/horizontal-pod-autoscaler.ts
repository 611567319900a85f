import { isDeepStrictEqual } from "node:util";
import { ApiError } from "../../../../base/api/api-error.ts";
import { type LabelSelector, parseLabelSelector } from "../../../../base/api/label-selector.ts";
import { groupOf, type JsonObject, type KubeObject } from "../../../../base/api/object.ts";
import { parseQuantity } from "../../../../base/api/quantity.ts";
import type { Pod } from "../../../../kinds/types/workloads.ts";
import type { ServedResource } from "../../../../resources/model/catalog.ts";
import { pathOf } from "../../../../resources/model/resource-path.ts";
import { type Controller, isStatus, messageOf } from "../../shared/controller.ts";
import { EventRecorder } from "../../shared/event-recorder.ts";
import { keyOf } from "../../shared/informer.ts";
import { loop, source, unobserved } from "../../shared/loop.ts";
import type { ManagerContext } from "../../shared/manager-context.ts";
import { SelectorIndex } from "../../shared/selection.ts";
import { StatusDraft } from "./autoscaler-status.ts";
import type { Autoscaler, AutoscalerStatus } from "./autoscaler-types.ts";
import { computeMetric, MetricError, type MetricResult, type Target } from "./metric-sources.ts";
import { MetricsClient } from "./metrics-client.ts";
import type { Tolerances } from "./replica-calculator.ts";
import { ScalingLimits } from "./scaling-limits.ts";

const NAME = "horizontal-pod-autoscaler-controller";
/** Upstream: --horizontal-pod-autoscaler-sync-period and -tolerance */
const PERIOD_MS = 15_000;
const TOLERANCE = 0.1;
/** Upstream: retry.DefaultRetry */
const CONFLICT_RETRIES = 5;

/** Scale of autoscaling/v1. */
interface Scale extends KubeObject {
  spec?: { replicas?: number };
  status?: { replicas?: number; selector?: string };
}

/** The Pods that an autoscaler scales. */
interface Scaled extends Pick<KubeObject, "metadata"> {
  readonly selector: LabelSelector;
}

/** The sync ends. Conditions and Events show why. */
class ScalingStopped extends Error {}

/** horizontal-pod-autoscaler-controller: sets the replicas of scale targets by metrics, every 15 seconds. */
export function horizontalPodAutoscalers(context: ManagerContext): Controller {
  const { resources, informers, report } = context;
  const { clock } = resources;
  const { informer: all } = informers.of<Autoscaler>("autoscaling", "horizontalpodautoscalers");
  const { informer: pods } = informers.of<Pod>("", "pods");
  const autoscaling = new Autoscaling(context);

  return loop({
    name: NAME,
    workers: 5,
    clock,
    report,
    sources: [
      source(all, (queue) => (before, after) => {
        if (after === undefined && before) queue.add(keyOf(before));
        if (after === undefined) return;
        const isOnlyStatus = before !== undefined && before.metadata.generation === after.metadata.generation;
        if (isOnlyStatus) queue.addAfter(keyOf(after), PERIOD_MS);
        else queue.add(keyOf(after));
      }),
      unobserved(pods),
    ],
    async sync(key, queue) {
      const autoscaler = all.get(key);
      if (autoscaler === undefined) return autoscaling.forget(key);
      try {
        await autoscaling.sync(key, autoscaler);
      } catch (error) {
        if (!(error instanceof ScalingStopped || error instanceof ApiError)) throw error;
      }
      queue.addAfter(key, PERIOD_MS);
    },
  });
}

class Autoscaling {
  readonly #context: ManagerContext;
  readonly #all;
  readonly #pods;
  readonly #recorder: EventRecorder;
  readonly #metrics: MetricsClient;
  readonly #limits: ScalingLimits;
  readonly #selectors = new SelectorIndex<Scaled>(({ selector }) => selector);
  readonly #scaled = new Map<string, Scaled>();

  constructor(context: ManagerContext) {
    const { informers, resources, client } = context;
    this.#context = context;
    this.#all = informers.of<Autoscaler>("autoscaling", "horizontalpodautoscalers").informer;
    this.#pods = informers.of<Pod>("", "pods").byLabels();
    this.#recorder = new EventRecorder(context, "horizontal-pod-autoscaler");
    this.#metrics = new MetricsClient(client, resources.catalog);
    this.#limits = new ScalingLimits(() => resources.clock.now());
  }

  forget(key: string): void {
    this.#limits.forget(key);
    this.#select(key, undefined);
  }

  async sync(key: string, autoscaler: Autoscaler): Promise<void> {
    const draft = new StatusDraft(autoscaler, this.#context.resources.clock.now());
    const { resource, scale } = await this.#readScale(autoscaler, draft);
    draft.set(
      "AbleToScale",
      true,
      "SucceededGetScale",
      "the HPA controller was able to get the target's current scale",
    );
    const current = scale.spec?.replicas ?? 0;
    this.#limits.start(key, current);
    const decision = await this.#decide(key, autoscaler, scale, draft);
    const { desired, reason, statuses } = decision;
    if (desired === current) return this.#write(autoscaler, draft.finish(current, current, statuses, false));
    await this.#rescale(autoscaler, { resource, scale }, decision, draft);
    this.#limits.scaled(key, autoscaler, current, desired);
    this.#record(autoscaler, "Normal", "SuccessfulRescale", `New size: ${desired}; reason: ${reason}`);
    draft.set(
      "AbleToScale",
      true,
      "SucceededRescale",
      `the HPA controller was able to update the target scale to ${desired}`,
    );
    const isToZero = desired === 0 && minOf(autoscaler) === 0 && hasSharedMetrics(autoscaler);
    if (isToZero) draft.set("ScaledToZero", true, "ScaledToZero", "the HPA controller scaled the workload to zero");
    else draft.set("ScaledToZero", false, "NotScaledToZero", "the HPA controller did not scale the workload to zero");
    await this.#write(autoscaler, draft.finish(current, desired, statuses, true));
  }

  /** The new size, and why. It is the current one if nothing should change. */
  async #decide(key: string, autoscaler: Autoscaler, scale: Scale, draft: StatusDraft): Promise<Decision> {
    const current = scale.spec?.replicas ?? 0;
    const min = minOf(autoscaler);
    const { maxReplicas } = autoscaler.spec;
    const wasScaledToZero = draft.is("ScaledToZero");
    const below = "Current number of replicas below Spec.MinReplicas";
    if (current === 0) {
      const mayScale = wasScaledToZero && (min !== 0 || hasSharedMetrics(autoscaler));
      if (!mayScale) {
        const message = "scaling is disabled since the replica count of the target is zero";
        draft.set("ScalingActive", false, "ScalingDisabled", message);
        return { desired: 0, reason: "" };
      }
    } else if (current > maxReplicas) {
      return { desired: maxReplicas, reason: "Current number of replicas above Spec.MaxReplicas" };
    } else if (current < min) return { desired: min, reason: below };

    const { replicas, name, statuses } = await this.#measure(key, autoscaler, scale, draft);
    const proposed = Math.max(0, replicas);
    const reason = proposed > current ? `${name} above target` : proposed < current ? "All metrics below target" : "";
    const desired = this.#limit(key, autoscaler, draft, current, proposed);
    if (current === 0 && min !== 0 && desired < min)
      return { desired: min, reason: reason === "" ? below : reason, statuses };
    return { desired, reason, statuses };
  }

  #limit(key: string, autoscaler: Autoscaler, draft: StatusDraft, current: number, proposed: number): number {
    const stable = this.#limits.stabilize(key, autoscaler, current, proposed);
    if (stable.replicas === proposed)
      draft.set("AbleToScale", true, "ReadyForNewScale", "recommended size matches current size");
    else draft.set("AbleToScale", true, stable.reason, stable.message);
    const limited = this.#limits.limit(key, autoscaler, current, stable.replicas, minOf(autoscaler));
    draft.set("ScalingLimited", limited.replicas !== stable.replicas, limited.reason, limited.message);
    return limited.replicas;
  }

  /** The largest size that a metric proposes. Fails if no metric works, or if some fail and others would scale down. */
  async #measure(key: string, autoscaler: Autoscaler, scale: Scale, draft: StatusDraft): Promise<Measurement> {
    const current = scale.spec?.replicas ?? 0;
    const stop = async (message: string, statuses: JsonObject[] | undefined): Promise<never> => {
      await this.#write(autoscaler, draft.finish(current, undefined, statuses, false));
      this.#record(autoscaler, "Warning", "FailedComputeMetricsReplicas", message);
      throw new ScalingStopped(message);
    };
    const selected = this.#selectPods(key, autoscaler, scale.status?.selector ?? "", draft);
    if (typeof selected === "string") return stop(selected, undefined);
    const specs = autoscaler.spec.metrics ?? [];
    const target: Target = {
      ...selected,
      client: this.#metrics,
      namespace: autoscaler.metadata.namespace ?? "",
      specReplicas: current,
      statusReplicas: scale.status?.replicas ?? 0,
      tolerances: tolerancesOf(autoscaler),
      nowMs: this.#context.resources.clock.now(),
    };
    const failures: MetricError[] = [];
    const statuses: JsonObject[] = [];
    let best: MetricResult | undefined;
    for (const spec of specs) {
      const result = await computeMetric(spec, target).catch((error: unknown) => this.#failed(autoscaler, error));
      if (result instanceof MetricError) failures.push(result);
      else if (best === undefined || best.replicas === 0 || result.replicas > best.replicas) best = result;
      statuses.push(result instanceof MetricError ? { type: "" } : result.status);
    }
    const [failure] = failures;
    if (failure && (best === undefined || best.replicas < current)) {
      const detail = `the HPA was unable to compute the replica count: ${failure.detail}`;
      draft.set("ScalingActive", false, failure.reason, detail);
      const text = `invalid metrics (${failures.length} invalid out of ${specs.length}), first error is: ${failure.message}`;
      return stop(text, statuses);
    }
    const name = best?.name ?? "";
    const message = `the HPA was able to successfully calculate a replica count from ${name}`;
    draft.set("ScalingActive", true, "ValidMetricFound", message);
    return { replicas: best?.replicas ?? 0, name, statuses };
  }

  #failed(autoscaler: Autoscaler, error: unknown): MetricError {
    if (!(error instanceof MetricError)) throw error;
    this.#record(autoscaler, "Warning", error.reason, error.detail);
    return error;
  }

  /** The Pods of the scale target. A text says why they cannot be scaled. */
  #selectPods(
    key: string,
    autoscaler: Autoscaler,
    text: string,
    draft: StatusDraft,
  ): Pick<Target, "selector" | "pods"> | string {
    const fail = (event: string, reason: string, message: string, detail = message): string => {
      this.#record(autoscaler, "Warning", event, message);
      draft.set("ScalingActive", false, reason, detail);
      return message;
    };
    if (text === "") {
      const detail = "the HPA target's scale is missing a selector";
      return fail("SelectorRequired", "InvalidSelector", "selector is required", detail);
    }
    let selector: LabelSelector;
    try {
      selector = parseLabelSelector(text);
    } catch (error) {
      const message = `couldn't convert selector into a corresponding internal selector object: ${messageOf(error)}`;
      return fail("InvalidSelector", "InvalidSelector", message);
    }
    const { namespace = "" } = autoscaler.metadata;
    this.#select(key, { metadata: autoscaler.metadata, selector });
    const pods = this.#pods.select(namespace, selector);
    const rivals = this.#rivals(namespace, pods);
    if (rivals.length < 2) return { selector, pods };
    const names = rivals.map(({ metadata }) => `{${metadata.name} ${namespace}}`).join(" ");
    const message = `pods by selector ${text} are controlled by more than one HPA (e.g. [${names}])`;
    return fail("AmbiguousSelector", "AmbiguousSelector", message);
  }

  /** Up to two autoscalers that scale one of these Pods. */
  #rivals(namespace: string, pods: readonly Pod[]): Scaled[] {
    const found = new Set<Scaled>();
    const seen = new Set<string>();
    for (const { metadata } of pods) {
      const text = JSON.stringify(metadata.labels ?? {});
      if (seen.has(text)) continue;
      seen.add(text);
      for (const one of this.#selectors.matching(namespace, metadata.labels)) found.add(one);
      if (found.size > 1) break;
    }
    return [...found].slice(0, 2);
  }

  #select(key: string, scaled: Scaled | undefined): void {
    this.#selectors.change(this.#scaled.get(key), scaled);
    if (scaled) this.#scaled.set(key, scaled);
    else this.#scaled.delete(key);
  }

  async #readScale(autoscaler: Autoscaler, draft: StatusDraft): Promise<{ resource: ServedResource; scale: Scale }> {
    const { client, resources } = this.#context;
    const { kind, name, apiVersion = "" } = autoscaler.spec.scaleTargetRef;
    const { namespace = "" } = autoscaler.metadata;
    const group = groupOf(apiVersion);
    try {
      const definition = resources.catalog.definitions.find((one) => one.group === group && one.kind === kind);
      const version = definition?.versions[0]?.name ?? "";
      const resource = definition && resources.catalog.find(group, version, definition.plural);
      if (!resource) throw new Error(`no matches for kind ${JSON.stringify(kind)} in group ${JSON.stringify(group)}`);
      const scale = (await client.read(pathOf(resource, { namespace, name }, "scale"))) as Scale;
      return { resource, scale };
    } catch (error) {
      const message = messageOf(error);
      this.#record(autoscaler, "Warning", "FailedGetScale", message);
      const detail = `the HPA controller was unable to get the target's current scale: ${message}`;
      draft.set("AbleToScale", false, "FailedGetScale", detail);
      await this.#write(autoscaler, draft.unscaled());
      throw new ScalingStopped(message);
    }
  }

  async #rescale(
    autoscaler: Autoscaler,
    { resource, scale }: { resource: ServedResource; scale: Scale },
    { desired, reason, statuses }: Decision,
    draft: StatusDraft,
  ): Promise<void> {
    try {
      await this.#writeScale(resource, scale, desired);
    } catch (error) {
      const message = messageOf(error);
      this.#record(
        autoscaler,
        "Warning",
        "FailedRescale",
        `New size: ${desired}; reason: ${reason}; error: ${message}`,
      );
      const detail = `the HPA controller was unable to update the target scale: ${message}`;
      draft.set("AbleToScale", false, "FailedUpdateScale", detail);
      await this.#write(autoscaler, draft.finish(scale.spec?.replicas ?? 0, undefined, statuses, false));
      throw new ScalingStopped(message);
    }
  }

  async #writeScale(resource: ServedResource, scale: Scale, replicas: number): Promise<void> {
    const { client } = this.#context;
    const { namespace = "", name = "" } = scale.metadata;
    let known = scale;
    for (let attempt = 1; ; attempt++) {
      try {
        await client.update(resource, { ...known, spec: { ...known.spec, replicas } }, { subresource: "scale" });
        return;
      } catch (error) {
        if (!isStatus(error, 409) || attempt === CONFLICT_RETRIES) throw error;
        known = (await client.read(pathOf(resource, { namespace, name }, "scale"))) as Scale;
      }
    }
  }

  async #write(autoscaler: Autoscaler, status: AutoscalerStatus): Promise<void> {
    if (isDeepStrictEqual(autoscaler.status ?? {}, status)) return;
    try {
      const next = { ...autoscaler, status };
      const written = await this.#context.client.update(this.#all.resource, next, { subresource: "status" });
      await this.#all.sees(written.metadata.resourceVersion);
    } catch (error) {
      this.#record(autoscaler, "Warning", "FailedUpdateStatus", messageOf(error));
      throw error;
    }
  }

  #record(autoscaler: Autoscaler, type: "Normal" | "Warning", reason: string, message: string): void {
    this.#recorder.record(this.#all.resource, autoscaler, type, reason, message);
  }
}

interface Decision {
  readonly desired: number;
  readonly reason: string;
  readonly statuses?: JsonObject[];
}

interface Measurement {
  readonly replicas: number;
  readonly name: string;
  readonly statuses: JsonObject[];
}

const minOf = ({ spec }: Autoscaler): number => spec.minReplicas ?? 1;

/** Whether a metric can be measured without Pods. */
function hasSharedMetrics({ spec }: Autoscaler): boolean {
  return (spec.metrics ?? []).some(({ type }) => type === "Object" || type === "External");
}

function tolerancesOf({ spec: { behavior } }: Autoscaler): Tolerances {
  const read = (text: string | undefined) => {
    if (text === undefined) return TOLERANCE;
    const { mantissa, exponent } = parseQuantity(text);
    return Number(mantissa) * 10 ** exponent;
  };
  return { down: read(behavior?.scaleDown?.tolerance), up: read(behavior?.scaleUp?.tolerance) };
}
