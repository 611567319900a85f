import path from "node:path";
import { KINDS_OF_PLUGINS } from "../../admission/webhooks/webhook-source.ts";
import { isObject, type Json, type JsonObject } from "../../api/object.ts";
import { decodeYaml } from "../../encoding/yaml/yaml.ts";
import { readLimited } from "../watched-file.ts";
import type { WebhookCredentials } from "../webhooks/webhook-client.ts";
import { readWebhookCredentials } from "../webhooks/webhook-credentials.ts";

/** The plugins that ask policies, and the kinds of their configurations. */
const POLICY_PLUGINS = {
  ValidatingAdmissionPolicy: "ValidatingAdmissionPolicyConfiguration",
  MutatingAdmissionPolicy: "MutatingAdmissionPolicyConfiguration",
} as const;

/** The names of the plugins that have a configuration. */
export type ConfiguredPlugin = keyof typeof KINDS_OF_PLUGINS | keyof typeof POLICY_PLUGINS;

/** What the configuration file says about one plugin. */
export interface PluginFile {
  /** By which webhooks know the server. */
  readonly credentials?: WebhookCredentials | undefined;
  /** `staticManifestsDir`: what is in force from the start, and what nobody can change by the API. */
  readonly manifests?: string | undefined;
}

/** What the file says, by plugin. */
export type AdmissionFile = Partial<Record<ConfiguredPlugin, PluginFile>>;

/**
 * Reads the AdmissionConfiguration of `--admission-control-config-file`: the configurations of the plugins that ask webhooks
 * and policies. Throws an Error that names the file.
 */
export async function readAdmissionFile(file: string): Promise<AdmissionFile> {
  try {
    const root = await readDocument(file);
    if (root.kind !== "AdmissionConfiguration") throw new Error("is no AdmissionConfiguration");
    const found: AdmissionFile = {};
    for (const plugin of Array.isArray(root.plugins) ? root.plugins.filter(isObject) : []) {
      const name = String(plugin.name ?? "");
      const isKnown = Object.hasOwn(KINDS_OF_PLUGINS, name) || Object.hasOwn(POLICY_PLUGINS, name);
      if (!isKnown) throw new Error(`plugin ${JSON.stringify(name)} has no configuration here`);
      const own = await ownConfiguration(plugin, path.dirname(file));
      found[name as ConfiguredPlugin] = await readPlugin(name as ConfiguredPlugin, own);
    }
    return found;
  } catch (error) {
    throw new Error(`admission configuration ${file}: ${error instanceof Error ? error.message : "cannot be read"}`);
  }
}

async function ownConfiguration({ path: at, configuration }: JsonObject, folder: string): Promise<JsonObject> {
  if (isObject(configuration)) return configuration;
  return typeof at !== "string" || at === "" ? {} : readDocument(path.resolve(folder, at));
}

async function readPlugin(
  plugin: ConfiguredPlugin,
  { kind, kubeConfigFile, staticManifestsDir }: JsonObject,
): Promise<PluginFile> {
  const wanted = Object.hasOwn(POLICY_PLUGINS, plugin) ? POLICY_PLUGINS[plugin as keyof typeof POLICY_PLUGINS] : kind;
  if (kind !== undefined && kind !== wanted) throw new Error(`${plugin}: unexpected type: ${kind}, not ${wanted}`);
  const kubeconfig = absolute("kubeConfigFile", kubeConfigFile);
  const manifests = absolute("staticManifestsDir", staticManifestsDir);
  return { manifests, credentials: kubeconfig === undefined ? undefined : await readWebhookCredentials(kubeconfig) };
}

function absolute(member: string, value: Json | undefined): string | undefined {
  if (typeof value !== "string" || value === "") return undefined;
  if (!path.isAbsolute(value))
    throw new Error(`${member}: Invalid value: ${JSON.stringify(value)}: must be an absolute file path`);
  return value;
}

async function readDocument(file: string): Promise<JsonObject> {
  const { value } = decodeYaml(Buffer.from(await readLimited(file)));
  if (!isObject(value)) throw new Error(`${file} is no object`);
  return value;
}
