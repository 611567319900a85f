import { readFile, stat } from "node:fs/promises";
import path from "node:path";
import { isObject, type Json, type JsonObject } from "../../base/api/object.ts";
import type { ServerAccess, UserAccess } from "../../base/net/server-access.ts";
import { decodeYaml } from "../encoding/yaml/yaml.ts";

const MAX_BYTES = 1024 * 1024;

/**
 * Reads a kubeconfig file. Throws an Error that names the file and the problem but contains no value of the file.
 * Relative file names are relative to its folder. Credentials that require running a program (exec, auth-provider) are
 * rejected.
 */
export async function readKubeconfig(file: string): Promise<ServerAccess> {
  try {
    if ((await stat(file)).size > MAX_BYTES) throw new Error(`is larger than ${MAX_BYTES} bytes`);
    return await accessOf(parse(await readFile(file)), path.dirname(file));
  } catch (error) {
    throw new Error(`kubeconfig ${file}: ${error instanceof Error ? error.message : "cannot be read"}`);
  }
}

/** The users of a kubeconfig file by name, whatever its contexts. Throws like `readKubeconfig`. */
export async function readKubeconfigUsers(file: string): Promise<ReadonlyMap<string, UserAccess>> {
  try {
    if ((await stat(file)).size > MAX_BYTES) throw new Error(`is larger than ${MAX_BYTES} bytes`);
    const root = parse(await readFile(file));
    const entries = isObject(root) && Array.isArray(root.users) ? root.users.filter(isObject) : [];
    const folder = path.dirname(file);
    const users = entries.map(async (entry) => {
      const user = isObject(entry.user) ? entry.user : {};
      return [String(entry.name ?? ""), await userAccessOf(user, folder)] as const;
    });
    return new Map(await Promise.all(users));
  } catch (error) {
    throw new Error(`kubeconfig ${file}: ${error instanceof Error ? error.message : "cannot be read"}`);
  }
}

async function userAccessOf(user: JsonObject, folder: string): Promise<UserAccess> {
  for (const unsupported of ["exec", "auth-provider"]) {
    if (user[unsupported] === undefined) continue;
    const remedy = "use a kubeconfig with a token or a client certificate";
    throw new Error(`${unsupported} credentials are not supported; ${remedy}`);
  }
  const [certificate, key] = await Promise.all([
    dataOrFile(user, "client-certificate", folder),
    dataOrFile(user, "client-key", folder),
  ]);
  return {
    ...(certificate !== undefined && key !== undefined && { certificate, key }),
    authorization: () => authorizationOf(user, folder),
  };
}

function parse(bytes: Uint8Array): Json {
  try {
    return decodeYaml(bytes).value;
  } catch {
    throw new Error("is not valid YAML");
  }
}

async function accessOf(config: Json, folder: string): Promise<ServerAccess> {
  const root = isObject(config) ? config : {};
  const context = named(root.contexts, textOf(root, "current-context"), "context");
  const cluster = named(root.clusters, textOf(context, "cluster"), "cluster");
  const userName = textOf(context, "user");
  const user = userName === undefined ? {} : named(root.users, userName, "user");
  const [authority, access] = await Promise.all([
    dataOrFile(cluster, "certificate-authority", folder),
    userAccessOf(user, folder),
  ]);
  const serverName = textOf(cluster, "tls-server-name");
  return {
    server: urlOf(textOf(cluster, "server") ?? ""),
    ...(authority !== undefined && { authority }),
    skipsVerification: cluster["insecure-skip-tls-verify"] === true,
    ...(serverName !== undefined && { serverName }),
    ...access,
  };
}

/** An entry of `clusters`, `users` or `contexts`, which all have the form `{name, cluster: {…}}`. */
function named(list: Json | undefined, name: string | undefined, what: string): JsonObject {
  const entries = Array.isArray(list) ? list.filter(isObject) : [];
  // Compat: without `current-context`, clientcmd uses the only entry.
  const entry = name === undefined && entries.length === 1 ? entries[0] : entries.find((one) => one.name === name);
  const value = entry?.[what];
  if (!isObject(value)) throw new Error(`has no ${what} ${name === undefined ? "in use" : JSON.stringify(name)}`);
  return value;
}

function textOf(object: JsonObject, member: string): string | undefined {
  const value = object[member];
  return typeof value === "string" && value !== "" ? value : undefined;
}

function urlOf(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== "https:" && url?.protocol !== "http:") throw new Error("its cluster has no http or https URL");
  return url;
}

async function dataOrFile(object: JsonObject, member: string, folder: string): Promise<string | undefined> {
  const data = textOf(object, `${member}-data`);
  if (data !== undefined) return Buffer.from(data, "base64").toString();
  const file = textOf(object, member);
  return file === undefined ? undefined : readFile(path.resolve(folder, file), "utf8");
}

/** Compat: `tokenFile` is read again every time, because another process renews it. */
async function authorizationOf(user: JsonObject, folder: string): Promise<string | undefined> {
  const file = textOf(user, "tokenFile");
  const token =
    file === undefined ? textOf(user, "token") : (await readFile(path.resolve(folder, file), "utf8")).trim();
  if (token !== undefined) return `Bearer ${token}`;
  const name = textOf(user, "username");
  if (name === undefined) return undefined;
  return `Basic ${Buffer.from(`${name}:${textOf(user, "password") ?? ""}`).toString("base64")}`;
}
