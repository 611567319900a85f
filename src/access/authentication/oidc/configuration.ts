import type { JsonObject } from "../../../base/api/object.ts";
import {
  type ConfigurationKinds,
  listOf,
  readConfigurationFile,
  struct,
  TEXT,
  YES_OR_NO,
} from "../../../data/encoding/configuration-file.ts";

/** Source of a user attribute: a claim, or an expression over all claims. */
export interface ClaimOrExpression {
  readonly claim?: string;
  readonly expression?: string;
}

/** The same with a prefix for the value of the claim. */
export interface PrefixedClaimOrExpression extends ClaimOrExpression {
  readonly prefix?: string;
}

/** JWTAuthenticator: an issuer of tokens, and the mapping of its claims. */
export interface JwtAuthenticator {
  readonly issuer: {
    readonly url: string;
    readonly discoveryURL?: string;
    /** In PEM. If omitted, the system's CAs are used. */
    readonly certificateAuthority?: string;
    readonly audiences: readonly string[];
    readonly audienceMatchPolicy?: string;
    readonly egressSelectorType?: string;
  };
  readonly claimValidationRules: readonly {
    readonly claim?: string;
    readonly requiredValue?: string;
    readonly expression?: string;
    readonly message?: string;
  }[];
  readonly claimMappings: {
    readonly username: PrefixedClaimOrExpression;
    readonly groups: PrefixedClaimOrExpression;
    readonly uid: ClaimOrExpression;
    readonly extra: readonly { readonly key: string; readonly valueExpression: string }[];
  };
  readonly userValidationRules: readonly { readonly expression: string; readonly message?: string }[];
}

/** AuthenticationConfiguration, the file of `--authentication-config`. */
export interface AuthenticationConfiguration {
  readonly jwt: readonly JwtAuthenticator[];
  readonly anonymous?: { readonly enabled: boolean; readonly conditions: readonly { readonly path: string }[] };
}

const CLAIM_OR_EXPRESSION = { claim: TEXT, expression: TEXT };
const PREFIXED = struct("v1.PrefixedClaimOrExpression", { ...CLAIM_OR_EXPRESSION, prefix: TEXT });

const JWT_AUTHENTICATOR = struct("v1.JWTAuthenticator", {
  issuer: struct("v1.Issuer", {
    url: TEXT,
    discoveryURL: TEXT,
    certificateAuthority: TEXT,
    audiences: listOf(TEXT),
    audienceMatchPolicy: TEXT,
    egressSelectorType: TEXT,
  }),
  claimValidationRules: listOf(
    struct("v1.ClaimValidationRule", { claim: TEXT, requiredValue: TEXT, expression: TEXT, message: TEXT }),
  ),
  claimMappings: struct("v1.ClaimMappings", {
    username: PREFIXED,
    groups: PREFIXED,
    uid: struct("v1.ClaimOrExpression", CLAIM_OR_EXPRESSION),
    extra: listOf(struct("v1.ExtraMapping", { key: TEXT, valueExpression: TEXT })),
  }),
  userValidationRules: listOf(struct("v1.UserValidationRule", { expression: TEXT, message: TEXT })),
});

const KINDS: ConfigurationKinds = {
  group: "apiserver.config.k8s.io",
  versions: ["v1", "v1beta1", "v1alpha1"],
  schemas: new Map([
    [
      "AuthenticationConfiguration",
      struct("v1.AuthenticationConfiguration", {
        apiVersion: TEXT,
        kind: TEXT,
        jwt: listOf(JWT_AUTHENTICATOR),
        anonymous: struct("v1.AnonymousAuthConfig", {
          enabled: YES_OR_NO,
          conditions: listOf(struct("v1.AnonymousAuthCondition", { path: TEXT })),
        }),
      }),
    ],
  ]),
};

/** Reads the file of `--authentication-config`. Throws an Error with kube-apiserver's message. */
export function readAuthenticationConfiguration(text: string): AuthenticationConfiguration {
  const { value } = readConfigurationFile(text, KINDS);
  const { jwt = [], anonymous } = value as {
    jwt?: (Partial<JwtAuthenticator> & JsonObject)[];
    anonymous?: Partial<NonNullable<AuthenticationConfiguration["anonymous"]>>;
  };
  return {
    jwt: jwt.map(completed),
    ...(anonymous
      ? {
          anonymous: {
            enabled: anonymous.enabled ?? false,
            conditions: (anonymous.conditions ?? []).map(({ path = "" }) => ({ path })),
          },
        }
      : {}),
  };
}

/** Replaces absent fields by Go's zero values. */
function completed(given: Partial<JwtAuthenticator>): JwtAuthenticator {
  const { username = {}, groups = {}, uid = {}, extra = [] } = given.claimMappings ?? {};
  const { url = "", audiences = [], ...issuer } = given.issuer ?? {};
  return {
    issuer: { ...issuer, url, audiences },
    claimValidationRules: given.claimValidationRules ?? [],
    claimMappings: {
      username,
      groups,
      uid,
      extra: extra.map(({ key = "", valueExpression = "" }) => ({ key, valueExpression })),
    },
    userValidationRules: (given.userValidationRules ?? []).map(({ expression = "", message }) => ({
      expression,
      ...(message === undefined ? {} : { message }),
    })),
  };
}
