import { isDeepStrictEqual } from "node:util";
import type { KubeObject } from "../../base/api/object.ts";
import type { Clock } from "../../base/util/clock.ts";
import { runTogether } from "../../base/util/run-together.ts";
import { storedResource } from "../../resources/model/stored-resource.ts";
import { StoredIndex } from "../../resources/read/stored-index.ts";
import type { Resources } from "../../resources/resources.ts";
import { readObject } from "../../resources/stored-kinds.ts";
import type { Entry } from "../../storage/store.ts";
import type { Fairness, FlowObjects } from "./fairness.ts";

const GROUP = "flowcontrol.apiserver.k8s.io";
const RETRY_MS = 500;

/** Keeps the configuration of priority and fairness equal to the stored objects. */
export class FlowObjectFollower {
  readonly #levels: StoredIndex<KubeObject>;
  readonly #schemas: StoredIndex<KubeObject>;
  readonly #fairness: Fairness;
  readonly #clock: Clock;
  readonly #report: (error: unknown) => void;
  #applied: FlowObjects = { levels: [], schemas: [] };

  constructor(resources: Resources, fairness: Fairness, report: (error: unknown) => void) {
    this.#fairness = fairness;
    this.#clock = resources.clock;
    this.#report = report;
    this.#levels = this.#index(resources, "prioritylevelconfigurations");
    this.#schemas = this.#index(resources, "flowschemas");
  }

  async run(signal: AbortSignal): Promise<void> {
    this.#fairness.run(signal);
    while (!signal.aborted) {
      try {
        await runTogether([(inner) => this.#levels.run(inner), (inner) => this.#schemas.run(inner)], signal);
      } catch (error) {
        if (signal.aborted) return;
        this.#report(error);
        await this.#clock.sleep(RETRY_MS, signal);
      }
    }
  }

  /** Resolves when all stored objects apply. */
  async loaded(signal: AbortSignal): Promise<void> {
    await Promise.all([this.#levels.loaded(signal), this.#schemas.loaded(signal)]);
  }

  #index({ catalog, store, keys, codec }: Resources, plural: string): StoredIndex<KubeObject> {
    const { definition } = storedResource(catalog, GROUP, plural);
    const read = (entry: Entry) => readObject(codec, entry);
    return new StoredIndex({ store, prefix: keys.prefix(definition), read, changed: () => this.#apply() });
  }

  #apply(): void {
    const objects = { levels: [...this.#levels.items.values()], schemas: [...this.#schemas.items.values()] };
    // A changed status does not matter.
    if (isDeepStrictEqual(specsOf(objects), specsOf(this.#applied))) return;
    this.#applied = objects;
    this.#fairness.configure(objects);
  }
}

function specsOf({ levels, schemas }: FlowObjects) {
  const specOf = ({ metadata, spec }: KubeObject) => ({ name: metadata.name, uid: metadata.uid, spec });
  return { levels: levels.map(specOf), schemas: schemas.map(specOf) };
}
