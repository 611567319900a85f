import { isObject } from "../../../base/api/object.ts";
import { type Follower, follow } from "../../../resources/read/follow.ts";
import type { Resources } from "../../../resources/resources.ts";
import type { Entry } from "../../../storage/store.ts";
import type { Controller, ReportProblem } from "../../controllers/shared/controller.ts";
import { Stage } from "./stage.ts";
import { isStageFunction } from "./stage-functions.ts";
import type { StageObject } from "./stage-types.ts";

const NAME = "stages";

/** The Stage objects of KWOK that concern Pods. They are found by their keys, with or without a definition. */
export class StageList implements Controller {
  readonly name: string = NAME;
  readonly #resources: Resources;
  readonly #report: ReportProblem;
  readonly #changed: () => void;
  readonly #byKey = new Map<string, Stage>();
  readonly #loaded = Promise.withResolvers<void>();
  #sorted: readonly Stage[] = [];

  /** `changed` is called when the stages have changed. */
  constructor(resources: Resources, report: ReportProblem, changed: () => void) {
    this.#resources = resources;
    this.#report = report;
    this.#changed = changed;
  }

  /** The stages of Pods, by name. */
  get stages(): readonly Stage[] {
    return this.#sorted;
  }

  /** Resolves once all stored stages are known. */
  get loaded(): Promise<void> {
    return this.#loaded.promise;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { store, keys } = this.#resources;
    this.#byKey.clear();
    const prefix = `${keys.root}kwok.x-k8s.io/stages/`;
    signal.addEventListener("abort", () => this.#loaded.resolve(), { once: true });
    const follower: Follower = {
      found: (entry) => this.#set(entry.key, entry),
      loaded: () => {
        this.#update();
        this.#loaded.resolve();
      },
      changed: (events) => {
        for (const { key, entry } of events) this.#set(key, entry);
        if (events.length > 0) this.#update();
      },
    };
    await follow(store, prefix, follower, signal);
  }

  #set(key: string, entry: Entry | undefined): void {
    this.#byKey.delete(key);
    if (entry === undefined) return;
    try {
      const object = this.#resources.codec.read(entry) as StageObject;
      if (isObject(object.spec) && isOfPods(object)) this.#byKey.set(key, new Stage(object, isStageFunction));
    } catch (cause) {
      this.#report(NAME, new Error(`Stage ${key.split("/").at(-1)} is ignored`, { cause }));
    }
  }

  #update(): void {
    this.#sorted = [...this.#byKey].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, stage]) => stage);
    this.#changed();
  }
}

const isOfPods = ({ spec: { resourceRef: { apiGroup = "v1", kind } = {} } }: StageObject) =>
  kind === "Pod" && (apiGroup === "v1" || apiGroup === "");
