import { isObject, type JsonObject, type KubeObject } from "../../../base/api/object.ts";
import { getMember } from "../../../base/util/members.ts";
import type { Container, EnvFromSource, EnvVar } from "../../../kinds/types/container.ts";
import type { Service } from "../../../kinds/types/service.ts";
import type { Pod } from "../../../kinds/types/workloads.ts";
import type { ObjectAccess } from "../../../resources/model/definition.ts";
import { API_SERVER_SERVICE, serviceEnv } from "./service-env.ts";

type Env = Record<string, string>;

/** How the environment of a container is read. */
export type EnvAccess = Pick<ObjectAccess, "find" | "list">;

/** Where the Pod runs. */
export interface PodPlacement {
  readonly hostIP: string;
  readonly podIPs: readonly string[];
}

/** The environment variables of a container. Throws if a ConfigMap, a Secret or a key does not exist. */
export async function containerEnv(
  access: EnvAccess,
  pod: Pod,
  { env = [], envFrom = [] }: Container,
  place: PodPlacement,
): Promise<Env> {
  const found: Env = { HOSTNAME: pod.metadata.name ?? "", ...serviceEnv(await visibleServices(access, pod)) };
  const sources = new Sources(access, pod.metadata.namespace ?? "");
  for (const source of envFrom) Object.assign(found, await sources.all(source));
  for (const variable of env) {
    const value = await variableValue(variable, found, pod, place, sources);
    if (value !== undefined) found[variable.name ?? ""] = value;
  }
  return found;
}

/** The Service of the API server and, unless the Pod rejects them, all of its namespace. Upstream: getServiceEnvVarMap */
async function visibleServices(access: EnvAccess, { metadata, spec }: Pod): Promise<Service[]> {
  const { namespace = "" } = metadata;
  const own = spec?.enableServiceLinks === false ? [] : await access.list("", "services", namespace, "any");
  const common = await access.find("", "services", API_SERVER_SERVICE, "any");
  return [...(common ? [common] : []), ...own] as Service[];
}

async function variableValue(
  { value, valueFrom }: EnvVar,
  before: Env,
  pod: Pod,
  place: PodPlacement,
  sources: Sources,
): Promise<string | undefined> {
  if (valueFrom === undefined) return expand(value ?? "", before);
  const { configMapKeyRef, secretKeyRef, fieldRef } = valueFrom;
  if (configMapKeyRef) return sources.key("configmaps", configMapKeyRef);
  if (secretKeyRef) return sources.key("secrets", secretKeyRef);
  if (fieldRef) return fieldOf(pod, fieldRef.fieldPath ?? "", place);
  return undefined;
}

/** Replaces `$(NAME)` by earlier variables. `$$` stands for `$`. Upstream: expansion.Expand */
function expand(text: string, env: Env): string {
  return text.replace(/\$(\$|\(([^()]*)\))/g, (whole, what: string, name: string) =>
    what === "$" ? "$" : Object.hasOwn(env, name) ? (env[name] ?? "") : whole,
  );
}

/** A field of the Pod, as the downward API names it. */
function fieldOf({ metadata, spec = {} }: Pod, path: string, { hostIP, podIPs }: PodPlacement): string {
  const [, list, key = ""] = /^metadata\.(labels|annotations)\['(.*)'\]$/.exec(path) ?? [];
  if (list === "labels" || list === "annotations") return metadata[list]?.[key] ?? "";
  const fields: Readonly<Record<string, string | undefined>> = {
    "metadata.name": metadata.name,
    "metadata.namespace": metadata.namespace,
    "metadata.uid": metadata.uid,
    "spec.nodeName": spec.nodeName,
    "spec.serviceAccountName": spec.serviceAccountName,
    "status.hostIP": hostIP,
    "status.podIP": podIPs[0],
    "status.podIPs": podIPs.join(","),
  };
  return getMember(fields, path) ?? "";
}

interface KeyReference {
  readonly name?: string;
  readonly key?: string;
  readonly optional?: boolean;
}

/** ConfigMaps and Secrets of a namespace. */
class Sources {
  readonly #access: Pick<ObjectAccess, "find">;
  readonly #namespace: string;

  constructor(access: Pick<ObjectAccess, "find">, namespace: string) {
    this.#access = access;
    this.#namespace = namespace;
  }

  async all({ prefix = "", configMapRef, secretRef }: EnvFromSource): Promise<Env> {
    const plural = configMapRef ? "configmaps" : "secrets";
    const { name = "", optional = false } = configMapRef ?? secretRef ?? {};
    const data = await this.#data(plural, name, optional);
    return Object.fromEntries(Object.entries(data).map(([key, value]) => [`${prefix}${key}`, value]));
  }

  async key(plural: string, { name = "", key = "", optional = false }: KeyReference): Promise<string | undefined> {
    const data = await this.#data(plural, name, optional);
    if (Object.hasOwn(data, key)) return data[key];
    if (optional) return undefined;
    throw new Error(`couldn't find key ${key} in ${getMember(KINDS, plural)} ${this.#namespace}/${name}`);
  }

  async #data(plural: string, name: string, optional: boolean): Promise<Env> {
    const object = await this.#access.find("", plural, { namespace: this.#namespace, name });
    if (object) return textsOf(plural, object);
    if (optional) return {};
    throw new Error(`${getMember(KINDS, plural)?.toLowerCase()} "${name}" not found`);
  }
}

const KINDS: Readonly<Record<string, string>> = { configmaps: "ConfigMap", secrets: "Secret" };

function textsOf(plural: string, { data }: KubeObject): Env {
  const entries = Object.entries(isObject(data) ? (data as JsonObject) : {});
  const read = (text: string) => (plural === "secrets" ? Buffer.from(text, "base64").toString() : text);
  return Object.fromEntries(entries.map(([key, value]) => [key, read(String(value))]));
}
