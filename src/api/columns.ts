import type { Json, KubeObject } from "./object.ts";

/** One column of a Table: what `kubectl get` prints for an object. */
export interface Column {
  readonly name: string;
  readonly type: "string" | "integer" | "number" | "boolean" | "date";
  /** "name" marks the column that identifies the object. */
  readonly format?: string;
  readonly description?: string;
  /** 0: always shown; 1: only with `-o wide`. */
  readonly priority?: number;
  /** The cell of one object. `now` is the time in milliseconds that ages are counted to. */
  readonly cell: (object: KubeObject, now: number) => Json;
}
