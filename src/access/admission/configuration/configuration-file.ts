import path from "node:path";
import { isObject, type Json, type JsonObject } from "../../../base/api/object.ts";
import { readLimited } from "../../../base/files/watched-file.ts";
import { decodeYaml } from "../../../data/encoding/yaml/yaml.ts";
import type { WebhookCredentials } from "../../webhooks/webhook-client.ts";
import { readWebhookCredentials } from "../../webhooks/webhook-credentials.ts";
import { KINDS_OF_PLUGINS } from "../webhooks/webhook-source.ts";

/** The policy plugins, and the kinds of their configurations. */
const POLICY_PLUGINS = {
  ValidatingAdmissionPolicy: "ValidatingAdmissionPolicyConfiguration",
  MutatingAdmissionPolicy: "MutatingAdmissionPolicyConfiguration",
} as const;

/** Names of the plugins that have a configuration. */
export type ConfiguredPlugin = keyof typeof KINDS_OF_PLUGINS | keyof typeof POLICY_PLUGINS;

/** Configuration of one plugin. */
export interface PluginFile {
  /** Credentials of the server for webhooks. */
  readonly credentials?: WebhookCredentials | undefined;
  /** `staticManifestsDir`: manifests that are in force from the start and cannot be changed through the API. */
  readonly manifests?: string | undefined;
}

/** Configurations by plugin. */
export type AdmissionFile = Partial<Record<ConfiguredPlugin, PluginFile>>;

/**
 * Reads the AdmissionConfiguration of `--admission-control-config-file`: the configurations of the webhook and policy
 * plugins. Throws an Error that names the file.
 */
export async function readAdmissionFile(file: string): Promise<AdmissionFile> {
  try {
    const root = await readDocument(file);
    if (root.kind !== "AdmissionConfiguration") throw new Error("not an AdmissionConfiguration");
    const found: AdmissionFile = {};
    for (const plugin of Array.isArray(root.plugins) ? root.plugins.filter(isObject) : []) {
      const name = String(plugin.name ?? "");
      const isKnown = Object.hasOwn(KINDS_OF_PLUGINS, name) || Object.hasOwn(POLICY_PLUGINS, name);
      if (!isKnown) throw new Error(`plugin ${JSON.stringify(name)} cannot be configured`);
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
  if (!isObject(value)) throw new Error(`${file} is not an object`);
  return value;
}
