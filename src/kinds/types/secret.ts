import type { KubeObject } from "../../base/api/object.ts";

/** A Secret. Values of `data` are in base64. */
export interface Secret extends KubeObject {
  readonly type?: string;
  readonly data?: Record<string, string>;
}

/** A ServiceAccount. */
export interface ServiceAccount extends KubeObject {
  readonly secrets?: { readonly name?: string }[];
}

/** The type of Secrets that hold the token of a ServiceAccount. */
export const ACCOUNT_TOKEN_TYPE = "kubernetes.io/service-account-token";
/** The type of Secrets that hold a bootstrap token. */
export const BOOTSTRAP_TOKEN_TYPE = "bootstrap.kubernetes.io/token";

/** The text of a member of `data`. Empty if absent. */
export function secretText({ data = {} }: Secret, member: string): string {
  return Buffer.from(data[member] ?? "", "base64").toString();
}
