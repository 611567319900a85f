import type { UserInfo } from "./user-info.ts";

const PREFIX = "system:node:";
const GROUP = "system:nodes";

/** The node that a user is: undefined when it is none, empty when nobody knows which. Upstream: `NodeIdentity`. */
export function nodeOf({ name, groups }: UserInfo): string | undefined {
  if (!name.startsWith(PREFIX) || !groups.includes(GROUP)) return undefined;
  return name.slice(PREFIX.length);
}
