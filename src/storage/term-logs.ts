import type { EventIndex, EventTerm, StoreEvent } from "./store.ts";

/**
 * Finds logs by terms. An event costs as much as its terms, however many logs there are. Example, with logs for the
 * terms `node=a` and `app=web` of one index: an event that changes `node` from "b" to "c" and has no `app` reaches
 * neither.
 */
export class TermLogs<Log> {
  readonly #byIndex = new Map<EventIndex, Map<string, Map<string, Log>>>();

  get isEmpty(): boolean {
    return this.#byIndex.size === 0;
  }

  get(index: EventIndex, { field, value }: EventTerm): Log | undefined {
    return this.#byIndex.get(index)?.get(field)?.get(value);
  }

  set(index: EventIndex, { field, value }: EventTerm, log: Log): void {
    const fields = this.#byIndex.get(index) ?? new Map<string, Map<string, Log>>();
    const values = fields.get(field) ?? new Map<string, Log>();
    values.set(value, log);
    fields.set(field, values);
    this.#byIndex.set(index, fields);
  }

  delete(index: EventIndex, { field, value }: EventTerm): void {
    const fields = this.#byIndex.get(index);
    const values = fields?.get(field);
    values?.delete(value);
    if (values?.size === 0) fields?.delete(field);
    if (fields?.size === 0) this.#byIndex.delete(index);
  }

  /** Calls `visit` with each log that has a term of the event, perhaps several times. */
  find(event: StoreEvent, visit: (log: Log) => void): void {
    for (const [index, fields] of this.#byIndex) {
      const isKnown = index.visit(event, (field, value) => {
        const log = fields.get(field)?.get(value);
        if (log !== undefined) visit(log);
      });
      if (!isKnown) for (const values of fields.values()) for (const log of values.values()) visit(log);
    }
  }

  *[Symbol.iterator](): Generator<Log> {
    for (const fields of this.#byIndex.values()) for (const values of fields.values()) yield* values.values();
  }
}
