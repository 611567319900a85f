import { isObject, type JsonObject } from "../api/object.ts";
import { quote } from "../lib/go/quote.ts";
import { decodeBySchema } from "../schema/decode.ts";
import type { Schema } from "../schema/schema.ts";
import { DecodeError } from "./json/json.ts";
import { decodeYaml } from "./yaml/yaml.ts";

/** The kinds of configuration files of one group: schemas by kind, and by version. */
export interface ConfigurationKinds {
  readonly group: string;
  readonly versions: readonly string[];
  readonly schemas: ReadonlyMap<string, Schema>;
}

/** A configuration as its file has it. */
export interface ConfigurationFile {
  readonly kind: string;
  readonly version: string;
  readonly value: JsonObject;
}

/** The file does not say what it is. */
export class MissingKindError extends Error {}

/**
 * Reads a configuration file, in JSON or YAML, strictly: what is unknown or stands twice is refused, unless `warn` takes
 * what is said about it. Throws an Error in the words of kube-apiserver's decoder.
 */
export function readConfigurationFile(
  text: string,
  kinds: ConfigurationKinds,
  warn?: (text: string) => void,
): ConfigurationFile {
  if (text === "") throw new MissingKindError("empty config data");
  const { value, duplicates } = decode(text);
  if (value === null) throw new MissingKindError(`Object 'Kind' is missing in '${text}'`);
  const { apiVersion = "", kind = "" } = isObject(value) ? value : {};
  if (!isObject(value) || typeof apiVersion !== "string" || typeof kind !== "string") {
    const found = Array.isArray(value) ? "array" : typeof value;
    const type =
      'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';
    throw new Error(
      `couldn't get version/kind; json parse error: json: cannot unmarshal ${found} into Go value of type ${type}`,
    );
  }
  if (kind === "") throw new MissingKindError(`Object 'Kind' is missing in '${text}'`);
  if (apiVersion === "") throw new MissingKindError(`Object 'apiVersion' is missing in '${text}'`);
  const [group = "", version = ""] = apiVersion.includes("/") ? apiVersion.split("/") : ["", apiVersion];
  const schema = group === kinds.group && kinds.versions.includes(version) ? kinds.schemas.get(kind) : undefined;
  if (schema === undefined) {
    throw new Error(`no kind ${quote(kind)} is registered for version ${quote(apiVersion)} in scheme "${SCHEME}"`);
  }
  const decoded = decodeBySchema(value, schema, { duplicates: duplicates() });
  if (decoded.error !== undefined) throw new Error(decoded.error);
  if (decoded.strict.length > 0) {
    const problem = `strict decoding error: ${decoded.strict.join(", ")}`;
    if (!warn) throw new Error(problem);
    warn(problem);
  }
  return { kind, version, value: decoded.value };
}

const SCHEME = "pkg/runtime/scheme.go:111";

function decode(text: string): ReturnType<typeof decodeYaml> {
  try {
    return decodeYaml(Buffer.from(text));
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw new Error(error.message);
  }
}

/** The shape of a struct, for schemas of configuration files. */
export function struct(component: string, fields: Readonly<Record<string, Schema>>): Schema {
  return { type: "object", component, properties: new Map(Object.entries(fields)) };
}

/** A list of what has this shape. */
export const listOf = (items: Schema): Schema => ({ type: "array", items });

/** A text. */
export const TEXT: Schema = { type: "string" };
/** Yes or no. */
export const YES_OR_NO: Schema = { type: "boolean" };
