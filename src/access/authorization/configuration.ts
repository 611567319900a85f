import { readDuration } from "../../base/go/duration.ts";
import {
  type ConfigurationKinds,
  listOf,
  readConfigurationFile,
  struct,
  TEXT,
  YES_OR_NO,
} from "../../data/encoding/configuration-file.ts";
import type { AuthorizationConfig } from "./options.ts";

/** WebhookConfiguration: where and how an authorizer of the type Webhook sends its reviews. */
export interface WebhookConfiguration {
  readonly authorizedMs: number;
  readonly cacheAuthorizedRequests: boolean;
  readonly unauthorizedMs: number;
  readonly cacheUnauthorizedRequests: boolean;
  readonly timeoutMs: number;
  readonly subjectAccessReviewVersion: string;
  readonly matchConditionSubjectAccessReviewVersion: string;
  readonly failurePolicy: string;
  readonly connectionInfo: { readonly type: string; readonly kubeConfigFile?: string };
  readonly matchConditions: readonly string[];
}

/** AuthorizerConfiguration: one of the authorizers, in order. */
export interface AuthorizerConfiguration {
  readonly type: string;
  readonly name: string;
  readonly webhook?: WebhookConfiguration;
}

const WEBHOOK = struct("v1.WebhookConfiguration", {
  authorizedTTL: TEXT,
  cacheAuthorizedRequests: YES_OR_NO,
  unauthorizedTTL: TEXT,
  cacheUnauthorizedRequests: YES_OR_NO,
  timeout: TEXT,
  subjectAccessReviewVersion: TEXT,
  matchConditionSubjectAccessReviewVersion: TEXT,
  failurePolicy: TEXT,
  connectionInfo: struct("v1.WebhookConnectionInfo", { type: TEXT, kubeConfigFile: TEXT }),
  matchConditions: listOf(struct("v1.WebhookMatchCondition", { expression: TEXT })),
});

const KINDS: ConfigurationKinds = {
  group: "apiserver.config.k8s.io",
  versions: ["v1", "v1beta1", "v1alpha1"],
  schemas: new Map([
    [
      "AuthorizationConfiguration",
      struct("v1.AuthorizationConfiguration", {
        apiVersion: TEXT,
        kind: TEXT,
        authorizers: listOf(struct("v1.AuthorizerConfiguration", { type: TEXT, name: TEXT, webhook: WEBHOOK })),
      }),
    ],
  ]),
};

// Compat: `SetDefaults_WebhookConfiguration`.
const AUTHORIZED_MS = 300_000;
const UNAUTHORIZED_MS = 30_000;

interface Written {
  readonly type?: string;
  readonly name?: string;
  readonly webhook?: {
    readonly authorizedTTL?: string;
    readonly cacheAuthorizedRequests?: boolean;
    readonly unauthorizedTTL?: string;
    readonly cacheUnauthorizedRequests?: boolean;
    readonly timeout?: string;
    readonly subjectAccessReviewVersion?: string;
    readonly matchConditionSubjectAccessReviewVersion?: string;
    readonly failurePolicy?: string;
    readonly connectionInfo?: { readonly type?: string; readonly kubeConfigFile?: string };
    readonly matchConditions?: readonly { readonly expression?: string }[];
  };
}

/** Reads the file of `--authorization-config`. Throws an Error with kube-apiserver's message. */
export function readAuthorizationConfiguration(text: string): readonly AuthorizerConfiguration[] {
  try {
    // Compat: for `LoadFromData` an empty text is a configuration without authorizers.
    if (text === "") return [];
    const { value } = readConfigurationFile(text, KINDS);
    return ((value.authorizers ?? []) as readonly Written[]).map(completed);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`failed to load AuthorizationConfiguration from file: ${reason}`);
  }
}

function millisecondsOf(duration: string): number {
  const read = readDuration(duration);
  if (typeof read === "string") throw new Error(read);
  return Number(read) / 1e6;
}

/** Replaces absent fields by their defaults or Go's zero values. */
function completed({ type = "", name = "", webhook }: Written): AuthorizerConfiguration {
  if (!webhook) return { type, name };
  const { authorizedTTL, unauthorizedTTL, timeout, connectionInfo: { type: by = "", kubeConfigFile } = {} } = webhook;
  return {
    type,
    name,
    webhook: {
      authorizedMs: (authorizedTTL && millisecondsOf(authorizedTTL)) || AUTHORIZED_MS,
      cacheAuthorizedRequests: webhook.cacheAuthorizedRequests ?? true,
      unauthorizedMs: (unauthorizedTTL && millisecondsOf(unauthorizedTTL)) || UNAUTHORIZED_MS,
      cacheUnauthorizedRequests: webhook.cacheUnauthorizedRequests ?? true,
      timeoutMs: timeout === undefined ? 0 : millisecondsOf(timeout),
      subjectAccessReviewVersion: webhook.subjectAccessReviewVersion ?? "",
      matchConditionSubjectAccessReviewVersion: webhook.matchConditionSubjectAccessReviewVersion ?? "",
      failurePolicy: webhook.failurePolicy ?? "",
      connectionInfo: { type: by, ...(kubeConfigFile !== undefined && { kubeConfigFile }) },
      matchConditions: (webhook.matchConditions ?? []).map(({ expression = "" }) => expression),
    },
  };
}

const FLAGS_TIMEOUT_MS = 30_000;

/** Converts flags to a configuration. Upstream: `buildAuthorizationConfiguration`. */
export function authorizersOfFlags({
  modes,
  webhook,
}: Pick<AuthorizationConfig, "modes" | "webhook">): AuthorizerConfiguration[] {
  return modes.map((type) => {
    if (type !== "Webhook" || !webhook) return { type, name: type.toLowerCase() };
    const { configFile, version, authorizedMs, unauthorizedMs } = webhook;
    return {
      type,
      name: "default",
      webhook: {
        authorizedMs,
        cacheAuthorizedRequests: authorizedMs !== 0,
        unauthorizedMs,
        cacheUnauthorizedRequests: unauthorizedMs !== 0,
        timeoutMs: FLAGS_TIMEOUT_MS,
        subjectAccessReviewVersion: version,
        matchConditionSubjectAccessReviewVersion: "",
        failurePolicy: "NoOpinion",
        connectionInfo: { type: "KubeConfigFile", kubeConfigFile: configFile },
        matchConditions: [],
      },
    };
  });
}
