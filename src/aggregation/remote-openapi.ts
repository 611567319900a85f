import { isObject } from "../api/object.ts";
import { parseJson } from "../encoding/json/json.ts";
import { getMember } from "../lib/members.ts";
import type { RemoteApi } from "./api-service.ts";
import type { ExtensionClient } from "./extension-client.ts";
import type { Backend } from "./resolve.ts";

/** Compat: who reads OpenAPI documents of extension servers, for whoever may read them here. */
export const OPENAPI_READER = { name: "system:aggregator", groups: ["system:masters"] } as const;

const TIMEOUT_MS = 5000;
const MAX_BYTES = 1024 * 1024;

/**
 * The hash by which an extension server's OpenAPI v3 document of a group version is known, from its index `/openapi/v3`.
 * Undefined: it has no such document, or does not tell.
 */
export async function readOpenApiHash(
  { client, backend, signal }: { client: ExtensionClient; backend: Backend; signal: AbortSignal },
  api: RemoteApi,
): Promise<string | undefined> {
  const headers = { accept: "application/json", host: `${api.service.name}.${api.service.namespace}.svc` };
  const limits = { maxBytes: MAX_BYTES, timeoutMs: TIMEOUT_MS, signal };
  const answer = await client.get(api, backend, { uri: "/openapi/v3", headers, user: OPENAPI_READER, ...limits });
  if (answer.status !== 200) return undefined;
  const index = parseJson(answer.body);
  const paths = isObject(index) ? index.paths : undefined;
  const entry = isObject(paths) ? getMember(paths, `apis/${api.group}/${api.version}`) : undefined;
  const url = isObject(entry) ? entry.serverRelativeURL : undefined;
  const hash = typeof url === "string" ? new URLSearchParams(url.slice(url.indexOf("?") + 1)).get("hash") : null;
  return hash !== null && /^[0-9A-Za-z]{1,128}$/.test(hash) ? hash : undefined;
}
