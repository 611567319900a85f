import type { UserInfo } from "./user-info.ts";

const PREFIX = "system:node:";
const GROUP = "system:nodes";

/**
 * The node name of a user. Undefined if the user is not a node; empty if the node is unknown. Upstream: `NodeIdentity`.
 */
export function nodeOf({ name, groups }: UserInfo): string | undefined {
  if (!name.startsWith(PREFIX) || !groups.includes(GROUP)) return undefined;
  return name.slice(PREFIX.length);
}
