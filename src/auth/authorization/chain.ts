import type { Attributes, Authorizer, Decision } from "../../api/attributes.ts";
import type { AccessRules, RuleResolver } from "../../api/identity.ts";
import type { UserInfo } from "../../api/user-info.ts";
import { type Eventually, proceed } from "../../lib/eventually.ts";
import { joinErrors } from "./rbac.ts";

/** Whoever is in it may do everything, whatever roles and webhooks say. */
const PRIVILEGED_GROUP = "system:masters";

/** An authorizer with the name that its reasons are told under: its own, or that of its mode in lower case. */
export interface NamedAuthorizer {
  /** The mode. */
  readonly type: string;
  readonly name: string;
  readonly authorizer: Authorizer & RuleResolver;
}

const ALLOWED: Decision = { decision: "allow" };

/**
 * Authorizers in the order in which they are configured: the first that allows or denies decides. Members of
 * `system:masters` are allowed before any of them is asked, and never appear in the rules.
 */
export class AuthorizerChain implements Authorizer, RuleResolver {
  #authorizers: readonly NamedAuthorizer[];
  readonly #decided: (authorizer: NamedAuthorizer, decision: "allow" | "deny") => void;

  /** `decided` hears who allowed or denied something. */
  constructor(
    authorizers: readonly NamedAuthorizer[],
    decided: (authorizer: NamedAuthorizer, decision: "allow" | "deny") => void = () => {},
  ) {
    this.#authorizers = authorizers;
    this.#decided = decided;
  }

  /** From now on these decide. */
  replace(authorizers: readonly NamedAuthorizer[]): void {
    this.#authorizers = authorizers;
  }

  authorize(attributes: Attributes): Eventually<Decision> {
    if (attributes.user.groups.includes(PRIVILEGED_GROUP)) return ALLOWED;
    return this.#askFrom(0, this.#authorizers, attributes, { reasons: [], errors: [] });
  }

  /** Asks one after the other, and waits only for those who do not know at once. */
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
      // Compat: since 1.37 `unionAuthzHandler` says whose reason it is, unless that one decides.
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

/** What those said who had no opinion. */
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
