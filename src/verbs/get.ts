import { plainError } from "../api/api-error.ts";
import type { Call } from "../api/call.ts";
import { printValue } from "../api/field-error.ts";
import type { ApiReply } from "../api/reply.ts";
import { versionProblem } from "../api/resource-version.ts";
import type { Target } from "./target.ts";

/** Reads one object, or one of its subresources that shows the object itself. */
export async function get(call: Call, target: Target): Promise<ApiReply> {
  const minRevision = readVersion(call.request.query.get("resourceVersion") ?? "");
  const { collection, resource, namespace, name } = target;
  const view = await collection.get(resource, { namespace, name }, minRevision);
  return { type: "object", code: 200, view, table: resource.version.table };
}

/** The oldest state a reader accepts; undefined means the newest. Throws the plain 500 of the real server. */
export function readVersion(text: string): number | undefined {
  if (text === "") return undefined;
  const problem = versionProblem(text);
  if (problem !== undefined) {
    throw plainError(500, `resourceVersion: Invalid value: ${printValue(text)}: ${problem}`);
  }
  return Number(text);
}
