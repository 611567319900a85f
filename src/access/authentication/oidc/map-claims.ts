import { isObject, type Json, type JsonObject } from "../../../base/api/object.ts";
import type { UserInfo } from "../../../base/api/user-info.ts";
import { getMember } from "../../../base/util/members.ts";
import { itemsOf } from "../../../data/cel/values/lists.ts";
import { ListValue, TextList, type Value } from "../../../data/cel/values/value.ts";
import { AuthenticationError } from "../authenticator.ts";
import { CREDENTIAL_ID } from "../x509/client-certificates.ts";
import type { JwtAuthenticator, PrefixedClaimOrExpression } from "./configuration.ts";
import { type CompiledExpression, compileExpression } from "./expressions.ts";

/** Maps the claims of a verified token to a user. Throws AuthenticationError. */
export type MapClaims = (claims: JsonObject) => UserInfo;

/**
 * Compiles the claim mappings and validation rules of a configuration. Throws an Error if an expression does not
 * compile.
 */
export function claimMapping(configuration: JwtAuthenticator): MapClaims {
  const { claimMappings, claimValidationRules, userValidationRules } = configuration;
  const { username, groups, uid, extra } = claimMappings;
  const compiled = (expression = "", isCondition = false): CompiledExpression | undefined =>
    expression === "" ? undefined : compileExpression(expression, { variable: "claims", isCondition });
  const usernameExpression = compiled(username.expression);
  const groupsExpression = compiled(groups.expression);
  const uidExpression = compiled(uid.expression);
  const extraExpressions = extra.map(({ key, valueExpression }) => ({
    key,
    expression: valueExpression,
    value: compileExpression(valueExpression, { variable: "claims", isCondition: false }),
  }));
  const claimRules = claimValidationRules.map((rule) => ({ ...rule, compiled: compiled(rule.expression, true) }));
  const userRules = userValidationRules.map((rule) => ({
    ...rule,
    compiled: compileExpression(rule.expression, { variable: "user", isCondition: true }),
  }));
  return (claims) => {
    refuseDistributed(groups, claims);
    const name = usernameExpression ? evaluatedName(usernameExpression, claims) : claimedName(username, claims);
    const found = groupsExpression
      ? texts(evaluate(groupsExpression, { claims }, "group claim"), "group claim expression")
      : claimedGroups(groups, claims);
    const id = uidExpression
      ? text(evaluate(uidExpression, { claims }, "uid claim"), "uid claim")
      : uidOf(uid.claim, claims);
    // Compat: getExtra returns an error of EvalClaimMappings unchanged, before it looks at any value.
    const evaluated = extraExpressions.map(({ value, ...rest }) => ({
      ...rest,
      value: evaluatePlainly(value, { claims }),
    }));
    const more = Object.fromEntries(
      [
        ...credentialId(claims),
        ...evaluated.map(({ key, expression, value }): [string, string[]] => [
          key,
          texts(value, `extra claim expression: ${expression}`),
        ]),
      ].filter(([, values]) => values.length > 0),
    );
    const user: UserInfo = {
      name,
      ...(id === "" ? {} : { uid: id }),
      groups: found,
      ...(Object.keys(more).length === 0 ? {} : { extra: more }),
    };
    for (const rule of claimRules) checkClaim(rule, claims);
    for (const rule of userRules) demand(rule, rule.compiled, { user: userValue(user) }, "user info validation rule");
    return user;
  };
}

function claimedName({ claim = "", prefix = "" }: PrefixedClaimOrExpression, claims: JsonObject): string {
  const name = claimText(claims, claim, `parse username claims "${claim}"`);
  if (claim === "email" && Object.hasOwn(claims, "email_verified")) {
    const { email_verified: verified = null } = claims;
    if (verified !== null && typeof verified !== "boolean") {
      throw refusal(`parse 'email_verified' claim: ${unmarshal(verified, "bool")}`);
    }
    if (verified !== true) throw refusal("email not verified");
  }
  return prefix + name;
}

/** Compat: `stringOrArray` accepts a string as a list with one item. */
function claimedGroups({ claim = "", prefix = "" }: PrefixedClaimOrExpression, claims: JsonObject): string[] {
  const value = claim === "" ? undefined : getMember(claims, claim);
  if (value === undefined || value === null) return [];
  const list = typeof value === "string" ? [value] : value;
  if (!Array.isArray(list)) throw refusal(`parse groups claim "${claim}": ${unmarshal(value, "string")}`);
  return list.map((group) => {
    if (group !== null && typeof group !== "string") {
      throw refusal(`parse groups claim "${claim}": ${unmarshal(value, "string")}`);
    }
    return prefix + (group ?? "");
  });
}

/**
 * Differs: distributed claims (`_claim_names`) are not fetched. Such a token is rejected, because a user without all
 * groups could have too many rights.
 */
function refuseDistributed({ claim = "" }: PrefixedClaimOrExpression, claims: JsonObject): void {
  if (claim === "" || Object.hasOwn(claims, claim)) return;
  const names = claims._claim_names;
  if (isObject(names) && Object.hasOwn(names, claim)) {
    throw refusal("could not expand distributed claims: distributed claims are not supported");
  }
}

function uidOf(claim = "", claims: JsonObject): string {
  return claim === "" ? "" : claimText(claims, claim, `parse uid claim "${claim}"`);
}

function credentialId({ jti }: JsonObject): [string, string[]][] {
  return typeof jti === "string" && jti !== "" ? [[CREDENTIAL_ID, [`JTI=${jti}`]]] : [];
}

interface ClaimRule {
  readonly claim?: string;
  readonly requiredValue?: string;
  readonly expression?: string;
  readonly message?: string;
  readonly compiled: CompiledExpression | undefined;
}

function checkClaim(rule: ClaimRule, claims: JsonObject): void {
  const { claim = "", requiredValue = "", compiled } = rule;
  if (compiled) {
    demand(rule, compiled, { claims }, "claim validation expression");
    return;
  }
  if (!Object.hasOwn(claims, claim)) throw refusal(`required claim ${claim} not present in ID token`);
  const value = claimText(claims, claim, `parse claim ${claim}`);
  if (value === requiredValue) return;
  throw refusal(`required claim ${claim} value does not match. Got = ${value}, want = ${requiredValue}`);
}

/** A claim that must be a string. Null counts as empty, like in Go. */
function claimText(claims: JsonObject, claim: string, context: string): string {
  const value = getMember(claims, claim);
  if (value === undefined) throw refusal(`${context}: claim not present`);
  if (value !== null && typeof value !== "string") throw refusal(`${context}: ${unmarshal(value, "string")}`);
  return value ?? "";
}

function unmarshal(value: Json, type: string): string {
  const found = Array.isArray(value) ? "array" : typeof value === "boolean" ? "bool" : typeof value;
  return `json: cannot unmarshal ${found} into Go value of type ${type}`;
}

function evaluatedName(expression: CompiledExpression, claims: JsonObject): string {
  const name = text(evaluate(expression, { claims }, "username claim"), "username claim");
  if (name === "") throw refusal("empty username via CEL expression is not allowed");
  return name;
}

function evaluate(expression: CompiledExpression, variables: JsonObject, what: string): Value {
  try {
    return expression.evaluate(variables);
  } catch (error) {
    throw refusal(`error evaluating ${what} expression: ${error instanceof Error ? error.message : ""}`);
  }
}

function evaluatePlainly(expression: CompiledExpression, variables: JsonObject): Value {
  try {
    return expression.evaluate(variables);
  } catch (error) {
    throw new AuthenticationError(error instanceof Error ? error.message : "");
  }
}

function text(value: Value, what: string): string {
  if (typeof value === "string") return value;
  throw refusal(`error evaluating ${what} expression: ${what} expression must return a string`);
}

/**
 * Upstream: `convertCELValueToStringList`: accepts a string or a list of strings, drops empty ones; null is an empty
 * list.
 */
function texts(value: Value, what: string): string[] {
  const wrong = () => refusal(`error evaluating ${what}: expression must return a string or a list of strings`);
  // Compat: `convertCELValueToStringList` rejects a Go slice of strings, such as the result of split().
  if (value instanceof TextList) throw wrong();
  const list = value === null ? [] : value instanceof ListValue ? itemsOf(value) : [value];
  return list.flatMap((item) => {
    if (typeof item === "string") return item === "" ? [] : [item];
    throw wrong();
  });
}

type Condition = Pick<ClaimRule, "expression" | "message">;

function demand(
  { expression = "", message = "" }: Condition,
  compiled: CompiledExpression,
  variables: JsonObject,
  what: string,
): void {
  let result: Value;
  try {
    result = compiled.evaluate(variables);
  } catch (error) {
    throw refusal(`error evaluating ${what}: ${error instanceof Error ? error.message : ""}`);
  }
  if (result !== true) {
    throw refusal(`error evaluating ${what}: validation expression '${expression}' failed: ${message}`);
  }
}

function userValue({ name, uid = "", groups, extra = {} }: UserInfo): JsonObject {
  const lists = Object.fromEntries(Object.entries(extra).map(([key, values]) => [key, [...values]]));
  return { username: name, uid, groups: [...groups], extra: lists };
}

function refusal(message: string): AuthenticationError {
  return new AuthenticationError(`oidc: ${message}`);
}
