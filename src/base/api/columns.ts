import type { Json, KubeObject } from "./object.ts";

/** What the cells of one row, or of several, have visited. */
export interface RowWork {
  visits: number;
}

/** One column of a Table: what `kubectl get` prints for an object. */
export interface Column {
  readonly name: string;
  readonly type: "string" | "integer" | "number" | "boolean" | "date";
  /** "name" marks the column that identifies the object. */
  readonly format?: string;
  readonly description?: string;
  /** 0: always shown. 1: only with `-o wide`. */
  readonly priority?: number;
  /**
   * The cell of one object. Ages are relative to `now`, in milliseconds. Cells whose paths are written by users count the
   * values they visit in `row`.
   */
  readonly cell: (object: KubeObject, now: number, row?: RowWork) => Json;
}
