import type { Activation } from "../../../data/cel/eval/frame.ts";
import { authorizerValue, resourceCheckValue } from "../../../data/cel/kubernetes/authorizer.ts";
import { jsonValue } from "../../../data/cel/values/json.ts";
import type { Value } from "../../../data/cel/values/value.ts";
import type { MatchedResource } from "../matching/match-index.ts";
import type { AdmissionRequest } from "../plugin.ts";
import type { VersionedObjects } from "../versioned.ts";
import type { AuthorizerAnswers } from "./authorizer-answers.ts";
import { describeRequest, namespaceOf } from "./request-variable.ts";

/**
 * The variables of expressions about a request: object, oldObject, request, authorizer and authorizer.requestResource.
 * Each is created on first use. Upstream: `newActivation`.
 */
export function requestActivation(
  request: AdmissionRequest,
  matched: MatchedResource,
  { object, previous }: VersionedObjects,
  answers: AuthorizerAnswers,
): Activation {
  const made = new Map<string, Value>();
  const makers: ReadonlyMap<string, () => Value> = new Map([
    ["object", () => jsonValue(object ?? null)],
    ["oldObject", () => jsonValue(previous ?? null)],
    ["request", () => jsonValue({ ...describeRequest(request, matched), options: request.options() ?? null })],
    ["authorizer", () => authorizerValue(answers.check)],
    ["authorizer.requestResource", () => resourceCheckValue(answers.check, checkedResource(request))],
  ]);
  return (name) => {
    const known = made.get(name);
    if (known !== undefined) return known;
    const value = makers.get(name)?.();
    if (value !== undefined) made.set(name, value);
    return value;
  };
}

function checkedResource(request: AdmissionRequest) {
  const { resource, subresource, name } = request;
  const { group, plural } = resource.definition;
  return { group, resource: plural, subresource, namespace: namespaceOf(request), name };
}
