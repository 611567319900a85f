import {
  duplicateField,
  type FieldError,
  forbiddenField,
  invalidField,
  notSupportedField,
  requiredField,
} from "../../../base/api/field-error.ts";
import { isObject, type JsonObject, type KubeObject } from "../../../base/api/object.ts";
import type { UserInfo } from "../../../base/api/user-info.ts";
import { quote } from "../../../base/go/quote.ts";
import { DerError } from "../../../base/pki/der-read.ts";
import { pemBlocks } from "../../../base/pki/pem.ts";
import { parseSigningRequest, signatureProblem } from "../../../base/pki/pkcs10.ts";
import { countCertificates } from "../../../base/pki/x509-read.ts";
import { addAll } from "../../../base/util/add-all.ts";
import { cloneJson } from "../../../base/util/clone.ts";
import { seenBefore } from "../../../base/util/seen-before.ts";
import type { ResourceHooks } from "../../../resources/model/definition.ts";
import { printTime } from "../../../resources/write/metadata.ts";
import type { Condition } from "../shared-rules/conditions.ts";
import { validateSignerName } from "../shared-rules/signer-names.ts";
import { conditionErrors, conditionsOf, conditionsOfType, verdictErrors } from "./conditions.ts";

interface RequestSpec extends JsonObject {
  request?: string | null;
  signerName?: string;
  usages?: string[];
  expirationSeconds?: number;
}

const USAGES = [
  ...["any", "cert sign", "client auth", "code signing", "content commitment", "crl sign", "data encipherment"],
  ...["decipher only", "digital signature", "email protection", "encipher only", "ipsec end system", "ipsec tunnel"],
  ...["ipsec user", "key agreement", "key encipherment", "microsoft sgc", "netscape sgc", "ocsp signing", "s/mime"],
  ...["server auth", "signing", "timestamping"],
];
const LEGACY_SIGNER = "kubernetes.io/legacy-unknown";
const MIN_SECONDS = 600;

const specOf = (request: KubeObject | undefined): RequestSpec => (request?.spec as RequestSpec | undefined) ?? {};

function certificateOf(request: KubeObject | undefined): string {
  const certificate = isObject(request?.status) ? request.status.certificate : undefined;
  return typeof certificate === "string" ? certificate : "";
}

/** Why `spec.request` is not a self-signed PKCS#10 request; undefined if it is one. */
function requestProblem(encoded: string): string | undefined {
  const { value: block } = pemBlocks(Buffer.from(encoded, "base64").toString("latin1")).next();
  if (block?.type !== "CERTIFICATE REQUEST") return "PEM block type must be CERTIFICATE REQUEST";
  try {
    return signatureProblem(parseSigningRequest(block.bytes));
  } catch (error) {
    if (error instanceof DerError) return error.message;
    throw error;
  }
}

/** Why `status.certificate` is not a list of PEM certificates; undefined if it is one, or empty. */
function certificateProblem(encoded: string): string | undefined {
  if (encoded === "") return undefined;
  let count = 0;
  for (const { type, hasHeaders, bytes } of pemBlocks(Buffer.from(encoded, "base64").toString("latin1"))) {
    if (type !== "CERTIFICATE") return `only CERTIFICATE PEM blocks are allowed, found ${quote(type)}`;
    if (hasHeaders) return "no PEM block headers are permitted";
    const found = countCertificates(bytes);
    if (found === undefined) return "x509: malformed certificate";
    if (found === 0) return "found CERTIFICATE PEM block containing 0 certificates";
    count += 1;
  }
  return count === 0 ? "must contain at least one CERTIFICATE PEM block" : undefined;
}

const hasDuplicates = (list: readonly string[]): boolean => new Set(list).size < list.length;

function usageErrors(usages: readonly string[], before: readonly string[]): FieldError[] {
  const path = "spec.usages";
  if (usages.length === 0) return [requiredField(path)];
  const isUnknown = (usage: string) => !USAGES.includes(usage);
  const unknown = before.some(isUnknown) ? [] : [...usages.entries()].filter(([, usage]) => isUnknown(usage));
  const isSecond = seenBefore<string>();
  const repeated = hasDuplicates(before) ? [] : [...usages.entries()].filter(([, usage]) => isSecond(usage));
  return [
    ...unknown.map(([index, usage]) => notSupportedField(`${path}[${index}]`, usage, USAGES)),
    ...repeated.map(([index, usage]) => duplicateField(`${path}[${index}]`, usage)),
  ];
}

function signerErrors(signer: string, before: string | undefined): FieldError[] {
  if (signer !== LEGACY_SIGNER || before === LEGACY_SIGNER) return validateSignerName(signer, "spec.signerName");
  return [invalidField("spec.signerName", signer, "the legacy signerName is not allowed via this API version")];
}

function specErrors(next: KubeObject, previous: KubeObject | undefined): FieldError[] {
  const { request, signerName = "", usages = [], expirationSeconds = MIN_SECONDS } = specOf(next);
  const problem = requestProblem(request ?? "");
  const errors = problem === undefined ? [] : [invalidField("spec.request", request, problem)];
  addAll(errors, usageErrors(usages, specOf(previous).usages ?? []));
  addAll(errors, signerErrors(signerName, specOf(previous).signerName));
  if (expirationSeconds < MIN_SECONDS) {
    const text = "may not specify a duration less than 600 seconds (10 minutes)";
    errors.push(invalidField("spec.expirationSeconds", expirationSeconds, text));
  }
  return errors;
}

function statusErrors(next: KubeObject, previous: KubeObject | undefined): FieldError[] {
  const errors = conditionErrors(next, previous);
  const certificate = certificateOf(next);
  const isTolerated =
    previous && (certificate === certificateOf(previous) || certificateProblem(certificateOf(previous)) !== undefined);
  const problem = isTolerated ? undefined : certificateProblem(certificate);
  if (problem !== undefined) errors.push(invalidField("status.certificate", "<certificate data>", problem));
  return errors;
}

/** Changes of conditions and `status.certificate` that an update must not make, depending on the subresource. */
function changeErrors(next: KubeObject, previous: KubeObject, subresource: string): FieldError[] {
  const errors: FieldError[] = [];
  const path = "status.conditions";
  const change = (type: string) => conditionsOfType(next, type).length - conditionsOfType(previous, type).length;
  for (const type of ["Approved", "Denied", "Failed"]) {
    const text = `updates may not remove a condition of type ${quote(type)}`;
    if (change(type) < 0) errors.push(forbiddenField(path, text));
  }
  for (const type of subresource === "approval" ? [] : ["Approved", "Denied"]) {
    const text = `updates may not add a condition of type ${quote(type)}`;
    if (change(type) > 0) errors.push(forbiddenField(path, text));
  }
  if (certificateOf(next) === certificateOf(previous)) return errors;
  if (subresource !== "status") {
    errors.push(forbiddenField("status.certificate", "updates may not set certificate content"));
  } else if (certificateOf(previous) !== "") {
    errors.push(forbiddenField("status.certificate", "updates may not modify existing certificate content"));
  }
  return errors;
}

/** Records the caller in `spec.username`, `uid`, `groups` and `extra`. */
function recordRequester(spec: JsonObject, user: UserInfo | undefined): void {
  for (const member of ["username", "uid", "groups", "extra"]) delete spec[member];
  if (!user) return;
  const { name, uid = "", groups, extra = {} } = user;
  if (name !== "") spec.username = name;
  if (uid !== "") spec.uid = uid;
  if (groups.length > 0) spec.groups = [...groups];
  if (Object.keys(extra).length > 0) {
    spec.extra = Object.fromEntries(Object.entries(extra).map(([key, values]) => [key, [...values]]));
  }
}

/** Sets `lastUpdateTime` and `lastTransitionTime` of conditions. */
function stampConditions(next: KubeObject, previous: KubeObject, now: string): void {
  for (const condition of conditionsOf(next)) {
    condition.lastUpdateTime ||= now;
    if (condition.lastTransitionTime) continue;
    const { type = "", status = "" } = condition;
    const same = conditionsOfType(previous, type).find((one) => one.status === status && one.lastTransitionTime);
    condition.lastTransitionTime = same?.lastTransitionTime ?? now;
  }
}

/** Restores the stored conditions of a type if their number has not changed. */
function keepConditions(next: KubeObject, previous: KubeObject, type: string): void {
  const before = conditionsOfType(previous, type);
  const conditions = conditionsOf(next) as Condition[];
  if (conditionsOfType(next, type).length !== before.length) return;
  let kept = 0;
  for (const [index, condition] of conditions.entries()) {
    if ((condition.type ?? "") === type) conditions[index] = cloneJson(before[kept++] ?? condition);
  }
}

/**
 * CertificateSigningRequest: requests a certificate from a signer. `/approval` approves or denies it, and the signer
 * writes the certificate through `/status`.
 */
export const signingRequestHooks: ResourceHooks = {
  prepare(next, previous, { subresource, user, now }) {
    if (!previous) {
      const spec = specOf(next);
      recordRequester(spec, user);
      next.spec = spec;
      return;
    }
    if (subresource === "") {
      // Compat: like `csrStrategy.PrepareForUpdate`, an update without a subresource keeps the stored `spec` and
      // `status`.
      next.spec = cloneJson(previous.spec);
      return;
    }
    if (subresource === "status") {
      keepConditions(next, previous, "Approved");
      keepConditions(next, previous, "Denied");
    }
    stampConditions(next, previous, printTime(now));
    if (subresource !== "approval") return;
    const { conditions: _conditions, ...rest } = isObject(previous.status) ? previous.status : {};
    const conditions = [...conditionsOf(next)];
    next.status = { ...(conditions.length > 0 ? { conditions } : {}), ...cloneJson(rest) };
  },
  validate(next, previous, { subresource }) {
    const errors = [...specErrors(next, previous), ...statusErrors(next, previous)];
    if (previous) addAll(errors, changeErrors(next, previous, subresource));
    return [...errors, ...verdictErrors(next, previous)];
  },
};
