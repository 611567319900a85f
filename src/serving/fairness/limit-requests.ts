import type { Stage } from "../../base/api/call.ts";
import type { RequestInfo } from "../../base/api/request-info.ts";
import { tooManyRequests } from "./too-many-requests.ts";

/** Options of `limitRequests`. 0: no limit. */
export interface RequestLimits {
  readonly maxReads: number;
  readonly maxWrites: number;
  readonly isLongRunning: (info: RequestInfo) => boolean;
}

const READS: ReadonlySet<string> = new Set(["get", "list", "watch"]);
const PRIVILEGED_GROUP = "system:masters";

/** Limits how many requests run at once, without queues. Compat: WithMaxInFlightLimit, if priority and fairness is off. */
export function limitRequests({ maxReads, maxWrites, isLongRunning }: RequestLimits): Stage {
  const reads = { running: 0, limit: maxReads };
  const writes = { running: 0, limit: maxWrites };
  return (next) => (call) => {
    const { info, user } = call;
    const kind = READS.has(info.verb) ? reads : writes;
    if (kind.limit === 0 || isLongRunning(info)) return next(call);
    const isFull = kind.running >= kind.limit;
    if (isFull && !user.groups.includes(PRIVILEGED_GROUP)) return tooManyRequests(1);
    // A request of an administrator runs in any case, and takes no place.
    if (isFull) return next(call);
    kind.running++;
    call.whenFinished(() => kind.running--);
    return next(call);
  };
}
