import { ApiError } from "../../../base/api/api-error.ts";
import { isObject, type KubeObject } from "../../../base/api/object.ts";
import type { Clock } from "../../../base/util/clock.ts";
import { TooCostly } from "../../../base/util/meter.ts";
import type { Random } from "../../../base/util/random.ts";
import type { Catalog, ServedResource } from "../../../resources/model/catalog.ts";
import type { ObjectClient } from "../../../resources/object-client.ts";
import { pacer } from "../../../resources/pace.ts";
import { type ReportProblem, unlessCode } from "../../controllers/shared/controller.ts";
import type { EventRecorder } from "../../controllers/shared/event-recorder.ts";
import { keyOf } from "../../controllers/shared/informer.ts";
import type { TemplateFunctions } from "./go-template/evaluate.ts";
import { type CompiledStep, chooseStage, type Stage } from "./stage.ts";
import type { StageEvent, StageFinalizers } from "./stage-types.ts";

/** The stage that was chosen for a version of an object. */
interface Choice {
  readonly version: string | undefined;
  readonly stages: readonly Stage[];
  readonly stage: Stage | undefined;
  /** As it was when the stage was chosen: templates see this one. */
  readonly object: KubeObject;
  readonly dueMs: number;
  isPlayed: boolean;
}

/** An object that stages are played for. */
export interface StageSubject {
  readonly object: KubeObject;
  readonly resource: ServedResource;
  readonly recorder: EventRecorder;
  /** Functions of templates. `startMs`: when the nodes were started. */
  functions(nowMs: number, startMs: number): TemplateFunctions;
  /** Writes the status. */
  readonly statusClient: ObjectClient;
  /** Deletes the object. */
  readonly deletionClient: ObjectClient;
}

/** What a player of stages works with. */
export interface StagePlayerOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly catalog: Catalog;
  /** For what Stages do beyond the rights of a kubelet. */
  readonly client: ObjectClient;
  readonly report: ReportProblem;
}

/** Further Stages of a kind are ignored. */
const MAX_STAGES = 500;
const FIELD_MANAGER = "kwok";

/** Plays stages for objects as KWOK does: one that matches is chosen, and played after its delay. */
export class StagePlayer {
  readonly #options: StagePlayerOptions;
  readonly #choices = new Map<string, Choice>();
  readonly #startMs: number;
  /** Stages whose problems have been reported. */
  readonly #reported = new WeakSet<object>();

  constructor(options: StagePlayerOptions) {
    this.#options = options;
    this.#startMs = options.clock.now();
  }

  forget(key: string): void {
    this.#choices.delete(key);
  }

  /** Plays the stage of an object if it is due. Returns when it will be. */
  async play(stages: readonly Stage[], subject: StageSubject): Promise<number | undefined> {
    const { clock } = this.#options;
    const choice = await this.#choose(stages, subject.object);
    const { stage } = choice;
    if (stage === undefined || choice.isPlayed) return undefined;
    const nowMs = clock.now();
    if (choice.dueMs > nowMs) return choice.dueMs;
    choice.isPlayed = true;
    const chosen = { ...subject, object: choice.object };
    const functions = subject.functions(nowMs, this.#startMs);
    let isDeleted = false;
    try {
      for (const { event, ...step } of stage.steps) {
        if (event) this.#record(event, chosen);
        if (!isDeleted) await this.#step(step, chosen, functions);
        isDeleted ||= step.delete ?? false;
      }
    } catch (error) {
      if (error instanceof ApiError) throw error;
      this.#ignore(stage, error);
    }
    return undefined;
  }

  /**
   * Chooses a Stage for each version of an object, and again if the Stages change. Compat: `preprocess` of KWOK. If no Stage
   * matches a version, the one chosen before stays.
   */
  async #choose(stages: readonly Stage[], object: KubeObject): Promise<Choice> {
    const { resourceVersion: version } = object.metadata;
    const key = keyOf(object);
    const known = this.#choices.get(key);
    if (known && known.version === version && known.stages === stages) return known;
    const { random, clock } = this.#options;
    const stage = chooseStage(await this.#matching(stages, object), random);
    if (stage === undefined && known && !known.isPlayed && known.stages === stages) {
      const kept = { ...known, version };
      this.#choices.set(key, kept);
      return kept;
    }
    const nowMs = clock.now();
    const dueMs = nowMs + (stage ? (this.#unlessCostly(stage, () => stage.delayMs(object, nowMs, random)) ?? 0) : 0);
    const choice = { version, stages, stage, object, dueMs, isPlayed: false };
    this.#choices.set(key, choice);
    return choice;
  }

  /** The stages that match, with their weights. Pauses, because each may cost milliseconds. */
  async #matching(stages: readonly Stage[], object: KubeObject) {
    const matching: { stage: Stage; weight: number | undefined }[] = [];
    const pause = pacer();
    for (const stage of stages.slice(0, MAX_STAGES)) {
      const found = this.#unlessCostly(stage, () => stage.matches(object) && { stage, weight: stage.weight(object) });
      if (found) matching.push(found);
      await pause();
    }
    if (stages.length > MAX_STAGES && !this.#reported.has(stages)) {
      this.#reported.add(stages);
      this.#options.report("stages", new Error(`only ${MAX_STAGES} of ${stages.length} Stages are evaluated`));
    }
    return matching;
  }

  #unlessCostly<T>(stage: Stage, run: () => T): T | undefined {
    try {
      return run();
    } catch (error) {
      if (!(error instanceof TooCostly)) throw error;
      this.#ignore(stage, error);
      return undefined;
    }
  }

  /** A Stage whose evaluation fails is logged once, and ignored for the object. */
  #ignore(stage: Stage, error: unknown): void {
    if (this.#reported.has(stage)) return;
    this.#reported.add(stage);
    const cause = error instanceof TooCostly ? new Error("its evaluation costs too much processor time") : error;
    this.#options.report("stages", new Error(`Stage ${stage.name} is ignored for an object`, { cause }));
  }

  #record({ type, reason = "", message = "" }: StageEvent, { resource, object, recorder }: StageSubject): void {
    recorder.record(resource, object, type === "Warning" ? "Warning" : "Normal", reason, message);
  }

  async #step(step: CompiledStep, subject: StageSubject, functions: TemplateFunctions): Promise<void> {
    const { resource, object, statusClient, deletionClient } = subject;
    const { client } = this.#options;
    const { namespace = "", name = "", uid } = object.metadata;
    const key = { namespace, name };
    const { finalizers, patch, apply } = step;
    if (finalizers) {
      const next = changedFinalizers(object.metadata.finalizers ?? [], finalizers);
      await client.patch(resource, key, { metadata: { uid, finalizers: next } }).catch(unlessStale);
    }
    if (step.delete) {
      await deletionClient.delete(resource, key, { gracePeriodSeconds: 0, preconditions: { uid } }).catch(unlessStale);
    }
    if (patch) {
      const body = patch.render(object, functions);
      const { subresource, isStrategic } = patch;
      const writer = subresource === "status" ? statusClient : client;
      await writer.patch(resource, key, body, { isStrategic, ...(subresource && { subresource }) }).catch(unlessStale);
    }
    if (apply) await this.#apply(apply, object, functions);
  }

  /** Creates an object, or patches it if it exists. Upstream: ApplyResource of KWOK */
  async #apply(
    { subresource, type, render }: NonNullable<CompiledStep["apply"]>,
    source: KubeObject,
    functions: TemplateFunctions,
  ): Promise<void> {
    const { client, catalog } = this.#options;
    const value = render(source, functions);
    const { apiVersion, kind } = isObject(value) ? value : {};
    const resource = catalog.findKind(String(apiVersion), String(kind));
    if (resource === undefined || !isObject(value)) throw new Error(`there is no kind ${kind} of ${apiVersion}`);
    const metadata = isObject(value.metadata) ? value.metadata : {};
    const isNamespaced = resource.definition.scope === "Namespaced";
    const { namespace = source.metadata.namespace ?? "" } = metadata as KubeObject["metadata"];
    const object = { ...value, metadata: { ...metadata, ...(isNamespaced && { namespace }) } } as KubeObject;
    if (!subresource) {
      const created = await client.create(resource, structuredClone(object)).catch(unlessCode(409));
      if (created) return;
    }
    const { name = "" } = object.metadata;
    const options = { ...(subresource && { subresource }) };
    if (type === "apply") await client.apply(resource, object, { ...options, fieldManager: FIELD_MANAGER });
    else {
      const key = { namespace: isNamespaced ? namespace : "", name };
      await client.patch(resource, key, object, { ...options, isStrategic: type === "strategic" }).catch(unlessStale);
    }
  }
}

/** For `catch`: the object has changed or is gone, and will be looked at again. */
const unlessStale = unlessCode(404, 409);

/** Upstream: finalizersModify of KWOK */
function changedFinalizers(before: readonly string[], { add = [], remove = [], empty }: StageFinalizers): string[] {
  const removed = remove.map(({ value }) => value);
  const kept = empty ? [] : before.filter((one) => !removed.includes(one));
  // A finalizer that is removed and added is not added, unless all are removed.
  const known = kept.length > 0 ? before : [];
  return [...kept, ...add.flatMap(({ value = "" }) => (known.includes(value) ? [] : [value]))];
}
