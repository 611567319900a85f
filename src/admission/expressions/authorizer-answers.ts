import {
  type Attributes,
  type Authorizer,
  nonResourceAttributes,
  resourceAttributes,
  selectorAttributes,
} from "../../api/attributes.ts";
import type { UserInfo } from "../../api/user-info.ts";
import type { Check, CheckAttributes, CheckResult } from "../../cel/kubernetes/authorizer.ts";

/** Ends an evaluation that needs an answer of the authorizer first. */
class Unanswered extends Error {
  readonly wanted: CheckAttributes;

  constructor(wanted: CheckAttributes) {
    super("the authorizer has not been asked yet");
    this.wanted = wanted;
  }
}

/**
 * What the authorizer says to the expressions of one request. Expressions are evaluated at once, authorizers answer later:
 * an expression that asks something new is evaluated again when the answer is there. Their cost limits how often that can
 * be. Upstream: `caching_authorizer`.
 */
export class AuthorizerAnswers {
  readonly #authorizer: Authorizer;
  readonly #user: UserInfo;
  readonly #known = new Map<string, CheckResult>();

  constructor(authorizer: Authorizer, user: UserInfo) {
    this.#authorizer = authorizer;
    this.#user = user;
  }

  /** For the variables `authorizer` and `authorizer.requestResource`. */
  readonly check: Check = (wanted) => {
    const known = this.#known.get(JSON.stringify(wanted));
    if (known) return known;
    throw new Unanswered(wanted);
  };

  /** Evaluates at once. Undefined: something has to be asked first, and `complete` does that. */
  now<T>(evaluate: () => T): T | undefined {
    try {
      return evaluate();
    } catch (error) {
      if (error instanceof Unanswered) return undefined;
      throw error;
    }
  }

  /** Evaluates, and asks what is asked on the way. */
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

/** Compat: `ServiceAccountInfo.UserInfo`, which is in no group `system:authenticated`. */
function accountUser({ namespace, name }: { readonly namespace: string; readonly name: string }): UserInfo {
  return {
    name: `system:serviceaccount:${namespace}:${name}`,
    groups: ["system:serviceaccounts", `system:serviceaccounts:${namespace}`],
  };
}
