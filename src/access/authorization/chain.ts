import type { Attributes, Authorizer, Decision } from "../../base/api/attributes.ts";
import type { AccessRules, RuleResolver } from "../../base/api/identity.ts";
import type { UserInfo } from "../../base/api/user-info.ts";
import { type Eventually, proceed } from "../../base/util/eventually.ts";
import { joinErrors } from "./rbac.ts";

/** Members may do everything, regardless of roles and webhooks. */
const PRIVILEGED_GROUP = "system:masters";

/** An authorizer with the name that prefixes its reasons: its configured name, or its mode in lower case. */
export interface NamedAuthorizer {
  /** The mode. */
  readonly type: string;
  readonly name: string;
  readonly authorizer: Authorizer & RuleResolver;
}

const ALLOWED: Decision = { decision: "allow" };

/**
 * Runs authorizers in the configured order: the first one that allows or denies decides. Members of `system:masters`
 * are allowed before any authorizer runs; `rulesFor` does not include that.
 */
export class AuthorizerChain implements Authorizer, RuleResolver {
  #authorizers: readonly NamedAuthorizer[];
  readonly #decided: (authorizer: NamedAuthorizer, decision: "allow" | "deny") => void;

  /** `decided` is called with the authorizer that allowed or denied a request. */
  constructor(
    authorizers: readonly NamedAuthorizer[],
    decided: (authorizer: NamedAuthorizer, decision: "allow" | "deny") => void = () => {},
  ) {
    this.#authorizers = authorizers;
    this.#decided = decided;
  }

  /** Replaces the authorizers. */
  replace(authorizers: readonly NamedAuthorizer[]): void {
    this.#authorizers = authorizers;
  }

  authorize(attributes: Attributes): Eventually<Decision> {
    if (attributes.user.groups.includes(PRIVILEGED_GROUP)) return ALLOWED;
    return this.#askFrom(0, this.#authorizers, attributes, { reasons: [], errors: [] });
  }

  /** Runs the authorizers one after the other. Stays synchronous as long as they do. */
  #askFrom(
    at: number,
    authorizers: readonly NamedAuthorizer[],
    attributes: Attributes,
    opinions: Opinions,
  ): Eventually<Decision> {
    const one = authorizers[at];
    if (one === undefined) return undecided(opinions);
    return proceed(one.authorizer.authorize(attributes), (decided) => {
      if (decided.decision !== "noOpinion") {
        this.#decided(one, decided.decision);
        return decided;
      }
      // Compat: since 1.37 `unionAuthzHandler` prefixes reasons with the authorizer's name, unless the authorizer
      // decides.
      if (decided.reason) opinions.reasons.push(`${one.name}: ${decided.reason}`);
      if (decided.error !== undefined) opinions.errors.push(decided.error);
      return this.#askFrom(at + 1, authorizers, attributes, opinions);
    });
  }

  async rulesFor(user: UserInfo, namespace: string): Promise<AccessRules> {
    const all = await Promise.all(this.#authorizers.map(({ authorizer }) => authorizer.rulesFor(user, namespace)));
    const errors = all.flatMap(({ evaluationError }) => (evaluationError === undefined ? [] : [evaluationError]));
    return {
      resourceRules: all.flatMap(({ resourceRules }) => resourceRules),
      nonResourceRules: all.flatMap(({ nonResourceRules }) => nonResourceRules),
      incomplete: all.some(({ incomplete }) => incomplete),
      ...(errors.length > 0 && { evaluationError: joinErrors(errors) }),
    };
  }
}

/** Reasons and errors of the authorizers without an opinion. */
interface Opinions {
  readonly reasons: string[];
  readonly errors: string[];
}

function undecided({ reasons, errors }: Opinions): Decision {
  return {
    decision: "noOpinion",
    ...(reasons.length > 0 && { reason: reasons.join("\n") }),
    ...(errors.length > 0 && { error: joinErrors(errors) }),
  };
}
