import { createPrivateKey, X509Certificate } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import {
  type FieldError,
  forbiddenField,
  invalidField,
  requiredField,
  tooLongField,
} from "../../../../base/api/field-error.ts";
import { byteLength, configMapKey } from "../../../../base/api/names.ts";
import { isObject, type JsonObject, type KubeObject } from "../../../../base/api/object.ts";
import { addAll } from "../../../../base/util/add-all.ts";
import { getMember } from "../../../../base/util/members.ts";
import { parseJsonText } from "../../../../base/util/parse-json.ts";
import type { ResourceHooks, WriteContext } from "../../../../resources/model/definition.ts";
import { isSentEmpty } from "../../shared-rules/empties.ts";

const sent = (context: WriteContext, ...members: string[]) =>
  members.map((name) => [name, isSentEmpty(context, name)] as const);

/** Maximum size of a ConfigMap or Secret: upstream's `MaxSecretSize`. */
const MAX_BYTES = 1024 * 1024;

function entries(object: KubeObject, member: string): [string, string][] {
  const map = object[member];
  return isObject(map) ? (Object.entries(map) as [string, string][]) : [];
}

function keyErrors(field: string, key: string): FieldError[] {
  return configMapKey(key).map((text) => invalidField(`${field}[${key}]`, key, text));
}

const base64Length = (text: string): number => Buffer.byteLength(text, "base64");

/**
 * Fields and whether they were sent empty. Compat: `data: {}` instead of none is a change of an immutable ConfigMap or
 * Secret.
 */
type MembersSent = readonly (readonly [member: string, isEmpty: boolean])[];

/** Rejects changes once `immutable` is true. */
function immutableErrors(next: KubeObject, previous: KubeObject | undefined, members: MembersSent): FieldError[] {
  if (previous?.immutable !== true) return [];
  const text = "field is immutable when `immutable` is set";
  const errors = next.immutable === true ? [] : [forbiddenField("immutable", text)];
  for (const [member, isEmpty] of members) {
    const isSame = !isEmpty && isDeepStrictEqual(next[member] ?? {}, previous[member] ?? {});
    if (!isSame) errors.push(forbiddenField(member, text));
  }
  return errors;
}

/** ConfigMap: `data` and `binaryData`, whose keys must not overlap. */
export const configMapHooks: ResourceHooks = {
  validate(next, previous, context) {
    const errors: FieldError[] = [];
    const data = entries(next, "data");
    const binary = entries(next, "binaryData");
    const binaryKeys = new Set(binary.map(([key]) => key));
    let bytes = 0;
    for (const [key, value] of data) {
      addAll(errors, keyErrors("data", key));
      if (binaryKeys.has(key)) errors.push(invalidField(`data[${key}]`, key, "duplicate of key present in binaryData"));
      bytes += byteLength(value);
    }
    for (const [key, value] of binary) {
      addAll(errors, keyErrors("binaryData", key));
      bytes += base64Length(value);
    }
    // Compat: a ConfigMap of more than 1 MiB is "Too long" at the empty path, `field.NewPath("")`, which prints as
    // "[]".
    if (bytes > MAX_BYTES) errors.push(tooLongField("[]", MAX_BYTES));
    return [...errors, ...immutableErrors(next, previous, [["data", false], ...sent(context, "binaryData")])];
  },
};

const SERVICE_ACCOUNT_NAME = "kubernetes.io/service-account.name";
const REDACTED = "<secret contents redacted>";

/** Keys that Secrets of a `type` must have. */
const REQUIRED_KEYS: Readonly<Record<string, readonly string[]>> = {
  "kubernetes.io/dockercfg": [".dockercfg"],
  "kubernetes.io/dockerconfigjson": [".dockerconfigjson"],
  "kubernetes.io/ssh-auth": ["ssh-privatekey"],
  "kubernetes.io/tls": ["tls.crt", "tls.key"],
};
const JSON_KEYS: readonly string[] = [".dockercfg", ".dockerconfigjson"];

function typeErrors(secret: KubeObject, data: JsonObject): FieldError[] {
  const type = String(secret.type ?? "");
  if (type === "kubernetes.io/service-account-token") {
    const name = secret.metadata.annotations?.[SERVICE_ACCOUNT_NAME];
    return name ? [] : [requiredField(`metadata.annotations[${SERVICE_ACCOUNT_NAME}]`)];
  }
  if (type === "kubernetes.io/basic-auth") {
    if (data.username !== undefined || data.password !== undefined) return [];
    return ["username", "password"].map((key) => requiredField(`data[${key}]`));
  }
  const required = getMember(REQUIRED_KEYS, type) ?? [];
  return required.flatMap((key) => {
    const value = data[key];
    if (typeof value !== "string") return [requiredField(`data[${key}]`)];
    return JSON_KEYS.includes(key) ? jsonErrors(key, value) : [];
  });
}

function jsonErrors(key: string, value: string): FieldError[] {
  const text = Buffer.from(value, "base64").toString();
  try {
    const parsed: unknown = parseJsonText(text);
    if (isObject(parsed)) return [];
    return [
      invalidField(`data[${key}]`, REDACTED, "json: cannot unmarshal into Go value of type map[string]interface {}"),
    ];
  } catch {
    return [invalidField(`data[${key}]`, REDACTED, describeSyntax(text))];
  }
}

const LITERALS = ["null", "true", "false"];

/** The message of Go's decoder about the first invalid character. */
function describeSyntax(text: string): string {
  if (text.trim() === "") return "unexpected end of JSON input";
  const literal = LITERALS.find((word) => word[0] === text[0]);
  if (literal !== undefined) {
    const at = [...literal].findIndex((character, index) => text[index] !== character);
    if (at > 0 && at < text.length) {
      return `invalid character '${text[at]}' in literal ${literal} (expecting '${literal[at]}')`;
    }
  }
  return `invalid character '${text[0]}' looking for beginning of value`;
}

/** Secret: `data`, checked against `type`. */
export const secretHooks: ResourceHooks = {
  setDefaults(secret) {
    // Compat: `stringData` is write-only: its values go to `data` in base64 and replace those of the same key.
    if (isObject(secret.stringData)) {
      const data: JsonObject = isObject(secret.data) ? secret.data : {};
      for (const [key, value] of entries(secret, "stringData")) data[key] = Buffer.from(value).toString("base64");
      if (Object.keys(data).length > 0) secret.data = Object.fromEntries(Object.entries(data).sort(byKey));
    }
    delete secret.stringData;
    if (!secret.type) secret.type = "Opaque";
  },
  prepare(next, previous) {
    if (previous && !next.type) next.type = previous.type;
  },
  validate(next, previous, context) {
    const errors: FieldError[] = [];
    let bytes = 0;
    for (const [key, value] of entries(next, "data")) {
      addAll(errors, keyErrors("data", key));
      bytes += base64Length(value);
    }
    if (bytes > MAX_BYTES) errors.push(tooLongField("data", MAX_BYTES));
    addAll(errors, typeErrors(next, isObject(next.data) ? next.data : {}));
    if (!previous) return errors;
    if (next.type !== previous.type) errors.push(invalidField("type", next.type, "field is immutable"));
    return [...errors, ...immutableErrors(next, previous, sent(context, "data"))];
  },
  warn(next) {
    if (next.type !== "kubernetes.io/tls" || !isObject(next.data)) return [];
    return keyPairWarning(next.data);
  },
};

const byKey = ([a]: [string, unknown], [b]: [string, unknown]): number => (a < b ? -1 : a > b ? 1 : 0);

/** The problem of the certificate and key of a kubernetes.io/tls Secret; only a warning. */
function keyPairWarning(data: JsonObject): string[] {
  const pem = (key: string): string => Buffer.from(String(data[key] ?? ""), "base64").toString();
  const [certificate, key] = [pem("tls.crt"), pem("tls.key")];
  if (!certificate.includes("-----BEGIN ")) return ["tls: failed to find any PEM data in certificate input"];
  if (!key.includes("-----BEGIN ")) return ["tls: failed to find any PEM data in key input"];
  try {
    const isPair = new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key));
    return isPair ? [] : ["tls: private key does not match public key"];
  } catch {
    return ["tls: failed to parse the certificate or its private key"];
  }
}

const ENFORCE = "kubernetes.io/enforce-mountable-secrets";

const hasMember = (texts: Readonly<Record<string, string>> | undefined, name: string): boolean =>
  texts !== undefined && Object.hasOwn(texts, name);

/** ServiceAccount: references in `secrets` are reduced to their names. */
export const serviceAccountHooks: ResourceHooks = {
  warn(next, previous) {
    // Compat: only the write that adds `kubernetes.io/enforce-mountable-secrets` gets the warning.
    const isNew = hasMember(next.metadata.annotations, ENFORCE) && !hasMember(previous?.metadata.annotations, ENFORCE);
    const advice = "deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets";
    return isNew ? [`metadata.annotations[${ENFORCE}]: ${advice}`] : [];
  },
  prepare(next) {
    if (!Array.isArray(next.secrets)) return;
    next.secrets = next.secrets.map((secret) =>
      isObject(secret) && secret.name !== undefined ? { name: secret.name } : {},
    );
  },
};
