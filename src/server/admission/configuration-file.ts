import { readdir, readFile, stat } from "node:fs/promises";
import path from "node:path";
import { type CompiledWebhook, compileConfiguration } from "../../admission/webhooks/compiled-webhook.ts";
import { KINDS_OF_PLUGINS } from "../../admission/webhooks/webhook-source.ts";
import { printFieldError } from "../../api/field-error.ts";
import { isObject, type Json, type JsonObject, type KubeObject } from "../../api/object.ts";
import { decodeYaml } from "../../encoding/yaml/yaml.ts";
import { Draft } from "../../resources/model/draft.ts";
import type { Resources } from "../../resources/resources.ts";
import { strategyOf } from "../../resources/strategies/strategy-of.ts";
import type { Webhook } from "../../types/admission-registration.ts";
import type { WebhookCredentials } from "../webhooks/webhook-client.ts";
import { readWebhookCredentials } from "../webhooks/webhook-credentials.ts";
import { splitDocuments } from "./manifest-documents.ts";

/** What the configuration file says about one of the two plugins that ask webhooks. */
export interface WebhookPluginFile {
  readonly credentials: WebhookCredentials | undefined;
  /** Webhooks that are in force from the start, and that nobody can change by the API. */
  readonly fixed: readonly CompiledWebhook[];
}

/** The names of the plugins that have a configuration. */
export type ConfiguredPlugin = keyof typeof KINDS_OF_PLUGINS;
/** What the file says, by plugin. */
export type AdmissionFile = Partial<Record<ConfiguredPlugin, WebhookPluginFile>>;

const MAX_BYTES = 4 * 1024 * 1024;
/** Compat: `StaticConfigSuffix`. */
const SUFFIX = ".static.k8s.io";

/**
 * Reads the AdmissionConfiguration of `--admission-control-config-file`: the WebhookAdmissionConfigurations of both webhook
 * plugins, with the kubeconfig and the folder of manifests that these name. Throws an Error that names the file.
 */
export async function readAdmissionFile(file: string, resources: Resources): Promise<AdmissionFile> {
  try {
    const [root] = await readDocuments(file);
    if (root?.kind !== "AdmissionConfiguration") throw new Error("is no AdmissionConfiguration");
    const found: AdmissionFile = {};
    for (const plugin of Array.isArray(root.plugins) ? root.plugins.filter(isObject) : []) {
      const name = String(plugin.name ?? "");
      if (!Object.hasOwn(KINDS_OF_PLUGINS, name))
        throw new Error(`plugin ${JSON.stringify(name)} has no configuration here`);
      const own = await ownConfiguration(plugin, path.dirname(file));
      found[name as ConfiguredPlugin] = await readPlugin(name as ConfiguredPlugin, own, resources);
    }
    return found;
  } catch (error) {
    throw new Error(`admission configuration ${file}: ${error instanceof Error ? error.message : "cannot be read"}`);
  }
}

async function ownConfiguration({ path: at, configuration }: JsonObject, folder: string): Promise<JsonObject> {
  if (isObject(configuration)) return configuration;
  if (typeof at !== "string" || at === "") return {};
  return (await readDocuments(path.resolve(folder, at)))[0] ?? {};
}

async function readPlugin(
  plugin: ConfiguredPlugin,
  { kubeConfigFile, staticManifestsDir }: JsonObject,
  resources: Resources,
): Promise<WebhookPluginFile> {
  const kubeconfig = absolute("kubeConfigFile", kubeConfigFile);
  const folder = absolute("staticManifestsDir", staticManifestsDir);
  return {
    credentials: kubeconfig === undefined ? undefined : await readWebhookCredentials(kubeconfig),
    fixed: folder === undefined ? [] : await readManifests(folder, KINDS_OF_PLUGINS[plugin], resources),
  };
}

function absolute(member: string, value: Json | undefined): string | undefined {
  if (typeof value !== "string" || value === "") return undefined;
  if (!path.isAbsolute(value))
    throw new Error(`${member}: Invalid value: ${JSON.stringify(value)}: must be an absolute file path`);
  return value;
}

async function readManifests(folder: string, kind: string, resources: Resources): Promise<CompiledWebhook[]> {
  const objects = new Map<string, KubeObject>();
  for (const name of (await readdir(folder)).sort()) {
    if (!/\.(ya?ml|json)$/i.test(name)) continue;
    const file = path.join(folder, name);
    for (const document of await readDocuments(file)) {
      const object = readConfiguration(document, kind, resources);
      const own = object.metadata.name ?? "";
      if (!own.endsWith(SUFFIX)) throw new Error(`${own} in ${file} must have a name ending with ${SUFFIX}`);
      if (objects.has(own)) throw new Error(`duplicate name ${own} found in ${file}`);
      objects.set(own, object);
    }
  }
  const sorted = [...objects].sort(([a], [b]) => (a < b ? -1 : 1));
  return sorted.flatMap(([, object]) => compileConfiguration(object, true));
}

function readConfiguration(document: JsonObject, kind: string, resources: Resources): KubeObject {
  const apiVersion = String(document.apiVersion ?? "");
  const served = document.kind === kind ? resources.catalog.findKind(apiVersion, kind) : undefined;
  if (!served) throw new Error(`unsupported type ${apiVersion} ${document.kind}: only ${kind} is read here`);
  const { definition, version } = served;
  const { value, error, strict } = strategyOf(definition).decode(document, version.schema());
  const problem = error ?? strict[0];
  if (problem !== undefined) throw new Error(problem);
  const object = value as KubeObject;
  strategyOf(definition).setDefaults(served, object, resources);
  const context = { subresource: "", apiVersion, now: resources.clock.now(), features: resources.features };
  const problems = definition.hooks?.validate?.(object, undefined, { ...context, draft: new Draft(object) }) ?? [];
  // Only what the API stores may not have the name of what is not.
  const [wrong] = problems.filter(({ field }) => field !== "metadata.name");
  if (wrong) throw new Error(printFieldError(wrong));
  const webhooks = (Array.isArray(object.webhooks) ? object.webhooks : []) as Webhook[];
  const service = webhooks.find(({ clientConfig }) => clientConfig?.service !== undefined);
  if (service) throw new Error(`webhook ${service.name}: clientConfig.service is not supported for static manifests`);
  return object;
}

async function readDocuments(file: string): Promise<JsonObject[]> {
  if ((await stat(file)).size > MAX_BYTES) throw new Error(`${file} is larger than ${MAX_BYTES} bytes`);
  const text = await readFile(file, "utf8");
  return splitDocuments(text).map((one) => {
    const { value } = decodeYaml(Buffer.from(one));
    if (!isObject(value)) throw new Error(`${file} is no object`);
    return value;
  });
}
