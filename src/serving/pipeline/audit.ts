import type { Auditor } from "../../access/audit/auditor.ts";
import type { AuditRecord } from "../../access/audit/record.ts";
import { ApiError } from "../../base/api/api-error.ts";
import type { Call, Outcome, Stage } from "../../base/api/call.ts";
import type { ApiReply } from "../../base/api/reply.ts";
import type { RequestInfo } from "../../base/api/request-info.ts";
import { printMilliseconds } from "../../base/go/duration.ts";
import type { EncodedReply } from "../../data/encoding/reply/encoded-reply.ts";
import { internalServerError } from "./plain-errors.ts";

/** Options of the audit stages. */
export interface AuditOptions {
  readonly auditor: Auditor;
  readonly isLongRunning: (info: RequestInfo) => boolean;
  /** Whether request or response bodies of a path contain secrets. */
  readonly isSecret: (info: RequestInfo) => boolean;
  /** Encodes a reply as JSON, in the view the client requested. Undefined if the reply is not an object. */
  readonly jsonOf: (call: Call, reply: ApiReply) => EncodedReply["body"] | undefined;
}

/** The two audit stages, before and after authentication. */
export interface AuditStages {
  /** Placed outside of authentication; records requests rejected with 401. Compat: WithFailedAuthenticationAudit. */
  readonly refusals: Stage;
  /** Placed behind authentication. Compat: WithAudit. */
  readonly requests: Stage;
}

/** /** Requests that take longer get the latency annotation. */
const SLOW_MS = 500;

/** Returns the stages that write audit events for requests and their responses. */
export function auditStages(options: AuditOptions): AuditStages {
  const { auditor, isSecret } = options;
  return {
    refusals: (next) => async (call) => {
      try {
        return await next(call);
      } catch (error) {
        if (error instanceof ApiError && error.code === 401 && call.audit === undefined) {
          const record = auditor.open(call, undefined, isSecret(call.info));
          record?.answered(error.status);
          await record?.answeredWith(JSON.stringify(error.status));
          await record?.emit("ResponseStarted", auditor.now());
        }
        throw error;
      }
    },
    requests: (next) => async (call) => {
      const record = auditor.open(call, call.user, isSecret(call.info));
      if (record === undefined) return next(call);
      for (const [key, value] of Object.entries(call.credentialNotes ?? {})) record.annotate(key, value);
      if (!(await record.emit("RequestReceived", record.receivedMs))) {
        auditor.rejected();
        return internalServerError(call.request, "failed to store audit event");
      }
      call.audit = record;
      // Wrapped in an async function because later stages may throw synchronously.
      return new AuditedCall(options, record, call).follow((async () => next(call))());
    },
  };
}

/** One request in progress and its audit record. */
class AuditedCall {
  readonly #options: AuditOptions;
  readonly #record: AuditRecord;
  readonly #call: Call;
  #reply: ApiReply | undefined;
  #isOver = false;

  constructor(options: AuditOptions, record: AuditRecord, call: Call) {
    this.#options = options;
    this.#record = record;
    this.#call = call;
    call.whenFinished((outcome) => void this.#complete(outcome));
  }

  async follow(replying: Promise<ApiReply>): Promise<ApiReply> {
    const record = this.#record;
    try {
      const reply = await replying;
      this.#reply = reply;
      const status = reply.type === "status" ? reply.status : record.notes.status;
      record.answered({ ...status, code: codeOf(reply) });
      await this.#started();
      return reply;
    } catch (error) {
      await this.#failed(error);
      throw error;
    }
  }

  async #failed(error: unknown): Promise<void> {
    const record = this.#record;
    if (!(error instanceof ApiError)) {
      this.#isOver = true;
      const message = "APIServer panic'd: unexpected error";
      record.answered({ status: "Failure", message, reason: "InternalError", code: 500 });
      await record.emit("Panic", this.#options.auditor.now());
      return;
    }
    // Compat: ErrorNegotiated answers 406 without passing its Status to the audit event.
    record.answered(error.code === 406 ? { code: 406 } : error.status);
    if (error.code !== 406) await record.answeredWith(JSON.stringify(error.status));
    await this.#started();
  }

  async #started(): Promise<void> {
    const { isLongRunning, auditor } = this.#options;
    if (isLongRunning(this.#call.info)) await this.#record.emit("ResponseStarted", auditor.now());
  }

  async #complete({ code }: Outcome): Promise<void> {
    if (this.#isOver) return;
    this.#isOver = true;
    const { auditor, isLongRunning } = this.#options;
    const record = this.#record;
    const isLong = isLongRunning(this.#call.info);
    if (!record.isAnswered) {
      record.answered(code === 0 ? { status: "Success", message: "Connection closed early", code: 200 } : { code });
      if (isLong) await record.emit("ResponseStarted", auditor.now());
    }
    const now = auditor.now();
    const lastedMs = now - record.receivedMs;
    if (lastedMs > SLOW_MS && !isLong) record.annotate("apiserver.latency.k8s.io/total", printMilliseconds(lastedMs));
    await this.#keepResponse();
    await record.emit("ResponseComplete", now);
  }

  async #keepResponse(): Promise<void> {
    const reply = this.#reply;
    const body = reply && this.#record.keeps.responses ? this.#options.jsonOf(this.#call, reply) : undefined;
    if (body !== undefined) await this.#record.answeredWith(body);
  }
}

function codeOf(reply: ApiReply): number {
  if (reply.type === "status") return reply.status.code ?? (reply.status.status === "Failure" ? 500 : 200);
  if (reply.type === "connect") return 101;
  return "code" in reply ? reply.code : 200;
}
