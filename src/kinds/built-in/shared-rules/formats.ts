import { type FieldError, invalidField } from "../../../base/api/field-error.ts";
import { byteLength, dns1123Label, dns1123Subdomain, regexMessage } from "../../../base/api/names.ts";

/** Adds one FieldValueInvalid for each problem of a value. */
export function pushInvalid(errors: FieldError[], path: string, value: unknown, texts: readonly string[]): void {
  for (const text of texts) errors.push(invalidField(path, value, text));
}

/** The message of upstream's `InclusiveRangeError`. */
export function rangeMessage(lowest: number, highest: number): string {
  return `must be between ${lowest} and ${highest}, inclusive`;
}

/** Validates that a number lies in a range. Upstream: `IsInRange`. */
export function inRange(value: number, lowest: number, highest: number): string[] {
  return value >= lowest && value <= highest ? [] : [rangeMessage(lowest, highest)];
}

/** Validates a port number. Upstream: `IsValidPortNum`. */
export function portNumber(value: number): string[] {
  return inRange(value, 1, 65535);
}

/** Validates a user or group id (runAsUser, fsGroup, …). Upstream: `IsValidUserID`. */
export function accountNumber(value: number): string[] {
  return inRange(value, 0, 2 ** 31 - 1);
}

/** Validates a port name. Upstream: `IsValidPortName`. */
export function portName(value: string): string[] {
  const errors: string[] = [];
  if (byteLength(value) > 15) errors.push("must be no more than 15 characters");
  if (!/^[-a-z0-9]+$/.test(value)) {
    errors.push("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
  }
  if (!/[a-z]/.test(value)) errors.push("must contain at least one letter (a-z)");
  if (value.includes("--")) errors.push("must not contain consecutive hyphens");
  if (value.startsWith("-") || value.endsWith("-")) errors.push("must not begin or end with a hyphen");
  return errors;
}

/** Validates an IntOrString port: a number or a name. */
export function pushPortErrors(errors: FieldError[], path: string, port: number | string): void {
  pushInvalid(errors, path, port, typeof port === "number" ? portNumber(port) : portName(port));
}

/** Validates the name of an environment variable. Upstream: `IsEnvVarName`. */
export function environmentName(value: string): string[] {
  if (value === "") return ["environment variable name must be non-empty"];
  const rule = "a valid environment variable name must consist only of printable ASCII characters other than '='";
  return /^[ -<>-~]*$/.test(value) ? [] : [rule];
}

/** Validates the name of an HTTP header. Upstream: `IsHTTPHeaderName`. */
export function headerName(value: string): string[] {
  if (/^[-A-Za-z0-9]+$/.test(value)) return [];
  const rule = "a valid HTTP header must consist of alphanumeric characters or '-'";
  return [regexMessage(rule, "[-A-Za-z0-9]+", "X-Header-Name")];
}

const SEARCH_LABEL = "_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?";
const SEARCH_PATTERN = `${SEARCH_LABEL}(\\.${SEARCH_LABEL})*`;
const SEARCH = new RegExp(`^${SEARCH_PATTERN}$`);

/** Validates a DNS subdomain whose labels may also have underscores. */
export function subdomainWithUnderscores(value: string): string[] {
  const errors = byteLength(value) > 253 ? ["must be no more than 253 characters"] : [];
  if (!SEARCH.test(value)) {
    const rule =
      "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character";
    errors.push(regexMessage(rule, SEARCH_PATTERN, "example.com"));
  }
  return errors;
}

/** Validates an object name that must be a DNS subdomain. Upstream: `NameIsDNSSubdomain`. */
export function subdomainName(value: string): string[] {
  return dns1123Subdomain(value, "characters");
}

/** Validates an object name that must be a DNS label. Upstream: `NameIsDNSLabel`. */
export function labelName(value: string): string[] {
  return dns1123Label(value, "characters");
}
