import {
  duplicateField,
  type FieldError,
  invalidField,
  printFieldError,
  requiredField,
  tooManyField,
} from "../../../base/api/field-error.ts";
import { pemBlocks } from "../../../base/pki/pem.ts";
import { trimRight } from "../../../base/util/trim-right.ts";
import { CertificateError, parseCertificate } from "../x509/certificate.ts";
import type { AuthenticationConfiguration, JwtAuthenticator, PrefixedClaimOrExpression } from "./configuration.ts";
import { type CompiledExpression, compileExpression, type ExpressionPurpose } from "./expressions.ts";

const MAX_ISSUERS = 64;

/** What a configuration is validated against. */
export interface ValidationContext {
  /** Issuers of service account tokens, which must not be configured here. */
  readonly disallowedIssuers: readonly string[];
}

/** Throws an Error with all validation errors. Compat: the messages of `ValidateAuthenticationConfiguration`. */
export function validateConfiguration(configuration: AuthenticationConfiguration, context: ValidationContext): void {
  const texts = [...new Set(errorsOf(configuration, context).map(printFieldError))];
  if (texts.length === 0) return;
  throw new Error(`invalid authentication configuration: ${texts.length === 1 ? texts[0] : `[${texts.join(", ")}]`}`);
}

function errorsOf({ jwt, anonymous }: AuthenticationConfiguration, context: ValidationContext): FieldError[] {
  if (jwt.length > MAX_ISSUERS) return [tooManyField("jwt", jwt.length, MAX_ISSUERS)];
  const errors: FieldError[] = [];
  const issuers = new Set<string>();
  const discoveries = new Set<string>();
  for (const [index, authenticator] of jwt.entries()) {
    const path = `jwt[${index}]`;
    errors.push(...authenticatorErrors(authenticator, path, context));
    const { url, discoveryURL = "" } = authenticator.issuer;
    if (issuers.has(url)) errors.push(duplicateField(`${path}.issuer.url`, url));
    issuers.add(url);
    if (discoveryURL === "") continue;
    if (discoveries.has(discoveryURL)) errors.push(duplicateField(`${path}.issuer.discoveryURL`, discoveryURL));
    discoveries.add(discoveryURL);
  }
  if (anonymous && !anonymous.enabled && anonymous.conditions.length > 0) {
    const shown = anonymous.conditions.map(({ path }) => ({ Path: path }));
    const text = "enabled should be set to true when conditions are defined";
    errors.push(invalidField("anonymous.conditions", shown, text));
  }
  return errors;
}

function authenticatorErrors(given: JwtAuthenticator, path: string, context: ValidationContext): FieldError[] {
  return [
    ...issuerErrors(given.issuer, `${path}.issuer`, context.disallowedIssuers),
    ...claimRuleErrors(given, `${path}.claimValidationRules`),
    ...mappingErrors(given, `${path}.claimMappings`),
    ...userRuleErrors(given, `${path}.userValidationRules`),
  ];
}

function issuerErrors(issuer: JwtAuthenticator["issuer"], path: string, disallowed: readonly string[]): FieldError[] {
  const { url, discoveryURL = "", audiences, audienceMatchPolicy: policy = "", certificateAuthority = "" } = issuer;
  const { egressSelectorType = "" } = issuer;
  const errors = url === "" ? [requiredField(`${path}.url`)] : urlErrors(url, `${path}.url`, disallowed);
  if (discoveryURL !== "") {
    if (url !== "" && trimRight(url, "/") === trimRight(discoveryURL, "/")) {
      errors.push(invalidField(`${path}.discoveryURL`, discoveryURL, "discoveryURL must be different from URL"));
    }
    errors.push(...urlErrors(discoveryURL, `${path}.discoveryURL`, []));
  }
  errors.push(...audienceErrors(audiences, policy, path));
  if (certificateAuthority !== "" && !holdsCertificates(certificateAuthority)) {
    const text = "data does not contain any valid RSA or ECDSA certificates";
    errors.push(invalidField(`${path}.certificateAuthority`, "<omitted>", text));
  }
  if (egressSelectorType !== "") {
    const isKnown = egressSelectorType === "controlplane" || egressSelectorType === "cluster";
    const text = isKnown
      ? "egress selectors are not supported"
      : "egress selector must be either controlplane or cluster";
    errors.push(invalidField(`${path}.egressSelectorType`, egressSelectorType, text));
  }
  return errors;
}

function audienceErrors(audiences: readonly string[], policy: string, path: string): FieldError[] {
  if (audiences.length === 0) {
    return [requiredField(`${path}.audiences`, `at least one ${path}.audiences is required`)];
  }
  const errors: FieldError[] = [];
  for (const [index, audience] of audiences.entries()) {
    const at = `${path}.audiences[${index}]`;
    if (audience === "") errors.push(requiredField(at));
    if (audiences.indexOf(audience) < index) errors.push(duplicateField(at, audience));
  }
  const policyPath = `${path}.audienceMatchPolicy`;
  if (audiences.length > 1 && policy !== "MatchAny") {
    errors.push(invalidField(policyPath, policy, "audienceMatchPolicy must be MatchAny for multiple audiences"));
  }
  if (audiences.length === 1 && policy !== "" && policy !== "MatchAny") {
    errors.push(invalidField(policyPath, policy, "audienceMatchPolicy must be empty or MatchAny for single audience"));
  }
  return errors;
}

function urlErrors(text: string, path: string, disallowed: readonly string[]): FieldError[] {
  const errors: FieldError[] = [];
  const wrong = (reason: string): void => void errors.push(invalidField(path, text, reason));
  if (disallowed.includes(text)) {
    wrong(`URL must not overlap with disallowed issuers: [${[...disallowed].sort().join(" ")}]`);
  }
  const url = URL.parse(text);
  if (url === null && /^https?:/i.test(text)) wrong(`parse "${text}": invalid URL`);
  else if (url?.protocol !== "https:") wrong("URL scheme must be https");
  if (url?.username || url?.password) wrong("URL must not contain a username or password");
  if (url?.search) wrong("URL must not contain a query");
  if (url?.hash) wrong("URL must not contain a fragment");
  return errors;
}

function holdsCertificates(text: string): boolean {
  const blocks = [...pemBlocks(text)].filter(({ type }) => type === "CERTIFICATE");
  try {
    return blocks.map(({ bytes }) => parseCertificate(bytes)).length > 0;
  } catch (error) {
    if (error instanceof CertificateError) return false;
    throw error;
  }
}

function claimRuleErrors({ claimValidationRules }: JwtAuthenticator, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const claims = new Set<string>();
  const expressions = new Set<string>();
  for (const [index, rule] of claimValidationRules.entries()) {
    const at = `${path}[${index}]`;
    const { claim = "", expression = "", message = "", requiredValue = "" } = rule;
    if (claim !== "" && expression !== "") {
      errors.push(invalidField(at, claim, "claim and expression can't both be set"));
    } else if (claim === "" && expression === "") {
      errors.push(requiredField(at, "claim or expression is required"));
    } else if (claim !== "") {
      if (message !== "") errors.push(invalidField(`${at}.message`, message, "may not be specified when claim is set"));
      if (claims.has(claim)) errors.push(duplicateField(`${at}.claim`, claim));
      claims.add(claim);
    } else {
      if (requiredValue !== "") {
        errors.push(invalidField(`${at}.requiredValue`, requiredValue, "may not be specified when expression is set"));
      }
      if (expressions.has(expression)) errors.push(duplicateField(`${at}.expression`, expression));
      else errors.push(...expressionErrors(expression, `${at}.expression`, CLAIM_CONDITION));
      expressions.add(expression);
    }
  }
  return errors;
}

const CLAIM: ExpressionPurpose = { variable: "claims", isCondition: false };
const CLAIM_CONDITION: ExpressionPurpose = { variable: "claims", isCondition: true };
const USER_CONDITION: ExpressionPurpose = { variable: "user", isCondition: true };

function expressionErrors(expression: string, path: string, purpose: ExpressionPurpose): FieldError[] {
  const compiled = compiledOr(expression, purpose);
  return typeof compiled === "string" ? [invalidField(path, expression, compiled)] : [];
}

/** The compiled expression, or the error message. */
function compiledOr(expression: string, purpose: ExpressionPurpose): CompiledExpression | string {
  try {
    return compileExpression(expression, purpose);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

const EMAIL =
  "claims.email_verified must be used in claimMappings.username.expression or claimMappings.extra[*].valueExpression or claimValidationRules[*].expression when claims.email is used in claimMappings.username.expression";

/** If the user name is derived from `email`, the configuration must check `email_verified`. */
function emailErrors({ claimMappings, claimValidationRules }: JwtAuthenticator, path: string): FieldError[] {
  const { expression: username = "" } = claimMappings.username;
  const reads = (expression: string, purpose: ExpressionPurpose, claim: string): boolean => {
    const compiled = expression === "" ? "" : compiledOr(expression, purpose);
    return typeof compiled !== "string" && compiled.reads(claim);
  };
  if (!reads(username, CLAIM, "email")) return [];
  const isVerified =
    reads(username, CLAIM, "email_verified") ||
    claimMappings.extra.some(({ valueExpression }) => reads(valueExpression, CLAIM, "email_verified")) ||
    claimValidationRules.some(({ expression = "" }) => reads(expression, CLAIM_CONDITION, "email_verified"));
  return isVerified ? [] : [invalidField(`${path}.username.expression`, username, EMAIL)];
}

function mappingErrors(configuration: JwtAuthenticator, path: string): FieldError[] {
  const { username, groups, uid, extra } = configuration.claimMappings;
  const errors = [
    ...prefixedErrors(username, `${path}.username`, true),
    ...prefixedErrors(groups, `${path}.groups`, false),
  ];
  if (uid.claim && uid.expression) {
    errors.push(invalidField(`${path}.uid`, "", "claim and expression can't both be set"));
  } else if (uid.expression) {
    errors.push(...expressionErrors(uid.expression, `${path}.uid.expression`, CLAIM));
  }
  const keys = new Set<string>();
  for (const [index, { key, valueExpression }] of extra.entries()) {
    const at = `${path}.extra[${index}]`;
    errors.push(...keyErrors(key, `${at}.key`));
    if (keys.has(key)) {
      errors.push(duplicateField(`${at}.key`, key));
      continue;
    }
    keys.add(key);
    if (valueExpression === "") errors.push(requiredField(`${at}.valueExpression`));
    else errors.push(...expressionErrors(valueExpression, `${at}.valueExpression`, CLAIM));
  }
  return [...errors, ...emailErrors(configuration, path)];
}

function keyErrors(key: string, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const slash = key.indexOf("/");
  const domain = slash < 0 ? "" : key.slice(0, slash);
  if (key === "") errors.push(requiredField(path));
  else if (slash < 1 || slash === key.length - 1) {
    errors.push(invalidField(path, key, 'must be a domain-prefixed path (such as "acme.io/foo")'));
  }
  if (key !== key.toLowerCase()) errors.push(invalidField(path, key, "must be lowercase"));
  if (/^(?:.*\.)?(?:k8s|kubernetes)\.io$/.test(domain)) {
    const text = "k8s.io, kubernetes.io and their subdomains are reserved for Kubernetes use";
    errors.push(invalidField(path, key, text));
  }
  return errors;
}

function prefixedErrors(
  { claim = "", expression = "", prefix }: PrefixedClaimOrExpression,
  path: string,
  isRequired: boolean,
): FieldError[] {
  if (claim !== "" && expression !== "") return [invalidField(path, "", "claim and expression can't both be set")];
  if (claim === "" && expression === "") {
    return isRequired ? [requiredField(path, "claim or expression is required")] : [];
  }
  if (claim !== "") {
    const text = "prefix is required when claim is set. It can be set to an empty string to disable prefixing";
    return prefix === undefined ? [requiredField(`${path}.prefix`, text)] : [];
  }
  return [
    ...(prefix === undefined
      ? []
      : [invalidField(`${path}.prefix`, prefix, "may not be specified when expression is set")]),
    ...expressionErrors(expression, `${path}.expression`, CLAIM),
  ];
}

function userRuleErrors({ userValidationRules }: JwtAuthenticator, path: string): FieldError[] {
  const seen = new Set<string>();
  return userValidationRules.flatMap(({ expression }, index): FieldError[] => {
    const at = `${path}[${index}].expression`;
    if (expression === "") return [requiredField(at)];
    if (seen.has(expression)) return [duplicateField(at, expression)];
    seen.add(expression);
    return expressionErrors(expression, at, USER_CONDITION);
  });
}
