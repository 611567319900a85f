import type { Stage } from "../../base/api/call.ts";
import type { ApiReply } from "../../base/api/reply.ts";
import type { RequestInfo } from "../../base/api/request-info.ts";
import { getMember } from "../../base/util/members.ts";
import { negotiateOutput } from "../../data/encoding/negotiation/negotiate.ts";
import { offerOf } from "../../data/encoding/reply/reply.ts";

const REPLY_TYPES: Readonly<Record<string, ApiReply["type"]>> = {
  list: "list",
  deletecollection: "list",
  watch: "watch",
};

/**
 * Compat: an unacceptable Accept header is rejected with 406 before the request is processed. `hasTable`: whether the
 * response of a path can be rendered as a Table. `isUnstructured`: whether its objects have no protobuf encoding. Both
 * may return anything for paths that are not served. `isRemote`: another server negotiates for this path.
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
