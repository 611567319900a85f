import {
  type FieldError,
  forbiddenField,
  invalidField,
  notSupportedField,
  requiredField,
} from "../../../base/api/field-error.ts";
import type { JsonObject, KubeObject } from "../../../base/api/object.ts";
import { addAll } from "../../../base/util/add-all.ts";
import type { ResourceHooks } from "../../../resources/model/definition.ts";
import { labelName, pushInvalid, subdomainName } from "../shared-rules/formats.ts";
import { asGo, type GoShape } from "../shared-rules/go-print.ts";
import { sameValue } from "../shared-rules/immutable.ts";
import { mandatoryObjects } from "./fixed-objects.ts";
import { flowConditionErrors } from "./flow-conditions.ts";
import { nonResourceRuleErrors, type PolicyRule, resourceRuleErrors } from "./policy-rules.ts";

interface Named extends JsonObject {
  name?: string;
  namespace?: string;
}

interface Subject extends JsonObject {
  kind?: string;
  user?: Named;
  group?: Named;
  serviceAccount?: Named;
}

interface SubjectRules extends JsonObject {
  subjects?: Subject[] | null;
  resourceRules?: PolicyRule[];
  nonResourceRules?: PolicyRule[];
}

interface FlowSchemaSpec extends JsonObject {
  priorityLevelConfiguration?: Named;
  matchingPrecedence?: number;
  distinguisherMethod?: { type?: string };
  rules?: SubjectRules[];
}

const MAX_PRECEDENCE = 10_000;
const METHODS = ["ByNamespace", "ByUser"];
const SUBJECT_KINDS = ["Group", "ServiceAccount", "User"];
/** The field for each `kind` of a Subject, in the order in which the others are rejected. */
const MEMBERS = { ServiceAccount: "serviceAccount", User: "user", Group: "group" } as const;

const NAME_SHAPE: GoShape = [["Name", "name", ""]];
const VERBS_SHAPE: GoShape = [["Verbs", "verbs"]];
const SPEC_SHAPE: GoShape = [
  ["PriorityLevelConfiguration", "priorityLevelConfiguration", { Name: "" }, NAME_SHAPE],
  ["MatchingPrecedence", "matchingPrecedence", 0],
  ["DistinguisherMethod", "distinguisherMethod", null, [["Type", "type", ""]]],
  [
    "Rules",
    "rules",
    null,
    [
      [
        "Subjects",
        "subjects",
        null,
        [
          ["Kind", "kind", ""],
          ["User", "user", null, NAME_SHAPE],
          ["Group", "group", null, NAME_SHAPE],
          ["ServiceAccount", "serviceAccount", null, [["Namespace", "namespace", ""], ...NAME_SHAPE]],
        ],
      ],
      [
        "ResourceRules",
        "resourceRules",
        null,
        [
          ...VERBS_SHAPE,
          ["APIGroups", "apiGroups"],
          ["Resources", "resources"],
          ["ClusterScope", "clusterScope", false],
          ["Namespaces", "namespaces"],
        ],
      ],
      ["NonResourceRules", "nonResourceRules", null, [...VERBS_SHAPE, ["NonResourceURLs", "nonResourceURLs"]]],
    ],
  ],
];

const specOf = (schema: KubeObject): FlowSchemaSpec => (schema.spec as FlowSchemaSpec | undefined) ?? {};

function subjectErrors(subject: Subject, path: string): FieldError[] {
  const { kind = "" } = subject;
  if (kind !== "ServiceAccount" && kind !== "User" && kind !== "Group") {
    return [notSupportedField(`${path}.kind`, kind, SUBJECT_KINDS)];
  }
  const errors = namedErrors(subject[MEMBERS[kind]], kind, `${path}.${MEMBERS[kind]}`);
  for (const [other, member] of Object.entries(MEMBERS)) {
    if (other === kind || subject[member] === undefined) continue;
    errors.push(forbiddenField(`${path}.${member}`, `${member} is forbidden when subject kind is not '${other}'`));
  }
  return errors;
}

function namedErrors(named: Named | undefined, kind: keyof typeof MEMBERS, path: string): FieldError[] {
  if (named === undefined) {
    return [requiredField(path, `${MEMBERS[kind]} is required when subject kind is '${kind}'`)];
  }
  const errors: FieldError[] = [];
  const { name = "", namespace = "" } = named;
  if (name === "") errors.push(requiredField(`${path}.name`));
  if (kind !== "ServiceAccount") return errors;
  if (name !== "" && name !== "*") pushInvalid(errors, `${path}.name`, name, subdomainName(name));
  if (namespace === "") {
    errors.push(requiredField(`${path}.namespace`, "must specify namespace for service account"));
  } else pushInvalid(errors, `${path}.namespace`, namespace, labelName(namespace));
  return errors;
}

function ruleErrors(rule: SubjectRules, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const { resourceRules = [], nonResourceRules = [] } = rule;
  const subjects = rule.subjects ?? [];
  if (subjects.length === 0) {
    errors.push(requiredField(`${path}.subjects`, "subjects must contain at least one value"));
  }
  for (const [index, subject] of subjects.entries())
    addAll(errors, subjectErrors(subject, `${path}.subjects[${index}]`));
  if (resourceRules.length === 0 && nonResourceRules.length === 0) {
    errors.push(requiredField(path, "at least one of resourceRules and nonResourceRules has to be non-empty"));
  }
  for (const [index, one] of resourceRules.entries()) {
    addAll(errors, resourceRuleErrors(one, `${path}.resourceRules[${index}]`));
  }
  for (const [index, one] of nonResourceRules.entries()) {
    addAll(errors, nonResourceRuleErrors(one, `${path}.nonResourceRules[${index}]`));
  }
  return errors;
}

function precedenceErrors(precedence: number, name: string): FieldError[] {
  const path = "spec.matchingPrecedence";
  if (precedence <= 0) return [invalidField(path, precedence, "must be a positive value")];
  if (precedence > MAX_PRECEDENCE) {
    return [invalidField(path, precedence, `must not be greater than ${MAX_PRECEDENCE}`)];
  }
  if (precedence !== 1 || name === "exempt") return [];
  return [invalidField(path, precedence, "only the schema named 'exempt' may have matchingPrecedence 1")];
}

function specErrors(spec: FlowSchemaSpec, name: string): FieldError[] {
  const errors = precedenceErrors(spec.matchingPrecedence ?? 0, name);
  const method = spec.distinguisherMethod;
  if (method && !METHODS.includes(method.type ?? "")) {
    // Compat: "Unsupported value" of `spec.distinguisherMethod.type` shows the whole FlowDistinguisherMethod.
    const shown = asGo(method, [["Type", "type", ""]]);
    errors.push(notSupportedField("spec.distinguisherMethod.type", shown, METHODS));
  }
  const path = "spec.priorityLevelConfiguration.name";
  const level = spec.priorityLevelConfiguration?.name ?? "";
  if (level === "") errors.push(requiredField(path, "must reference a priority level"));
  else pushInvalid(errors, path, level, subdomainName(level));
  for (const [index, rule] of (spec.rules ?? []).entries()) addAll(errors, ruleErrors(rule, `spec.rules[${index}]`));
  const fixed = mandatoryObjects.schemas.find(({ metadata }) => metadata.name === name);
  if (fixed && !sameValue(spec, fixed.spec)) {
    errors.push(invalidField("spec", asGo(spec, SPEC_SHAPE), `spec of '${name}' must equal the fixed value`));
  }
  return errors;
}

/** FlowSchema: assigns requests to flows and to a PriorityLevelConfiguration. */
export const flowSchemaHooks: ResourceHooks = {
  setDefaults(schema) {
    const spec = specOf(schema);
    // Zero means unset.
    if (schema.spec !== undefined && !spec.matchingPrecedence) spec.matchingPrecedence = 1000;
  },
  validate(next, _previous, { subresource }) {
    if (subresource === "status") return flowConditionErrors(next);
    return [...specErrors(specOf(next), next.metadata.name ?? ""), ...flowConditionErrors(next)];
  },
};
