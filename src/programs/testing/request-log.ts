import type { Call } from "../../base/api/call.ts";
import { headerOf } from "../../data/encoding/reply/encoded-reply.ts";
import type { RequestMatch } from "./match.ts";

/** A request of a client. */
export interface RequestRecord {
  readonly verb: string;
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  readonly user: string;
  readonly groups: readonly string[];
  readonly userAgent: string;
  /** When it arrived, by the control plane's clock. */
  readonly time: Date;
  /** Status code of the response; undefined while there is none, as for an open watch. */
  readonly code: number | undefined;
}

const MAX_RECORDS = 10_000;

/** The last 10,000 requests of clients, in order. */
export class RequestLog implements Iterable<RequestRecord> {
  #records: RequestRecord[] = [];

  /** How many requests are recorded. */
  get length(): number {
    return this.#records.length;
  }

  [Symbol.iterator](): Iterator<RequestRecord> {
    return this.#records[Symbol.iterator]();
  }

  /** The requests that match; all if `match` is omitted. */
  list(match: RequestMatch = {}): RequestRecord[] {
    const { verb, resource, client = "", ...others } = match;
    const verbs = typeof verb === "string" ? [verb] : verb;
    return this.#records.filter((record) => {
      const named = `${record.resource}.${record.group}`;
      return (
        (verbs === undefined || verbs.includes(record.verb)) &&
        (resource === undefined || resource === record.resource || resource === named) &&
        record.userAgent.includes(client) &&
        Object.entries(others).every(([name, value]) => value === undefined || Reflect.get(record, name) === value)
      );
    });
  }

  /** Removes all records. */
  clear(): void {
    this.#records = [];
  }

  /** @internal Records a request. */
  add(call: Call, timeMs: number): void {
    const { info, request } = call;
    let code: number | undefined;
    let { user } = call;
    // The user is only known after authentication. The call itself is not retained afterwards.
    let open: Call | undefined = call;
    call.whenFinished((outcome) => {
      code = outcome.code;
      user = call.user;
      open = undefined;
    });
    const caller = () => open?.user ?? user;
    const { verb, group, version, resource, subresource, namespace, name } = info;
    this.#records.push({
      ...{ verb, group, version, resource, subresource, namespace, name },
      method: request.method,
      path: request.uri,
      userAgent: headerOf(request.headers, "user-agent") ?? "",
      time: new Date(timeMs),
      get user() {
        return caller().name;
      },
      get groups() {
        return caller().groups;
      },
      get code() {
        return code;
      },
    });
    if (this.#records.length > MAX_RECORDS) this.#records.splice(0, MAX_RECORDS / 10);
  }
}
