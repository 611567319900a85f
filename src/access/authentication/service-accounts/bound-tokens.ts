import type { KubeObject } from "../../../base/api/object.ts";
import type { UserInfo } from "../../../base/api/user-info.ts";
import { AuthenticationError } from "../authenticator.ts";
import { serviceAccountUser } from "../own-users.ts";
import type { KubernetesClaims, ObjectClaim, PublicClaims } from "./claims.ts";
import type { LiveObjects } from "./live-objects.ts";

/** Compat: `jwt.DefaultLeeway` for clock skew. Deleted objects still count as existing for this long. */
const LEEWAY_MS = 60_000;
const INVALIDATED = "service account token has been invalidated";

/** The user of a token from a TokenRequest, and the audit annotations of its use. */
export interface BoundUser {
  readonly user: UserInfo;
  readonly annotations: Readonly<Record<string, string>>;
}

/**
 * Checks the times of the token, and that the service account and the objects that it is bound to still exist with the
 * same uid. Upstream: `validator.Validate`. Throws AuthenticationError.
 */
export async function validateBound(
  common: PublicClaims,
  own: KubernetesClaims,
  objects: LiveObjects,
  nowMs: number,
): Promise<BoundUser> {
  checkTimes(common, nowMs);
  const { namespace, account, pod, secret, node } = own;
  checkAccount(await objects.find("serviceaccounts", namespace, account.name), own, nowMs);
  const check = async (kind: string, plural: string, within: string, claim: ObjectClaim) =>
    checkObject(await objects.find(plural, within, claim.name), kind, claim, nowMs);
  if (secret) await check("secret", "secrets", namespace, secret);
  if (pod) await check("pod", "pods", namespace, pod);
  // The node of a pod-bound token is only informational: where the pod ran when the token was signed.
  else if (node) await check("node", "nodes", "", node);
  const user = serviceAccountUser(namespace, account.name);
  return { user: { ...user, uid: account.uid, extra: extraOf(common, own) }, annotations: stale(common, own, nowMs) };
}

function checkTimes({ notBefore, expires, issuedAt }: PublicClaims, nowMs: number): void {
  const isAfter = (seconds: number | undefined) => seconds !== undefined && nowMs + LEEWAY_MS < seconds * 1000;
  if (isAfter(notBefore)) throw new AuthenticationError("service account token is not valid yet");
  if (expires !== undefined && nowMs - LEEWAY_MS > expires * 1000) {
    throw new AuthenticationError("service account token has expired");
  }
  if (isAfter(issuedAt)) throw new AuthenticationError("service account token is issued in the future");
}

function checkAccount(found: KubeObject | undefined, { namespace, account }: KubernetesClaims, nowMs: number): void {
  if (!found) throw new AuthenticationError(`serviceaccounts "${account.name}" not found`);
  const { uid = "" } = found.metadata;
  if (uid !== account.uid) {
    throw new AuthenticationError(`service account UID (${uid}) does not match claim (${account.uid})`);
  }
  if (isGone(found, nowMs))
    throw new AuthenticationError(`service account ${namespace}/${account.name} has been deleted`);
}

function checkObject(found: KubeObject | undefined, kind: string, claim: ObjectClaim, nowMs: number): void {
  if (!found) throw new AuthenticationError(INVALIDATED);
  const { uid = "" } = found.metadata;
  if (uid !== claim.uid) {
    throw new AuthenticationError(
      `${kind} UID (${uid}) does not match service account ${kind} ref claim (${claim.uid})`,
    );
  }
  if (isGone(found, nowMs)) throw new AuthenticationError(INVALIDATED);
}

function isGone({ metadata }: KubeObject, nowMs: number): boolean {
  const { deletionTimestamp } = metadata;
  return deletionTimestamp !== undefined && Date.parse(deletionTimestamp) < nowMs - LEEWAY_MS;
}

/** Compat: the members and conditions of `ServiceAccountInfo.UserInfo`. */
function extraOf({ id }: PublicClaims, { pod, node }: KubernetesClaims): Record<string, readonly string[]> {
  const extra: Record<string, readonly string[]> = {};
  const set = (name: string, value: string) => {
    extra[`authentication.kubernetes.io/${name}`] = [value];
  };
  if (id !== "") set("credential-id", `JTI=${id}`);
  if (node && node.name !== "") {
    set("node-name", node.name);
    if (node.uid !== "") set("node-uid", node.uid);
  }
  if (pod && pod.name !== "" && pod.uid !== "") {
    set("pod-name", pod.name);
    set("pod-uid", pod.uid);
  }
  return extra;
}

/** Audit annotation of a token that is only valid because of `--service-account-extend-token-expiration`. */
function stale({ subject }: PublicClaims, { warnAfter = 0 }: KubernetesClaims, nowMs: number): Record<string, string> {
  if (warnAfter === 0 || nowMs <= warnAfter * 1000) return {};
  const seconds = Math.floor(nowMs / 1000) - warnAfter;
  return { "authentication.k8s.io/stale-token": `subject: ${subject}, seconds after warning threshold: ${seconds}` };
}
