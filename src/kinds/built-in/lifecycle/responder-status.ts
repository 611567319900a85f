import { type FieldError, invalidField, requiredField } from "../../../base/api/field-error.ts";
import { addAll } from "../../../base/util/add-all.ts";
import { asGo, type GoShape } from "../shared-rules/go-print.ts";
import { IMMUTABLE, sameValue } from "../shared-rules/immutable.ts";
import type { ResponderStatus, TargetResponder } from "./eviction-types.ts";
import { hasDuplicates, MAX_RESPONDERS, SKEW_MS } from "./target-responders.ts";

const PATH = "status.responders";
const MAX_EXPECTED_MS = 10 * 365 * 24 * 3_600_000;
const NOW = "must be set to the present time";

const SHAPE: GoShape = [
  ["Name", "name", ""],
  ["StartTime", "startTime"],
  ["HeartbeatTime", "heartbeatTime"],
  ["ExpectedCompletionTime", "expectedCompletionTime"],
  ["CompletionTime", "completionTime"],
  ["Message", "message"],
];

/** Validates ResponderStatus: each responder has one entry, and only the active one changes its own. */
export function responderStatusErrors(
  next: readonly ResponderStatus[],
  before: readonly ResponderStatus[],
  targets: readonly TargetResponder[],
  now: number,
): FieldError[] {
  const shown = next.length === 0 ? null : asGo([...next], SHAPE);
  if (targets.length !== next.length) {
    const text = "must be the same length as status.targetResponders and contain the same keys";
    return [invalidField(PATH, shown, text)];
  }
  const names = new Set(next.map(({ name = "" }) => name));
  if (targets.some(({ name = "" }) => !names.has(name))) {
    return [invalidField(PATH, shown, "must contain the same keys as status.targetResponders")];
  }
  if (next.length > MAX_RESPONDERS || hasDuplicates(next)) return [];
  return next.flatMap((status, index) => {
    const isNamed = ({ name = "" }: { name?: string }) => name === (status.name ?? "");
    const isActive = targets.findLast(isNamed)?.state === "Active";
    return statusErrors(status, before.findLast(isNamed), { path: `${PATH}[${index}]`, isActive, now });
  });
}

interface Context {
  readonly path: string;
  readonly isActive: boolean;
  readonly now: number;
}

type TimeMember = "startTime" | "heartbeatTime" | "expectedCompletionTime" | "completionTime";

function statusErrors(status: ResponderStatus, old: ResponderStatus | undefined, context: Context): FieldError[] {
  if (old && !context.isActive && !sameValue(status, old)) {
    return [invalidField(context.path, asGo(status, SHAPE), IMMUTABLE)];
  }
  const before = old ?? {};
  const wrong = (member: TimeMember, text: string | undefined) =>
    text === undefined ? [] : [invalidField(`${context.path}.${member}`, status[member], text)];
  const errors = startErrors(status, before, context);
  if (before.heartbeatTime && !status.heartbeatTime) {
    errors.push(requiredField(`${context.path}.heartbeatTime`, "is required once set"));
  }
  addAll(errors, wrong("heartbeatTime", heartbeatProblem(status, before, context)));
  addAll(errors, wrong("expectedCompletionTime", expectationProblem(status, before, context)));
  return [...errors, ...wrong("completionTime", completionProblem(status, before, context))];
}

const isNear = (time: string, now: number): boolean => Math.abs(Date.parse(time) - now) < SKEW_MS;
const isBefore = (time: string, other: string | undefined): boolean =>
  other !== undefined && Date.parse(time) < Date.parse(other);

function startErrors({ startTime }: ResponderStatus, old: ResponderStatus, context: Context): FieldError[] {
  const path = `${context.path}.startTime`;
  // Declarative validation rejects changes of a time that is set.
  if (old.startTime && old.startTime !== startTime) return [];
  if (!startTime) return context.isActive ? [requiredField(path, "is required for an active responder")] : [];
  return startTime === old.startTime || isNear(startTime, context.now) ? [] : [invalidField(path, startTime, NOW)];
}

/** Why a time does not match the start; undefined if it does. */
function beforeStart(time: string, { startTime }: ResponderStatus, path: string): string | undefined {
  if (!startTime) return `cannot be set before ${path}.startTime is set`;
  return isBefore(time, startTime) ? `must occur after ${path}.startTime` : undefined;
}

function heartbeatProblem(status: ResponderStatus, old: ResponderStatus, { path, now }: Context): string | undefined {
  const time = status.heartbeatTime;
  if (!time || time === old.heartbeatTime) return undefined;
  if (status.startTime && isBefore(time, old.heartbeatTime)) return "cannot be decreased";
  return beforeStart(time, status, path) ?? (isNear(time, now) ? undefined : NOW);
}

function expectationProblem(status: ResponderStatus, old: ResponderStatus, { path, now }: Context): string | undefined {
  const time = status.expectedCompletionTime;
  if (!time || time === old.expectedCompletionTime) return undefined;
  const problem = beforeStart(time, status, path);
  if (problem !== undefined) return problem;
  if (Date.parse(time) < now - SKEW_MS) return "cannot be set to the past time";
  return Date.parse(time) > now + MAX_EXPECTED_MS ? "must complete within 10 years" : undefined;
}

function completionProblem(status: ResponderStatus, old: ResponderStatus, { path, now }: Context): string | undefined {
  const time = status.completionTime;
  if (!time || (old.completionTime && old.completionTime !== time)) return undefined;
  const problem = beforeStart(time, status, path);
  if (problem !== undefined || time === old.completionTime) return problem;
  return isNear(time, now) ? undefined : NOW;
}
