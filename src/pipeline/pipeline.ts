import type { Authorizer } from "../api/attributes.ts";
import type { Handler, Stage } from "../api/call.ts";
import type { RequestInfo } from "../api/request-info.ts";
import { answerErrors, type ReportError } from "./answer-errors.ts";
import type { AuditStages } from "./audit.ts";
import { authorize, type ObservedAuthorization } from "./authorize.ts";
import { type DeadlineOptions, limitDuration } from "./limit-duration.ts";
import { negotiate } from "./negotiate.ts";
import { refuseIncompletePaths } from "./plain-errors.ts";

/** What the stages depend on. */
export interface PipelineOptions extends DeadlineOptions {
  readonly reportError: ReportError;
  /** Counts what comes; stands around all others, so that refusals count. Absent: nobody does. */
  readonly measure?: Stage;
  /** Write down who asks for what. Absent: nobody does. */
  readonly audit?: AuditStages;
  /** Takes callers for whom they ask to be taken for, if they may. Absent: nobody may, and nobody is refused for asking. */
  readonly impersonate?: Stage;
  /** Stands where it is known who is calling, in front of what they may do. Absent: nothing does. */
  readonly identified?: Stage;
  /** Says what the caller may do. */
  readonly authorizer: Authorizer;
  /** Hears what it said, and how long that took. */
  readonly authorized?: ObservedAuthorization["authorized"];
  /** Whether what a path answers with can be shown as a Table; for paths that are not served it may say anything. */
  readonly hasTable: (info: RequestInfo) => boolean;
  /** Whether the objects of a path have no Go type behind them; for paths that are not served it may say anything. */
  readonly isUnstructured: (info: RequestInfo) => boolean;
  /** Whether another server answers for a path. Absent: none does. */
  readonly isRemote?: (info: RequestInfo) => boolean;
}

/**
 * What every request passes, in this order. `identify` makes the caller known: `authenticate`, `assumeUser`, or
 * `keepUser` for calls that come from the process itself and name their user.
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
    authorize(options.authorizer, options.authorized && { clock: options.clock, authorized: options.authorized }),
    negotiate(options.hasTable, options.isUnstructured, options.isRemote),
  ];
}

/** Joins stages into one handler; the first stage is the outermost. */
export function compose(stages: readonly Stage[], innermost: Handler): Handler {
  return stages.reduceRight((next, stage) => stage(next), innermost);
}
