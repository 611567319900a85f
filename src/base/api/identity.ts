import type { Authorizer } from "./attributes.ts";
import type { UserInfo } from "./user-info.ts";

/** The result of a TokenReview. */
export interface TokenVerdict {
  /** The authenticated user. Undefined if the token is not valid. */
  readonly user?: UserInfo;
  /** The requested audiences that the token is valid for. */
  readonly audiences: readonly string[];
  /** Why the token was rejected, as far as the client may know. */
  readonly error?: string;
}

/** The status of a SelfSubjectRulesReview. */
export interface AccessRules {
  readonly resourceRules: readonly {
    readonly verbs: readonly string[];
    readonly apiGroups: readonly string[];
    readonly resources: readonly string[];
    readonly resourceNames?: readonly string[];
  }[];
  readonly nonResourceRules: readonly {
    readonly verbs: readonly string[];
    readonly nonResourceURLs: readonly string[];
  }[];
  /** There may be permissions that cannot be listed as rules. */
  readonly incomplete: boolean;
  /** An error during evaluation, such as a binding to a role that does not exist. */
  readonly evaluationError?: string;
}

/** Lists the permissions of a user in a namespace, as far as they can be listed without a specific request. */
export interface RuleResolver {
  rulesFor(user: UserInfo, namespace: string): Promise<AccessRules>;
}

/** Authenticates and authorizes like the server itself does, for review APIs. */
export interface Identities extends Authorizer, RuleResolver {
  /** If `audiences` is empty, the audiences of the server are used. */
  authenticateToken(token: string, audiences: readonly string[]): Promise<TokenVerdict>;
}
