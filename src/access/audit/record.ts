import type { Attributes } from "../../base/api/attributes.ts";
import type { AuditKeeps, Call } from "../../base/api/call.ts";
import type { JsonObject } from "../../base/api/object.ts";
import type { Status } from "../../base/api/status.ts";
import type { UserInfo } from "../../base/api/user-info.ts";
import type { Eventually } from "../../base/util/eventually.ts";
import { AuditEvent, type ObjectReference } from "./event.ts";
import { AuditNotebook } from "./notebook.ts";
import type { Level, Stage } from "./policy.ts";
import type { RequestAudit } from "./policy-match.ts";
import { sourceAddresses } from "./source-addresses.ts";

/** Receives events. Returns false if the event was lost. */
export type EventSink = (event: AuditEvent) => Eventually<boolean>;

/** Options of an AuditRecord. */
export interface RecordOptions {
  readonly call: Call;
  /** Undefined if authentication failed. */
  readonly user: UserInfo | undefined;
  readonly audit: RequestAudit;
  /** Request and response contain secrets: only metadata is recorded, regardless of the policy. */
  readonly isSecret: boolean;
  readonly receivedMs: number;
  readonly sink: EventSink;
}

const MAX_USER_AGENT = 1024;

/** Collects the state of one request, and emits its audit events. */
export class AuditRecord extends AuditNotebook {
  readonly receivedMs: number;
  readonly #options: RecordOptions;
  readonly #level: Level;
  /** Computed at once, because the address is only available while the connection is open. */
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

  /**
   * Records the response status. If the request is secret, only status, reason and code are kept: messages may quote
   * the request.
   */
  answered(status: Partial<Status>): void {
    const { status: outcome, reason, code } = status;
    this.#responseStatus = this.#options.isSecret
      ? { ...(outcome && { status: outcome }), ...(reason !== undefined && { reason }), ...(code && { code }) }
      : status;
  }

  get isAnswered(): boolean {
    return this.#responseStatus !== undefined;
  }

  /** Emits an event with the current state, unless the policy omits this stage. */
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

/** The object that the path names, completed by the metadata of the request body. */
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
