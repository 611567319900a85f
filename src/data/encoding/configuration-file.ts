import { isObject, type JsonObject } from "../../base/api/object.ts";
import { quote } from "../../base/go/quote.ts";
import { decodeBySchema } from "../schema/decode.ts";
import type { Schema } from "../schema/schema.ts";
import { DecodeError } from "./json/json.ts";
import { decodeYaml } from "./yaml/yaml.ts";

/** The kinds of configuration files in one API group, with their schemas. */
export interface ConfigurationKinds {
  readonly group: string;
  readonly versions: readonly string[];
  readonly schemas: ReadonlyMap<string, Schema>;
}

/** A decoded configuration file. */
export interface ConfigurationFile {
  readonly kind: string;
  readonly version: string;
  readonly value: JsonObject;
}

/** The file has no kind or apiVersion. */
export class MissingKindError extends Error {}

/**
 * Decodes a configuration file, in JSON or YAML. Unknown and duplicate fields are errors, unless `warn` is given and
 * receives them. Throws an Error with the message of kube-apiserver's decoder.
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

/** The schema of a struct in a configuration file. */
export function struct(component: string, fields: Readonly<Record<string, Schema>>): Schema {
  return { type: "object", component, properties: new Map(Object.entries(fields)) };
}

/** The schema of a list. */
export const listOf = (items: Schema): Schema => ({ type: "array", items });

/** The schema of a string. */
export const TEXT: Schema = { type: "string" };
/** The schema of a boolean. */
export const YES_OR_NO: Schema = { type: "boolean" };
