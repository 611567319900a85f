import { ApiError } from "../../../base/api/api-error.ts";
import type { Attributes, Authorizer } from "../../../base/api/attributes.ts";
import type { UserInfo } from "../../../base/api/user-info.ts";
import type { WantedUser } from "./headers.ts";
import { accountOfUser, checkIdentity, type IdentityChecks, nodeOfUser, refusalOf } from "./identity-checks.ts";

/** Result of an impersonation. */
export interface Impersonated {
  readonly user: UserInfo;
  /** The verb of the mode that allowed it, such as `impersonate:user-info`. Empty for the classic mode. */
  readonly constraint: string;
}

/** A mode of impersonation: one of KEP-5284, or the classic one with the verb `impersonate`. */
interface Mode {
  readonly checks: IdentityChecks;
  /** Prefix of the verb for the request itself. Absent in the classic mode, which does not check the action. */
  readonly onVerb?: string;
  applies(wanted: WantedUser, caller: UserInfo): boolean;
}

function constrained(name: string, applies: Mode["applies"], rewrite?: IdentityChecks["rewrite"]): Mode {
  const verb = `impersonate:${name}`;
  return { checks: { verb, isConstrained: true, rewrite }, onVerb: `impersonate-on:${name}:`, applies };
}

const isOnlyName = ({ uid, groups, extra }: WantedUser): boolean =>
  uid === "" && groups.length === 0 && Object.keys(extra).length === 0;

const NODE_NAME_KEY = "authentication.kubernetes.io/node-name";

/** Whether the caller is a service account whose token belongs to a pod on the node that it wants to impersonate. */
function isOwnNode(wanted: WantedUser, caller: UserInfo): boolean {
  const node = nodeOfUser(wanted.name);
  if (node === undefined || accountOfUser(caller.name) === undefined) return false;
  const [name, ...more] = caller.extra?.[NODE_NAME_KEY] ?? [];
  return name === node && more.length === 0;
}

/**
 * Compat: associatedNodeImpersonationAttributes. The authorizer only sees the keys of `extra`, and the right must cover
 * all nodes. So the decision does not depend on the node where a pod of the service account runs.
 */
function hideNode(attributes: Attributes): Attributes {
  const { user, verb } = attributes;
  const keys = Object.keys(user.extra ?? {}).toSorted();
  const extra = { "authentication.kubernetes.io/associated-node-keys": keys };
  const isAboutNode = verb === "impersonate:associated-node";
  return { ...attributes, user: { ...user, extra }, ...(isAboutNode && { name: "*" }) };
}

const CONSTRAINED_MODES: readonly Mode[] = [
  constrained("associated-node", (wanted, caller) => isOnlyName(wanted) && isOwnNode(wanted, caller), hideNode),
  constrained("arbitrary-node", (wanted) => isOnlyName(wanted) && nodeOfUser(wanted.name) !== undefined),
  constrained("serviceaccount", (wanted) => isOnlyName(wanted) && accountOfUser(wanted.name) !== undefined),
  constrained("user-info", ({ name }) => nodeOfUser(name) === undefined && accountOfUser(name) === undefined),
];

const CLASSIC: IdentityChecks = { verb: "impersonate", isConstrained: false };

/** Number of callers whose last successful mode is remembered. */
const MAX_REMEMBERED = 10_000;

/** Decides whether a caller may impersonate a user. */
export class Impersonator {
  readonly #authorizer: Authorizer;
  readonly #modes: readonly Mode[];
  /** By user name of the caller. The Map keeps insertion order, oldest first. */
  readonly #lastModes = new Map<string, Mode>();

  /** `isConstrained`: the feature gate ConstrainedImpersonation. */
  constructor(authorizer: Authorizer, isConstrained: boolean) {
    this.#authorizer = authorizer;
    const classic: Mode = { checks: { ...CLASSIC, asksUidLast: !isConstrained }, applies: () => true };
    this.#modes = isConstrained ? [...CONSTRAINED_MODES, classic] : [classic];
  }

  /**
   * Tries the modes in order. If no mode allows the impersonation, throws the 403 of the first one that applies.
   * Compat: like modeIndexCache, the mode that last allowed this caller is tried first, which shows in that message.
   * Differs: decisions are not cached for 10 s, so a revoked right is effective at once.
   */
  async impersonate(wanted: WantedUser, attributes: Attributes): Promise<Impersonated> {
    const caller = attributes.user;
    const last = this.#lastModes.get(caller.name);
    const ordered = last ? [last, ...this.#modes.filter((mode) => mode !== last)] : this.#modes;
    let refusal: unknown;
    for (const mode of ordered) {
      if (!mode.applies(wanted, caller)) continue;
      try {
        const user = await this.#check(mode, wanted, attributes);
        this.#remember(caller.name, mode);
        return { user, constraint: mode.checks.isConstrained ? mode.checks.verb : "" };
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        refusal ??= error;
      }
    }
    throw refusal;
  }

  async #check({ checks, onVerb }: Mode, wanted: WantedUser, attributes: Attributes): Promise<UserInfo> {
    if (onVerb !== undefined) {
      const asked = { ...attributes, verb: `${onVerb}${attributes.verb}` };
      const refusal = await refusalOf(this.#authorizer, checks.rewrite?.(asked) ?? asked);
      if (refusal) throw refusal;
    }
    return checkIdentity(this.#authorizer, checks, attributes.user, wanted);
  }

  #remember(name: string, mode: Mode): void {
    this.#lastModes.delete(name);
    this.#lastModes.set(name, mode);
    if (this.#lastModes.size <= MAX_REMEMBERED) return;
    const [oldest] = this.#lastModes.keys();
    if (oldest !== undefined) this.#lastModes.delete(oldest);
  }
}
