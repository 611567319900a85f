import type { Attributes } from "../api/attributes.ts";
import type { AuditKeeps, Call } from "../api/call.ts";
import type { JsonObject } from "../api/object.ts";
import type { Status } from "../api/status.ts";
import type { UserInfo } from "../api/user-info.ts";
import type { Eventually } from "../lib/eventually.ts";
import { AuditEvent, type ObjectReference } from "./event.ts";
import { AuditNotebook } from "./notebook.ts";
import type { Level, Stage } from "./policy.ts";
import type { RequestAudit } from "./policy-match.ts";
import { sourceAddresses } from "./source-addresses.ts";

/** Takes events; false: it could not be kept. */
export type EventSink = (event: AuditEvent) => Eventually<boolean>;

/** What a record is made of. */
export interface RecordOptions {
  readonly call: Call;
  /** Undefined: authentication failed. */
  readonly user: UserInfo | undefined;
  readonly audit: RequestAudit;
  /** What is sent and answered is a secret: nothing of it is written down, whatever the policy says. */
  readonly isSecret: boolean;
  readonly receivedMs: number;
  readonly sink: EventSink;
}

const MAX_USER_AGENT = 1024;

/** What is known about one request so far. */
export class AuditRecord extends AuditNotebook {
  readonly receivedMs: number;
  readonly #options: RecordOptions;
  readonly #level: Level;
  /** Known only as long as the connection is. */
  readonly #sourceIPs: readonly string[];
  #responseStatus: Partial<Status> | undefined;

  constructor(options: RecordOptions) {
    const { audit, isSecret, call, receivedMs } = options;
    const level = isSecret && audit.level !== "None" ? "Metadata" : audit.level;
    super(keepsOf(level, audit));
    this.#level = level;
    this.#options = options;
    this.receivedMs = receivedMs;
    this.#sourceIPs = sourceAddresses(call.request);
  }

  /** How the request was answered. Of what is secret only the bare facts remain: messages may quote what was sent. */
  answered(status: Partial<Status>): void {
    const { status: outcome, reason, code } = status;
    this.#responseStatus = this.#options.isSecret
      ? { ...(outcome && { status: outcome }), ...(reason !== undefined && { reason }), ...(code && { code }) }
      : status;
  }

  get isAnswered(): boolean {
    return this.#responseStatus !== undefined;
  }

  /** Writes down what is known by now, unless the policy leaves this stage out. */
  emit(stage: Stage, nowMs: number): Eventually<boolean> {
    const { call, user, sink, audit } = this.#options;
    if (audit.omitStages.has(stage)) return true;
    const { impersonation, request, attributes } = call;
    const { metadata, requestObject, responseObject, annotations } = this.notes;
    return sink(
      new AuditEvent({
        level: this.#level,
        auditID: call.auditId,
        stage,
        requestURI: request.uri,
        verb: attributes.verb,
        user,
        impersonatedUser: impersonation && call.user,
        impersonationConstraint: impersonation?.constraint ?? "",
        sourceIPs: this.#sourceIPs,
        userAgent: userAgentOf(request.headers["user-agent"]),
        objectRef: referenceOf(attributes, metadata),
        responseStatus: this.#responseStatus,
        requestObject,
        responseObject,
        requestReceivedMs: this.receivedMs,
        stageMs: nowMs,
        annotations: new Map(annotations),
      }),
    );
  }
}

function keepsOf(level: Level, { omitManagedFields }: RequestAudit): AuditKeeps {
  const responses = level === "RequestResponse";
  return { requests: responses || level === "Request", responses, managedFields: !omitManagedFields };
}

/** What the path names, and what it leaves open by what was sent. */
function referenceOf(attributes: Attributes, metadata: JsonObject): ObjectReference | undefined {
  if (!attributes.isResourceRequest) return undefined;
  const { resource, apiGroup, apiVersion, subresource } = attributes;
  const sent = (member: string): string => (typeof metadata[member] === "string" ? metadata[member] : "");
  return {
    ...{ resource, namespace: attributes.namespace || sent("namespace"), name: attributes.name || sent("name") },
    ...{ uid: sent("uid"), apiGroup, apiVersion, resourceVersion: sent("resourceVersion"), subresource },
  };
}

function userAgentOf(header: string | readonly string[] | undefined): string {
  const text = typeof header === "string" ? header : (header?.[0] ?? "");
  return text.length > MAX_USER_AGENT ? `${text.slice(0, MAX_USER_AGENT)}...TRUNCATED` : text;
}
