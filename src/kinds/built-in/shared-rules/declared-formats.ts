import { type FieldError, invalidField, tooLongField } from "../../../base/api/field-error.ts";
import {
  byteLength,
  dns1123Label,
  dns1123Subdomain,
  labelValue,
  pathSegment,
  qualifiedName,
  regexMessage,
} from "../../../base/api/names.ts";
import { quote } from "../../../base/go/quote.ts";
import { addAll } from "../../../base/util/add-all.ts";
import { trimRight } from "../../../base/util/trim-right.ts";

/** Formats that declarative validation (`+k8s:format`) may name. */
export type FormatName =
  | "short-name"
  | "long-name"
  | "long-name-caseless"
  | "path-segment-name"
  | "label-key"
  | "prefixed-label-key"
  | "requester-name"
  | "label-value"
  | "uuid"
  | "resource-pool-name"
  | "resource-fully-qualified-name"
  | "extended-resource-name";

const MAX_DOMAIN = 63;
const MAX_IDENTIFIER = 32;
const MAX_POOL_NAME = 253;
const IDENTIFIER_PATTERN = "[A-Za-z_][A-Za-z0-9_]*";
const IDENTIFIER = new RegExp(`^${IDENTIFIER_PATTERN}$`);
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const OWN_DOMAIN = "kubernetes.io/";
const REQUESTS = "requests.";

type Check = (value: string, path: string) => FieldError[];

const byTexts =
  (textsOf: (value: string) => string[]): Check =>
  (value, path) =>
    textsOf(value).map((text) => invalidField(path, value, text));

const CHECKS: Readonly<Record<FormatName, Check>> = {
  "short-name": byTexts((value) => dns1123Label(value)),
  "long-name": byTexts((value) => dns1123Subdomain(value)),
  "long-name-caseless": byTexts(caselessSubdomain),
  "path-segment-name": byTexts(pathSegment),
  "label-key": byTexts(qualifiedName),
  "prefixed-label-key": byTexts(prefixedLabelKey),
  "requester-name": byTexts((value) => [...reservedDomain(value), ...prefixedLabelKey(value)]),
  "label-value": byTexts(labelValue),
  uuid: byTexts((value) => (UUID.test(value) ? [] : ["must be a lowercase UUID in 8-4-4-4-12 format"])),
  "resource-pool-name": resourcePoolName,
  "resource-fully-qualified-name": fullyQualifiedName,
  "extended-resource-name": byTexts(extendedResourceName),
};

/** Validates a format of declarative validation. */
export function formatErrors(format: FormatName, value: string, path: string): FieldError[] {
  return CHECKS[format](value, path);
}

function prefixedLabelKey(value: string): string[] {
  const texts = qualifiedName(value);
  if (texts.length > 0 || value.includes("/")) return texts;
  return ["must include a prefix (e.g. 'example.com/key')"];
}

/** Names below these domains are reserved for Kubernetes. */
function reservedDomain(value: string): string[] {
  const domain = trimRight((value.split("/")[0] ?? "").toLowerCase().trim(), ".");
  return /(?:^|\.)(?:k8s|kubernetes)\.io$/.test(domain) ? ["domain names *.k8s.io, *.kubernetes.io are reserved"] : [];
}

const SUBDOMAIN_PATTERN = "[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*";
const CASELESS_RULE =
  "an RFC 1123 subdomain must consist of alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character";

/** Validates a case-insensitive DNS subdomain. */
export function caselessSubdomain(value: string): string[] {
  const texts = byteLength(value) > 253 ? ["must be no more than 253 bytes"] : [];
  if (dns1123Subdomain(value.toLowerCase()).some((text) => !text.startsWith("must be no more"))) {
    texts.push(regexMessage(CASELESS_RULE, SUBDOMAIN_PATTERN, "Example.com"));
  }
  return texts;
}

/** Validates a C identifier. */
export function cIdentifier(value: string): string[] {
  if (IDENTIFIER.test(value)) return [];
  const rule =
    "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_'";
  return [regexMessage(rule, IDENTIFIER_PATTERN, "my_name", "MY_NAME", "MyName")];
}

/** Validates the name of a resource pool: DNS subdomains separated by slashes. */
function resourcePoolName(value: string, path: string): FieldError[] {
  const errors = byteLength(value) > MAX_POOL_NAME ? [tooLongField(path, MAX_POOL_NAME)] : [];
  for (const [index, part] of value.split("/").entries()) {
    const segment = `segment ${index}: `;
    if (part === "") errors.push(invalidField(path, value, `${segment}must not be empty`));
    else
      addAll(
        errors,
        dns1123Subdomain(part).map((text) => invalidField(path, part, `${segment}${text}`)),
      );
  }
  return errors;
}

function identifierErrors(value: string, path: string): FieldError[] {
  const errors = byteLength(value) > MAX_IDENTIFIER ? [tooLongField(path, MAX_IDENTIFIER)] : [];
  return [...errors, ...cIdentifier(value).map((text) => invalidField(path, value, text))];
}

function fullyQualifiedName(value: string, path: string): FieldError[] {
  const [domain = "", name, surplus] = value.split("/");
  if (name === undefined) {
    const text = "a fully qualified name must be a domain and a name separated by a slash";
    return [...identifierErrors(domain, path), invalidField(path, value, text)];
  }
  if (surplus !== undefined) return [];
  const errors: FieldError[] = [];
  if (domain === "") errors.push(invalidField(path, "", "prefix must not be empty"));
  else {
    if (byteLength(domain) > MAX_DOMAIN) errors.push(tooLongField(path, MAX_DOMAIN));
    addAll(
      errors,
      dns1123Subdomain(domain).map((text) => invalidField(path, domain, `prefix: ${text}`)),
    );
  }
  if (name === "") errors.push(invalidField(path, "", "name must not be empty"));
  else addAll(errors, identifierErrors(name, path));
  return errors;
}

function extendedResourceName(value: string): string[] {
  const texts: string[] = [];
  if (!value.includes("/")) texts.push("a name must be a domain-prefixed path, such as 'example.com/my-prop'");
  else if (value.includes(OWN_DOMAIN)) texts.push(`must not have ${quote(OWN_DOMAIN)} domain`);
  if (value.startsWith(REQUESTS)) texts.push(`must not have ${quote(REQUESTS)} prefix`);
  return [...texts, ...qualifiedName(`${REQUESTS}${value}`)];
}
