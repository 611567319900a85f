import { isDeepStrictEqual } from "node:util";
import { type ApiError, notFound } from "../../../../base/api/api-error.ts";
import type { Authorizer } from "../../../../base/api/attributes.ts";
import type { Json, KubeObject } from "../../../../base/api/object.ts";
import { quote } from "../../../../base/go/quote.ts";
import type { ObjectAccess } from "../../../../resources/model/definition.ts";
import { refusal } from "../../matches.ts";
import type { AdmissionRequest } from "../../plugin.ts";

/** A write by a node. */
export interface NodeRequest {
  /** Name of the calling node. */
  readonly node: string;
  readonly request: AdmissionRequest;
  readonly access: ObjectAccess;
  readonly authorizer: Authorizer;
}

/** A rule for one resource. Rejects the write by throwing. */
export type NodeRule = (write: NodeRequest) => void | Promise<void>;

/** The 403 of a rule. */
export function refuse({ request }: Pick<NodeRequest, "request">, text: string): ApiError {
  return refusal(request, text);
}

/** The 403 for an unexpected operation. `word` is the operation as printed. Default: in quotes. */
export function refuseOperation(write: NodeRequest, word: string = quote(write.request.operation)): ApiError {
  return refuse(write, `unexpected operation ${word}`);
}

/** The 404 of client-go's listers, which name the resource in the singular. */
export function notListed(singular: string, name: string, group = ""): ApiError {
  return notFound({ group, resource: singular }, name);
}

const MIRROR = "kubernetes.io/config.mirror";

/** The annotation of mirror pods, which represent static pods of a node. */
export const MIRROR_ANNOTATION: string = MIRROR;

/** Whether a pod is a mirror pod. */
export function isMirrorPod({ metadata }: KubeObject): boolean {
  return metadata.annotations?.[MIRROR] !== undefined;
}

/** Compat: `apiequality.Semantic.DeepEqual`, which treats an absent and an empty list or map as equal. */
export function sameValue(left: Json | undefined, right: Json | undefined): boolean {
  return isDeepStrictEqual(withoutEmpty(left), withoutEmpty(right));
}

function withoutEmpty(value: Json | undefined): Json | undefined {
  if (Array.isArray(value)) return value.length === 0 ? undefined : value.map((item) => withoutEmpty(item) ?? null);
  if (typeof value !== "object" || value === null) return value ?? undefined;
  const kept = Object.entries(value).flatMap(([member, inner]) => {
    const rest = withoutEmpty(inner);
    return rest === undefined ? [] : [[member, rest] as const];
  });
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}
