import { type FieldError, invalidField, requiredField } from "../../../base/api/field-error.ts";
import type { JsonObject } from "../../../base/api/object.ts";
import { parseGoUrl, UrlError } from "../../../base/go/go-url.ts";
import { addAll } from "../../../base/util/add-all.ts";
import { portNumber, subdomainName } from "./formats.ts";

/** ServiceReference of a webhook's or APIService's clientConfig. */
export interface ServiceReference extends JsonObject {
  namespace?: string;
  name?: string;
  path?: string;
  port?: number;
}

const FORM = "; desired format: https://host[/path]";

/** Validates `clientConfig.url` of a webhook. Upstream: `ValidateWebhookURL`. */
export function webhookUrlErrors(url: string, path: string): FieldError[] {
  try {
    const { scheme, host, user, fragment, query } = parseGoUrl(url);
    const errors: FieldError[] = [];
    if (scheme !== "https") errors.push(invalidField(path, scheme, `'https' is the only allowed URL scheme${FORM}`));
    if (host === "") errors.push(invalidField(path, host, `host must be specified${FORM}`));
    if (user !== undefined) errors.push(invalidField(path, user, "user information is not permitted in the URL"));
    if (fragment !== "") errors.push(invalidField(path, fragment, "fragments are not permitted in the URL"));
    if (query !== "") errors.push(invalidField(path, query, "query parameters are not permitted in the URL"));
    return errors;
  } catch (error) {
    if (!(error instanceof UrlError)) throw error;
    return [requiredField(path, `url must be a valid URL: ${error.message}${FORM}`)];
  }
}

/** Validates `clientConfig.service` of a webhook. Upstream: `ValidateWebhookService`. */
export function webhookServiceErrors(service: ServiceReference, path: string): FieldError[] {
  const { name = "", namespace = "", port = 0 } = service;
  const errors: FieldError[] = [];
  // Compat: callers of upstream's `ValidateWebhookService(namespace, name)` pass name and namespace in the wrong order.
  if (namespace === "") errors.push(requiredField(`${path}.name`));
  if (name === "") errors.push(requiredField(`${path}.namespace`));
  const texts = portNumber(port);
  if (texts.length > 0) errors.push(invalidField(`${path}.port`, port, `port is not valid: ${texts.join(", ")}`));
  return [...errors, ...servicePathErrors(service.path ?? "", `${path}.path`)];
}

function servicePathErrors(value: string, path: string): FieldError[] {
  if (value === "" || value === "/") return [];
  if (value === "//") return [invalidField(path, value, "segment[0] may not be empty")];
  const errors = value.startsWith("/") ? [] : [invalidField(path, value, "must start with a '/'")];
  // Compat: `ValidateWebhookService` drops the first byte of `path`, whether it is a slash, another character or part
  // of one.
  const rest = Buffer.from(value).subarray(1).toString("latin1");
  const steps = rest.replace(/\/$/, "").split("/");
  for (const [index, step] of steps.entries()) {
    const texts = step === "" ? [" may not be empty"] : subdomainName(step).map((text) => `: ${text}`);
    addAll(
      errors,
      texts.map((text) => invalidField(path, value, `segment[${index}]${text}`)),
    );
  }
  return errors;
}
