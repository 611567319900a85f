import { isObject, type JsonObject } from "../../../base/api/object.ts";
import type { Clock } from "../../../base/util/clock.ts";
import type { Random } from "../../../base/util/random.ts";
import { decodeYaml } from "../../../data/encoding/yaml/yaml.ts";
import type { Pod } from "../../../kinds/types/workloads.ts";
import type { ServedResource } from "../../../resources/model/catalog.ts";
import type { ObjectClient } from "../../../resources/object-client.ts";
import { unlessCode } from "../../controllers/shared/controller.ts";
import { keyOf } from "../../controllers/shared/informer.ts";
import type { PodPlacement } from "../behaviour/container-env.ts";
import type { SimulatedNode } from "../simulated-node.ts";
import { type CompiledStep, chooseStage, type Stage } from "./stage.ts";
import { stageFunctions } from "./stage-functions.ts";
import type { StageEvent, StageFinalizers } from "./stage-types.ts";

/** The stage that was chosen for a version of a Pod. */
interface Choice {
  readonly version: string | undefined;
  readonly stages: readonly Stage[];
  readonly stage: Stage | undefined;
  /** As it was when the stage was chosen: templates see this one. */
  readonly pod: Pod;
  readonly dueMs: number;
  isPlayed: boolean;
}

/** What a player of stages works with. */
export interface StagePlayerOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly pods: ServedResource;
  /** For patches that a kubelet may not send. */
  readonly client: ObjectClient;
}

/** Plays stages for Pods as KWOK does: one that matches is chosen, and played after its delay. */
export class StagePlayer {
  readonly #options: StagePlayerOptions;
  readonly #choices = new Map<string, Choice>();
  readonly #startMs: number;

  constructor(options: StagePlayerOptions) {
    this.#options = options;
    this.#startMs = options.clock.now();
  }

  forget(key: string): void {
    this.#choices.delete(key);
  }

  /** Plays the stage of a Pod if it is due. Returns when it will be. */
  async play(
    stages: readonly Stage[],
    node: SimulatedNode,
    pod: Pod,
    place: PodPlacement,
  ): Promise<number | undefined> {
    const nowMs = this.#options.clock.now();
    const choice = this.#choose(stages, pod, nowMs);
    if (choice.stage === undefined || choice.isPlayed) return undefined;
    if (choice.dueMs > nowMs) return choice.dueMs;
    choice.isPlayed = true;
    let isDeleted = false;
    for (const { event, ...step } of choice.stage.steps) {
      if (event) this.#record(event, node, choice.pod);
      if (!isDeleted) await this.#step(step, node, choice.pod, place, nowMs);
      isDeleted ||= step.delete ?? false;
    }
    return undefined;
  }

  /**
   * Each version of a Pod, and each change of the stages, leads to a new choice. Compat: a version for which there is no
   * stage leaves the earlier choice in place, as `preprocess` of KWOK does.
   */
  #choose(stages: readonly Stage[], pod: Pod, nowMs: number): Choice {
    const { resourceVersion: version } = pod.metadata;
    const key = keyOf(pod);
    const known = this.#choices.get(key);
    if (known && known.version === version && known.stages === stages) return known;
    const { random } = this.#options;
    const stage = chooseStage(stages, pod, random);
    if (stage === undefined && known && !known.isPlayed && known.stages === stages) {
      const kept = { ...known, version };
      this.#choices.set(key, kept);
      return kept;
    }
    const dueMs = nowMs + (stage?.delayMs(pod, nowMs, random) ?? 0);
    const choice = { version, stages, stage, pod, dueMs, isPlayed: false };
    this.#choices.set(key, choice);
    return choice;
  }

  #record({ type, reason = "", message = "" }: StageEvent, { recorder }: SimulatedNode, pod: Pod): void {
    recorder.record(this.#options.pods, pod, type === "Warning" ? "Warning" : "Normal", reason, message);
  }

  async #step(step: CompiledStep, node: SimulatedNode, pod: Pod, place: PodPlacement, nowMs: number): Promise<void> {
    const { pods, client } = this.#options;
    const { namespace = "", name = "", uid } = pod.metadata;
    const key = { namespace, name };
    const { finalizers, patch } = step;
    if (finalizers) {
      const next = changedFinalizers(pod.metadata.finalizers ?? [], finalizers);
      await client.patch(pods, key, { metadata: { uid, finalizers: next } }).catch(unlessStale);
    }
    if (step.delete) {
      await node.client.delete(pods, key, { gracePeriodSeconds: 0, preconditions: { uid } }).catch(unlessStale);
    }
    if (patch) {
      const text = patch.print(pod, stageFunctions(place, nowMs, this.#startMs));
      const { value } = decodeYaml(Buffer.from(text));
      const body: JsonObject = patch.root ? { [patch.root]: value } : isObject(value) ? value : {};
      const { subresource, type } = patch;
      const options = { isStrategic: type === "strategic", ...(subresource && { subresource }) };
      const writer = subresource === "status" ? node.client : client;
      await writer.patch(pods, key, body, options).catch(unlessStale);
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
