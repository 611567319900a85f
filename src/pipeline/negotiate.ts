import type { Stage } from "../api/call.ts";
import type { ApiReply } from "../api/reply.ts";
import type { RequestInfo } from "../api/request-info.ts";
import { negotiateOutput } from "../encoding/negotiation/negotiate.ts";
import { offerOf } from "../encoding/reply/reply.ts";
import { getMember } from "../lib/members.ts";

const REPLY_TYPES: Readonly<Record<string, ApiReply["type"]>> = {
  list: "list",
  deletecollection: "list",
  watch: "watch",
};

/**
 * Compat: an Accept header that cannot be met is refused with 406 before anything is done. `hasTable` tells whether
 * what a path answers with can be shown as a table, `isUnstructured` whether its objects have no protobuf; for paths
 * that are not served both may say anything. What `isRemote` is for another server to negotiate.
 */
export function negotiate(
  hasTable: (info: RequestInfo) => boolean,
  isUnstructured: (info: RequestInfo) => boolean,
  isRemote: (info: RequestInfo) => boolean = () => false,
): Stage {
  return (next) => (call) => {
    const { info } = call;
    if (info.isResource && !isRemote(info)) {
      const reply = {
        type: getMember(REPLY_TYPES, info.verb) ?? "object",
        table: hasTable(info) ? { columns: [] } : undefined,
      };
      negotiateOutput(call.request, offerOf(reply, isUnstructured(info)));
    }
    return next(call);
  };
}
