import { ApiError } from "../../base/api/api-error.ts";
import type { Attributes, Authorizer, Decision } from "../../base/api/attributes.ts";
import type { AccessRules, RuleResolver } from "../../base/api/identity.ts";
import type { UserInfo } from "../../base/api/user-info.ts";
import type { PolicyRule } from "../../kinds/types/rbac.ts";
import { applyingSubject, describeBinding } from "./bindings-by-subject.ts";
import { questionOf } from "./policy-rules.ts";
import type { Grant, RoleIndex } from "./role-index.ts";

/** The PolicyRules of a user, and the errors of resolving them. */
export interface HeldRules {
  readonly rules: readonly PolicyRule[];
  /** One per binding whose role is missing. */
  readonly errors: readonly ApiError[];
}

const NO_OPINION: Decision = { decision: "noOpinion" };

/** The authorization mode RBAC: authorizes by roles and bindings. It allows or has no opinion. */
export class RbacAuthorizer implements Authorizer, RuleResolver {
  readonly #index: Pick<RoleIndex, "grants" | "rulesOf">;

  constructor(index: Pick<RoleIndex, "grants" | "rulesOf">) {
    this.#index = index;
  }

  authorize(attributes: Attributes): Decision {
    return this.decide(attributes);
  }

  /** Synchronous version of `authorize`. */
  decide(attributes: Attributes): Decision {
    const { user, namespace } = attributes;
    const question = questionOf(attributes);
    let hasErrors = false;
    for (const { binding, rules } of this.#index.grants(user, namespace)) {
      if (rules instanceof ApiError) {
        hasErrors = true;
        continue;
      }
      for (const rule of rules) {
        if (!rule.allows(question)) continue;
        const subject = applyingSubject(binding, user);
        const reason = subject && `RBAC: allowed by ${describeBinding(binding, subject)}`;
        return { decision: "allow", reason };
      }
    }
    if (!hasErrors) return NO_OPINION;
    return { decision: "noOpinion", reason: `RBAC: ${joinErrors(textsOf(this.heldRules(user, namespace)))}` };
  }

  /** All rules of a user in a namespace. Upstream: `RulesFor` of the AuthorizationRuleResolver. */
  heldRules(user: UserInfo, namespace: string): HeldRules {
    const held: PolicyRule[] = [];
    const errors: ApiError[] = [];
    for (const { rules } of this.#orderedGrants(user, namespace)) {
      if (rules instanceof ApiError) errors.push(rules);
      else for (const { source } of rules) held.push(source);
    }
    return { rules: held, errors };
  }

  /** The rules of the role that a binding in a namespace refers to. Undefined if the role does not exist. */
  rulesOfRole(
    roleRef: { readonly kind: string; readonly name: string },
    namespace: string,
  ): readonly PolicyRule[] | undefined {
    const rules = this.#index.rulesOf(roleRef, namespace);
    return rules instanceof ApiError ? undefined : rules.map(({ source }) => source);
  }

  async rulesFor(user: UserInfo, namespace: string): Promise<AccessRules> {
    const held = this.heldRules(user, namespace);
    const { rules } = held;
    const errors = textsOf(held);
    const resourceRules = rules.flatMap(({ verbs = [], apiGroups = [], resources = [], resourceNames }) =>
      resources.length === 0 ? [] : [{ verbs, apiGroups, resources, ...(resourceNames && { resourceNames }) }],
    );
    const nonResourceRules = rules.flatMap(({ verbs = [], nonResourceURLs = [] }) =>
      nonResourceURLs.length === 0 ? [] : [{ verbs, nonResourceURLs }],
    );
    const evaluationError = errors.length === 0 ? {} : { evaluationError: joinErrors(errors) };
    return { resourceRules, nonResourceRules, incomplete: false, ...evaluationError };
  }

  /** Every binding once: cluster role bindings by name, then role bindings by name. */
  #orderedGrants(user: UserInfo, namespace: string): Iterable<Grant> {
    const different = new Map<Grant["binding"], Grant>();
    for (const grant of this.#index.grants(user, namespace)) different.set(grant.binding, grant);
    const rank = ({ binding }: Grant) => (binding.kind === "ClusterRoleBinding" ? 0 : 1);
    return [...different.values()].sort(
      (one, other) => rank(one) - rank(other) || (one.binding.name < other.binding.name ? -1 : 1),
    );
  }
}

const textsOf = ({ errors }: HeldRules): string[] => errors.map(({ message }) => message);

/** Compat: formats errors like `utilerrors.NewAggregate`: each distinct message once, several in brackets. */
export function joinErrors(errors: readonly string[]): string {
  const texts = [...new Set(errors)];
  return texts.length === 1 ? (texts[0] ?? "") : `[${texts.join(", ")}]`;
}
