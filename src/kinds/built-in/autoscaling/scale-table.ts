import type { TableShape } from "../../../base/api/reply.ts";
import { AGE, column, integer, text } from "../cells.ts";

/** The table columns of Scale. */
export const scaleTable: TableShape = {
  columns: [
    column("Name", "string", text(".metadata.name")),
    column("Desired", "integer", integer(".spec.replicas")),
    column("Available", "integer", integer(".status.replicas")),
    AGE,
  ],
};
