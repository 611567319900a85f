import {
  type Attributes,
  type Authorizer,
  nonResourceAttributes,
  resourceAttributes,
  selectorAttributes,
} from "../../../base/api/attributes.ts";
import type { UserInfo } from "../../../base/api/user-info.ts";
import type { Check, CheckAttributes, CheckResult } from "../../../data/cel/kubernetes/authorizer.ts";

/** Aborts an evaluation that needs a decision of the authorizer first. */
class Unanswered extends Error {
  readonly wanted: CheckAttributes;

  constructor(wanted: CheckAttributes) {
    super("the decision of the authorizer is not known yet");
    this.wanted = wanted;
  }
}

/**
 * The authorizer's decisions for the expressions of one request. CEL evaluation is synchronous, authorizers are not. An
 * expression that needs a new decision is evaluated again when the decision is there. The cost limit of expressions
 * bounds the number of repetitions. Upstream: `caching_authorizer`.
 */
export class AuthorizerAnswers {
  readonly #authorizer: Authorizer;
  readonly #user: UserInfo;
  readonly #known = new Map<string, CheckResult>();

  constructor(authorizer: Authorizer, user: UserInfo) {
    this.#authorizer = authorizer;
    this.#user = user;
  }

  /** Implements the variables `authorizer` and `authorizer.requestResource`. */
  readonly check: Check = (wanted) => {
    const known = this.#known.get(JSON.stringify(wanted));
    if (known) return known;
    throw new Unanswered(wanted);
  };

  /** Evaluates synchronously. Returns undefined if a decision is missing; use `complete` then. */
  now<T>(evaluate: () => T): T | undefined {
    try {
      return evaluate();
    } catch (error) {
      if (error instanceof Unanswered) return undefined;
      throw error;
    }
  }

  /** Evaluates, and fetches the missing decisions. */
  async complete<T>(evaluate: () => T): Promise<T> {
    for (;;) {
      let wanted: CheckAttributes;
      try {
        return evaluate();
      } catch (error) {
        if (!(error instanceof Unanswered)) throw error;
        wanted = error.wanted;
      }
      this.#known.set(JSON.stringify(wanted), await this.#ask(wanted));
    }
  }

  async #ask(wanted: CheckAttributes): Promise<CheckResult> {
    const { decision, reason = "", error } = await this.#authorizer.authorize(this.#attributes(wanted));
    return { isAllowed: decision === "allow", reason, ...(error !== undefined && { error }) };
  }

  #attributes(wanted: CheckAttributes): Attributes {
    const user = wanted.serviceAccount ? accountUser(wanted.serviceAccount) : this.#user;
    const { verb, path, group = "", resource = "" } = wanted;
    if (path !== undefined) return nonResourceAttributes(user, verb, path);
    const { subresource = "", namespace = "", name = "" } = wanted;
    const selectors = selectorAttributes(wanted.fieldSelector, wanted.labelSelector);
    return resourceAttributes(user, { verb, apiGroup: group, resource, subresource, namespace, name, ...selectors });
  }
}

/** Compat: `ServiceAccountInfo.UserInfo`, which does not have the group `system:authenticated`. */
function accountUser({ namespace, name }: { readonly namespace: string; readonly name: string }): UserInfo {
  return {
    name: `system:serviceaccount:${namespace}:${name}`,
    groups: ["system:serviceaccounts", `system:serviceaccounts:${namespace}`],
  };
}
