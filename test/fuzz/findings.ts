import type { JsonObject } from "../../src/base/api/object.ts";
import type { Answer } from "../support/client.ts";
import type { Difference } from "./twins.ts";

/** What asks for a table. */
export const TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io";

/** The answer to a definition without what controllers add at their own time. */
export function withoutOwn(answer: Answer): Answer {
  const { status: _, ...body } = answer.body;
  // Those about formats come in the order in which Go goes through a map.
  const warning = [answer.headers.warning ?? []].flat().join(", ").split(", ").sort().join("\n");
  const headers = { ...answer.headers, warning };
  return { ...answer, headers, body: answer.body.kind === "CustomResourceDefinition" ? body : answer.body };
}

/** A table without the ages in its cells. */
export function withoutAges({ body, ...rest }: Answer): Answer {
  const cells = (row: JsonObject) =>
    (Array.isArray(row.cells) ? row.cells : []).map((cell) =>
      typeof cell === "string" ? cell.replace(/^(?:\d+[smhd])+$/, "<age>") : cell,
    );
  const rows = Array.isArray(body.rows) ? body.rows.map(cells) : body.rows;
  return { ...rest, body: { columns: body.columnDefinitions, rows, message: body.message } };
}

const UNTYPED = "failed to create typed patch object";

/** Structured-merge-diff stops at the first undeclared field, and Go goes through a map in any order. */
export function isUnordered({ path, theirs, ours }: Difference): boolean {
  return path === ".message" && [theirs, ours].every((text) => String(text).startsWith(UNTYPED));
}

/** Differences with the same one are taken to have the same cause. */
export function signature({ at, path, theirs, ours }: Difference): string {
  const text = (value: unknown) =>
    (JSON.stringify(value) ?? "")
      .replace(/"[^"]*"/g, (one) => (one.length > 40 ? one.slice(0, 60) : '""'))
      .replace(/\d+/g, "0")
      .slice(0, 120);
  return [at, path.replace(/\.\d+/g, ".0").split(".").slice(0, 5).join("."), text(theirs), text(ours)].join("\n");
}
