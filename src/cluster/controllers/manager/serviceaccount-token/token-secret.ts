import type { JsonObject } from "../../../../base/api/object.ts";
import { ACCOUNT_TOKEN_TYPE, type Secret, type ServiceAccount } from "../../../../kinds/types/secret.ts";

const ACCOUNT_NAME = "kubernetes.io/service-account.name";
const ACCOUNT_UID = "kubernetes.io/service-account.uid";

/** A Secret, and the ServiceAccount that it names. `accountUid` is empty if the Secret has only the name. */
export interface TokenReference {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly account: string;
  readonly accountUid: string;
}

/** Returns which token of which ServiceAccount a Secret holds. Undefined if it is another kind of Secret. */
export function tokenReference({ type, metadata }: Secret): TokenReference | undefined {
  const { namespace = "", name = "", uid = "", annotations = {} } = metadata;
  const { [ACCOUNT_NAME]: account = "", [ACCOUNT_UID]: accountUid = "" } = annotations;
  if (type !== ACCOUNT_TOKEN_TYPE || account === "") return undefined;
  return { namespace, name, uid, account, accountUid };
}

/** Whether the reference is to this ServiceAccount, not to another one of the same name. */
export function refersTo({ accountUid }: TokenReference, { metadata }: ServiceAccount): boolean {
  return accountUid === "" || accountUid === metadata.uid;
}

/** What a Secret lacks. */
export interface Missing {
  readonly ca: boolean;
  readonly namespace: boolean;
  readonly token: boolean;
}

/** Returns what a Secret lacks. Undefined if it is complete. `rootCa` is the CA that it must hold, empty for none. */
export function missingIn({ data = {} }: Secret, rootCa: string): Missing | undefined {
  const ca = rootCa !== "" && data["ca.crt"] !== encode(rootCa);
  const namespace = (data.namespace ?? "") === "";
  const token = (data.token ?? "") === "";
  return ca || namespace || token ? { ca, namespace, token } : undefined;
}

/** Values for the members of `data` that a Secret lacks. */
export interface Content {
  readonly rootCa: string;
  /** Absent: the Secret has a token. */
  readonly token?: string;
}

/** Returns the Secret with the missing members and the annotations that name its ServiceAccount. */
export function completeSecret(
  secret: Secret,
  { metadata: account }: ServiceAccount,
  missing: Missing,
  { rootCa, token = "" }: Content,
): Secret {
  const { metadata, data } = secret;
  return {
    ...secret,
    metadata: {
      ...metadata,
      annotations: { ...metadata.annotations, [ACCOUNT_NAME]: account.name ?? "", [ACCOUNT_UID]: account.uid ?? "" },
    },
    data: {
      ...data,
      ...(missing.ca && { "ca.crt": encode(rootCa) }),
      ...(missing.namespace && { namespace: encode(metadata.namespace ?? "") }),
      ...(missing.token && { token: encode(token) }),
    },
  };
}

/** Compat: the claims of `LegacyClaims`, in the order in which Go prints them. Such a token never expires. */
export function legacyClaims(secret: Secret, { metadata }: ServiceAccount): JsonObject {
  const { namespace = "", name = "", uid = "" } = metadata;
  return {
    iss: "kubernetes/serviceaccount",
    "kubernetes.io/serviceaccount/namespace": namespace,
    "kubernetes.io/serviceaccount/secret.name": secret.metadata.name ?? "",
    "kubernetes.io/serviceaccount/service-account.name": name,
    "kubernetes.io/serviceaccount/service-account.uid": uid,
    sub: `system:serviceaccount:${namespace}:${name}`,
  };
}

const encode = (text: string): string => Buffer.from(text).toString("base64");
