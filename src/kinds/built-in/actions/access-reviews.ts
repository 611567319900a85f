import { badRequest, invalid } from "../../../base/api/api-error.ts";
import { boundedErrors, type FieldError, invalidField, requiredField } from "../../../base/api/field-error.ts";
import type { Identities } from "../../../base/api/identity.ts";
import type { JsonObject, KubeObject } from "../../../base/api/object.ts";
import type { UserInfo } from "../../../base/api/user-info.ts";
import { addAll } from "../../../base/util/add-all.ts";
import type { ActionCall } from "../../../resources/model/actions.ts";
import { asGo } from "../shared-rules/go-print.ts";
import { validateOperator, validateRequirement } from "../shared-rules/label-selector.ts";
import {
  attributesFrom,
  type PathAttributes,
  type ResourceAttributes,
  type ReviewSelector,
} from "./review-attributes.ts";

interface ReviewSpec extends JsonObject {
  resourceAttributes?: ResourceAttributes;
  nonResourceAttributes?: PathAttributes;
  user?: string;
  groups?: string[];
  uid?: string;
  extra?: Record<string, string[]>;
}

const specOf = (review: KubeObject): ReviewSpec => (review.spec as ReviewSpec | undefined) ?? {};

/** Unknown selector operators of newer clients are allowed. */
const OPTIONS = { allowsUnknownOperators: true };

function selectorErrors(selector: ReviewSelector | undefined, path: string, isOfLabels: boolean): FieldError[] {
  if (selector === undefined) return [];
  const { rawSelector = "", requirements = [] } = selector;
  const errors: FieldError[] = [];
  if (rawSelector !== "" && requirements.length > 0) {
    const text = "may not specified at the same time as requirements";
    errors.push(invalidField(`${path}.rawSelector`, rawSelector, text));
  }
  if (rawSelector === "" && requirements.length === 0) {
    const text = `when ${path} is specified, requirements or rawSelector is required`;
    errors.push(requiredField(`${path}.requirements`, text));
  }
  for (const [index, requirement] of requirements.entries()) {
    const at = `${path}.requirements[${index}]`;
    if (isOfLabels) addAll(errors, validateRequirement(requirement, at, OPTIONS));
    else {
      if (!requirement.key) errors.push(requiredField(`${at}.key`, "must be specified"));
      addAll(errors, validateOperator(requirement, at, OPTIONS));
    }
  }
  return errors;
}

const printPath = (attributes: PathAttributes | undefined) =>
  asGo(attributes, [
    ["Path", "path", ""],
    ["Verb", "verb", ""],
  ]);

function attributeErrors({ resourceAttributes, nonResourceAttributes }: ReviewSpec): FieldError[] {
  if ((resourceAttributes === undefined) !== (nonResourceAttributes === undefined)) return [];
  const text = "exactly one of nonResourceAttributes or resourceAttributes must be specified";
  return [invalidField("spec", printPath(nonResourceAttributes), text)];
}

function resourceErrors({ resourceAttributes }: ReviewSpec): FieldError[] {
  const path = "spec.resourceAttributes";
  return [
    ...selectorErrors(resourceAttributes?.fieldSelector, `${path}.fieldSelector`, false),
    ...selectorErrors(resourceAttributes?.labelSelector, `${path}.labelSelector`, true),
  ];
}

function subjectErrors({ user = "", groups = [] }: ReviewSpec): FieldError[] {
  if (user !== "" || groups.length > 0) return [];
  return [invalidField("spec.user", user, "at least one of user or group must be specified")];
}

/** Rejects metadata in an access review, except managedFields. */
function metadataErrors({ metadata }: KubeObject, allowed: readonly string[], text: string): FieldError[] {
  const surplus = Object.keys(metadata).filter((member) => member !== "managedFields" && !allowed.includes(member));
  return surplus.length === 0 ? [] : [invalidField("metadata", metadata, text)];
}

function localErrors({ spec, metadata }: { spec: ReviewSpec; metadata: KubeObject["metadata"] }): FieldError[] {
  const errors: FieldError[] = [];
  const namespace = spec.resourceAttributes?.namespace ?? "";
  if (spec.resourceAttributes && namespace !== (metadata.namespace ?? "")) {
    errors.push(invalidField("spec.resourceAttributes.namespace", namespace, "must match metadata.namespace"));
  }
  if (spec.nonResourceAttributes) {
    const shown = printPath(spec.nonResourceAttributes);
    errors.push(invalidField("spec.nonResourceAttributes", shown, "disallowed on this kind of request"));
  }
  return errors;
}

function requireValid(review: KubeObject, check: () => FieldError[]): void {
  const errors = boundedErrors(check);
  // Compat: the 422 of an access review names neither kind nor name: `NewInvalid` gets a GroupKind without a kind.
  const group = review.apiVersion.split("/")[0] ?? "";
  if (errors.length > 0) throw invalid({ group, kind: "" }, "", errors);
}

function subjectOf({ user = "", groups = [], uid = "", extra = {} }: ReviewSpec): UserInfo {
  return { name: user, groups, uid, extra };
}

/** The review with the authorizer's answer for a user. */
async function answered(review: KubeObject, identities: Identities, user: UserInfo): Promise<KubeObject> {
  const { attributes, evaluationError } = attributesFrom(user, specOf(review));
  const { decision, reason = "", error } = await identities.authorize(attributes);
  const problems = [error ?? "", evaluationError].filter((text) => text !== "").join("; ");
  const status = {
    allowed: decision === "allow",
    ...(decision === "deny" ? { denied: true } : {}),
    ...(reason === "" ? {} : { reason }),
    ...(problems === "" ? {} : { evaluationError: problems }),
  };
  return { ...review, status };
}

/** SubjectAccessReview: whether a user may do something. */
export async function subjectAccessReview({ body, identities }: ActionCall): Promise<KubeObject> {
  const spec = specOf(body);
  requireValid(body, () => [
    ...attributeErrors(spec),
    ...subjectErrors(spec),
    ...resourceErrors(spec),
    ...metadataErrors(body, [], "must be empty"),
  ]);
  return answered(body, identities, subjectOf(spec));
}

/** LocalSubjectAccessReview: whether a user may do something in this namespace. */
export async function localSubjectAccessReview({ body, identities }: ActionCall): Promise<KubeObject> {
  const spec = specOf(body);
  requireValid(body, () => [
    ...attributeErrors(spec),
    ...subjectErrors(spec),
    ...resourceErrors(spec),
    ...metadataErrors(body, ["namespace"], "must be empty except for namespace"),
    ...localErrors({ spec, metadata: body.metadata }),
  ]);
  return answered(body, identities, subjectOf(spec));
}

/** SelfSubjectAccessReview: whether the caller may do something. */
export async function selfSubjectAccessReview({ body, identities, user }: ActionCall): Promise<KubeObject> {
  const spec = specOf(body);
  requireValid(body, () => [
    ...attributeErrors(spec),
    ...resourceErrors(spec),
    ...metadataErrors(body, [], "must be empty"),
  ]);
  return answered(body, identities, user);
}

/** SelfSubjectRulesReview: what the caller may do in a namespace. */
export async function selfSubjectRulesReview({ body, identities, user }: ActionCall): Promise<KubeObject> {
  const { namespace = "" } = (body.spec as { namespace?: string } | undefined) ?? {};
  if (namespace === "") throw badRequest("no namespace on request");
  const { resourceRules, nonResourceRules, incomplete, evaluationError } = await identities.rulesFor(user, namespace);
  const status = {
    resourceRules: resourceRules.map(({ verbs, apiGroups, resources, resourceNames = [] }) => ({
      verbs: [...verbs],
      apiGroups: [...apiGroups],
      resources: [...resources],
      ...(resourceNames.length === 0 ? {} : { resourceNames: [...resourceNames] }),
    })),
    nonResourceRules: nonResourceRules.map(({ verbs, nonResourceURLs }) => ({
      verbs: [...verbs],
      nonResourceURLs: [...nonResourceURLs],
    })),
    incomplete,
    ...(evaluationError === undefined ? {} : { evaluationError }),
  };
  const { kind, apiVersion } = body;
  return { kind, apiVersion, metadata: {}, spec: {}, status };
}
