import path from "node:path";
import type { Outcome } from "./names.ts";

/** The part of a record of Ginkgo's report that is read here. */
export interface SpecReport {
  readonly ContainerHierarchyTexts: readonly string[] | null;
  readonly LeafNodeText: string;
  readonly State: string;
  readonly RunTime: number;
  readonly Failure?: { readonly Message: string; readonly Location?: { FileName: string; LineNumber: number } };
}

/** One outcome per name: what the report says of it, or that it says nothing. */
export function outcomesOf(names: readonly string[], records: readonly SpecReport[], output: string): Outcome[] {
  const byName = new Map(
    records.map((record) => [[...(record.ContainerHierarchyTexts ?? []), record.LeafNodeText].join(" "), record]),
  );
  return names.map((name) => {
    const record = byName.get(name);
    const ran = record !== undefined && !["skipped", "pending", ""].includes(record.State);
    if (!ran) return { name, state: "missing", seconds: 0, message: record?.Failure?.Message ?? output };
    const { Failure: failure, State: state, RunTime: nanoseconds } = record;
    const { FileName: file = "", LineNumber: line = 0 } = failure?.Location ?? {};
    const message = failure === undefined ? "" : `${failure.Message}\n(${path.basename(file)}:${line})`;
    return { name, state: state === "passed" ? "passed" : "failed", seconds: nanoseconds / 1e9, message };
  });
}
