import { addAll } from "../util/add-all.ts";

const LABEL_PATTERN = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const SUBDOMAIN_PATTERN = `${LABEL_PATTERN}(\\.${LABEL_PATTERN})*`;
const QUALIFIED_PATTERN = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
const VALUE_PATTERN = "(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?";
const CONFIG_KEY_PATTERN = "[-._a-zA-Z0-9]+";

const LABEL = new RegExp(`^${LABEL_PATTERN}$`);
const SUBDOMAIN = new RegExp(`^${SUBDOMAIN_PATTERN}$`);
const QUALIFIED = new RegExp(`^${QUALIFIED_PATTERN}$`);
const PREFIXED = new RegExp(`^(?:${SUBDOMAIN_PATTERN}/)?${QUALIFIED_PATTERN}$`);
const VALUE = new RegExp(`^${VALUE_PATTERN}$`);
const CONFIG_KEY = new RegExp(`^${CONFIG_KEY_PATTERN}$`);

/** Length in UTF-8 bytes, the unit of all limits. */
export function byteLength(text: string): number {
  return Buffer.byteLength(text);
}

/** The wire text for a value that does not match a pattern: the rule, examples and the pattern. */
export function regexMessage(rule: string, pattern: string, ...examples: readonly string[]): string {
  if (examples.length === 0) return `${rule} (regex used for validation is '${pattern}')`;
  const shown = examples.map((example) => `'${example}', `).join(" or ");
  return `${rule} (e.g. ${shown}regex used for validation is '${pattern}')`;
}

/**
 * The unit of a limit in its message. Compat: limits are always in bytes, but `NameIsDNSSubdomain` and `NameIsDNSLabel`
 * print "characters".
 */
export type LengthUnit = "bytes" | "characters";

function maxLengthMessage(maxBytes: number, unit: LengthUnit = "bytes"): string {
  return `must be no more than ${maxBytes} ${unit}`;
}

const SUBDOMAIN_MESSAGE = regexMessage(
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
  SUBDOMAIN_PATTERN,
  "example.com",
);

/** Validates a DNS subdomain name. Returns the errors; empty if it is valid. */
export function dns1123Subdomain(value: string, unit?: LengthUnit): string[] {
  // A text that matches has one byte per character.
  if (value.length <= 253 && SUBDOMAIN.test(value)) return [];
  const errors = byteLength(value) > 253 ? [maxLengthMessage(253, unit)] : [];
  if (!SUBDOMAIN.test(value)) errors.push(SUBDOMAIN_MESSAGE);
  return errors;
}

const LABEL_MESSAGE = regexMessage(
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
  LABEL_PATTERN,
  "my-name",
  "123-abc",
);

/** Validates a DNS label. Returns the errors; empty if it is valid. */
export function dns1123Label(value: string, unit?: LengthUnit): string[] {
  if (value.length <= 63 && LABEL.test(value)) return [];
  const errors = byteLength(value) > 63 ? [maxLengthMessage(63, unit)] : [];
  if (!LABEL.test(value)) errors.push(SUBDOMAIN.test(value) ? "must not contain dots" : LABEL_MESSAGE);
  return errors;
}

const DNS1035_PATTERN = "[a-z]([-a-z0-9]*[a-z0-9])?";
const DNS1035 = new RegExp(`^${DNS1035_PATTERN}$`);

/** Validates a DNS label that must begin with a letter. Returns the errors. Upstream: `IsDNS1035Label`. */
export function dns1035Label(value: string, unit?: LengthUnit): string[] {
  const errors = byteLength(value) > 63 ? [maxLengthMessage(63, unit)] : [];
  if (!DNS1035.test(value)) {
    const rule =
      "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character";
    errors.push(regexMessage(rule, DNS1035_PATTERN, "my-name", "abc-123"));
  }
  return errors;
}

/** Validates a name as a path segment. Returns the errors; empty if it is valid. */
export function pathSegment(value: string): string[] {
  if (value === "." || value === "..") return [`may not be '${value}'`];
  const errors: string[] = [];
  for (const character of ["/", "%"]) if (value.includes(character)) errors.push(`may not contain '${character}'`);
  return errors;
}

/** Validates a key of a ConfigMap or Secret. Returns the errors; empty if it is valid. */
export function configMapKey(value: string): string[] {
  const errors = byteLength(value) > 253 ? [maxLengthMessage(253, "characters")] : [];
  if (!CONFIG_KEY.test(value)) {
    const rule = "a valid config key must consist of alphanumeric characters, '-', '_' or '.'";
    errors.push(regexMessage(rule, CONFIG_KEY_PATTERN, "key.name", "KEY_NAME", "key-name"));
  }
  if (value === ".") errors.push("must not be '.'");
  else if (value === "..") errors.push("must not be '..'");
  else if (value.startsWith("..")) errors.push("must not start with '..'");
  return errors;
}

/**
 * Validates a qualified name (`[domain/]name`), such as a label key or finalizer. Returns the errors; empty if valid.
 */
export function qualifiedName(value: string): string[] {
  if (value.length <= 63 && PREFIXED.test(value)) return [];
  const parts = value.split("/");
  const errors: string[] = [];
  let name = value;
  if (parts.length === 2) {
    const [prefix = "", rest = ""] = parts;
    name = rest;
    if (prefix === "") errors.push("prefix part must be non-empty");
    else
      addAll(
        errors,
        dns1123Subdomain(prefix).map((text) => `prefix part ${text}`),
      );
  } else if (parts.length > 2) {
    const rule =
      "a valid label key must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
    const text = regexMessage(rule, QUALIFIED_PATTERN, "MyName", "my.name", "123-abc");
    return [`${text} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`];
  }
  if (name === "") errors.push("name part must be non-empty");
  else if (byteLength(name) > 63) errors.push(`name part ${maxLengthMessage(63)}`);
  if (!QUALIFIED.test(name)) {
    const rule =
      "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
    errors.push(`name part ${regexMessage(rule, QUALIFIED_PATTERN, "MyName", "my.name", "123-abc")}`);
  }
  return errors;
}

/** Validates a label value. Returns the errors; empty if it is valid. */
export function labelValue(value: string): string[] {
  if (value.length <= 63 && VALUE.test(value)) return [];
  const errors = byteLength(value) > 63 ? [maxLengthMessage(63)] : [];
  if (!VALUE.test(value)) {
    const rule =
      "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
    errors.push(regexMessage(rule, VALUE_PATTERN, "MyValue", "my_value", "12345"));
  }
  return errors;
}
