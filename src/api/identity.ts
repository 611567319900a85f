import type { Authorizer } from "./attributes.ts";
import type { UserInfo } from "./user-info.ts";

/** The answer to a TokenReview. */
export interface TokenVerdict {
  /** Whom it stands for; undefined when nobody vouches for it. */
  readonly user?: UserInfo;
  /** Those of the wanted audiences that it is meant for. */
  readonly audiences: readonly string[];
  /** Why it is refused, as far as that may be told. */
  readonly error?: string;
}

/** The status of a SelfSubjectRulesReview: what somebody may do. */
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
  /** There may be more that cannot be told as rules. */
  readonly incomplete: boolean;
  /** What went wrong in finding them, such as a role that is bound and does not exist. */
  readonly evaluationError?: string;
}

/** Tells what somebody may do in a namespace, as far as that can be told without a question. */
export interface RuleResolver {
  rulesFor(user: UserInfo, namespace: string): Promise<AccessRules>;
}

/** Answers questions about callers, by what the server itself goes by. */
export interface Identities extends Authorizer, RuleResolver {
  /** Without audiences, those of the server itself are meant. */
  authenticateToken(token: string, audiences: readonly string[]): Promise<TokenVerdict>;
}
