import { type FieldError, invalidField, notSupportedField, requiredField } from "../../../base/api/field-error.ts";
import { pathSegment } from "../../../base/api/names.ts";
import { addAll } from "../../../base/util/add-all.ts";
import type { ResourceHooks } from "../../../resources/model/definition.ts";
import type { Binding, PolicyRule, Role, RoleRef, Subject } from "../../types/rbac.ts";
import { declaredHook } from "../shared-rules/declared.ts";
import { pushInvalid, subdomainName } from "../shared-rules/formats.ts";
import { asGo, type GoShape } from "../shared-rules/go-print.ts";
import { immutable } from "../shared-rules/immutable.ts";
import { validateLabelSelector } from "../shared-rules/label-selector.ts";

/** rbac.authorization.k8s.io, which may be served under another domain. */
const groupOf = (apiVersion: string): string => apiVersion.split("/")[0] ?? "";

const declaredOf = (kind: string) =>
  declaredHook(
    {
      PolicyRule: { fields: { verbs: { required: true } } },
      Subject: { fields: { name: { required: true } } },
    },
    (version) => `io.k8s.api.rbac.${version}.${kind}`,
  );

function isFilled(list: readonly unknown[] | undefined): boolean {
  return list !== undefined && list !== null && list.length > 0;
}

function pushRuleErrors(errors: FieldError[], path: string, rule: PolicyRule, isNamespaced: boolean): void {
  const urls = rule.nonResourceURLs;
  if (isFilled(urls)) {
    const field = `${path}.nonResourceURLs`;
    if (isNamespaced) errors.push(invalidField(field, urls, "namespaced rules cannot apply to non-resource URLs"));
    if (isFilled(rule.apiGroups) || isFilled(rule.resources) || isFilled(rule.resourceNames)) {
      errors.push(invalidField(field, urls, "rules cannot apply to both regular resources and non-resource URLs"));
    }
    return;
  }
  if (!isFilled(rule.apiGroups)) {
    errors.push(requiredField(`${path}.apiGroups`, "resource rules must supply at least one api group"));
  }
  if (!isFilled(rule.resources)) {
    errors.push(requiredField(`${path}.resources`, "resource rules must supply at least one resource"));
  }
}

function pushSelectorErrors(errors: FieldError[], next: Role, previous: Role | undefined): void {
  if (next.aggregationRule === undefined) return;
  const path = "aggregationRule.clusterRoleSelectors";
  const selectors = next.aggregationRule.clusterRoleSelectors ?? [];
  if (selectors.length === 0) {
    errors.push(requiredField(path, "at least one clusterRoleSelector required if aggregationRule is non-nil"));
  }
  const before = previous?.aggregationRule?.clusterRoleSelectors ?? [];
  const allowsInvalidValues = before.some((selector) => validateLabelSelector(selector, "").length > 0);
  for (const [index, selector] of selectors.entries()) {
    const at = `${path}[${index}]`;
    addAll(errors, validateLabelSelector(selector, at, { allowsInvalidValues }));
    // Compat: `ValidateClusterRole` reports a selector that `LabelSelectorAsSelector` rejects a second time, as
    // "invalid label selector." with null as its value.
    if (validateLabelSelector(selector, at).length > 0) {
      errors.push(invalidField(at, null, "invalid label selector."));
    }
  }
}

/** Role and ClusterRole: PolicyRules for one namespace, or for the cluster. */
export function roleHooks(kind: "Role" | "ClusterRole"): ResourceHooks {
  const declared = declaredOf(kind);
  return {
    validate(next, previous, context) {
      const errors: FieldError[] = [];
      const role = next as Role;
      for (const [index, rule] of (role.rules ?? []).entries()) {
        pushRuleErrors(errors, `rules[${index}]`, rule, kind === "Role");
      }
      if (kind === "ClusterRole") pushSelectorErrors(errors, role, previous as Role | undefined);
      return [...errors, ...declared(next, previous, context)];
    },
  };
}

const SUBJECT_KINDS = ["ServiceAccount", "User", "Group"];

interface Surroundings {
  readonly group: string;
  readonly isNamespaced: boolean;
}

function pushSubjectErrors(errors: FieldError[], path: string, subject: Subject, around: Surroundings): void {
  const { kind = "", apiGroup = "", name = "", namespace = "" } = subject;
  const { group, isNamespaced } = around;
  if (kind === "ServiceAccount") {
    if (name !== "") pushInvalid(errors, `${path}.name`, name, subdomainName(name));
    if (apiGroup !== "") errors.push(notSupportedField(`${path}.apiGroup`, apiGroup, [""]));
    if (!isNamespaced && namespace === "") errors.push(requiredField(`${path}.namespace`));
  } else if (!SUBJECT_KINDS.includes(kind)) {
    errors.push(notSupportedField(`${path}.kind`, kind, SUBJECT_KINDS));
  } else if (apiGroup !== group) {
    errors.push(notSupportedField(`${path}.apiGroup`, apiGroup, [group]));
  }
}

function pushReferenceErrors(errors: FieldError[], reference: RoleRef, group: string, kinds: readonly string[]): void {
  const { apiGroup = "", kind = "", name = "" } = reference;
  if (apiGroup !== group) errors.push(notSupportedField("roleRef.apiGroup", apiGroup, [group]));
  if (!kinds.includes(kind)) errors.push(notSupportedField("roleRef.kind", kind, kinds));
  if (name !== "") pushInvalid(errors, "roleRef.name", name, pathSegment(name));
}

const NO_ROLE = requiredField("roleRef.name");
const REFERENCE: GoShape = [
  ["APIGroup", "apiGroup", ""],
  ["Kind", "kind", ""],
  ["Name", "name", ""],
];

/** RoleBinding and ClusterRoleBinding: the subjects that have a role in one namespace, or in the cluster. */
export function bindingHooks(kind: "RoleBinding" | "ClusterRoleBinding"): ResourceHooks {
  const isNamespaced = kind === "RoleBinding";
  const roleKinds = isNamespaced ? ["Role", "ClusterRole"] : ["ClusterRole"];
  const declared = declaredOf(kind);
  return {
    setDefaults(object, apiVersion) {
      const { roleRef, subjects } = object as Binding;
      const group = groupOf(apiVersion);
      if (roleRef && !roleRef.apiGroup) roleRef.apiGroup = group;
      for (const subject of subjects ?? []) {
        if (!subject.apiGroup && (subject.kind === "User" || subject.kind === "Group")) subject.apiGroup = group;
      }
    },
    validate(next, previous, context) {
      const errors: FieldError[] = [];
      const { roleRef = {}, subjects } = next as Binding;
      const group = groupOf(context.apiVersion);
      pushReferenceErrors(errors, roleRef, group, roleKinds);
      // Compat: the error for a missing `roleRef.name` comes before the errors of `subjects` in an update, and after
      // all others in a create.
      if (previous && !roleRef.name) errors.push(NO_ROLE);
      for (const [index, subject] of (subjects ?? []).entries()) {
        pushSubjectErrors(errors, `subjects[${index}]`, subject, { group, isNamespaced });
      }
      if (previous) {
        const print = () => asGo(roleRef, REFERENCE);
        addAll(errors, immutable(roleRef, (previous as Binding).roleRef, "roleRef", print));
      }
      addAll(errors, declared(next, previous, context));
      if (!previous && !roleRef.name) errors.push(NO_ROLE);
      return errors;
    },
  };
}
