import type { JsonObject } from "../../base/api/object.ts";
import type { Status } from "../../base/api/status.ts";
import type { UserInfo } from "../../base/api/user-info.ts";
import { quote } from "../../base/go/quote.ts";
import { trimRight } from "../../base/util/trim-right.ts";
import type { Level, Stage } from "./policy.ts";

/** `objectRef` of an event. Empty members are omitted in JSON. */
export interface ObjectReference {
  resource: string;
  namespace: string;
  name: string;
  uid: string;
  apiGroup: string;
  apiVersion: string;
  resourceVersion: string;
  subresource: string;
}

/** The members of an audit.k8s.io/v1 Event. */
export interface EventFields {
  readonly level: Level;
  readonly auditID: string;
  readonly stage: Stage;
  readonly requestURI: string;
  readonly verb: string;
  /** Undefined if authentication failed. */
  readonly user: UserInfo | undefined;
  readonly impersonatedUser: UserInfo | undefined;
  /** Empty in the classic mode, and without impersonation. */
  readonly impersonationConstraint: string;
  readonly sourceIPs: readonly string[];
  readonly userAgent: string;
  readonly objectRef: Readonly<ObjectReference> | undefined;
  readonly responseStatus: Partial<Status> | undefined;
  /** JSON. */
  readonly requestObject: string | undefined;
  /** JSON. */
  readonly responseObject: string | undefined;
  readonly requestReceivedMs: number;
  readonly stageMs: number;
  readonly annotations: ReadonlyMap<string, string>;
}

const TRUNCATED = "audit.k8s.io/truncated";

/** An audit event: the state of a request at one stage. Its JSON is computed once. */
export class AuditEvent {
  readonly fields: EventFields;
  #json: string | undefined;

  constructor(fields: EventFields) {
    this.fields = fields;
  }

  /** The event as one line of JSON, without the trailing line feed. */
  get json(): string {
    this.#json ??= printEvent(this.fields, '"kind":"Event","apiVersion":"audit.k8s.io/v1",');
    return this.#json;
  }

  /** The event as an item of an EventList. */
  get itemJson(): string {
    return printEvent(this.fields, "");
  }

  /** Size of `json` with its line feed. Size limits refer to it. */
  get bytes(): number {
    return Buffer.byteLength(this.json) + 1;
  }

  /** A copy without the request and response objects. */
  withoutObjects(): AuditEvent {
    const annotations = new Map(this.fields.annotations).set(TRUNCATED, "true");
    return new AuditEvent({ ...this.fields, requestObject: undefined, responseObject: undefined, annotations });
  }

  /** Compat: EventString, the line of `--audit-log-format=legacy`. */
  get legacyLine(): string {
    const { user, impersonatedUser, objectRef, responseStatus, sourceIPs } = this.fields;
    const { auditID, stage, verb, userAgent, requestURI, requestReceivedMs } = this.fields;
    const list = (values: readonly string[]): string => values.map(quote).join(",");
    const groups = user && user.name !== "" && user.groups.length > 0 ? list(user.groups) : "<none>";
    const parts = [
      ["id", auditID],
      ["stage", stage],
      ["ip", sourceIPs[0] ?? "<unknown>"],
      ["method", verb],
      ["user", user?.name || "<none>"],
      ["groups", groups],
      ["as", impersonatedUser?.name ?? "<self>"],
      ["asgroups", impersonatedUser ? list(impersonatedUser.groups) : "<lookup>"],
      ["user-agent", userAgent],
      ["namespace", objectRef?.namespace || "<none>"],
      ["uri", requestURI],
      ["response", String(responseStatus?.code ?? "<deferred>")],
    ] as const;
    const time = `${trimRight(trimRight(microTime(requestReceivedMs).slice(0, -1), "0"), ".")}Z`;
    return `${time} AUDIT: ${parts.map(([name, value]) => `${name}=${quote(value)}`).join(" ")}`;
  }
}

function printEvent(fields: EventFields, typeMeta: string): string {
  const { level, auditID, stage, requestURI, verb, impersonatedUser, impersonationConstraint } = fields;
  const { sourceIPs, userAgent, objectRef, responseStatus, requestObject, responseObject, annotations } = fields;
  const head = { level, auditID, stage, requestURI, verb, user: fields.user ? printUser(fields.user) : {} };
  const members = [JSON.stringify(head).slice(1, -1)];
  const add = (name: string, json: string | undefined): void => {
    if (json !== undefined) members.push(`"${name}":${json}`);
  };
  add("impersonatedUser", impersonatedUser && JSON.stringify(printUser(impersonatedUser)));
  if (impersonationConstraint !== "") add("authenticationMetadata", JSON.stringify({ impersonationConstraint }));
  if (sourceIPs.length > 0) add("sourceIPs", JSON.stringify(sourceIPs));
  if (userAgent !== "") add("userAgent", JSON.stringify(userAgent));
  add("objectRef", objectRef && JSON.stringify(withoutEmpty(objectRef)));
  add("responseStatus", responseStatus && JSON.stringify(printStatus(responseStatus)));
  add("requestObject", requestObject);
  add("responseObject", responseObject);
  add("requestReceivedTimestamp", `"${microTime(fields.requestReceivedMs)}"`);
  add("stageTimestamp", `"${microTime(fields.stageMs)}"`);
  if (annotations.size > 0) {
    const sorted = [...annotations].toSorted(([a], [b]) => (a < b ? -1 : 1));
    add("annotations", JSON.stringify(Object.fromEntries(sorted)));
  }
  return `{${typeMeta}${members.join(",")}}`;
}

function printUser({ name, uid = "", groups, extra = {} }: UserInfo): JsonObject {
  return {
    ...(name !== "" && { username: name }),
    ...(uid !== "" && { uid }),
    ...(groups.length > 0 && { groups: [...groups] }),
    ...(Object.keys(extra).length > 0 && { extra: { ...extra } as unknown as JsonObject }),
  };
}

function withoutEmpty(reference: ObjectReference): Partial<ObjectReference> {
  return Object.fromEntries(Object.entries(reference).filter(([, value]) => value !== ""));
}

/** Compat: LogResponseObject copies these members of a Status. `metadata` is always present. */
function printStatus({ status, message, reason, details, code }: Partial<Status>): JsonObject {
  return {
    metadata: {},
    ...(status !== undefined && { status }),
    ...(message && { message }),
    ...(reason !== undefined && { reason }),
    ...(details !== undefined && { details }),
    ...(code !== undefined && { code }),
  };
}

/** Formats a time like metav1.MicroTime. */
function microTime(ms: number): string {
  return new Date(Math.floor(ms))
    .toISOString()
    .replace("Z", `${String(Math.floor((ms % 1) * 1000)).padStart(3, "0")}Z`);
}
