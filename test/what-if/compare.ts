import type { JsonObject, KubeObject } from "../../src/base/api/object.ts";
import type { Judgement } from "../../src/programs/what-if/judge.ts";
import { type Difference, differenceOf } from "../fuzz/twins.ts";
import type { Answer } from "../support/client.ts";

/**
 * Where a judgement differs from what the real server answered: verdict, status code, message, causes, warnings, and the
 * object with its managed fields. Undefined: nowhere.
 */
export function compare(theirs: Answer, ours: Judgement, before: boolean): Difference | undefined {
  const where = `${ours.kind} ${ours.namespace}/${ours.name}`;
  if (theirs.status < 300 !== (ours.refusal === undefined)) {
    const told = `${theirs.status} ${theirs.body.message ?? ""}`;
    return { at: where, path: "verdict", theirs: told, ours: `${ours.verdict} ${ours.refusal?.message ?? ""}` };
  }
  if (ours.refusal) return differenceOf([refusal(theirs), ourRefusal(ours)], where);
  const verdict = before ? ["changed", "unchanged"] : ["created"];
  if (!verdict.includes(ours.verdict)) return { at: where, path: "verdict", theirs: verdict, ours: ours.verdict };
  const body = hidden(theirs.body);
  return differenceOf(
    [
      { ...theirs, body },
      { ...answerOf(theirs.status, ours), body: hidden(ours.object as JsonObject) },
    ],
    where,
  );
}

function refusal({ status, headers, body }: Answer): Answer {
  const { message, reason, details } = body;
  return { status, headers, body: { kind: "Status", message, reason, details: { causes: details?.causes ?? [] } } };
}

function ourRefusal(ours: Judgement): Answer {
  const { code, message, reason, causes } = ours.refusal as NonNullable<Judgement["refusal"]>;
  const told = causes.map(({ reason: why, field, message: text }) => ({
    ...(why !== "" && { reason: why }),
    ...(field !== "" && { field }),
    message: text,
  }));
  const body = { kind: "Status", message, ...(reason !== "" && { reason }), details: { causes: told } };
  return { ...answerOf(code, ours), body };
}

function answerOf(status: number, { warnings }: Judgement): Answer {
  const texts = warnings.map((text) => `299 - ${JSON.stringify(text)}`);
  return { status, headers: texts.length === 0 ? {} : { warning: texts.join(", ") }, body: {} };
}

/** The judgement does not show secrets. */
function hidden(object: JsonObject): JsonObject {
  if (object.kind !== "Secret") return object;
  const names = Object.keys((object.data ?? {}) as JsonObject);
  return { ...(object as KubeObject), data: Object.fromEntries(names.map((name) => [name, "***"])) };
}
