import { badRequest, methodNotAllowed, unsupportedVerb } from "../../base/api/api-error.ts";
import type { Call } from "../../base/api/call.ts";
import type { ApiReply } from "../../base/api/reply.ts";
import type { Subresource } from "../../resources/model/definition.ts";
import { admissionRequest } from "./admission-request.ts";
import { inPlaceOf, type Target, type VerbContext } from "./target.ts";

const PROXY_METHODS: readonly string[] = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"];
const STREAM_METHODS: readonly string[] = ["GET", "POST"];

/** Whether a subresource forwards the rest of the path (`proxy`). */
export function takesPath({ connect, verbs }: Subresource): boolean {
  return connect === true && verbs.includes("update");
}

/** Throws 405 if a connecting subresource does not accept the method. */
export function checkConnectMethod(subresource: Subresource, method: string): void {
  const isStream = subresource.kind !== undefined;
  const methods = takesPath(subresource) ? PROXY_METHODS : isStream ? STREAM_METHODS : ["GET"];
  if (!methods.includes(method)) throw methodNotAllowed();
}

/** Connects a request to the kubelet, pod or service behind an object. Upstream: `ConnectResource`. */
export async function connect(context: VerbContext, call: Call, target: Target): Promise<ApiReply> {
  const { connector, admission } = context;
  const { group, plural } = target.resource.definition;
  if (!connector) throw unsupportedVerb({ group, resource: `${plural}/${target.subresource}` }, call.info.verb);
  const { kind } = target.resource.subresources[target.subresource] ?? {};
  if (kind && call.request.query.has("dryRun")) throw badRequest("dryRun is not supported");
  const connection = connector.prepare(call, target);
  if (kind && connection.options !== undefined) {
    const body = inPlaceOf(target.resource, kind);
    const write = { operation: "CONNECT", dryRun: false, object: connection.options, body } as const;
    const request = admissionRequest(call, target, write);
    await admission.mutate(request);
    await admission.validate(request);
  }
  return connection.open();
}
