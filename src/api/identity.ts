import type { UserInfo } from "./call.ts";

/** What a bearer token is good for. */
export interface TokenVerdict {
  /** Whom it stands for; undefined when nobody vouches for it. */
  readonly user?: UserInfo;
  /** Those of the wanted audiences that it is meant for. */
  readonly audiences: readonly string[];
  /** Why it is refused, as far as that may be told. */
  readonly error?: string;
}

/** Something that somebody wants to do: to objects, or at a path of another kind. */
export type WantedAccess =
  | {
      readonly verb: string;
      readonly group: string;
      readonly version: string;
      readonly resource: string;
      readonly subresource: string;
      readonly namespace: string;
      readonly name: string;
    }
  | { readonly verb: string; readonly path: string };

/** Whether somebody may do something. */
export interface AccessVerdict {
  readonly allowed: boolean;
  /** Refused, whatever anybody else says. */
  readonly denied?: boolean;
  readonly reason?: string;
}

/** What somebody may do, as lists of rules in Kubernetes' form. */
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
}

/** Answers questions about callers, by what the server itself goes by. */
export interface Identities {
  /** Without audiences, those of the server itself are meant. */
  recognize(token: string, audiences: readonly string[]): Promise<TokenVerdict>;
  judge(user: UserInfo, wanted: WantedAccess): Promise<AccessVerdict>;
  rulesOf(user: UserInfo, namespace: string): Promise<AccessRules>;
}
