import { plainError } from "../../base/api/api-error.ts";
import type { Call } from "../../base/api/call.ts";
import { printValue } from "../../base/api/field-error.ts";
import type { ApiReply, ObjectView } from "../../base/api/reply.ts";
import { versionProblem } from "../../base/api/resource-version.ts";
import { type Eventually, proceed } from "../../base/util/eventually.ts";
import type { Target } from "./target.ts";

/** Reads an object, or a subresource that returns the object itself. */
export function get(call: Call, target: Target): Eventually<ApiReply> {
  const minRevision = readVersion(call.request.query.get("resourceVersion") ?? "");
  const { collection, resource, namespace, name } = target;
  const { table } = resource.version;
  const reply = (view: ObjectView): ApiReply => ({ type: "object", code: 200, view, table });
  return proceed(collection.get(resource, { namespace, name }, minRevision), reply);
}

/** Parses the minimum resourceVersion of a read. Undefined: latest. Throws 500 without reason, like kube-apiserver. */
export function readVersion(text: string): number | undefined {
  if (text === "") return undefined;
  const problem = versionProblem(text);
  if (problem !== undefined) {
    throw plainError(500, `resourceVersion: Invalid value: ${printValue(text)}: ${problem}`);
  }
  return Number(text);
}
