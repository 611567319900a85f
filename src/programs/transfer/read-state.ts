import type { KubeObject } from "../../base/api/object.ts";
import type { Entry } from "../../storage/store.ts";
import type { ObjectKinds } from "../server/object-kinds.ts";
import { type DumpFile, openDump } from "./dump-file.ts";
import { nameOf, Placement, PlacementError } from "./placement.ts";

/** Receives the entries of a cluster. Definitions come before their objects; otherwise the order is undefined. */
export interface StateSink {
  entry(entry: Entry, namespace: string): void | Promise<void>;
}

/** Summary of what was read. */
export interface StateSummary {
  /** The newest revision found. */
  readonly revision: number;
  readonly count: number;
  /** True if a whole store was read, not only the objects that its server returns. */
  readonly isWhole: boolean;
  /** Objects without a uid, which no server has stored. */
  readonly manifests: readonly KubeObject[];
  /** Number of objects of unknown kinds, by kind and apiVersion. */
  readonly unknown: ReadonlyMap<string, number>;
}

/** Maximum number of objects that wait for the definition of their kind. */
const MAX_WAITING = 1_000_000;

/** Reads dumps of any form into one state. Throws errors that name the file and the position. */
export async function readState(files: readonly string[], kinds: ObjectKinds, sink: StateSink): Promise<StateSummary> {
  const reader = new StateReader(kinds, sink);
  for (const file of files) {
    for await (const dump of openDump(file, kinds.keys.root)) {
      try {
        await reader.read(dump);
      } catch (error) {
        if (!(error instanceof Error)) throw error;
        throw new Error(`${dump.name}: ${error.message}`, { cause: error });
      }
    }
  }
  return reader.finish();
}

class StateReader {
  readonly #placement: Placement;
  readonly #sink: StateSink;
  readonly #manifests: KubeObject[] = [];
  /** Objects whose kinds may be defined later in the dump. */
  #waiting: KubeObject[] = [];
  #revision = 1;
  #count = 0;
  #isWhole = false;

  constructor(kinds: ObjectKinds, sink: StateSink) {
    this.#placement = new Placement(kinds);
    this.#sink = sink;
  }

  async read(dump: DumpFile): Promise<void> {
    if (dump.type === "entries") {
      this.#isWhole = true;
      this.#revision = Math.max(this.#revision, dump.revision);
      for await (const entry of dump.entries) await this.#put(entry, "");
      return;
    }
    for await (const { object, line } of dump.objects) {
      try {
        await this.#take(object);
      } catch (error) {
        if (error instanceof PlacementError) throw new PlacementError(`line ${line}: ${error.message}`);
        throw error;
      }
    }
  }

  async finish(): Promise<StateSummary> {
    const unknown = new Map<string, number>();
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const object of waiting) await this.#take(object);
    for (const { apiVersion, kind } of this.#waiting) {
      const name = `${kind} in ${apiVersion}`;
      unknown.set(name, (unknown.get(name) ?? 0) + 1);
    }
    const revision = this.#revision;
    return { revision, count: this.#count, isWhole: this.#isWhole, manifests: this.#manifests, unknown };
  }

  async #take(object: KubeObject): Promise<void> {
    if (object.metadata.uid === undefined) {
      this.#manifests.push(object);
      return;
    }
    const placed = this.#placement.place(object);
    if (placed.type === "entry") await this.#put(placed.entry, placed.namespace);
    else if (placed.type === "unknown") {
      if (this.#waiting.length >= MAX_WAITING) throw new PlacementError(`unknown kind of ${nameOf(object)}`);
      this.#waiting.push(object);
    }
  }

  async #put(entry: Entry, namespace: string): Promise<void> {
    this.#count++;
    this.#revision = Math.max(this.#revision, entry.modRevision);
    await this.#sink.entry(entry, namespace);
  }
}
