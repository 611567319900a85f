import type { Call } from "../api/call.ts";
import { headerOf } from "../encoding/reply/encoded-reply.ts";
import type { RequestMatch } from "./match.ts";

/** A request that a client has sent. */
export interface RequestRecord {
  readonly verb: string;
  readonly method: string;
  /** With the query. */
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
  /** When it came, by the control plane's clock. */
  readonly time: Date;
  /** What it was answered with; undefined while it is not, as with a watch that is open. */
  readonly code: number | undefined;
}

const MAX_RECORDS = 10_000;

/** Who called what, in order: the last 10,000 requests of clients. */
export class RequestLog implements Iterable<RequestRecord> {
  #records: RequestRecord[] = [];

  /** How many there are. */
  get length(): number {
    return this.#records.length;
  }

  [Symbol.iterator](): Iterator<RequestRecord> {
    return this.#records[Symbol.iterator]();
  }

  /** Those that are meant, or all. */
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

  /** Forgets all. */
  clear(): void {
    this.#records = [];
  }

  /** Notes a request that has come. */
  add(call: Call, timeMs: number): void {
    const { info, request } = call;
    let code: number | undefined;
    let { user } = call;
    // Who it is is known only behind the first stages; afterwards nothing of the request is kept.
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
