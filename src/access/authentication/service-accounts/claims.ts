import { isObject, type Json, type JsonObject } from "../../../base/api/object.ts";
import { getMember } from "../../../base/util/members.ts";
import { AuthenticationError } from "../authenticator.ts";

/** The registered claims of a JSON Web Token (RFC 7519). Times are in seconds since the epoch. */
export interface PublicClaims {
  readonly issuer: string;
  readonly subject: string;
  readonly audiences: readonly string[];
  readonly id: string;
  readonly expires?: number;
  readonly notBefore?: number;
  readonly issuedAt?: number;
}

/** An object that a token is bound to. */
export interface ObjectClaim {
  readonly name: string;
  readonly uid: string;
}

/** The claim `kubernetes.io` of tokens from TokenRequests. */
export interface KubernetesClaims {
  readonly namespace: string;
  readonly account: ObjectClaim;
  readonly pod?: ObjectClaim;
  readonly secret?: ObjectClaim;
  readonly node?: ObjectClaim;
  readonly warnAfter?: number;
}

/** Reads the registered claims. Throws AuthenticationError for a claim of the wrong type. */
export function publicClaims(claims: JsonObject): PublicClaims {
  return {
    issuer: textOf(claims, "iss"),
    subject: textOf(claims, "sub"),
    audiences: audiencesOf(claims.aud),
    id: textOf(claims, "jti"),
    expires: secondsOf(claims, "exp"),
    notBefore: secondsOf(claims, "nbf"),
    issuedAt: secondsOf(claims, "iat"),
  };
}

/**
 * Reads the claim `kubernetes.io`. Missing texts are empty. Throws AuthenticationError for a member of the wrong type.
 */
export function kubernetesClaims(claims: JsonObject): KubernetesClaims {
  const own = objectOf(claims, "kubernetes.io") ?? {};
  const reference = (member: string): ObjectClaim | undefined => {
    const found = objectOf(own, member);
    return found && { name: textOf(found, "name"), uid: textOf(found, "uid") };
  };
  return {
    namespace: textOf(own, "namespace"),
    account: reference("serviceaccount") ?? { name: "", uid: "" },
    pod: reference("pod"),
    secret: reference("secret"),
    node: reference("node"),
    warnAfter: secondsOf(own, "warnafter"),
  };
}

/** The text of a claim. Empty if absent. Throws AuthenticationError if it is not a string. */
export function textOf(claims: JsonObject, name: string): string {
  const value = getMember(claims, name) ?? "";
  if (typeof value !== "string") throw unreadable(name);
  return value;
}

function secondsOf(claims: JsonObject, name: string): number | undefined {
  const value = getMember(claims, name);
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "number") throw unreadable(name);
  return Math.trunc(value);
}

function objectOf(claims: JsonObject, name: string): JsonObject | undefined {
  const value = getMember(claims, name);
  if (value === undefined || value === null) return undefined;
  if (!isObject(value)) throw unreadable(name);
  return value;
}

function audiencesOf(value: Json | undefined): readonly string[] {
  if (value === undefined || value === null) return [];
  const list = Array.isArray(value) ? value : [value];
  const texts = list.filter((item) => typeof item === "string");
  if (texts.length !== list.length) {
    throw new AuthenticationError("go-jose/go-jose/jwt: expected string or array value to unmarshal to Audience");
  }
  return texts;
}

/** Only the owner of a signing key can create such a token. */
const unreadable = (name: string) =>
  new AuthenticationError(`claim ${name} of the service account token has the wrong type`);
