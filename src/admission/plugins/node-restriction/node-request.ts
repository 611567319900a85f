import { isDeepStrictEqual } from "node:util";
import { type ApiError, notFound } from "../../../api/api-error.ts";
import type { Authorizer } from "../../../api/attributes.ts";
import type { Json, KubeObject } from "../../../api/object.ts";
import { quote } from "../../../lib/go/quote.ts";
import type { ObjectAccess } from "../../../resources/model/definition.ts";
import { refusal } from "../../matches.ts";
import type { AdmissionRequest } from "../../plugin.ts";

/** A write of a node, and what its rules look at. */
export interface NodeRequest {
  /** The name of the node that is calling. */
  readonly node: string;
  readonly request: AdmissionRequest;
  readonly access: ObjectAccess;
  readonly authorizer: Authorizer;
}

/** A rule about some resource. Refuses by throwing. */
export type NodeRule = (write: NodeRequest) => void | Promise<void>;

/** 403, in the words of the rule. */
export function refuse({ request }: Pick<NodeRequest, "request">, text: string): ApiError {
  return refusal(request, text);
}

/** 403 for an operation that a rule does not know. Its word stands in quotes, unless told. */
export function refuseOperation(write: NodeRequest, word: string = quote(write.request.operation)): ApiError {
  return refuse(write, `unexpected operation ${word}`);
}

/** 404 as client-go's listers tell it: the resource is called by its singular. */
export function notListed(singular: string, name: string, group = ""): ApiError {
  return notFound({ group, resource: singular }, name);
}

const MIRROR = "kubernetes.io/config.mirror";

/** The annotation of pods that only show what a node runs by itself. */
export const MIRROR_ANNOTATION: string = MIRROR;

/** Whether a pod only shows what a node runs by itself. */
export function isMirrorPod({ metadata }: KubeObject): boolean {
  return metadata.annotations?.[MIRROR] !== undefined;
}

/** Compat: `apiequality.Semantic.DeepEqual`, for which nothing and an empty list or map are the same. */
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
