import { canonicalTime, TimeError } from "../../../../data/schema/decode-time.ts";
import { BOOTSTRAP_TOKEN_TYPE, type Secret, secretText } from "../../../../kinds/types/secret.ts";

/** The namespace of bootstrap tokens. */
export const TOKEN_NAMESPACE = "kube-system";

/** Whether a Secret holds a bootstrap token. */
export function isBootstrapToken({ type, metadata }: Secret): boolean {
  return type === BOOTSTRAP_TOKEN_TYPE && metadata.namespace === TOKEN_NAMESPACE;
}

/**
 * Milliseconds until a bootstrap token expires: Infinity for one that never does, 0 or less for an expired one. One whose
 * expiration cannot be parsed has expired.
 */
export function lifetimeMs(secret: Secret, nowMs: number): number {
  const text = secretText(secret, "expiration");
  if (text === "") return Number.POSITIVE_INFINITY;
  try {
    return Date.parse(canonicalTime(text)) - nowMs;
  } catch (error) {
    if (error instanceof TimeError) return 0;
    throw error;
  }
}

/** A token that signs the ConfigMap cluster-info. */
export interface SigningToken {
  readonly id: string;
  readonly secret: string;
}

const NAME = /^bootstrap-token-([a-z0-9]{6})$/;

/** The token of a Secret, if it may be used for signing. */
export function signingToken(secret: Secret, nowMs: number): SigningToken | undefined {
  const [, id] = NAME.exec(secret.metadata.name ?? "") ?? [];
  const token = secretText(secret, "token-secret");
  if (id === undefined || secretText(secret, "token-id") !== id || token === "") return undefined;
  if (lifetimeMs(secret, nowMs) <= 0 || secretText(secret, "usage-bootstrap-signing") !== "true") return undefined;
  return { id, secret: token };
}
