import { badRequest } from "../../base/api/api-error.ts";
import { type FieldError, forbiddenField, invalidField, notSupportedField } from "../../base/api/field-error.ts";
import type { KubeObject } from "../../base/api/object.ts";
import { parseInteger } from "../../base/api/options.ts";
import { isTruthy } from "../../base/api/request-info.ts";
import { quote } from "../../base/go/quote.ts";

/** Options of exec and attach: PodExecOptions and PodAttachOptions of core/v1. */
export interface StreamOptions {
  readonly container: string;
  readonly stdin: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
  readonly tty: boolean;
  /** For exec only. */
  readonly command: readonly string[];
}

/** PodLogOptions of core/v1. Undefined: not set. */
export interface LogOptions {
  readonly container: string;
  readonly follow: boolean;
  readonly previous: boolean;
  readonly timestamps: boolean;
  readonly insecureSkipTLSVerifyBackend: boolean;
  readonly sinceSeconds: number | undefined;
  /** RFC 3339 with seconds. */
  readonly sinceTime: string | undefined;
  readonly tailLines: number | undefined;
  readonly limitBytes: number | undefined;
  readonly stream: string | undefined;
}

/** Parses the query of exec and attach. */
export function readStreamOptions(query: URLSearchParams): StreamOptions {
  const isOn = (name: string) => isTruthy(query.get(name));
  return {
    container: query.get("container") ?? "",
    stdin: isOn("stdin"),
    stdout: isOn("stdout"),
    stderr: isOn("stderr"),
    tty: isOn("tty"),
    command: query.getAll("command"),
  };
}

/** Parses the query of portforward. Throws BadRequest with the message of `Convert_Slice_string_To_Slice_int32`. */
export function readPorts(query: URLSearchParams): number[] {
  return query.getAll("ports").flatMap((list) => list.split(",").map(readPort));
}

function readPort(text: string): number {
  const problem = (why: string) =>
    badRequest(`cannot convert to []int32: strconv.ParseUint: parsing ${quote(text)}: ${why}`);
  if (!/^\d+$/.test(text)) throw problem("invalid syntax");
  const port = Number(text);
  if (port > 65_535) throw problem("value out of range");
  return port;
}

/** Parses the query of log. Throws BadRequest. */
export function readLogOptions(query: URLSearchParams): LogOptions {
  const isOn = (name: string) => isTruthy(query.get(name));
  return {
    container: query.get("container") ?? "",
    follow: isOn("follow"),
    previous: isOn("previous"),
    timestamps: isOn("timestamps"),
    insecureSkipTLSVerifyBackend: isOn("insecureSkipTLSVerifyBackend"),
    sinceSeconds: parseInteger(query.get("sinceSeconds")),
    sinceTime: readTime(query.get("sinceTime")),
    tailLines: parseInteger(query.get("tailLines")),
    limitBytes: parseInteger(query.get("limitBytes")),
    stream: query.get("stream") ?? undefined,
  };
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/;

function readTime(text: string | null): string | undefined {
  if (text === null) return undefined;
  // Compat: `Time.UnmarshalQueryParameter` parses these as the zero time.
  if (text === "" || text === "null") return "0001-01-01T00:00:00Z";
  if (!TIME.test(text) || Number.isNaN(Date.parse(text))) {
    const layout = "2006-01-02T15:04:05Z07:00";
    throw badRequest(`parsing time ${quote(text)} as ${quote(layout)}: cannot parse ${quote(text)} as "2006"`);
  }
  return new Date(text).toISOString().replace(/\.\d+Z$/, "Z");
}

const STREAMS = ["All", "Stdout", "Stderr"];

/** Validates the options of log. Upstream: `ValidatePodLogOptions`. */
export function validateLogOptions(options: LogOptions, hasStreams: boolean): FieldError[] {
  const { tailLines, limitBytes, sinceSeconds, sinceTime, stream } = options;
  const errors: FieldError[] = [];
  if (tailLines !== undefined && tailLines < 0) {
    errors.push(invalidField("tailLines", tailLines, "must be greater than or equal to 0"));
  }
  const positive = "must be greater than 0";
  if (limitBytes !== undefined && limitBytes < 1) errors.push(invalidField("limitBytes", limitBytes, positive));
  if (sinceSeconds !== undefined && sinceTime !== undefined) {
    errors.push(forbiddenField("[]", "at most one of `sinceTime` or `sinceSeconds` may be specified"));
  } else if (sinceSeconds !== undefined && sinceSeconds < 1) {
    errors.push(invalidField("sinceSeconds", sinceSeconds, positive));
  }
  if (!hasStreams) {
    if (stream !== undefined) errors.push(forbiddenField("stream", "may not be specified"));
    return errors;
  }
  const wanted = stream ?? "All";
  if (!STREAMS.includes(wanted)) errors.push(notSupportedField("stream", wanted, STREAMS));
  if (wanted !== "All" && tailLines !== undefined) {
    errors.push(forbiddenField("[]", "`tailLines` and specific `stream` are mutually exclusive for now"));
  }
  return errors;
}

/** The options as the object that admission sees. Unset members are omitted. */
export function optionsObject(kind: string, members: Readonly<Record<string, unknown>>): KubeObject {
  const set = Object.entries(members).filter(
    ([, value]) =>
      value !== false && value !== "" && value !== undefined && !(Array.isArray(value) && value.length === 0),
  );
  return { kind, apiVersion: "v1", ...Object.fromEntries(set) } as unknown as KubeObject;
}
