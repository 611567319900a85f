import type { TableShape } from "../../api/reply.ts";
import { AGE, column, integer, text } from "../cells.ts";

/** How the scale of a workload is shown. */
export const scaleTable: TableShape = {
  columns: [
    column("Name", "string", text(".metadata.name")),
    column("Desired", "integer", integer(".spec.replicas")),
    column("Available", "integer", integer(".status.replicas")),
    AGE,
  ],
};
