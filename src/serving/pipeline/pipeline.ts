import type { Authorizer } from "../../base/api/attributes.ts";
import type { Handler, Stage } from "../../base/api/call.ts";
import type { RequestInfo } from "../../base/api/request-info.ts";
import { answerErrors, type ReportError } from "./answer-errors.ts";
import type { AuditStages } from "./audit.ts";
import { authorize, type ObservedAuthorization } from "./authorize.ts";
import { type DeadlineOptions, limitDuration } from "./limit-duration.ts";
import { negotiate } from "./negotiate.ts";
import { refuseIncompletePaths } from "./plain-errors.ts";

/** Options of the pipeline stages. */
export interface PipelineOptions extends DeadlineOptions {
  readonly reportError: ReportError;
  /** Optional. Counts requests. It is the outermost stage, so rejections are counted too. */
  readonly measure?: Stage;
  /** Optional. If omitted, no audit events are written. */
  readonly audit?: AuditStages;
  /** Optional. Handles Impersonate-* headers. If omitted, they are ignored. */
  readonly impersonate?: Stage;
  /** Optional. Runs after authentication and impersonation, before authorization. */
  readonly identified?: Stage;
  /** Optional. Limits concurrent requests. Runs when the caller is known, before authorization. */
  readonly fairness?: Stage | undefined;
  /** Decides what the caller may do. */
  readonly authorizer: Authorizer;
  /** Optional. Receives each authorization decision and its duration, for metrics. */
  readonly authorized?: ObservedAuthorization["authorized"];
  /** Whether the response of a path can be rendered as a Table. May return anything for paths that are not served. */
  readonly hasTable: (info: RequestInfo) => boolean;
  /** Whether the objects of a path have no Go type. May return anything for paths that are not served. */
  readonly isUnstructured: (info: RequestInfo) => boolean;
  /** Whether another server serves a path. Optional. If omitted, no path is remote. */
  readonly isRemote?: (info: RequestInfo) => boolean;
}

/**
 * The stages that every request passes, in order. `identify` sets the user: `authenticate`, `assumeUser`, or `keepUser`
 * for calls from within the process.
 */
export function stagesFor(options: PipelineOptions, identify: Stage): readonly Stage[] {
  return [
    ...(options.measure ? [options.measure] : []),
    answerErrors(options.reportError),
    limitDuration(options),
    refuseIncompletePaths,
    ...(options.audit ? [options.audit.refusals] : []),
    identify,
    ...(options.audit ? [options.audit.requests] : []),
    ...(options.impersonate ? [options.impersonate] : []),
    ...(options.identified ? [options.identified] : []),
    ...(options.fairness ? [options.fairness] : []),
    authorize(options.authorizer, options.authorized && { clock: options.clock, authorized: options.authorized }),
    negotiate(options.hasTable, options.isUnstructured, options.isRemote),
  ];
}

/** Composes stages into one handler. The first stage is the outermost. */
export function compose(stages: readonly Stage[], innermost: Handler): Handler {
  return stages.reduceRight((next, stage) => stage(next), innermost);
}
